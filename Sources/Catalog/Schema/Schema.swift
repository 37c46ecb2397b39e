/// The catalog's tables: the statements that lead to each version from the one before, the first from an empty file. The
/// version that a file has is its `user_version`.
///
/// A version that was released never changes; a new one is added. They are SQL alone: code would change under them.
struct Schema: Sendable {
    let versions: [String]

    /// The newest version.
    var version: Int { versions.count }

    /// The tables of this hub.
    static let current = Schema(columns: ModelColumn.all)

    init(versions: [String]) { self.versions = versions }

    /// Of each version ``additions`` and the columns of `models` that it brings.
    init(columns: [ModelColumn]) {
        let newest = max(Self.additions.keys.max() ?? 1, columns.map(\.since).max() ?? 1)
        versions = (1...newest).map { version in
            let new = version == 1 ? [] : columns.filter { $0.since == version }
            return new.map { "ALTER TABLE models ADD COLUMN \($0.declaration);\n" }.joined()
                + (Self.additions[version] ?? "")
        }
    }

    /// What the versions bring besides later columns of `models`.
    private static let additions = [
        1: "PRAGMA application_id = \(applicationID);\n"
            + [models, trees, hubs, caches, kept].joined(separator: "\n"),
        2: tried,
        3: machines,
        4: served,
        5: triedRemotely,
        6: stores,
    ]

    /// Says in the file's header whose it is: "hubc". https://www.sqlite.org/pragma.html#pragma_application_id
    static let applicationID = 0x6875_6263
}
