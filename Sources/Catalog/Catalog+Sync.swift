package import HubCore

/// What a mirror covers: the models of one Hub, or those of one author there.
package struct MirrorScope: Sendable, Hashable {
    /// The address of the Hub.
    package var endpoint: String
    package var author: String?

    package init(endpoint: String, author: String? = nil) {
        self.endpoint = endpoint
        self.author = author
    }
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
    fileprivate var lastRow: Int64?

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
}

extension Catalog {
    /// The time, by the Hub's clock, until which every change is known; nil where there may be gaps.
    package func knownUntil(_ scope: MirrorScope) throws(AIError) -> Double? {
        // Who knows all models knows those of the author.
        try read { connection in
            try connection.first(
                "SELECT max(known_until) FROM mirrors WHERE endpoint = ? AND author IN ('', ?)", scope.endpoint,
                scope.author ?? "", map: { $0.optionalDouble(0) }) ?? nil
        }
    }

    /// The walk of a kind that was cut off; nil where none was.
    package func interruptedWalk(_ kind: MirrorWalk.Kind, _ scope: MirrorScope) throws(AIError) -> MirrorWalk? {
        try read { connection in
            try connection.first(
                """
                SELECT cursor, newest, last_row, began_at, pages, models FROM walks JOIN mirrors USING (mirror)
                WHERE endpoint = ? AND author = ? AND kind = ?
                """, scope.endpoint, scope.author ?? "", kind.rawValue
            ) { row in
                var walk = MirrorWalk(kind, cursor: row.text(0), newest: row.optionalDouble(1), at: row.double(3))
                walk.lastRow = row.int(2)
                walk.pages = Int(row.int(4))
                walk.models = Int(row.int(5))
                return walk
            }
        }
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
    /// - Parameter next: nil where the walk is at its end. What is known without a gap then reaches to the walk's
    ///   `newest`; of a walk over everything, models that it did not meet are marked as vanished.
    package func take(
        _ records: [ModelRecord], of walk: MirrorWalk, next: String?, in scope: MirrorScope, at now: Double
    ) throws(AIError) -> MirrorStep {
        try write { connection in
            let mirror = try Self.mirror(scope, connection)
            var walk = walk
            walk.lastRow = try walk.lastRow ?? Self.lastRow(connection)
            var step = MirrorStep(
                walk: walk, tally: try Self.take(records, detailed: false, now: now, connection))
            try Self.note(heard: [.model], at: now, connection)
            step.walk.pages += 1
            step.walk.models += records.count
            if walk.kind == .whole {
                try connection.run(
                    "INSERT OR REPLACE INTO walk_pages (mirror, page, rows) VALUES (?, ?, ?)", mirror,
                    step.walk.pages, PackedRows.pack(step.tally.rows))
            }
            if let next {
                step.walk.cursor = next
                try Self.keep(step.walk, mirror: mirror, connection)
            } else {
                if walk.kind == .whole {
                    step.vanished = try Self.markVanished(step.walk, mirror: mirror, scope, now: now, connection)
                }
                try Self.finish(step.walk, mirror: mirror, now: now, connection)
            }
            return step
        }
    }

    private static func mirror(_ scope: MirrorScope, _ connection: Connection) throws -> Int64 {
        func find() throws -> Int64? {
            try connection.first(
                "SELECT mirror FROM mirrors WHERE endpoint = ? AND author = ?", scope.endpoint,
                scope.author ?? "", map: { $0.int(0) })
        }
        if let known = try find() { return known }
        try connection.run(
            "INSERT INTO mirrors (endpoint, author) VALUES (?, ?)", scope.endpoint, scope.author ?? "")
        return connection.lastInsertedRow
    }

    private static func lastRow(_ connection: Connection) throws -> Int64 {
        try connection.first("SELECT max(model) FROM models", map: { $0.int(0) }) ?? 0
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
        if kind == .whole { try connection.run("DELETE FROM walk_pages WHERE mirror = ?", mirror) }
    }

    private static func finish(_ walk: MirrorWalk, mirror: Int64, now: Double, _ connection: Connection) throws {
        try forgetWalk(walk.kind, mirror: mirror, connection)
        try connection.run(
            """
            UPDATE mirrors SET known_until = max(COALESCE(known_until, ?1), COALESCE(?1, known_until)),
                \(walk.kind == .whole ? "walked_at" : "synced_at") = ?2
            WHERE mirror = ?3
            """, walk.newest, now, mirror)
        guard walk.kind == .whole else { return }
        // A shorter walk that was cut off and began no later has nothing left to find.
        try connection.run(
            "DELETE FROM walks WHERE mirror = ? AND kind = ? AND newest <= ?", mirror,
            MirrorWalk.Kind.recent.rawValue, walk.newest)
    }

    /// Marks the models that a walk over everything did not meet. Not those that came into the catalog since it began,
    /// for its first pages could not know them; nor private ones, which lists leave out.
    private static func markVanished(
        _ walk: MirrorWalk, mirror: Int64, _ scope: MirrorScope, now: Double, _ connection: Connection
    ) throws -> Int {
        let last = walk.lastRow ?? 0
        var met = RowSet()
        for page in try connection.query(
            "SELECT rows FROM walk_pages WHERE mirror = ?", mirror, map: { $0.blob(0) })
        {
            for row in try PackedRows.unpack(page) where row <= last { met.insert(row) }
        }
        let owner = scope.author.map { $0 + "/" } ?? ""
        let gone = try connection.query(
            """
            SELECT model FROM models WHERE model <= ? AND kind = 'model' AND vanished_at IS NULL AND private IS NOT 1
            AND substr(id, 1, ?) = ?
            """, last, owner.unicodeScalars.count, owner, map: { $0.int(0) }
        ).filter { !met.contains($0) }
        guard walk.models > 0 || scope.author != nil || gone.isEmpty else {
            throw AIError(
                .protocolViolation,
                "\(scope.endpoint) lists no model at all, so none of those known is taken for gone")
        }
        for row in gone { try connection.run("UPDATE models SET vanished_at = ? WHERE model = ?", now, row) }
        return gone.count
    }
}
