public import HubCore

/// The curated list: models that are good to begin with, under short names. It is the shipped list with what the user
/// added, replaced and took out (`hub registry`), as it stood when this value was made.
///
/// An alias is resolved here and nowhere else in the library: a ``ModelIdentifier`` names a repository, so that it means
/// the same on every machine and after every upgrade. `registry.model(alias: "llama-3.2-1b")?.identifier` is what a
/// `ModelManager` takes.
public struct ModelRegistry: Sendable {
    /// Who put an entry into the list.
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
    /// Why the user's own entries and the sizes are missing; nil where they are not.
    public let catalogFault: AIError?
    /// Physical memory that ``recommendedModels()`` goes by, in bytes.
    public let memory: ByteCount
    private let own: Set<String>
    private let places: [String: Int]

    /// The list of this user, from the catalog that the environment names. Blocks.
    ///
    /// A catalog that cannot be used is not a failure: ``catalogFault`` says so, and the shipped list stands alone. A catalog
    /// that is not there is not made.
    ///
    /// - Throws: where the machine's memory cannot be measured.
    public init(environment: HubEnvironment = .process) throws(AIError) {
        let path = Catalog.path(in: environment.stateDirectory)
        do throws(AIError) {
            try self.init(catalog: FileSystem.exists(path) ? Catalog(path: path) : nil)
        } catch {
            try self.init(user: UserRegistry(), sizes: [:], memory: nil, fault: error)
        }
    }

    /// The list with what this catalog knows; without one the shipped list alone. Blocks.
    ///
    /// - Parameter memory: bytes to go by instead of this machine's physical memory.
    /// - Throws: ``ErrorCode/catalogUnusable``; or where the machine's memory cannot be measured.
    public init(catalog: Catalog?, memory: ByteCount? = nil) throws(AIError) {
        guard let catalog else {
            try self.init(user: UserRegistry(), sizes: [:], memory: memory, fault: nil)
            return
        }
        let user = try catalog.userRegistry()
        try self.init(user: user, sizes: catalog.sizes(of: user.all), memory: memory, fault: nil)
    }

    private init(user: UserRegistry, sizes: [String: ByteCount], memory: ByteCount?, fault: AIError?)
        throws(AIError)
    {
        let available: ByteCount
        if let memory { available = memory } else { available = ByteCount(try Machine.memory().total) }
        self.memory = available
        entries = user.all
        allModels = entries.map { entry in
            ModelInfo(
                identifier: entry.identifier, name: entry.name, description: entry.description, size: entry.size,
                diskSize: sizes[entry.alias], contextWindow: entry.contextLength, capabilities: entry.capabilities,
                isRecommended: entry.isRecommended(memory: available), parameters: entry.parameters,
                quantization: entry.quantization)
        }
        own = Set(user.entries.keys)
        places = Dictionary(uniqueKeysWithValues: entries.enumerated().map { ($1.alias, $0) })
        catalogFault = fault
    }

    // MARK: Choosing

    /// The models of a provider. Every MLX model is a repository of the Hub, but only under ``ModelIdentifier/Provider/mlx``
    /// is it listed; models of this machine are in no list.
    public func models(for provider: ModelIdentifier.Provider) -> [ModelInfo] {
        allModels.filter { $0.identifier.provider == provider }
    }

    /// The models that are good for something.
    public func models(with capability: ModelCapability) -> [ModelInfo] {
        allModels.filter { $0.capabilities.contains(capability) }
    }

    /// The models that the list recommends and that fit into the memory of this machine; those for MLX only where MLX runs.
    public func recommendedModels() -> [ModelInfo] { allModels.filter(\.isRecommended) }

    // MARK: Names

    /// The model of an alias; nil where there is none.
    public func model(alias: String) -> ModelInfo? { places[alias].map { allModels[$0] } }

    /// The entry of an alias; nil where there is none.
    public func entry(alias: String) -> RegistryEntry? { places[alias].map { entries[$0] } }

    /// Who put the entry of an alias into the list; nil where there is none.
    public func source(alias: String) -> Source? {
        places[alias].map { _ in own.contains(alias) ? .user : .shipped }
    }

    /// The entry of each repository by its id, for marking what else is listed; of several aliases the user's own goes
    /// first, and then the list's order.
    public var entriesByRepository: [String: RegistryEntry] {
        let ordered = entries.filter { own.contains($0.alias) } + entries.filter { !own.contains($0.alias) }
        return Dictionary(ordered.map { ($0.repository.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The ids of all curated repositories, each once, in the list's order: what a search among them is limited to.
    public var curatedIDs: [String] {
        var seen: Set<String> = []
        return entries.map(\.repository.name).filter { seen.insert($0).inserted }
    }

    /// What aliases stand for, without making the whole list: no catalog is opened where there is none, and one that
    /// cannot be used leaves the shipped list, as ``init(environment:)`` does. Blocks.
    package static func entries(aliases: Set<String>, environment: HubEnvironment) -> [String: RegistryEntry] {
        let path = Catalog.path(in: environment.stateDirectory)
        var out: [String: RegistryEntry] = [:]
        do throws(AIError) {
            guard FileSystem.exists(path) else {
                return ShippedRegistry.byAlias.filter { aliases.contains($0.key) }
            }
            let catalog = try Catalog(path: path)
            for alias in aliases { out[alias] = try catalog.registryEntry(alias) }
            return out
        } catch {
            // Whoever works with the catalog afterwards tells of it, once.
            return ShippedRegistry.byAlias.filter { aliases.contains($0.key) }
        }
    }
}
