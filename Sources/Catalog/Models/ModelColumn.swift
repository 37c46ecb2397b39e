import HubCore

/// A column of `models` that holds a field of ``ModelRecord``, and all that the catalog does with the two.
///
/// A new field is a property there, a line in ``all`` with the version of the schema that it comes with, and where it is
/// read from the Hub's answer and shown. Name, type and version of a column that was released never change: the
/// statements that make the table are made of them (see ``Schema``).
struct ModelColumn: Sendable {
    /// A field is named by closures: key paths are twenty times as slow, and a sync asks millions of times.
    typealias Getter<Value> = @Sendable (ModelRecord) -> Value?
    typealias Setter<Value> = @Sendable (inout ModelRecord, Value?) -> Void

    let name: String
    /// The type in SQL. Every column may be NULL: nothing is known then.
    let type: String
    /// The version of the schema that it came with.
    var since = 1
    /// Sets the field to what a row holds in a column.
    let read: @Sendable (inout ModelRecord, Row, _ column: Int, CatalogConnection) throws -> Void
    /// Gives the field to a statement.
    let bind: @Sendable (ModelRecord, inout Binder, CatalogConnection) throws -> Void
    /// Takes the field over from a later answer, as far as that knows it.
    let update: @Sendable (inout ModelRecord, _ later: ModelRecord) -> Void
    /// Whether two records have the same there, texts byte for byte.
    let isSame: @Sendable (ModelRecord, ModelRecord) -> Bool

    /// In the order of ``ModelRow/columns``.
    static let all: [ModelColumn] = [
        author,
        name("task", { $0.task }, { $0.task = $1 }, isRevocable: true),
        name("library", { $0.library }, { $0.library = $1 }, isRevocable: true),
        name("license", { $0.license }, { $0.license = $1 }, isRevocable: true),
        tags,
        integer("downloads", { $0.downloads }, { $0.downloads = $1 }),
        integer("likes", { $0.likes }, { $0.likes = $1 }),
        real("trending", { $0.trendingScore }, { $0.trendingScore = $1 }, isRevocable: true),
        integer("parameters", { $0.parameters }, { $0.parameters = $1 }, isRevocable: true),
        integer("used_storage", { $0.usedStorage }, { $0.usedStorage = $1 }, isRevocable: true),
        value(
            "gated", "TEXT", { $0.gating }, { $0.gating = $1 }, isRevocable: true,
            read: { $0.optionalText($1).flatMap(ModelRecord.Gating.init(rawValue:)) },
            bind: { $0.add($1?.rawValue) }
        ),
        flag("private", { $0.isPrivate }, { $0.isPrivate = $1 }),
        flag("disabled", { $0.isDisabled }, { $0.isDisabled = $1 }),
        real("created_at", { $0.createdAt }, { $0.createdAt = $1 }),
        real("updated_at", { $0.updatedAt }, { $0.updatedAt = $1 }),
        name("model_type", { $0.modelType }, { $0.modelType = $1 }, since: 3),
        name("model_class", { $0.modelClass }, { $0.modelClass = $1 }, since: 3),
        name("gguf_architecture", { $0.ggufArchitecture }, { $0.ggufArchitecture = $1 }, since: 3),
    ]

    /// As the statement that makes the table has it.
    var declaration: String { "\(name) \(type)" }

    // MARK: Columns of their own kind

    /// Empty where the author is the owner in the id.
    private static let author = ModelColumn(
        name: "author", type: "TEXT",
        read: { record, row, column, _ in
            record.author = row.optionalText(column).flatMap { $0.isEmpty ? record.repository.id.owner : $0 }
        },
        bind: { record, values, _ in values.add(record.isByOwner ? "" : record.author) },
        update: { $0.author = $1.author ?? $0.author }, isSame: { isSame($0.author, $1.author) })

    /// The numbers of the names, packed. No tags are no tags, known or not.
    private static let tags = ModelColumn(
        name: "tags", type: "BLOB",
        read: { record, row, column, connection in
            record.tags = try row.optionalBlob(column).map { try connection.names.unpacked($0, connection) }
        },
        bind: { record, values, connection in
            values.add(try connection.names.packed(record.tags, connection))
        },
        update: { $0.tags = $1.tags ?? $0.tags },
        isSame: { left, right in
            (left.tags?.count ?? 0) == (right.tags?.count ?? 0)
                && zip(left.tags ?? [], right.tags ?? []).allSatisfy { isSame($0, $1) }
        })

