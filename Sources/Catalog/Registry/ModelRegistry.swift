public import HubCore

/// The curated list: recommended models under short names. It is the shipped list with the user's changes (`hub
/// registry`), as of this value's creation.
///
/// Aliases are resolved only here: a ``ModelIdentifier`` names a repository, so it means the same on every machine and
/// after every upgrade. `registry.model(alias: "llama-3.2-1b")?.identifier` can be passed to a `ModelManager`.
public struct ModelRegistry: Sendable {
    /// The source of an entry.
    public enum Source: String, Sendable, Hashable {
        /// It came with hub.
        case shipped
        /// It is the user's own.
        case user
    }

    /// Every model of the list: the shipped ones in their order, then the user's own by alias.
    public let allModels: [ModelInfo]
    /// The entries behind ``allModels``, in the same order.
    public let entries: [RegistryEntry]
    /// Why the user's own entries and the sizes are missing; nil if they are not.
    public let catalogFault: AIError?
    /// Physical memory used by ``recommendedModels()``, in bytes.
    public let memory: ByteCount
    private let sizes: [String: EntrySize]
    private let own: Set<String>
    private let places: [String: Int]

    /// This user's list, from the environment's catalog. Blocks.
    ///
    /// An unusable catalog is not an error: ``catalogFault`` is set, and only the shipped list is used. A missing
    /// catalog is not created.
    ///
    /// - Throws: if the machine's memory cannot be determined.
    public init(environment: HubEnvironment = .process) throws(AIError) {
        let path = Catalog.path(in: environment.stateDirectory)
        do throws(AIError) {
            try self.init(catalog: FileSystem.status(path) != nil ? Catalog(path: path) : nil)
        } catch {
            try self.init(user: UserRegistry(), sizes: [:], memory: nil, fault: error)
        }
    }

    /// The list with this catalog's data; without a catalog only the shipped list. Blocks.
    ///
    /// - Parameter memory: bytes to use instead of this machine's physical memory.
    /// - Throws: ``ErrorCode/catalogUnusable``; or if the machine's memory cannot be determined.
    public init(catalog: Catalog?, memory: ByteCount? = nil) throws(AIError) {
        guard let catalog else {
            try self.init(user: UserRegistry(), sizes: [:], memory: memory, fault: nil)
            return
        }
        let user = try catalog.userRegistry()
        try self.init(user: user, sizes: catalog.sizes(of: user.all), memory: memory, fault: nil)
    }

    private init(user: UserRegistry, sizes known: [String: EntrySize], memory: ByteCount?, fault: AIError?)
        throws(AIError)
    {
        let available: ByteCount
        if let memory { available = memory } else { available = ByteCount(try Machine.memory().total) }
        self.memory = available
        let entries = user.all
        let estimates = entries.compactMap { entry in EntrySize(estimating: entry).map { (entry.alias, $0) } }
        let sizes = known.merging(estimates) { known, _ in known }
        (self.entries, self.sizes) = (entries, sizes)
        allModels = entries.map { entry in
            ModelInfo(
                identifier: entry.identifier, name: entry.name, description: entry.description, size: entry.size,
                diskSize: sizes[entry.alias]?.weights, contextWindow: entry.contextLength,
                capabilities: entry.capabilities,
                isRecommended: entry.isRecommended(memory: available), parameters: entry.parameters,
                quantization: entry.quantization)
        }
        own = Set(user.entries.keys)
        places = Dictionary(uniqueKeysWithValues: entries.enumerated().map { ($1.alias, $0) })
        catalogFault = fault
    }

    // MARK: Choosing

    /// The models of a provider. MLX models are listed only under ``ModelIdentifier/Provider/mlx``; local models are
    /// not listed.
    public func models(for provider: ModelIdentifier.Provider) -> [ModelInfo] {
        allModels.filter { $0.identifier.provider == provider }
    }

    /// The models with a capability.
    public func models(with capability: ModelCapability) -> [ModelInfo] {
        allModels.filter { $0.capabilities.contains(capability) }
    }

    /// The recommended models that fit this machine's memory; MLX models only if MLX runs.
    public func recommendedModels() -> [ModelInfo] { allModels.filter(\.isRecommended) }

    // MARK: Names

    /// The model of an alias; nil if there is none.
    public func model(alias: String) -> ModelInfo? { places[alias].map { allModels[$0] } }

    /// The entry of an alias; nil if there is none.
    public func entry(alias: String) -> RegistryEntry? { places[alias].map { entries[$0] } }

    /// The size of an alias's files; nil if unknown.
    package func size(alias: String) -> EntrySize? { sizes[alias] }

    /// The source of an alias's entry; nil if there is none.
    public func source(alias: String) -> Source? {
        places[alias].map { _ in own.contains(alias) ? .user : .shipped }
    }

    /// The entries by repository id, for marking other lists; of several aliases the user's own wins, then the first.
    public var entriesByRepository: [String: RegistryEntry] {
        let ordered = entries.filter { own.contains($0.alias) } + entries.filter { !own.contains($0.alias) }
        return Dictionary(ordered.map { ($0.repository.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The ids of all curated repositories, each once, in the list's order.
    public var curatedIDs: [String] {
        var seen: Set<String> = []
        return entries.map(\.repository.name).filter { seen.insert($0).inserted }
    }

    /// The entries of aliases, without building the whole list. A missing or unusable catalog leaves the shipped list,
    /// as in ``init(environment:)``. Blocks.
    package static func entries(aliases: Set<String>, environment: HubEnvironment) -> [String: RegistryEntry] {
        let path = Catalog.path(in: environment.stateDirectory)
        var out: [String: RegistryEntry] = [:]
        do throws(AIError) {
            guard try FileSystem.status(path) != nil else {
                return ShippedRegistry.byAlias.filter { aliases.contains($0.key) }
            }
            let catalog = try Catalog(path: path)
            for alias in aliases { out[alias] = try catalog.registryEntry(alias) }
            return out
        } catch {
            // Later use of the catalog reports the error, once.
            return ShippedRegistry.byAlias.filter { aliases.contains($0.key) }
        }
    }
}
