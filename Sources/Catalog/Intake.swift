public import HubCore

/// What taking in records came to.
public struct IntakeTally: Sendable, Hashable {
    /// Models that were not known.
    public var added = 0
    /// Models of which something is different now.
    public var changed = 0
    /// Models of which everything was known; nothing was written.
    public var unchanged = 0
    /// The row of each record's model, in their order.
    package var rows: [Int64] = []
}

extension Catalog {
    /// Takes in what the Hub said. A field that the answer left out keeps what was known.
    ///
    /// - Parameters:
    ///   - detailed: whether the answers are the models' own pages, not a list.
    ///   - now: seconds since 1970.
    public func remember(_ records: [ModelRecord], detailed: Bool = false, at now: Double) throws(AIError) {
        try write { connection in
            let tally = try Self.take(records, detailed: detailed, now: now, connection)
            for row in tally.rows {
                try connection.once("UPDATE models SET seen_at = ? WHERE model = ? AND seen_at < ?") { values in
                    values.add(now)
                    values.add(row)
                    values.add(now)
                }
            }
        }
    }

    /// Takes in records within a transaction, and writes only the rows of models that are new or different.
    static func take(_ records: [ModelRecord], detailed: Bool, now: Double, _ connection: Connection) throws
        -> IntakeTally
    {
        var tally = IntakeTally()
        tally.rows.reserveCapacity(records.count)
        var changes = SearchIndex.Changes()
        for record in records {
            if let old = try ModelRow.find(record.repository, connection) {
                tally.rows.append(old.model)
                if try update(old, with: record, detailed: detailed, now: now, &changes, connection) {
                    tally.changed += 1
                } else {
                    tally.unchanged += 1
                }
            } else {
                tally.rows.append(try insert(record, detailed: detailed, now: now, &changes, connection))
                tally.added += 1
            }
        }
        try changes.apply(connection)
        return tally
    }

    /// The row of a repository, made if there is none.
    static func row(of repository: Repository, now: Double, _ connection: Connection) throws -> Int64 {
        try take([ModelRecord(repository)], detailed: false, now: now, connection).rows[0]
    }

    /// Whether anything was different.
    private static func update(
        _ old: ModelRow.Stored, with new: ModelRecord, detailed: Bool, now: Double,
        _ changes: inout SearchIndex.Changes,
        _ connection: Connection
    ) throws -> Bool {
        let before = old.known.record
        let after = before.updated(with: new)
        let isChanged = !after.isSame(as: before) || old.known.vanishedAt != nil
        guard isChanged || detailed else { return false }
        let step = Popularity.step(from: old.step, downloads: after.downloads)
        let bind = try ModelRow.bind(after, connection)
        try connection.once(
            """
            UPDATE models SET step = ?, seen_at = ?, detailed_at = COALESCE(?, detailed_at), vanished_at = NULL,
                (author, task, library, license, tags, downloads, likes, trending, parameters, used_storage, gated, private,
                disabled, created_at, updated_at) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            WHERE model = ?
            """
        ) { values in
            values.add(step)
            values.add(now)
            values.add(detailed ? now : nil)
            bind(&values)
            values.add(old.model)
        }
        let (oldRow, newRow) = (
            Popularity.row(step: old.step, model: old.model), Popularity.row(step: step, model: old.model)
        )
        let (oldText, newText) = (SearchIndex.document(before), SearchIndex.document(after))
        if oldRow != newRow || oldText != newText {
            changes.delete(oldText, row: oldRow)
            changes.insert(newText, row: newRow)
        }
        return isChanged
    }

    /// - Parameter model: the row's number; nil for the next.
    static func insert(
        _ new: ModelRecord, as model: Int64? = nil, detailed: Bool = false, now: Double,
        _ changes: inout SearchIndex.Changes, _ connection: Connection
    ) throws -> Int64 {
        let step = Popularity.step(downloads: new.downloads)
        let bind = try ModelRow.bind(new, connection)
        try connection.once(
            """
            INSERT INTO models (model, kind, id, step, seen_at, detailed_at, author, task, library, license, tags, downloads,
                likes, trending, parameters, used_storage, gated, private, disabled, created_at, updated_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        ) { values in
            values.add(model)
            values.add(new.repository.kind.rawValue)
            values.add(new.repository.id.name)
            values.add(step)
            values.add(now)
            values.add(detailed ? now : nil)
            bind(&values)
        }
        let model = connection.lastInsertedRow
        changes.insert(SearchIndex.document(new), row: Popularity.row(step: step, model: model))
        return model
    }
}

extension ModelRecord {
    /// This record with every field that `new` knows.
    func updated(with new: ModelRecord) -> ModelRecord {
        var out = self
        out.author = new.author ?? author
        out.task = new.task ?? task
        out.library = new.library ?? library
        out.license = new.license ?? license
        out.downloads = new.downloads ?? downloads
        out.likes = new.likes ?? likes
        out.trendingScore = new.trendingScore ?? trendingScore
        out.parameters = new.parameters ?? parameters
        out.usedStorage = new.usedStorage ?? usedStorage
        out.gating = new.gating ?? gating
        out.isPrivate = new.isPrivate ?? isPrivate
        out.isDisabled = new.isDisabled ?? isDisabled
        out.createdAt = new.createdAt ?? createdAt
        out.updatedAt = new.updatedAt ?? updatedAt
        out.tags = new.tags ?? tags
        return out
    }
}
