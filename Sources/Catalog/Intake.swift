import HubCore

/// What answers of the Hub did to the catalog.
package struct IntakeTally: Sendable, Hashable {
    package var added = 0
    package var changed = 0
    package var unchanged = 0
    /// The model's row of each record, in the records' order.
    package var rows: [Int64] = []
}

extension Catalog {
    /// Takes in what the Hub said; nothing is written for a record that says nothing new.
    static func take(_ records: [ModelRecord], detailed: Bool, now: Double, _ connection: Connection) throws
        -> IntakeTally
    {
        var tally = IntakeTally()
        for record in records {
            let known = try connection.first(
                "SELECT \(columns), vanished_at FROM models WHERE kind = ? AND id = ?",
                record.repository.kind.rawValue, record.repository.id.name,
                map: { (model: try knownModel($0), isGone: $0.optionalDouble(19) != nil) })
            guard let known else {
                tally.added += 1
                tally.rows.append(try upsert(record, detailed: detailed, now: now, connection))
                continue
            }
            var before = try withTags(known.model, connection).record
            before.tags = before.tags ?? []
            if !detailed, !known.isGone, before.updated(with: record) == before {
                tally.unchanged += 1
            } else {
                tally.changed += 1
                _ = try upsert(record, detailed: detailed, now: now, connection)
            }
            tally.rows.append(known.model.0)
        }
        return tally
    }
}
