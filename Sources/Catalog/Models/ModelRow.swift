import CSQLite
import HubCore

/// The encoding of a model's row. Shared names are stored as numbers (see ``Names``), and an author who is the owner in
/// the id as empty text.
enum ModelRow {
    static let columns = """
        model, kind, id, author, task, library, license, tags, downloads, likes, trending, parameters, used_storage, gated,
        private, disabled, created_at, updated_at, seen_at, detailed_at, vanished_at, step
        """
    /// The columns of the Hub's data besides the name, in the order of ``Said``.
    static let said = """
        author, task, library, license, tags, downloads, likes, trending, parameters, used_storage, gated, private, disabled,
        created_at, updated_at
        """

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

    /// The row of a repository; nil if it is unknown.
    static func find(_ repository: Repository, _ connection: Connection) throws -> Stored? {
        try connection.once(
            "SELECT \(columns) FROM models WHERE \(isThis)", bind: { bind(repository, to: &$0) },
            row: { try read($0, connection) })
    }

    /// The number of a repository's row; nil if there is none.
    static func number(of repository: Repository, _ connection: Connection) throws -> Int64? {
        try connection.once(
            "SELECT model FROM models WHERE \(isThis)", bind: { bind(repository, to: &$0) }, row: { $0.int(0) })
    }

    /// A row of ``columns``.
    static func read(_ row: Row, _ connection: Connection) throws -> Stored {
        guard numbers.contains(row.int(0)), Popularity.steps.contains(row.int(21)) else {
            throw SQLiteError(extendedCode: SQLITE_CORRUPT, message: "a model's row has impossible numbers")
        }
        guard let kind = RepositoryKind(rawValue: row.text(1)), let id = try? RepositoryID(row.text(2)) else {
            throw SQLiteError(
                extendedCode: SQLITE_CORRUPT, message: "\"\(row.text(2))\" is no name of a \(row.text(1))".printable
            )
        }
        let names = connection.names
        func name(_ column: Int) throws -> String? {
            try row.optionalInt(column).map { try names.name(of: $0, connection) }
        }
        var record = ModelRecord(Repository(kind, id))
        record.author = row.optionalText(3).flatMap { $0.isEmpty ? record.repository.id.owner : $0 }
        record.task = try name(4)
        record.library = try name(5)
        record.license = try name(6)
        record.tags = try row.optionalBlob(7).map { try names.unpacked($0, connection) }
        record.downloads = row.optionalInt(8)
        record.likes = row.optionalInt(9)
        record.trendingScore = row.optionalDouble(10)
        record.parameters = row.optionalInt(11)
        record.usedStorage = row.optionalInt(12)
        record.gating = row.optionalText(13).flatMap(ModelRecord.Gating.init(rawValue:))
        record.isPrivate = row.optionalBool(14)
        record.isDisabled = row.optionalBool(15)
        record.createdAt = row.optionalDouble(16)
        record.updatedAt = row.optionalDouble(17)
        return Stored(
            model: row.int(0), step: row.int(21),
            known: KnownModel(
                record: record, seenAt: row.double(18), detailedAt: row.optionalDouble(19),
                vanishedAt: row.optionalDouble(20)))
    }

    /// The Hub's data of a model, as stored in its row.
    struct Said {
        private let record: ModelRecord
        private let task, library, license: Int64?
        private let tags: [UInt8]?

        /// Assigns numbers to the names.
        init(_ record: ModelRecord, _ connection: Connection) throws {
            let names = connection.names
            self.record = record
            task = try record.task.map { try names.numberMade(for: $0, connection) }
            library = try record.library.map { try names.numberMade(for: $0, connection) }
            license = try record.license.map { try names.numberMade(for: $0, connection) }
            tags = try names.packed(record.tags, connection)
        }

        /// Binds the values to a statement.
        func add(to values: inout Binder) {
            values.add(record.isByOwner ? "" : record.author)
            values.add(task)
            values.add(library)
            values.add(license)
            values.add(tags)
            values.add(record.downloads)
            values.add(record.likes)
            values.add(record.trendingScore)
            values.add(record.parameters)
            values.add(record.usedStorage)
            values.add(record.gating?.rawValue)
            values.add(record.isPrivate)
            values.add(record.isDisabled)
            values.add(record.createdAt)
            values.add(record.updatedAt)
        }
    }
}

extension ModelRecord {
    /// Whether the author is the owner in the id, byte by byte.
    var isByOwner: Bool {
        guard let author = author?.utf8 else { return false }
        let id = repository.id.name.utf8
        return id.count > author.count && id.starts(with: author)
            && id.dropFirst(author.count).first == UInt8(ascii: "/")
    }

    /// Whether one of the tags equals this text, or the concatenation of both, byte by byte.
    func hasTag(_ text: String.UTF8View, _ end: String.UTF8View = "".utf8) -> Bool {
        tags?.contains { tag in
            let tag = tag.utf8
            return tag.count == text.count + end.count && tag.starts(with: text)
                && tag.dropFirst(text.count).elementsEqual(end)
        } ?? false
    }

    /// Whether all stored fields are equal, texts byte by byte. Nil tags equal empty tags.
    func isSame(as other: ModelRecord) -> Bool {
        func same(_ left: String?, _ right: String?) -> Bool {
            left.map(ExactText.init) == right.map(ExactText.init)
        }
        return repository == other.repository && same(author, other.author) && same(task, other.task)
            && same(library, other.library) && same(license, other.license) && downloads == other.downloads
            && likes == other.likes && trendingScore == other.trendingScore && parameters == other.parameters
            && usedStorage == other.usedStorage && gating == other.gating && isPrivate == other.isPrivate
            && isDisabled == other.isDisabled && createdAt == other.createdAt && updatedAt == other.updatedAt
            && (tags?.count ?? 0) == (other.tags?.count ?? 0) && zip(tags ?? [], other.tags ?? []).allSatisfy(same)
    }
}