    // MARK: Kinds of columns

    /// A column that holds the value of a field.
    ///
    /// - Parameter isRevocable: whether the Hub can take it back: absent from an answer that would have had it, it is gone.
    private static func value<Value: Equatable & Sendable>(
        _ name: String, _ type: String, _ get: @escaping Getter<Value>, _ set: @escaping Setter<Value>,
        isRevocable: Bool = false, since: Int = 1,
        read: @escaping @Sendable (Row, Int) -> Value?, bind: @escaping @Sendable (inout Binder, Value?) -> Void
    ) -> ModelColumn {
        ModelColumn(
            name: name, type: type, since: since,
            read: { record, row, column, _ in set(&record, read(row, column)) },
            bind: { record, values, _ in bind(&values, get(record)) },
            update: update(get, set, isRevocable), isSame: { get($0) == get($1) })
    }

    static func integer(
        _ name: String, _ get: @escaping Getter<Int64>, _ set: @escaping Setter<Int64>, isRevocable: Bool = false,
        since: Int = 1
    ) -> ModelColumn {
        value(
            name, "INTEGER", get, set, isRevocable: isRevocable, since: since, read: { $0.optionalInt($1) },
            bind: { $0.add($1) })
    }

    private static func real(
        _ name: String, _ get: @escaping Getter<Double>, _ set: @escaping Setter<Double>, isRevocable: Bool = false,
        since: Int = 1
    ) -> ModelColumn {
        value(
            name, "REAL", get, set, isRevocable: isRevocable, since: since, read: { $0.optionalDouble($1) },
            bind: { $0.add($1) })
    }

    private static func flag(
        _ name: String, _ get: @escaping Getter<Bool>, _ set: @escaping Setter<Bool>, isRevocable: Bool = false,
        since: Int = 1
    ) -> ModelColumn {
        value(
            name, "INTEGER", get, set, isRevocable: isRevocable, since: since, read: { $0.optionalBool($1) },
            bind: { $0.add($1) })
    }

    /// A text that many models share, as its number (see ``SharedNames``).
    private static func name(
        _ name: String, _ get: @escaping Getter<String>, _ set: @escaping Setter<String>, isRevocable: Bool = false,
        since: Int = 1
    ) -> ModelColumn {
        ModelColumn(
            name: name, type: "INTEGER", since: since,
            read: { record, row, column, connection in
                let number = row.optionalInt(column)
                set(&record, try number.map { try connection.names.name(of: $0, connection) })
            },
            bind: { record, values, connection in
                values.add(
                    try get(record).map { try connection.names.numberMade(for: $0, connection) })
            },
            update: update(get, set, isRevocable), isSame: { isSame(get($0), get($1)) })
    }

    private static func update<Value: Sendable>(
        _ get: @escaping Getter<Value>, _ set: @escaping Setter<Value>, _ isRevocable: Bool
    )
        -> @Sendable (inout ModelRecord, ModelRecord) -> Void
    {
        { record, later in
            if let value = get(later) {
                set(&record, value)
            } else if isRevocable, later.isExhaustive {
                set(&record, nil)
            }
        }
    }

    private static func isSame(_ left: String?, _ right: String?) -> Bool {
        left.map(ExactText.init) == right.map(ExactText.init)
    }
}

extension ModelRecord {
    /// Whether the author is the owner in the id, to the byte.
    var isByOwner: Bool {
        guard let author = author?.utf8 else { return false }
        let id = repository.id.name.utf8
        return id.count > author.count && id.starts(with: author)
            && id.dropFirst(author.count).first == UInt8(ascii: "/")
    }

    /// Whether everything that the catalog keeps is the same.
    func isSame(as other: ModelRecord) -> Bool {
        repository == other.repository && ModelColumn.all.allSatisfy { $0.isSame(self, other) }
    }

    /// This record with every field that `later` knows.
    func updated(with later: ModelRecord) -> ModelRecord {
        var out = self
        for column in ModelColumn.all { column.update(&out, later) }
        return out
    }
}
