public import HubCore

extension Catalog {
    /// Stores the files of a commit permanently: a commit's tree cannot change.
    public func remember(_ tree: RepositoryTree, of repository: Repository, at now: Double) throws(AIError) {
        try write { connection in
            let model = try Self.row(of: repository, connection)
            try connection.run("DELETE FROM trees WHERE model = ? AND \"commit\" = ?", model, tree.commit.hash)
            try connection.run(
                "INSERT INTO trees (model, \"commit\", fetched_at) VALUES (?, ?, ?)", model, tree.commit.hash, now)
            let row = connection.lastInsertedRow
            for file in tree.files {
                try connection.run(
                    "INSERT INTO files (tree, path, size, oid, sha256, xet) VALUES (?, ?, ?, ?, ?, ?)",
                    row, file.path, file.size, file.oid, file.sha256, file.xetHash)
            }
        }
        // The pages of a huge list would stay in memory. https://www.sqlite.org/pragma.html#pragma_shrink_memory
        if tree.files.count > 100_000 { try read { try $0.execute("PRAGMA shrink_memory") } }
    }

    /// The files of a commit; nil if they were never fetched.
    public func tree(of repository: Repository, at commit: Commit) throws(AIError) -> RepositoryTree? {
        try read { connection in
            guard let model = try ModelRow.number(of: repository, connection),
                let row = try connection.first(
                    "SELECT tree FROM trees WHERE model = ? AND \"commit\" = ?", model, commit.hash,
                    map: { $0.int(0) })
            else { return nil }
            let files = try connection.query("SELECT path, size, oid, sha256, xet FROM files WHERE tree = ?", row) {
                RepositoryFile(
                    path: $0.text(0), size: $0.int(1), oid: $0.text(2), sha256: $0.optionalText(3),
                    xetHash: $0.optionalText(4))
            }
            return RepositoryTree(commit: commit, files: files)
        }
    }

    /// The commits whose trees are known, by ``treeName(_:_:)``.
    package func knownTrees() throws(AIError) -> Set<String> {
        try read { connection in
            Set(
                try connection.query(
                    "SELECT kind || '/' || id || '@' || \"commit\" FROM trees JOIN models USING (model)",
                    map: { $0.text(0) }))
        }
    }

    /// What ``knownTrees()`` calls a commit.
    package static func treeName(_ repository: Repository, _ commit: Commit) -> String {
        "\(repository.kind.rawValue)/\(repository.id.name)@\(commit.hash)"
    }

    /// The repository whose commit this is, as far as trees are known; nil where none is, or several are.
    package func repository(of commit: Commit) throws(AIError) -> Repository? {
        try read { connection in
            let found = try connection.query(
                "SELECT kind, id FROM trees JOIN models USING (model) WHERE \"commit\" = ?", commit.hash
            ) { row in (row.text(0), row.text(1)) }
            guard found.count == 1, let kind = RepositoryKind(rawValue: found[0].0),
                let id = try? RepositoryID(found[0].1)
            else { return nil }
            return Repository(kind, id)
        }
    }

    /// Keeps where the branches and tags of a repository stand. `complete` says that these are all there are.
    public func remember(_ revisions: [KnownRevision], of repository: Repository, complete: Bool, at now: Double)
        throws(AIError)
    {
        try write { connection in
            let model = try Self.row(of: repository, connection)
            if complete { try connection.run("DELETE FROM revisions WHERE model = ?", model) }
            for revision in revisions {
                try connection.run(
                    "INSERT OR REPLACE INTO revisions (model, name, kind, \"commit\", seen_at) VALUES (?, ?, ?, ?, ?)",
                    model, revision.name, revision.kind.rawValue, revision.commit.hash, now)
            }
        }
    }

    /// The last known branches and tags of a repository.
    public func revisions(of repository: Repository) throws(AIError) -> [KnownRevision] {
        try read { connection in
            guard let model = try ModelRow.number(of: repository, connection) else { return [] }
            return try connection.query(
                "SELECT name, kind, \"commit\" FROM revisions WHERE model = ? ORDER BY name", model
            ) { row in
                KnownRevision(
                    name: row.text(0), kind: KnownRevision.Kind(rawValue: row.text(1)) ?? .branch, hash: row.text(2)
                )
            }.compactMap { $0 }
        }
    }

    /// When the oldest answer among what is known of a repository's branches and tags was given, seconds since 1970; nil
    /// where nothing is.
    package func revisionsSeenAt(_ repository: Repository) throws(AIError) -> Double? {
        try read { connection in
            guard let model = try ModelRow.number(of: repository, connection) else { return nil }
            return try connection.first(
                "SELECT min(seen_at) FROM revisions WHERE model = ?", model, map: { $0.optionalDouble(0) }) ?? nil
        }
    }
}

/// A branch or tag when the Hub was last asked.
public struct KnownRevision: Sendable, Hashable {
    /// The kind of ref.
    public enum Kind: String, Sendable, Hashable {
        case branch, tag, convert
    }
    /// The name: `main`, `v1.0`.
    public var name: String
    /// Branch or tag.
    public var kind: Kind
    /// The commit.
    public var commit: Commit

    /// A branch or tag.
    public init(name: String, kind: Kind, commit: Commit) {
        self.name = name
        self.kind = kind
        self.commit = commit
    }

    init?(name: String, kind: Kind, hash: String) {
        guard let commit = Commit(hash) else { return nil }
        self.init(name: name, kind: kind, commit: commit)
    }
}
