import HubCore

/// What writing records came to.
package struct ModelChanges: Sendable, Hashable {
    /// Models that were not known.
    package var added = 0
    /// Models of which something is different now.
    package var changed = 0
    /// Models of which everything was known; nothing was written.
    package var unchanged = 0
    /// The row of each record's model, in their order.
    package var rows: [Int64] = []
}

/// Writes records into the tables of models and the search index, in one transaction, where they are new or different.
struct ModelWriter {
    private let connection: CatalogConnection
    private let detailed: Bool
    private let now: Double
    private let find, insertion, change: Statement
    private var changes = ModelChanges()
    private var index = SearchIndex.Changes()

    init(_ connection: CatalogConnection, detailed: Bool, now: Double) throws {
        self.connection = connection
        self.detailed = detailed
        self.now = now
        let columns = ModelColumn.all.map(\.name).joined(separator: ", ")
        let marks = ModelColumn.all.map { _ in "?" }.joined(separator: ", ")
        find = try connection.statement(ModelRow.selection)
        insertion = try connection.statement(
            """
            INSERT INTO models (name, kind, id, step, seen_at, detailed_at, \(columns))
            VALUES (?, ?, ?, ?, ?, ?, \(marks))
            """)
        change = try connection.statement(
            """
            UPDATE models SET step = ?, seen_at = ?, detailed_at = COALESCE(?, detailed_at), vanished_at = NULL,
                (\(columns)) = (\(marks))
            WHERE model = ?
            """)
    }

    mutating func write(_ record: ModelRecord) throws {
        if let known = record.withoutEmptyAuthor { return try write(known) }
        let old = try find.once(
            bind: { ModelRow.bind(record.repository, to: &$0) }, row: { try ModelRow.read($0, connection) })
        if let old {
            changes.rows.append(old.model)
            if try update(old, with: record) { changes.changed += 1 } else { changes.unchanged += 1 }
        } else {
            changes.rows.append(try insert(record))
            changes.added += 1
        }
    }

    /// Writes what the search index is to know.
    mutating func end() throws -> ModelChanges {
        try index.apply(connection)
        return changes
    }

    /// Updates a row; returns whether anything changed.
    private mutating func update(_ old: ModelRow.Stored, with new: ModelRecord) throws -> Bool {
        let before = old.known.record
        let after = before.updated(with: new)
        let isChanged = !after.isSame(as: before) || old.known.vanishedAt != nil
        guard isChanged || detailed else { return false }
        let step = Popularity.step(from: old.step, downloads: after.downloads)
        try change.once { values in
            values.add(step)
            values.add(now)
            values.add(detailed ? now : nil)
            for column in ModelColumn.all { try column.bind(after, &values, connection) }
            values.add(old.model)
        }
        let oldRow = Popularity.row(step: old.step, model: old.model)
        let newRow = Popularity.row(step: step, model: old.model)
        let (oldText, newText) = (SearchIndex.document(before), SearchIndex.document(after))
        if !after.isByOwner, let author = after.author { try connection.words.add(author, connection) }
        if oldRow != newRow || oldText != newText {
            index.delete(oldText, row: oldRow)
            index.insert(newText, row: newRow)
        }
        return isChanged
    }

    /// Makes the row of a model that has none; its number.
    private mutating func insert(_ new: ModelRecord) throws -> Int64 {
        try connection.words.add(new.repository.id.name, connection)
        if !new.isByOwner, let author = new.author { try connection.words.add(author, connection) }
        let step = Popularity.step(downloads: new.downloads)
        try insertion.once { values in
            ModelRow.bind(new.repository, to: &values)
            values.add(step)
            values.add(now)
            values.add(detailed ? now : nil)
            for column in ModelColumn.all { try column.bind(new, &values, connection) }
        }
        let model = connection.lastInsertedRow
        index.insert(SearchIndex.document(new), row: Popularity.row(step: step, model: model))
        return model
    }
}

extension ModelRecord {
    /// This record without an author, where it has one without a name; for the empty text stands for the owner in the id
    /// (see ``ModelColumn``).
    fileprivate var withoutEmptyAuthor: ModelRecord? {
        guard author?.isEmpty == true else { return nil }
        var record = self
        record.author = nil
        return record
    }
}
