import HubCore

/// The list shipped with hub. Loaded on first use.
///
/// Aliases are a promise: one that was shipped keeps its meaning. The ids occur in the Hub's own metadata or in the
/// sources of other programs; a test lists them.
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
