package import HubCore

/// What the user made of the shipped list: entries of his own, which win, and shipped ones that he hides.
package struct UserRegistry: Sendable, Hashable {
    /// His own entries by alias.
    package private(set) var entries: [String: RegistryEntry] = [:]
    /// Aliases of shipped entries that he took out.
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

    /// Everything that can be seen: the shipped list in its order, with his own entries in their aliases' places, and
    /// then those that only he has, by alias.
    package var all: [RegistryEntry] {
        ShippedRegistry.entries.compactMap { entry($0.alias) }
            + own.filter { ShippedRegistry.byAlias[$0.alias] == nil }
    }

    /// His own entries by alias.
    package var own: [RegistryEntry] { entries.values.sorted { $0.alias < $1.alias } }

    /// What is his own, as it travels.
    package var document: RegistryDocument { RegistryDocument(entries: own, hidden: hidden.sorted()) }

    /// Takes in an entry. One that equals the shipped one is not his own: an upgrade may improve it.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` where the alias is taken and may not be replaced.
    package mutating func add(_ entry: RegistryEntry, replaces: Bool) throws(AIError) {
        if let old = self.entry(entry.alias), !replaces {
            let whose = entries[entry.alias] == nil ? "the shipped list's name for" : "the name for"
            throw AIError(
                .invalidInput, "\(entry.alias) is already \(whose) \(old.repository)",
                advice: "choose another alias, or say --replace")
        }
        set(entry)
    }

    /// Brings back a shipped entry that was hidden; nil where none is.
    ///
    /// - Parameter repository: only if it stands for this one.
    package mutating func restore(_ alias: String, naming repository: RepositoryID? = nil) -> RegistryEntry? {
        guard hidden.contains(alias), let shipped = ShippedRegistry.byAlias[alias],
            repository == nil || repository == shipped.repository
        else { return nil }
        hidden.remove(alias)
        return shipped
    }

    /// What taking an alias out did.
    package enum Removal: Sendable, Hashable {
        /// It was his own and is gone.
        case removed(RegistryEntry)
        /// It was his own and is gone, so that the shipped one shows again.
        case uncovered(RegistryEntry, shipped: RegistryEntry)
        /// It is shipped and is hidden now.
        case hidden(RegistryEntry)
    }

    /// Takes an alias out; nil where there is none.
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

    /// Takes in a document. What it hides is hidden, but an entry of his own is never taken from him that way.
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
