import HubCore

/// The table `walk_pages`: what a walk over everything met, and what follows from what it did not meet.
///
/// It holds the rows of the pages that were kept together; page 0 those of the last walk that came to its end, by which a
/// Hub's own models are told from those of other Hubs that have filled the catalog as well.
struct WalkPages {
    private static let finished = 0
    private static let isListed = "kind = 'model' AND vanished_at IS NULL AND private IS NOT 1"
    private let walk: MirrorWalk
    private let mirror: Int64
    private let scope: MirrorScope
    private let connection: Connection
    /// The rows of this walk's models; nil if the notes are damaged.
    private let met: RowSet?

    init(_ walk: MirrorWalk, mirror: Int64, _ scope: MirrorScope, _ connection: Connection) throws {
        (self.walk, self.mirror, self.scope, self.connection) = (walk, mirror, scope, connection)
        met = try Self.rows("mirror = ? AND page > \(Self.finished)", [mirror], connection)
    }

    /// Records the models of a page.
    static func keep(_ rows: [Int64], page: Int, mirror: Int64, _ connection: Connection) throws {
        try connection.run(
            "INSERT OR REPLACE INTO walk_pages (mirror, page, rows) VALUES (?, ?, ?)", mirror, page,
            PackedRows.pack(rows))
    }

    /// Removes the pages of an unfinished walk.
    static func forget(mirror: Int64, _ connection: Connection) throws {
        try connection.run("DELETE FROM walk_pages WHERE mirror = ? AND page > ?", mirror, finished)
    }

    /// Marks the models that a finished walk did not see as vanished. Not models added since it began, private ones
    /// (lists leave them out) or possible models of another Hub. If the notes are damaged, none is marked.
    ///
    /// - Parameter hasOtherHubs: whether other Hubs have filled the catalog as well.
    /// - Returns: how many were marked, and how many may be another Hub's.
    func markVanished(hasOtherHubs: Bool, at now: Double) throws -> (vanished: Int, elsewhere: Int) {
        guard let met else { return (0, 0) }
        let unmet = try unmet(met)
        let gone = hasOtherHubs ? try own(unmet) : unmet
        guard walk.models > 0 || scope.spelling != nil || gone.isEmpty else {
            throw AIError(
                .protocolViolation,
                "\(scope.endpoint) lists no models, so no known model is marked as gone")
        }
        for row in gone { try connection.run("UPDATE models SET vanished_at = ? WHERE model = ?", now, row) }
        if walk.models > 0 { try Self.keep(met.rows, page: Self.finished, mirror: mirror, connection) }
        return (gone.count, unmet.count - gone.count)
    }

    /// The models that existed when the walk began and should have been listed.
    private func unmet(_ met: RowSet) throws -> [Int64] {
        let last = walk.lastRow ?? 0
        guard let spelling = scope.spelling else {
            return try connection.query(
                "SELECT model FROM models WHERE \(Self.isListed) AND model <= ?", last, map: { $0.int(0) }
            ).filter { !met.contains($0) }
        }
        // Some servers treat author names as case-sensitive: only models of listed spellings can have vanished.
        var owners: Set<String> = [spelling]
        var unmet: [(row: Int64, owner: String)] = []
        let models = try connection.query(
            """
            SELECT model, substr(id, 1, length(?2)) AS owner FROM models
            WHERE \(Self.isListed) AND model <= ?1 AND owner = ?2 COLLATE NOCASE AND substr(id, length(?2) + 1, 1) = '/'
            """, last, spelling, map: { (row: $0.int(0), owner: $0.text(1)) })
        for model in models {
            if met.contains(model.row) { owners.insert(model.owner) } else { unmet.append(model) }
        }
        return unmet.filter { owners.contains($0.owner) }.map(\.row)
    }

    /// The models that only this Hub has listed before.
    private func own(_ rows: [Int64]) throws -> [Int64] {
        let listed = try Self.rows(
            "page = \(Self.finished) AND endpoint = ? AND author IN ('', ?)", [scope.endpoint, scope.author],
            connection)
        let others = try Self.rows("page = \(Self.finished) AND endpoint <> ?", [scope.endpoint], connection)
        guard let listed, let others else { return [] }
        return rows.filter { listed.contains($0) && !others.contains($0) }
    }

    /// nil if the notes are damaged.
    private static func rows(_ condition: String, _ values: [any SQLBindable], _ connection: Connection) throws
        -> RowSet?
    {
        var set: RowSet? = RowSet()
        // Damaged notes may name any row.
        let last = max(1, try ModelRow.last(connection))
        try connection.each(
            "SELECT rows FROM walk_pages JOIN mirrors USING (mirror) WHERE \(condition)", list: values
        ) { row in
            guard let rows = PackedRows.unpack(row.blob(0)) else {
                set = nil
                return false
            }
            for number in rows where (1...last).contains(number) { set?.insert(number) }
            return true
        }
        return set
    }
}
