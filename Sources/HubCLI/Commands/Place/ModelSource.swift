import Fetcher
import HubCore
import InferenceKit
import ModelFormats
import RemoteKit

/// The model that a command works with: on this machine, or a remote one.
enum ModelSource: Sendable {
    case local(ModelPlace)
    case remote(RemoteModel)

    /// `"provider"` of the contract.
    var label: String {
        switch self {
        case .local: "local"
        case .remote(let model): model.label
        }
    }
    /// `"model"` of the contract.
    var name: String {
        switch self {
        case .local(let place): place.id
        case .remote(let model): model.name
        }
    }
}

/// What is asked for, and of whom.
struct ModelWish: Sendable {
    /// The model as it was typed.
    var model: String
    var provider: ProviderChoice
    /// What it must do.
    var capability: ModelCapability
    /// What is asked of a model on this machine.
    var demand: ModelPlace.Demand
    /// Seconds that a remote answer may take; nil for the usual time.
    var timeout: Double?

    /// - Throws: ``ErrorCode/invalidInput`` for a time, where this machine answers.
    func checkLocal() throws(AIError) {
        guard timeout != nil else { return }
        throw AIError(
            .invalidInput, "--timeout is about a provider's answer, and this machine answers",
            advice: "leave it out")
    }
}

extension ModelSource {
    /// Finds out who answers, and why. A model that must run here is fetched after a yes.
    static func choose(_ wish: ModelWish, _ context: Context) async throws -> (ModelSource, ProviderReasons) {
        switch wish.provider {
        case .local:
            let place = try await ModelPlace.locate(wish.model, context, wish.demand)
            return (.local(place), ProviderReasons(chosen: "local", rule: "--provider says so"))
        case .hub, .server:
            let shared = try await context.remoteContext()
            let model = try context.remoteModel(wish.model, at: wish.provider, timeout: wish.timeout, shared)
            return (.remote(model), ProviderReasons(chosen: model.label, rule: "--provider says so"))
        case .auto: return try await chooseByRule(wish, context)
        }
    }

    private static func chooseByRule(
        _ wish: ModelWish, _ context: Context
    ) async throws -> (ModelSource, ProviderReasons) {
        if wish.model.namesModelHere {
            let place = try await ModelPlace.locate(wish.model, context, wish.demand)
            return (.local(place), ProviderReasons(chosen: "local", rule: "the model is a folder or file here"))
        }
        let reference = try context.reference(wish.model)
        if let word = reference.files { return try await chooseNamed(word, reference, wish, context) }
        let shared = try await context.remoteContext()
        let place: ModelPlace? =
            if case .here(let place) = try await ModelPlace.find(wish.model, context, wish.demand) { place } else {
                nil
            }
        var need = ProviderRouter.Need(wish.capability)
        need.network = !context.isOffline
        let local = ProviderRouter.Candidate(
            LocalModel(folder: place?.path ?? "", displayName: wish.model, options: wish.demand.options),
            capabilities: [wish.capability], isCached: place != nil)
        let own = await ProviderRouter().decide([local], for: need)
        if let place, own.chosen != nil {
            let reasons = ProviderReasons(
                chosen: "local", rule: "the model is cached and fits",
                candidates: [candidate("local", own.verdicts[0])])
            return (.local(place), reasons)
        }
        return try await chooseRemote(wish, local, isCached: place != nil, need, shared, context)
    }

    /// Who answers for `org/name:WORD`: a part of a model is opened here; any other word, of a model that is not cached, is
    /// the name of a provider.
    private static func chooseNamed(
        _ word: String, _ reference: ModelReference, _ wish: ModelWish, _ context: Context
    ) async throws -> (ModelSource, ProviderReasons) {
        let workspace = try await context.workspace()
        let cached = try await Blocking.run { try workspace.snapshot(of: reference) }
        if cached != nil || NamedFiles.isOfModel(word) {
            do {
                let place = try await ModelPlace.locate(wish.model, context, wish.demand)
                let reasons = ProviderReasons(chosen: "local", rule: "the name means files of a model")
                return (.local(place), reasons)
            } catch let error as AIError where error.code == .invalidInput && !NamedFiles.isOfModel(word) {
                throw AIError(
                    error.code,
                    "\(reference.withoutFiles) is cached, and has no file or quantization \(word.printable)",
                    advice:
                        "--provider hf:\(word.printable) asks that provider; leave out :\(word.printable) to use it here"
                )
            }
        }
        let model = try context.remoteModel(
            wish.model, at: .hub(nil), timeout: wish.timeout, try await context.remoteContext())
        if !context.isOffline {
            let agreement = SendingAgreement("\(word.printable) after the colon means a provider", context)
            try await agreement.ask(for: model.name)
        }
        return (.remote(model), ProviderReasons(chosen: model.label, rule: "the model's name says so"))
    }

