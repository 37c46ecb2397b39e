import HubCore

/// The list that hub comes with. Nothing is read before it is asked for.
///
/// Aliases are a promise: one that was shipped keeps its meaning. The ids were seen in the Hub's own metadata or in the
/// sources of other programs; a test holds the list of where.
enum ShippedRegistry {
    /// The entries in the order in which they are shown.
    static let entries: [RegistryEntry] = {
        do {
            return try RegistryDocument(PackageResources.registry_json, source: "registry.json").entries
        } catch {
            preconditionFailure("the shipped registry cannot be read: \(error)")
        }
    }()

    /// By alias.
    static let byAlias = Dictionary(uniqueKeysWithValues: entries.map { ($0.alias, $0) })

    /// By repository: of several entries the first.
    static let byRepository = Dictionary(
        entries.map { ($0.repository.name, $0) }, uniquingKeysWith: { first, _ in first })
}
