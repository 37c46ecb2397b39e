import Catalog
import Fetcher
public import HubCore

/// Knows who serves which model at what price, from the Hub's mapping and the router's list. Answers are remembered in
/// the catalog, which answers alone where the network is off.
public struct ServingDirectory: Sendable {
    let context: RemoteContext
    let limits: RemoteLimits

    /// A directory.
    public init(_ context: RemoteContext, limits: RemoteLimits = RemoteLimits()) {
        self.context = context
        self.limits = limits
    }

    /// What is kept in the catalog is kept by the address that said it.
    private var mappings: String { "\(context.workspace.configuration.endpoint)/api/models" }
    /// The router's list.
    private func list() throws(AIError) -> String { "\(try context.environment.inferenceEndpoint())/v1/models" }

    /// The offers for a model; none if nobody serves it. The Hub's mapping tells who serves it and by which name; what
    /// the router's list told of prices and lengths before is added, and is asked for with ``servedModels()``.
    ///
    /// - Throws: ``ErrorCode/repositoryNotFound``, ``ErrorCode/offline`` if the catalog knows nothing of the model, and
    ///   the network's errors.
    public func offers(for model: RepositoryID) async throws(AIError) -> ServedModel {
        if context.isOffline {
            guard let known = await remembered(model) else {
                throw AIError(
                    .offline, "who serves \(model) is not known, and the network is switched off",
                    context: .init(repository: model.name))
            }
            return known
        }
        let now = Timestamp.now
        let json = try await mapping(of: model)
        guard json["id"]?.string != nil || json["inferenceProviderMapping"] != nil else {
            throw AIError(
                .protocolViolation, "the answer about \(model) does not say who serves it",
                context: .init(repository: model.name))
        }
        let mapped = ServedModel(
            model: model.name, offers: ServingOffer.offers(mapping: json["inferenceProviderMapping"]), heardAt: now)
        await remember([mapped], source: mappings)
        return Self.joined(mapped, await kept(model.name, try list()))
    }

    /// What is remembered of a model's offers; nil if nothing is. Uses no network.
    public func remembered(_ model: RepositoryID) async -> ServedModel? {
        var listed: ServedModel?
        if let list = try? list() { listed = await kept(model.name, list) }
        guard let mapped = await kept(model.name, mappings) else { return listed }
        return Self.joined(mapped, listed)
    }

    /// All models of the router's list for conversations. It is asked without a token.
    ///
    /// - Throws: ``ErrorCode/offline`` if the catalog knows none, and the network's errors.
    public func servedModels() async throws(AIError) -> [ServedModel] {
        let (router, list) = (try context.environment.inferenceEndpoint(), try list())
        if context.isOffline {
            let known = await Blocking.run { [context] in
                context.workspace.dispensable.use { catalog throws(AIError) in
                    try catalog.served(source: list)
                }
            }
            guard let known, !known.isEmpty else {
                throw AIError(.offline, "the models of \(router) are not known, and the network is switched off")
            }
            return known.map { ServedModel(kept: $0.offers, model: $0.model, heardAt: $0.heardAt) }
        }
        let client = RemoteClient(context, limits, credential: nil, name: router.origin.description, isHub: true)
        let json = try await client.json(.get(list), by: Deadline(limits))
        guard let models = ServedModel.list(json, heardAt: Timestamp.now) else {
            throw AIError(.protocolViolation, "\(router.origin) answers with JSON that is not a list of models")
        }
        await remember(models, source: list)
        return models
    }

    /// A model of the router's list, as it was heard within the last hour, else asked for; nil if it is not listed.
    func listed(_ model: RepositoryID) async throws(AIError) -> ServedModel? {
        if let known = await kept(model.name, try list()), Timestamp.now - known.heardAt < 3600 { return known }
        return try await servedModels().first { $0.model == model.name }
    }

    /// The model's page, asked with the Hub's own token. Another provider's key never goes to the Hub.
    private func mapping(of model: RepositoryID) async throws(AIError) -> JSON {
        let repository = Repository(.model, model)
        do {
            let client = try await context.workspace.client(acceptingToken: { Credential.isOfHub($0) })
            return try await client.expanded(repository, "inferenceProviderMapping")
        } catch { throw AIError.wrapping(error) }
    }

    private static func joined(_ mapped: ServedModel, _ listed: ServedModel?) -> ServedModel {
        guard let listed else { return mapped }
        var out = mapped
        out.offers = mapped.offers.map { offer in
            listed.offers.first { $0.provider == offer.provider }.map { offer.completed(by: $0) } ?? offer
        }
        return out
    }

    // MARK: The catalog

    private func kept(_ model: String, _ source: String) async -> ServedModel? {
        await Blocking.run { [context] in
            let row = context.workspace.dispensable.use { catalog throws(AIError) in
                try catalog.served(model, source: source)
            }
            return row.flatMap { $0 }.map { ServedModel(kept: $0.offers, model: model, heardAt: $0.heardAt) }
        }
    }

    private func remember(_ models: [ServedModel], source: String) async {
        let rows = models.map(\.kept)
        await Blocking.run { [context] in
            _ = context.workspace.dispensable.use { catalog throws(AIError) in
                try catalog.remember(served: rows, source: source, at: Timestamp.now)
            }
        }
    }
}
