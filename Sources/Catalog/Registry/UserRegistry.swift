package import HubCore

/// The user's changes to the shipped list: entries of their own, which go first, and shipped ones that are hidden.
package struct UserRegistry: Sendable, Hashable {
    /// The user's own entries by alias.
    package private(set) var entries: [String: RegistryEntry] = [:]
    /// Aliases of shipped entries that are hidden.
    package private(set) var hidden: Set<String> = []

    package init() {}

    init(entries: [RegistryEntry], hidden: Set<String>) {
        self.entries = Dictionary(uniqueKeysWithValues: entries.map { ($0.alias, $0) })
        self.hidden = hidden
    }

    /// What an alias stands for.
    package func entry(_ alias: String) -> RegistryEntry? {
        entries[alias] ?? (hidden.contains(alias) ? nil : ShippedRegistry.byAlias[alias])
    }

    /// Every visible entry: the shipped list in its order, with the user's own entries in place of those of the same alias,
    /// and then the user's other entries, by alias.
    package var all: [RegistryEntry] {
        ShippedRegistry.entries.compactMap { entry($0.alias) }
            + own.filter { ShippedRegistry.byAlias[$0.alias] == nil }
    }

    /// The user's own entries by alias.
    package var own: [RegistryEntry] { entries.values.sorted { $0.alias < $1.alias } }

    /// The user's changes as a document.
    package var document: RegistryDocument { RegistryDocument(entries: own, hidden: hidden.sorted()) }

    /// Adds an entry. One that equals the shipped one is not kept as the user's own: an upgrade may improve it.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` where the alias is taken and may not be replaced.
    package mutating func add(_ entry: RegistryEntry, replaces: Bool) throws(AIError) {
        if let old = self.entry(entry.alias), !replaces {
            let whose = entries[entry.alias] == nil ? "the shipped alias of" : "your alias of"
            throw AIError(
                .invalidInput, "\(entry.alias) is already \(whose) \(old.repository)",
                advice: "choose another alias, or use --replace")
        }
        set(entry)
    }

    /// Restores a hidden shipped entry; nil if none is hidden.
    ///
    /// - Parameter repository: only if it stands for this one.
    package mutating func restore(_ alias: String, naming repository: RepositoryID? = nil) -> RegistryEntry? {
        guard hidden.contains(alias), let shipped = ShippedRegistry.byAlias[alias],
            repository == nil || repository == shipped.repository
        else { return nil }
        hidden.remove(alias)
        return shipped
    }

    /// What removing an alias did.
    package enum Removal: Sendable, Hashable {
        /// The user's own entry was removed.
        case removed(RegistryEntry)
        /// The user's own entry was removed, and the shipped one is visible again.
        case uncovered(RegistryEntry, shipped: RegistryEntry)
        /// A shipped entry was hidden.
        case hidden(RegistryEntry)
    }

    /// Removes an alias; nil if there is none.
    package mutating func remove(_ alias: String) -> Removal? {
        if let own = entries.removeValue(forKey: alias) {
            return ShippedRegistry.byAlias[alias].map { .uncovered(own, shipped: $0) } ?? .removed(own)
        }
        guard let shipped = entry(alias) else { return nil }
        hidden.insert(alias)
        return .hidden(shipped)
    }

    /// What an import did, by alias in the document's order.
    package struct Import: Sendable, Hashable {
        package var added: [String] = []
        package var replaced: [String] = []
        package var unchanged: [String] = []
        package var hidden: [String] = []
    }

    /// Imports a document. What it hides is hidden, but never an entry of the user's own.
    package mutating func take(_ document: RegistryDocument) -> Import {
        var report = Import()
        for entry in document.entries {
            switch self.entry(entry.alias) {
            case nil: report.added.append(entry.alias)
            case entry?: report.unchanged.append(entry.alias)
            default: report.replaced.append(entry.alias)
            }
            set(entry)
        }
        for alias in document.hidden where entries[alias] == nil {
            if hidden.insert(alias).inserted { report.hidden.append(alias) } else { report.unchanged.append(alias) }
        }
        return report
    }

    private mutating func set(_ entry: RegistryEntry) {
        hidden.remove(entry.alias)
        entries[entry.alias] = entry == ShippedRegistry.byAlias[entry.alias] ? nil : entry
    }
}
