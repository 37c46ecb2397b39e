public import HubCore

extension Catalog {
    /// When the Hub was last heard on repositories of a kind, in seconds since 1970; nil where nothing is known of any.
    public func newestSeen(_ kind: RepositoryKind) throws(AIError) -> Double? {
        try read { connection in
            try connection.first(
                "SELECT CAST(value AS REAL) FROM facts WHERE name = ?", Self.heard(kind), map: { $0.double(0) })
        }
    }

    /// Notes that the Hub was heard on repositories of a kind, so that nobody has to look at all of them.
    static func note(heard kinds: Set<RepositoryKind>, at now: Double, _ connection: Connection) throws {
        for kind in kinds {
            try connection.run(
                """
                INSERT INTO facts (name, value) VALUES (?, CAST(? AS TEXT))
                ON CONFLICT (name) DO UPDATE SET value = excluded.value
                WHERE CAST(excluded.value AS REAL) > CAST(value AS REAL)
                """, heard(kind), now)
        }
    }

    private static func heard(_ kind: RepositoryKind) -> String { "heard of \(kind.rawValue)" }
}
