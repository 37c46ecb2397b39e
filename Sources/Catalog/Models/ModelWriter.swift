public import HubCore

/// The result of storing records.
public struct IntakeTally: Sendable, Hashable {
    /// New models.
    public var added = 0
    /// Models with changes.
    public var changed = 0
    /// Models without changes; nothing was written.
    public var unchanged = 0
    /// The row of each record's model, in order.
    package var rows: [Int64] = []
}

extension Catalog {
    /// Stores the Hub's records. A field missing from an answer keeps its old value.
    ///
    /// - Parameters:
    ///   - detailed: whether the records come from the models' own pages, not a list.
    ///   - now: seconds since 1970.
    public func remember(_ records: [ModelRecord], detailed: Bool = false, at now: Double) throws(AIError) {
        try write { connection in
            let tally = try Self.take(records, detailed: detailed, now: now, connection)
            try Self.note(heard: Set(records.map(\.repository.kind)), at: now, connection)
            for row in tally.rows {
                try connection.once("UPDATE models SET seen_at = ? WHERE model = ? AND seen_at < ?") { values in
                    values.add(now)
                    values.add(row)
                    values.add(now)
                }
            }
        }
    }

    /// Stores records within a transaction, writing only new or changed rows.
    package static func take(
        _ records: [ModelRecord], detailed: Bool, now: Double, _ connection: Connection
    ) throws -> IntakeTally {
        var intake = try Intake(connection, detailed: detailed, now: now)
        for record in records { try intake.take(record) }
        return try intake.end()
    }

    /// Merges the segments of the search index in small transactions, so that others wait little. After many new models
    /// searches become several times faster. https://www.sqlite.org/fts5.html#the_merge_command
    package func tidySearch() throws(AIError) {
        while try write({ connection in
            let before = connection.totalChanges
            // A negative number merges all segments in the end, not only crowded levels.
            try connection.run("INSERT INTO search (search, rank) VALUES ('merge', -500)")
            // "If the difference is less than 2, there was nothing left to do."
            return connection.totalChanges - before >= 2
        }) {}
    }

    /// The row of a repository, created if missing: not from the Hub, so without a time.
    static func row(of repository: Repository, _ connection: Connection) throws -> Int64 {
        if let known = try ModelRow.number(of: repository, connection) { return known }
        return try take([ModelRecord(repository)], detailed: false, now: 0, connection).rows[0]
    }
}

/// Writes records within one transaction.
struct Intake {
    private let connection: Connection
    private let detailed: Bool
    private let now: Double
    private let find, insertion, change: Statement
    private var tally = IntakeTally()
    private var index = SearchIndex.Changes()

    init(_ connection: Connection, detailed: Bool, now: Double) throws {
        self.connection = connection
        self.detailed = detailed
        self.now = now
        find = try connection.statement("SELECT \(ModelRow.columns) FROM models WHERE \(ModelRow.isThis)")
        insertion = try connection.statement(
            """
            INSERT INTO models (name, kind, id, model, step, seen_at, detailed_at, \(ModelRow.said))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        change = try connection.statement(
            """
            UPDATE models SET step = ?, seen_at = ?, detailed_at = COALESCE(?, detailed_at), vanished_at = NULL,
                (\(ModelRow.said)) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            WHERE model = ?
            """)
    }

    mutating func take(_ record: ModelRecord) throws {
        if let known = record.withoutEmptyAuthor { return try take(known) }
        let old = try find.once(
            bind: { ModelRow.bind(record.repository, to: &$0) }, row: { try ModelRow.read($0, connection) })
        if let old {
            tally.rows.append(old.model)
            if try update(old, with: record) { tally.changed += 1 } else { tally.unchanged += 1 }
        } else {
            tally.rows.append(try insert(record))
            tally.added += 1
        }
    }

    /// Writes the changes to the search index.
    mutating func end() throws -> IntakeTally {
        try index.apply(connection)
        return tally
    }

    /// Updates a row; returns whether anything changed.
    private mutating func update(_ old: ModelRow.Stored, with new: ModelRecord) throws -> Bool {
        let before = old.known.record
        let after = before.updated(with: new)
        let isChanged = !after.isSame(as: before) || old.known.vanishedAt != nil
        guard isChanged || detailed else { return false }
        let step = Popularity.step(from: old.step, downloads: after.downloads)
        let said = try ModelRow.Said(after, connection)
        try change.once { values in
            values.add(step)
            values.add(now)
            values.add(detailed ? now : nil)
            said.add(to: &values)
            values.add(old.model)
        }
        let oldRow = Popularity.row(step: old.step, model: old.model)
        let newRow = Popularity.row(step: step, model: old.model)
        let (oldText, newText) = (SearchIndex.document(before), SearchIndex.document(after))
        if !after.isByOwner, let author = after.author { try connection.vocabulary.add(author, connection) }
        if oldRow != newRow || oldText != newText {
            index.delete(oldText, row: oldRow)
            index.insert(newText, row: newRow)
        }
        return isChanged
    }

    /// Inserts a model's row.
    ///
    /// - Parameter model: the row's number; nil for the next.
    @discardableResult
    mutating func insert(_ new: ModelRecord, as model: Int64? = nil) throws -> Int64 {
        if let known = new.withoutEmptyAuthor { return try insert(known, as: model) }
        try connection.vocabulary.add(new.repository.id.name, connection)
        if !new.isByOwner, let author = new.author { try connection.vocabulary.add(author, connection) }
        let step = Popularity.step(downloads: new.downloads)
        let said = try ModelRow.Said(new, connection)
        try insertion.once { values in
            ModelRow.bind(new.repository, to: &values)
            values.add(model)
            values.add(step)
            values.add(now)
            values.add(detailed ? now : nil)
            said.add(to: &values)
        }
        let model = connection.lastInsertedRow
        index.insert(SearchIndex.document(new), row: Popularity.row(step: step, model: model))
        return model
    }
}

extension ModelRecord {
    /// This record without an empty author, because the empty text means the owner in the id (see ``ModelRow``).
    fileprivate var withoutEmptyAuthor: ModelRecord? {
        guard author?.isEmpty == true else { return nil }
        var record = self
        record.author = nil
        return record
    }

    /// This record updated with the fields of `new`.
    func updated(with new: ModelRecord) -> ModelRecord {
        /// Values that the Hub can remove: missing from an exhaustive answer means removed.
        func kept<Value>(_ old: Value?) -> Value? { new.isExhaustive ? nil : old }
        var out = self
        out.author = new.author ?? author
        out.task = new.task ?? kept(task)
        out.library = new.library ?? kept(library)
        out.license = new.license ?? kept(license)
        out.downloads = new.downloads ?? downloads
        out.likes = new.likes ?? likes
        out.trendingScore = new.trendingScore ?? kept(trendingScore)
        out.parameters = new.parameters ?? kept(parameters)
        out.usedStorage = new.usedStorage ?? kept(usedStorage)
        out.gating = new.gating ?? kept(gating)
        out.isPrivate = new.isPrivate ?? isPrivate
        out.isDisabled = new.isDisabled ?? isDisabled
        out.createdAt = new.createdAt ?? createdAt
        out.updatedAt = new.updatedAt ?? updatedAt
        out.tags = new.tags ?? tags
        return out
    }
}
