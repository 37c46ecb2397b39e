package import HubCore

/// What a page of a walk came to.
package struct MirrorStep: Sendable, Hashable {
    /// The continued walk.
    package var walk: MirrorWalk
    package var changes: ModelChanges
    /// Models that turned out to be gone.
    package var vanished = 0
    /// Models that were not seen and may belong to another Hub.
    package var elsewhere = 0
}

extension Catalog {
    /// The time, by the Hub's clock, up to which every change is known; nil if there may be gaps.
    package func knownUntil(_ scope: MirrorScope) throws(AIError) -> Double? {
        try read { try Self.knownUntil(scope, $0) }
    }

    /// The interrupted walk of a kind; nil if there is none.
    package func interruptedWalk(_ kind: MirrorWalk.Kind, _ scope: MirrorScope) throws(AIError) -> MirrorWalk? {
        try read { try Self.interruptedWalk(kind, scope, $0) }
    }

    /// Removes a walk's progress; its models stay.
    package func forgetWalk(_ kind: MirrorWalk.Kind, _ scope: MirrorScope) throws(AIError) {
        try write { connection in
            try Self.forgetWalk(kind, mirror: try Self.mirror(scope, connection), connection)
        }
    }

    /// Stores a page of a walk and the walk's progress in one transaction, so the models of all earlier pages are
    /// always known.
    ///
    /// - Parameters:
    ///   - pages: the number of consecutive pages in the records.
    ///   - next: nil at the end of the walk. All changes up to the walk's `newest` are then known; after a full walk,
    ///     models that it did not see are marked as vanished.
    ///   - mark: the earlier known time that the walk reached; nil if it ended with the list.
    /// - Throws: with ``MirrorWalk/Lost`` as the cause if the catalog's progress differs from the walk's, or is behind
    ///   the mark: earlier pages are missing, so this page must not be used.
    package func take(
        _ records: [ModelRecord], of walk: MirrorWalk, pages: Int = 1, next: String?, downTo mark: Double? = nil,
        in scope: MirrorScope, at now: Double
    ) throws(AIError) -> MirrorStep {
        try write { connection in
            try Self.check(walk, downTo: mark, scope, connection)
            let mirror = try Self.mirror(scope, connection)
            // Notes of an earlier walk are obsolete.
            if walk.pages == 0 { try Self.forgetWalk(walk.kind, mirror: mirror, connection) }
            var walk = walk
            walk.lastRow = try walk.lastRow ?? ModelRow.last(connection)
            var step = MirrorStep(
                walk: walk, changes: try Self.write(records, detailed: false, now: now, connection))
            try Self.note(heard: [.model], at: now, connection)
            step.walk.pages += pages
            step.walk.models += records.count
            if walk.kind == .whole {
                try WalkPages.keep(step.changes.rows, page: step.walk.pages, mirror: mirror, connection)
            }
            if let next {
                step.walk.cursor = next
                try Self.keep(step.walk, mirror: mirror, connection)
            } else {
                if walk.kind == .whole {
                    let pages = try WalkPages(step.walk, mirror: mirror, scope, connection)
                    (step.vanished, step.elsewhere) = try pages.markVanished(
                        hasOtherHubs: Self.hasOtherHubs(than: scope.endpoint, connection), at: now)
                }
                try Self.finish(step.walk, mirror: mirror, connection)
            }
            return step
        }
    }

    /// Checks that the catalog, whose file may have been replaced, still contains the walk.
    private static func check(
        _ walk: MirrorWalk, downTo mark: Double?, _ scope: MirrorScope, _ connection: Connection
    ) throws {
        let stored = try interruptedWalk(walk.kind, scope, connection)
        let isHeld =
            walk.pages == 0
            ? stored == nil
            : stored?.pages == walk.pages && stored?.cursor == walk.cursor && stored?.beganAt == walk.beganAt
                && stored?.lastRow == walk.lastRow
        var reaches = true
        if let mark { reaches = try knownUntil(scope, connection) ?? -.infinity >= mark }
        guard isHeld, reaches else {
            throw AIError(
                .catalogUnusable, "the catalog no longer holds this walk over the Hub's models",
                cause: MirrorWalk.Lost())
        }
    }

    private static func knownUntil(_ scope: MirrorScope, _ connection: Connection) throws -> Double? {
        // A mirror of all models covers the author's too.
        try connection.first(
            "SELECT max(known_until) FROM mirrors WHERE endpoint = ? AND author IN ('', ?)", scope.endpoint,
            scope.author, map: { $0.optionalDouble(0) }) ?? nil
    }

    private static func interruptedWalk(
        _ kind: MirrorWalk.Kind, _ scope: MirrorScope, _ connection: Connection
    ) throws -> MirrorWalk? {
        try connection.first(
            """
            SELECT cursor, newest, last_row, began_at, pages, models FROM walks JOIN mirrors USING (mirror)
            WHERE endpoint = ? AND author = ? AND kind = ?
            """, scope.endpoint, scope.author, kind.rawValue
        ) { row in
            var walk = MirrorWalk(kind, cursor: row.text(0), newest: row.optionalDouble(1), at: row.double(3))
            walk.lastRow = row.int(2)
            walk.pages = Int(row.int(4))
            walk.models = Int(row.int(5))
            return walk
        }
    }

    private static func mirror(_ scope: MirrorScope, _ connection: Connection) throws -> Int64 {
        let known = try connection.first(
            "SELECT mirror FROM mirrors WHERE endpoint = ? AND author = ?", scope.endpoint, scope.author,
            map: { $0.int(0) })
        if let known { return known }
        try connection.run("INSERT INTO mirrors (endpoint, author) VALUES (?, ?)", scope.endpoint, scope.author)
        return connection.lastInsertedRow
    }

    private static func keep(_ walk: MirrorWalk, mirror: Int64, _ connection: Connection) throws {
        try connection.run(
            """
            INSERT OR REPLACE INTO walks (mirror, kind, cursor, newest, last_row, began_at, pages, models)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """, mirror, walk.kind.rawValue, walk.cursor, walk.newest, walk.lastRow, walk.beganAt, walk.pages,
            walk.models)
    }

    private static func forgetWalk(_ kind: MirrorWalk.Kind, mirror: Int64, _ connection: Connection) throws {
        try connection.run("DELETE FROM walks WHERE mirror = ? AND kind = ?", mirror, kind.rawValue)
        if kind == .whole { try WalkPages.forget(mirror: mirror, connection) }
    }

    private static func finish(_ walk: MirrorWalk, mirror: Int64, _ connection: Connection) throws {
        try forgetWalk(walk.kind, mirror: mirror, connection)
        let began = walk.kind == .whole ? "walked_at" : "synced_at"
        try connection.run(
            """
            UPDATE mirrors SET known_until = max(COALESCE(known_until, ?1), COALESCE(?1, known_until)),
                \(began) = max(COALESCE(\(began), ?2), ?2)
            WHERE mirror = ?3
            """, walk.newest, walk.beganAt, mirror)
        guard walk.kind == .whole else { return }
        // An interrupted short walk that began no later is obsolete.
        try connection.run(
            "DELETE FROM walks WHERE mirror = ? AND kind = ? AND newest <= ?", mirror,
            MirrorWalk.Kind.recent.rawValue, walk.newest)
    }
}
