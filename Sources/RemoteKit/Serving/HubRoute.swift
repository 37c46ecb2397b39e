import Fetcher
import HubCore

/// How one task of one model is reached: through the Hub's router, or at a provider's own host.
struct HubRoute: Sendable {
    let client: RemoteClient
    /// The provider's address without a path.
    let base: String
    /// The provider's routes; nil where the router itself chooses.
    let routes: ServingRoutes?
    /// The name of the model there.
    let providerID: String
    /// The provider's name, if the route fixes it.
    let provider: String?
    /// The path of a low-rank addition in the model's repository.
    var adapterPath: String?
}

/// Finds the route of a task: which provider, where, with which key.
struct HubRouting: Sendable {
    let model: RemoteModelName
    let token: AccessToken?
    let router: Endpoint
    let billTo: String?
    let limits: RemoteLimits
    let context: RemoteContext

    private var directory: ServingDirectory { ServingDirectory(context, limits: limits) }
    /// Whether the key is a provider's own.
    private var isForeign: Bool { token.map { !Credential.isOfHub($0) } ?? false }

    /// The route of a conversation. The router knows by itself who serves the model.
    func conversation(_ needs: ConversationNeeds) async throws(AIError) -> HubRoute {
        guard isForeign else {
            try context.requireNetwork(for: router.origin.description)
            let suffix = try await suffix(for: needs)
            return HubRoute(
                client: try routerClient(router.origin.description), base: router.address, routes: nil,
                providerID: RemoteModelName(model.repository, suffix: suffix).description,
                provider: suffix.flatMap { RemoteModelName.policies.contains($0) ? nil : $0 })
        }
        return try await route(.conversation)
    }

    /// The route of a task at a provider of the model's mapping.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for a policy of the router's, which it knows for conversations alone.
    func route(_ task: InferenceTask) async throws(AIError) -> HubRoute {
        if task != .conversation, model.provider == nil, let policy = model.suffix {
            throw AIError(
                .invalidInput, "\"\(policy)\" chooses among providers of conversations alone",
                advice: "name a provider, or none: \(model.repository)")
        }
        try context.requireNetwork(for: model.description)
        let offer = try await offer(for: task)
        guard let routes = ServingRoutes.of(offer.provider) else {
            throw AIError(
                .invalidInput, "hub does not know how to ask \(offer.provider) to \(task.verb)",
                advice: "choose another provider: \(model.repository):NAME")
        }
        guard routes.serves(task) else {
            throw AIError(
                .invalidInput, "\(offer.provider) does not \(task.verb)", advice: "choose another provider")
        }
        let (client, base) = try place(routes)
        return HubRoute(
            client: client, base: base, routes: routes, providerID: offer.providerID ?? model.repository.name,
            provider: offer.provider, adapterPath: offer.adapterPath)
    }

    // MARK: Offers

    private func offer(for task: InferenceTask) async throws(AIError) -> ServingOffer {
        // The Hub's own provider runs any model whose task fits, under the model's own name.
        if model.provider == "hf-inference" { return ServingOffer(provider: "hf-inference") }
        let served = try await directory.offers(for: model.repository)
        let fitting = served.offers.filter { offer in offer.task.map { task.synonyms.contains($0) } ?? true }
        if let name = model.provider {
            guard let offer = fitting.first(where: { $0.provider == name }) else {
                throw unserved(task, served, "\(name) does not serve \(model.repository)")
            }
            warn(offer)
            return offer
        }
        let known = fitting.filter { ServingRoutes.of($0.provider)?.serves(task) ?? false }
        guard let offer = known.first(where: { $0.status == .live }) ?? known.first(where: { $0.status != .error })
        else {
            throw unserved(task, served, "no provider that hub knows serves \(model.repository)")
        }
        warn(offer)
        return offer
    }

    private func unserved(_ task: InferenceTask, _ served: ServedModel, _ what: String) -> AIError {
        let others = served.offers.map { offer in
            offer.provider + (offer.task.map { " (\($0)\(offer.status == .error ? ", failing" : ""))" } ?? "")
        }
        return AIError(
            .modelNotServed, "\(what) to \(task.verb)",
            advice: others.isEmpty
                ? "nobody serves it; hub try runs it on this machine if it can"
                : "it is served by \(others.joined(separator: ", "))",
            context: .init(repository: model.repository.name))
    }

    private func warn(_ offer: ServingOffer) {
        switch offer.status {
        case .live?: break
        case nil: context.notice("the Hub does not say whether \(offer.provider) serves \(model.repository) now")
        case let status?:
            context.notice(
                "the Hub says \"\(status.rawValue)\" of \(model.repository) at \(offer.provider): it may fail")
        }
    }

    // MARK: Places and keys

    private func place(_ routes: ServingRoutes) throws(AIError) -> (RemoteClient, String) {
        guard isForeign else { return (try routerClient(routes.name), "\(router)/\(routes.name)") }
        guard let token, let host = context.hosts[routes.name] ?? routes.host, let origin = Origin(host) else {
            throw AIError(
                .invalidInput,
                "\(routes.name) takes the Hub's tokens only, and the key in use does not begin with hf_",
                advice: "hub auth login saves a token of the Hub")
        }
        let credential = try Credential(token, to: origin, scheme: routes.scheme)
        return (RemoteClient(context, limits, credential: credential, name: routes.name, isHub: false), host)
    }

    private func routerClient(_ name: String) throws(AIError) -> RemoteClient {
        guard let token else {
            throw AIError(
                .unauthorized, "inference providers need a token of the Hub",
                advice: "hub auth login, or set HF_TOKEN")
        }
        let credential = try Credential(token, to: router.origin, billTo: billTo)
        return RemoteClient(context, limits, credential: credential, name: name, isHub: true)
    }
}
