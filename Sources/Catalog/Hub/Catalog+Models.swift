public import HubCore

extension Catalog {
    /// The stored data of a repository; nil if there is none.
    public func model(_ repository: Repository) throws(AIError) -> KnownModel? {
        try read { connection in try ModelRow.find(repository, connection)?.known }
    }

    /// Keeps what the Hub said. A field that the answer left out keeps what was known.
    ///
    /// - Parameters:
    ///   - detailed: whether the answers are the models' own pages, not a list.
    ///   - now: seconds since 1970.
    public func remember(_ records: [ModelRecord], detailed: Bool = false, at now: Double) throws(AIError) {
        try write { connection in
            let changes = try Self.write(records, detailed: detailed, now: now, connection)
            try Self.note(heard: Set(records.map(\.repository.kind)), at: now, connection)
            for row in changes.rows {
                try connection.once("UPDATE models SET seen_at = ? WHERE model = ? AND seen_at < ?") { values in
                    values.add(now)
                    values.add(row)
                    values.add(now)
                }
            }
        }
    }

    /// Writes records within a transaction: only the rows of models that are new or different.
    package static func write(
        _ records: [ModelRecord], detailed: Bool, now: Double, _ connection: CatalogConnection
    ) throws -> ModelChanges {
        var writer = try ModelWriter(connection, detailed: detailed, now: now)
        for record in records { try writer.write(record) }
        return try writer.end()
    }

    /// The row of a repository, made if there is none: not by the Hub's word, so that nothing says when it was heard of.
    static func row(of repository: Repository, _ connection: CatalogConnection) throws -> Int64 {
        if let known = try ModelRow.number(of: repository, connection) { return known }
        return try write([ModelRecord(repository)], detailed: false, now: 0, connection).rows[0]
    }

    /// Joins the parts that the search index has become, a little in each transaction, so that nobody else waits long. After
    /// many models came in it makes searches several times as fast. https://www.sqlite.org/fts5.html#the_merge_command
    package func tidySearch() throws(AIError) {
        while try write({ connection in
            let before = connection.totalChanges
            // A negative number joins all parts in the end, not only where many have gathered.
            try connection.run("INSERT INTO search (search, rank) VALUES ('merge', -500)")
            // "If the difference is less than 2, there was nothing left to do."
            return connection.totalChanges - before >= 2
        }) {}
    }
}
