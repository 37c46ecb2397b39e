import CSQLite
import HubCore

/// A row of `models`: a record (see ``ModelColumn``), when it was learned, and by what it is found.
enum ModelRow {
    /// What ``read(_:_:)`` takes, in this order: the row's own columns, then those of the record.
    static let columns = (own + ModelColumn.all.map(\.name)).joined(separator: ", ")
    private static let own = ["model", "kind", "id", "seen_at", "detailed_at", "vanished_at", "step"]
    /// The place of the id in ``columns``.
    static let id = 2

    /// The place in ``columns`` of a column by its name.
    static func place(of name: String) -> Int {
        guard let place = (own + ModelColumn.all.map(\.name)).firstIndex(of: name) else {
            preconditionFailure("models has no column \(name)")
        }
        return place
    }

    /// The valid row numbers: the lower half of a row number in the search index.
    static let numbers: ClosedRange<Int64> = 1...0xFFFF_FFFF

    /// A row with its number and its step of popularity.
    struct Stored {
        var model: Int64
        var step: Int64
        var known: KnownModel
    }

    /// The hash of a repository in the index of names: a third of the size of kind and id.
    static func name(_ repository: Repository) -> Int64 {
        textNumber("\(repository.kind.rawValue)/\(repository.id.name)")
    }

    /// Binds the values of ``isThis``.
    static func bind(_ repository: Repository, to values: inout Binder) {
        values.add(name(repository))
        values.add(repository.kind.rawValue)
        values.add(repository.id.name)
    }

    /// The condition for a repository's row in `models`.
    static let isThis = "name = ? AND kind = ? AND id = ?"

    static let selection = "SELECT \(columns) FROM models WHERE \(isThis)"

    /// The row of a repository; nil where nothing is known of it.
    static func find(_ repository: Repository, _ connection: CatalogConnection) throws -> Stored? {
        try connection.once(selection, bind: { bind(repository, to: &$0) }, row: { try read($0, connection) })
    }

    /// The number of a repository's row; nil if there is none.
    static func number(of repository: Repository, _ connection: Connection) throws -> Int64? {
        try connection.once(
            "SELECT model FROM models WHERE \(isThis)", bind: { bind(repository, to: &$0) }, row: { $0.int(0) })
    }

    /// The highest number of a row; 0 where there is none.
    static func last(_ connection: Connection) throws -> Int64 {
        let last = try connection.first("SELECT max(model) FROM models", map: { $0.int(0) }) ?? 0
        guard last <= numbers.upperBound else {
            throw SQLiteError(extendedCode: SQLITE_CORRUPT, message: "a model's row has an impossible number")
        }
        return last
    }

    /// A row of ``columns``.
    static func read(_ row: Row, _ connection: CatalogConnection) throws -> Stored {
        guard numbers.contains(row.int(0)), Popularity.steps.contains(row.int(6)) else {
            throw SQLiteError(extendedCode: SQLITE_CORRUPT, message: "a model's row has impossible numbers")
        }
        guard let kind = RepositoryKind(rawValue: row.text(1)), let id = try? RepositoryID(row.text(Self.id)) else {
            throw SQLiteError(
                extendedCode: SQLITE_CORRUPT,
                message: "\"\(row.text(Self.id))\" is not a valid name of a \(row.text(1))".printable
            )
        }
        var record = ModelRecord(Repository(kind, id))
        for (place, column) in ModelColumn.all.enumerated() {
            try column.read(&record, row, own.count + place, connection)
        }
        return Stored(
            model: row.int(0), step: row.int(6),
            known: KnownModel(
                record: record, seenAt: row.double(3), detailedAt: row.optionalDouble(4),
                vanishedAt: row.optionalDouble(5)))
    }
}
