package import HubCore

extension Catalog {
    /// The user's changes to the curated list.
    package func userRegistry() throws(AIError) -> UserRegistry {
        try read { connection in try Self.userRegistry(connection) }
    }

    /// Edits the user's changes to the curated list in one transaction, so that other processes' changes are kept.
    package func changeRegistry<Value>(_ change: (inout UserRegistry) throws -> Value) throws(AIError) -> Value {
        try write(isPrecious: true) { connection in
            let before = try Self.userRegistry(connection)
            var after = before
            let value = try change(&after)
            let aliases = Set(before.entries.keys).union(after.entries.keys).union(before.hidden).union(
                after.hidden)
            for alias in aliases.sorted() {
                let (entry, isHidden) = (after.entries[alias], after.hidden.contains(alias))
                guard entry != before.entries[alias] || isHidden != before.hidden.contains(alias) else { continue }
                try connection.run("DELETE FROM registry WHERE alias = ?", alias)
                if let entry {
                    try Self.insert(entry, connection)
                } else if isHidden {
                    try connection.run("INSERT INTO registry (alias) VALUES (?)", alias)
                }
            }
            return value
        }
    }

    /// The entry of an alias, with a single row lookup.
    package func registryEntry(_ alias: String) throws(AIError) -> RegistryEntry? {
        try read { connection in
            let row = try connection.first(
                "SELECT \(Self.registryColumns) FROM registry WHERE alias = ?", alias, map: Self.registryRow)
            guard let row else { return ShippedRegistry.byAlias[alias] }
            return row.entry
        }
    }

    /// The curated entry of a repository: alias, name, description. Two lookups by key, for indexing a single
    /// repository; the user's entries override the shipped ones.
    static func curation(of id: String, _ connection: Connection) throws -> RegistryEntry? {
        let own = try connection.first(
            "SELECT \(registryColumns) FROM registry WHERE id = ? ORDER BY alias", id, map: registryRow)
        if let own { return own.entry }
        guard let shipped = ShippedRegistry.byRepository[id] else { return nil }
        // Hidden, or its alias was redefined.
        let row = try connection.first("SELECT 1 FROM registry WHERE alias = ?", shipped.alias, map: { $0.int(0) })
        return row == nil ? shipped : nil
    }

    /// The sizes of entries' files, by their aliases.
    package func sizes(of entries: [RegistryEntry]) throws(AIError) -> [String: EntrySize] {
        try read { connection in
            var out: [String: EntrySize] = [:]
            for entry in entries { out[entry.alias] = try Self.size(of: entry, connection) }
            return out
        }
    }

    /// Bytes of the weights that each entry means, by the id of its repository.
    package func weights(of entries: [String: RegistryEntry]) throws(AIError) -> [String: Int64] {
        try read { connection in
            var out: [String: Int64] = [:]
            for (id, entry) in entries { out[id] = try Self.size(of: entry, connection)?.weights?.bytes }
            return out
        }
    }

    private static func size(of entry: RegistryEntry, _ connection: CatalogConnection) throws -> EntrySize? {
        let known = try ModelRow.find(Repository(.model, entry.repository), connection)
        if let known, let listed = try listedSize(of: entry, known.model, connection) { return .listed(listed) }
        if let estimate = EntrySize(estimating: entry) { return estimate }
        // The size of all quantisations says nothing of one.
        let isOneOfMany = entry.quantization != nil && entry.provider == .huggingFace
        guard !isOneOfMany, let bytes = known?.known.record.sizeBytes else { return nil }
        return .atMost(ByteCount(bytes))
    }

    /// Bytes of an entry's files in the newest tree known of the main branch; nil where none is known. Of many
    /// quantisations the one meant counts, and all that is no GGUF.
    private static func listedSize(of entry: RegistryEntry, _ model: Int64, _ connection: Connection) throws
        -> ByteCount?
    {
        let tree = try connection.first(
            """
            SELECT tree FROM trees LEFT JOIN revisions
            ON revisions.model = trees.model AND revisions."commit" = trees."commit" AND name = 'main'
            WHERE trees.model = ? ORDER BY name IS NULL, fetched_at DESC
            """, model, map: { $0.int(0) })
        guard let tree else { return nil }
        return entry.size(
            of: try connection.query(
                "SELECT path, size FROM files WHERE tree = ?", tree, map: { ($0.text(0), ByteCount($0.int(1))) }))
    }

    private static let registryColumns = """
        alias, id, provider, name, description, size, context_length, capabilities, parameters, quantization, memory, pick
        """

    private static func userRegistry(_ connection: Connection) throws -> UserRegistry {
        let rows = try connection.query(
            "SELECT \(registryColumns) FROM registry ORDER BY alias", map: registryRow)
        return UserRegistry(
            entries: rows.compactMap(\.entry), hidden: Set(rows.filter { $0.entry == nil }.map(\.alias)))
    }

    private static func registryRow(_ row: Row) throws -> (alias: String, entry: RegistryEntry?) {
        let alias = row.text(0)
        guard let id = row.optionalText(1) else { return (alias, nil) }
        func known<Value>(_ value: Value?) throws -> Value {
            guard let value else {
                throw AIError(
                    .catalogUnusable, "the catalog's registry holds an entry of an unknown kind, \(alias)")
            }
            return value
        }
        var entry = try RegistryEntry(alias: alias, repository: try RepositoryID(id))
        entry.provider = try known(ModelIdentifier.Provider(rawValue: row.text(2)))
        entry.name = row.text(3)
        entry.description = row.optionalText(4)
        entry.size = try row.optionalText(5).map { try known(ModelSize(rawValue: $0)) }
        entry.contextLength = row.optionalInt(6).map { Int($0) }
        entry.capabilities = Set(
            try row.text(7).split(separator: " ").map { try known(ModelCapability(rawValue: String($0))) })
        entry.parameters = row.optionalInt(8)
        entry.quantization = row.optionalText(9)
        entry.memory = row.optionalInt(10).map { ByteCount($0) }
        entry.isPick = row.bool(11)
        return (alias, entry)
    }

    private static func insert(_ entry: RegistryEntry, _ connection: Connection) throws {
        try connection.run(
            "INSERT INTO registry (\(registryColumns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            entry.alias, entry.repository.name, entry.provider.rawValue, entry.name, entry.description,
            entry.size?.rawValue, entry.contextLength,
            entry.orderedCapabilities.map(\.rawValue).joined(separator: " "), entry.parameters, entry.quantization,
            entry.memory?.bytes, entry.isPick)
    }
}

extension RegistryEntry {
    /// The size of this entry's files among all files of its repository.
    func size(of files: [(path: String, size: ByteCount)]) -> ByteCount {
        func isGGUF(_ path: String) -> Bool { path.lowercased().hasSuffix(".gguf") }
        let wanted = quantization.map { quantization in
            files.filter { isGGUF($0.path) && Self.names(quantization, in: $0.path) }
        }
        // If no GGUF file has the name, the repository is not a collection of quantisations.
        guard let wanted, !wanted.isEmpty else { return files.reduce(ByteCount(0)) { $0 + $1.size } }
        return (wanted + files.filter { !isGGUF($0.path) }).reduce(ByteCount(0)) { $0 + $1.size }
    }

    /// Whether a path names a quantisation as whole words: `Q4_0` is not in `model-Q4_0_4_4.gguf`.
    private static func names(_ quantization: String, in path: String) -> Bool {
        func words(_ text: String) -> [Substring] {
            text.lowercased().split { !$0.isLetter && !$0.isNumber && $0 != "_" }
        }
        return words(path).contains(words(quantization))
    }
}
