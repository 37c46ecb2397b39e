import CSQLite
package import HubCore

/// What a mirror covers: the models of one Hub, or those of one author there.
package struct MirrorScope: Sendable, Hashable {
    /// The address of the Hub.
    package let endpoint: String
    /// The author as somebody wrote it.
    let spelling: String?

    package init(endpoint: String, author: String? = nil) {
        self.endpoint = endpoint
        spelling = author
    }

    /// The author in lower case, for the Hub tells none apart by case; empty for all of them.
    var author: String { spelling?.lowercased() ?? "" }
}

/// A walk along the Hub's list of models, and how far it has come.
package struct MirrorWalk: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        /// From the model that changed last down to what is known.
        case recent
        /// Over every model, which also finds what changed without a date, and what is gone.
        case whole
    }

    package var kind: Kind
    /// The address of the page to go on with.
    package var cursor: String
    /// The last change there was when the walk began, seconds since 1970 by the Hub's clock: what is known without a gap
    /// when it has ended. nil while no date was seen.
    package var newest: Double?
    /// When it began, seconds since 1970.
    package var beganAt: Double
    /// Pages and models so far.
    package fileprivate(set) var pages = 0
    package fileprivate(set) var models = 0
    /// The last model of the catalog at the beginning; nil before the first page.
    fileprivate(set) var lastRow: Int64?

    /// Says that the catalog does not hold the walk that is to go on: the file is another one by now, or another process
    /// has taken a page.
    package struct Lost: Error {}

    package init(_ kind: Kind, cursor: String, newest: Double? = nil, at now: Double) {
        self.kind = kind
        self.cursor = cursor
        self.newest = newest
        beganAt = now
    }
}

/// What a page of a walk came to.
package struct MirrorStep: Sendable, Hashable {
    /// The walk, going on.
    package var walk: MirrorWalk
    package var tally: IntakeTally
    /// Models that turned out to be gone.
    package var vanished = 0
    /// Models that were not met and may be another Hub's.
    package var elsewhere = 0
}

extension Catalog {
    /// The time, by the Hub's clock, until which every change is known; nil where there may be gaps.
    package func knownUntil(_ scope: MirrorScope) throws(AIError) -> Double? {
        try read { try Self.knownUntil(scope, $0) }
    }

    /// The walk of a kind that was cut off; nil where none was.
    package func interruptedWalk(_ kind: MirrorWalk.Kind, _ scope: MirrorScope) throws(AIError) -> MirrorWalk? {
        try read { try Self.interruptedWalk(kind, scope, $0) }
    }

    /// Forgets how far a walk has come; what it brought stays.
    package func forgetWalk(_ kind: MirrorWalk.Kind, _ scope: MirrorScope) throws(AIError) {
        try write { connection in
            try Self.forgetWalk(kind, mirror: try Self.mirror(scope, connection), connection)
        }
    }

    /// Takes a page of a walk in, and with it, in the one transaction, where the walk goes on: whatever happens, the
    /// models of all pages before that place are known.
    ///
    /// - Parameters:
    ///   - pages: of how many pages in a row the records are.
    ///   - next: nil where the walk is at its end. What is known without a gap then reaches to the walk's `newest`; of a
    ///     walk over everything, models that it did not meet are marked as vanished.
    ///   - mark: the time that was known until and that the walk came down to; nil where it ended with the list.
    /// - Throws: with ``MirrorWalk/Lost`` as the cause where the catalog does not stand where the walk does, or knows
    ///   less than the mark: what came before is not in it, so nothing may follow from this page.
    package func take(
        _ records: [ModelRecord], of walk: MirrorWalk, pages: Int = 1, next: String?, downTo mark: Double? = nil,
        in scope: MirrorScope, at now: Double
    ) throws(AIError) -> MirrorStep {
        try write { connection in
            try Self.check(walk, downTo: mark, scope, connection)
            let mirror = try Self.mirror(scope, connection)
            // Whatever is noted there is of no walk any more.
            if walk.pages == 0 { try Self.forgetWalk(walk.kind, mirror: mirror, connection) }
            var walk = walk
            walk.lastRow = try walk.lastRow ?? Self.lastRow(connection)
            var step = MirrorStep(
                walk: walk, tally: try Self.take(records, detailed: false, now: now, connection))
            try Self.note(heard: [.model], at: now, connection)
            step.walk.pages += pages
            step.walk.models += records.count
            if walk.kind == .whole {
                try MirrorNotes.keep(step.tally.rows, page: step.walk.pages, mirror: mirror, connection)
            }
            if let next {
                step.walk.cursor = next
                try Self.keep(step.walk, mirror: mirror, connection)
            } else {
                if walk.kind == .whole {
                    (step.vanished, step.elsewhere) = try MirrorNotes(step.walk, mirror: mirror, scope, connection)
                        .markVanished(at: now)
                }
                try Self.finish(step.walk, mirror: mirror, connection)
            }
            return step
        }
    }

    /// Whether the catalog, which may be another file than a moment ago, is the one that the walk goes on in.
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
                .catalogUnusable, "the catalog does not hold this walk over the Hub's models any more",
                cause: MirrorWalk.Lost())
        }
    }

    private static func knownUntil(_ scope: MirrorScope, _ connection: Connection) throws -> Double? {
        // Who knows all models knows those of the author.
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

    static func lastRow(_ connection: Connection) throws -> Int64 {
        let last = try connection.first("SELECT max(model) FROM models", map: { $0.int(0) }) ?? 0
        guard last <= ModelRow.numbers.upperBound else {
            throw SQLiteError(extendedCode: SQLITE_CORRUPT, message: "a model's row has an impossible number")
        }
        return last
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
        if kind == .whole { try MirrorNotes.forget(mirror: mirror, connection) }
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
        // A shorter walk that was cut off and began no later has nothing left to find.
        try connection.run(
            "DELETE FROM walks WHERE mirror = ? AND kind = ? AND newest <= ?", mirror,
            MirrorWalk.Kind.recent.rawValue, walk.newest)
    }
}
