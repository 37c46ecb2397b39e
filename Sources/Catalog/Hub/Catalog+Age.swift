public import HubCore

extension Catalog {
    /// When the Hub was last heard on repositories of a kind, in seconds since 1970; nil where nothing is known of any.
    public func newestSeen(_ kind: RepositoryKind) throws(AIError) -> Double? {
        try read { connection in
            let noted = try connection.first(
                "SELECT CAST(value AS REAL) FROM facts WHERE name = ?", Self.heard(kind), map: { $0.double(0) })
            if let noted { return noted }
            // Nobody noted it before there were such facts: then it is that of the rows that came last. A row of which
            // only the name is known is of a cached folder.
            return try connection.first(
                """
                SELECT max(seen_at) FROM (SELECT * FROM models ORDER BY model DESC LIMIT 1000)
                WHERE kind = ? AND COALESCE(downloads, likes, created_at, updated_at) IS NOT NULL
                """, kind.rawValue, map: { $0.optionalDouble(0) }) ?? nil
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

    /// What the mirror of a Hub adds to the times of its models.
    package func mirrorAge(_ endpoint: String) throws(AIError) -> MirrorAge {
        try read { connection in
            // Of two Hubs nobody knows whose a model is.
            guard try !Self.hasOtherHubs(than: endpoint, connection) else { return MirrorAge(marks: [:]) }
            let marks = try connection.query(
                "SELECT author, known_until, walked_at FROM mirrors WHERE endpoint = ?", endpoint
            ) {
                ($0.text(0), MirrorAge.Mark(knownUntil: $0.optionalDouble(1), walkedAt: $0.optionalDouble(2)))
            }
            return MirrorAge(marks: Dictionary(marks) { first, _ in first })
        }
    }

    private static func heard(_ kind: RepositoryKind) -> String { "heard of \(kind.rawValue)" }
}

/// When a Hub's models were last as the catalog has them. A sync writes only what is new, so that the row of any other
/// model is older than what is known of it.
package struct MirrorAge: Sendable {
    struct Mark: Sendable {
        var knownUntil, walkedAt: Double?
    }

    /// By author in lower case; the empty one is for all.
    fileprivate let marks: [String: Mark]

    /// When all that moves a model's date was as the catalog has it.
    package func asOf(_ known: KnownModel) -> Double {
        latest(known) { [$0.walkedAt, $0.knownUntil] }
    }

    /// The same of its downloads and likes, which move without a date: only a walk over everything sees them.
    package func countedAt(_ known: KnownModel) -> Double { latest(known) { [$0.walkedAt] } }

    private func latest(_ known: KnownModel, _ times: (Mark) -> [Double?]) -> Double {
        let own = known.detailedAt ?? known.seenAt
        let record = known.record
        // What no list shows, no walk can vouch for.
        guard record.repository.kind == .model, record.isPrivate != true, record.updatedAt != nil,
            known.vanishedAt == nil
        else { return own }
        let owner = record.repository.id.owner?.lowercased() ?? ""
        let authors: Set = ["", owner]
        return authors.compactMap { marks[$0] }.flatMap(times).compactMap { $0 }.reduce(own, max)
    }
}