    private static func chooseRemote(
        _ wish: ModelWish, _ local: ProviderRouter.Candidate, isCached: Bool, _ need: ProviderRouter.Need,
        _ shared: RemoteContext, _ context: Context
    ) async throws -> (ModelSource, ProviderReasons) {
        let model = try context.remoteModel(wish.model, at: .hub(nil), timeout: wish.timeout, shared)
        let why = isCached ? "is cached but cannot run here" : "is not in the cache"
        let rule = "the model \(why)"
        let agreement = SendingAgreement(
            "\(wish.model.printable) \(why)",
            instead: isCached ? nil : "--yes fetches it to this machine, as hub pull \(model.name) does",
            context)
        var notFetched: AIError?
        if !isCached, need.network, try await !agreement.isThere() {
            switch try await fetched(wish, context) {
            case .here(let place)?:
                return (.local(place), ProviderReasons(chosen: "local", rule: "the model was fetched"))
            case .failed(let error)?: notFetched = error
            case nil: break
            }
        }
        if need.network { try agreement.requirePerson() }
        var offers: [ServingOffer]?
        if need.network, let repository = model.repository {
            let directory = ServingDirectory(shared, limits: ProviderFlags.limits(wish.timeout))
            offers = try await directory.offers(for: repository).offers
        }
        let remote = ProviderRouter.Candidate(
            model.provider, capabilities: capabilities(of: offers, or: wish.capability), offers: offers)
        let decision = await ProviderRouter().decide([local, remote], for: need)
        let reasons = ProviderReasons(
            chosen: model.label, rule: rule,
            candidates: [candidate("local", decision.verdicts[0]), candidate(model.label, decision.verdicts[1])],
            sendsAway: true)
        if decision.order.contains(1) {
            try await agreement.ask(for: model.name)
            return (.remote(model), reasons)
        }
        if let notFetched, notFetched.code != .repositoryNotFound, notFetched.category != .network {
            throw notFetched
        }
        throw try await refusal(wish, model, decision, isCached: isCached, need)
    }

    private enum Fetched { case here(ModelPlace), failed(AIError) }

    /// The model, fetched after a yes; nil where nobody can be asked.
    ///
    /// - Throws: what goes wrong after a yes.
    private static func fetched(_ wish: ModelWish, _ context: Context) async throws -> Fetched? {
        let asks = context.isInteractive && context.mode == .human && context.progressMode != .json
        guard wish.demand.yes || asks else { return nil }
        do { return .here(try await ModelPlace.locate(wish.model, context, wish.demand)) } catch {
            let error = AIError.wrapping(error)
            guard !wish.demand.yes, error.code != .cancelled else { throw error }
            return .failed(error)
        }
    }

    private static func candidate(_ label: String, _ verdict: RoutingDecision.Verdict) -> ProviderReasons.Candidate
    {
        ProviderReasons.Candidate(provider: label, isAccepted: verdict.isAccepted, reasons: verdict.reasons)
    }

    /// What a model does by what its providers offer.
    private static func capabilities(of offers: [ServingOffer]?, or wanted: ModelCapability) -> Set<ModelCapability>
    {
        guard let offers else { return [wanted] }
        let tasks = offers.compactMap(\.task)
        var all = Set(tasks.compactMap { ModelCapability(task: $0) })
        if tasks.contains("conversational") { all.insert(.textGeneration) }
        // An offer need not say what it is for.
        if offers.contains(where: { $0.task == nil }) { all.insert(wanted) }
        return all
    }

    /// Why nobody answers.
    private static func refusal(
        _ wish: ModelWish, _ model: RemoteModel, _ decision: RoutingDecision, isCached: Bool,
        _ need: ProviderRouter.Need
    ) async throws -> AIError {
        let here = isCached ? decision.verdicts[0].reasons.joined(separator: "; ") : "it is not in the cache"
        guard need.network else {
            return AIError(
                .offline, "nobody can answer for \(wish.model.printable): \(here), and the network is switched off")
        }
        let fetching = isCached ? "" : "; hub pull \(model.name) fetches it to this machine"
        do throws(AIError) {
            // It knows best what is wrong: nobody serves the model.
            try await model.provider.prepare()
        } catch {
            var error = error
            if let advice = error.recoverySuggestion { error.specificAdvice = advice + fetching }
            return error
        }
        if await model.provider.availability == .unavailable(.apiKeyMissing) {
            return AIError(
                .unauthorized,
                "\(model.name) does not run here (\(here)), and there is no token for the Hub's providers",
                advice: "hub auth login saves a token\(fetching)", context: .init(repository: model.name))
        }
        let there = decision.verdicts[1].reasons.joined(separator: "; ")
        return AIError(
            .modelNotServed,
            "nobody can answer for \(wish.model.printable): here \(here); at \(model.label) \(there)")
    }
}
