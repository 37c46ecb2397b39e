public import HubCore

extension Catalog {
    /// When the Hub last reported repositories of a kind, in seconds since 1970; nil if none is known.
    public func newestSeen(_ kind: RepositoryKind) throws(AIError) -> Double? {
        try read { connection in
            try connection.first(
                "SELECT CAST(value AS REAL) FROM facts WHERE name = ?", Self.heard(kind), map: { $0.double(0) })
        }
    }

    /// Records that the Hub reported repositories of a kind, which avoids a scan of all rows.
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

    /// The mirror's times for a Hub's models.
    package func mirrorAge(_ endpoint: String) throws(AIError) -> MirrorAge {
        try read { connection in
            // With two Hubs a model's origin is unknown.
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

/// The time at which a Hub's models were last confirmed. A sync writes only changes, so an unchanged row is older than
/// the knowledge about it.
package struct MirrorAge: Sendable {
    struct Mark: Sendable {
        var knownUntil, walkedAt: Double?
    }

    /// By author in lower case; empty for all authors.
    fileprivate let marks: [String: Mark]

    /// When the fields that change a model's date were last confirmed.
    package func asOf(_ known: KnownModel) -> Double {
        latest(known) { [$0.walkedAt, $0.knownUntil] }
    }

    /// The same for downloads and likes, which change without a date: only a full walk sees them.
    package func countedAt(_ known: KnownModel) -> Double { latest(known) { [$0.walkedAt] } }

    private func latest(_ known: KnownModel, _ times: (Mark) -> [Double?]) -> Double {
        let own = known.detailedAt ?? known.seenAt
        let record = known.record
        // A walk cannot confirm models that lists leave out.
        guard record.repository.kind == .model, record.isPrivate != true, record.updatedAt != nil,
            known.vanishedAt == nil
        else { return own }
        let owner = record.repository.id.owner?.lowercased() ?? ""
        let authors: Set = ["", owner]
        return authors.compactMap { marks[$0] }.flatMap(times).compactMap { $0 }.reduce(own, max)
    }
}
