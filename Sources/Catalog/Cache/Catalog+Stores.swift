package import HubCore

/// What `hub cache adopt` did to one name.
package struct Adoption: Sendable, Hashable {
    /// The name that was replaced, or the file that is registered.
    package var path: String
    /// The file with the same content; of a registered one the program that keeps it.
    package var source: String
    package var sha256: String
    package var size: Int64
    /// `reflink`, `hardlink` or `register`.
    package var action: String
    /// When the content was last changed under this name before, in seconds since 1970.
    package var modified: Double

    package init(path: String, source: String, sha256: String, size: Int64, action: String, modified: Double) {
        (self.path, self.source, self.sha256, self.size) = (path, source, sha256, size)
        (self.action, self.modified) = (action, modified)
    }
}

extension Catalog {
    /// The last look at a store, as ``remember(store:folders:)`` got it; nil without one.
    package func store(_ path: String) throws(AIError) -> [UInt8]? {
        try read { try $0.first("SELECT folders FROM stores WHERE path = ?", path) { $0.blob(0) } }
    }

    package func remember(store path: String, folders: [UInt8]) throws(AIError) {
        try write { try $0.run("INSERT OR REPLACE INTO stores (path, folders) VALUES (?, ?)", path, folders) }
    }

    /// The SHA-256 of a file in this state; nil if it is not known.
    package func digest(of file: FileFingerprint) throws(AIError) -> String? {
        try read { connection in
            try connection.first(
                "SELECT sha256 FROM digests WHERE device = ? AND inode = ? AND size = ? AND modified = ? AND changed = ?",
                Int64(bitPattern: file.device), Int64(bitPattern: file.inode), file.size, file.modified,
                file.changed
            ) { $0.text(0) }
        }
    }

    package func remember(digest: String, of file: FileFingerprint) throws(AIError) {
        try write { connection in
            try connection.run(
                """
                INSERT OR REPLACE INTO digests (device, inode, size, modified, changed, sha256) VALUES (?, ?, ?, ?, ?, ?)
                """,
                Int64(bitPattern: file.device), Int64(bitPattern: file.inode), file.size, file.modified,
                file.changed, digest)
        }
    }

    /// The files of known commits with this SHA-256: which models a file of another program is of.
    package func places(ofSHA256 digest: String) throws(AIError) -> [(
        repository: Repository, commit: Commit, path: String
    )] {
        try read { connection in
            try connection.query(
                """
                SELECT kind, id, "commit", path FROM files JOIN trees USING (tree) JOIN models USING (model)
                WHERE sha256 = ? ORDER BY fetched_at DESC
                """, digest
            ) { row -> (repository: Repository, commit: Commit, path: String)? in
                guard let kind = RepositoryKind(rawValue: row.text(0)), let id = try? RepositoryID(row.text(1)),
                    let commit = Commit(row.text(2))
                else { return nil }
                return (Repository(kind, id), commit, row.text(3))
            }.compactMap { $0 }
        }
    }

    /// Folders of `hub pull --local-dir` that were verified or fetched.
    package func localFolders() throws(AIError) -> [String] {
        try read { try $0.query("SELECT DISTINCT cache FROM verified ORDER BY cache") { $0.text(0) } }
    }

    // MARK: Adopting

    package func adoptions() throws(AIError) -> [Adoption] {
        try read { connection in
            try connection.query(
                "SELECT path, source, sha256, size, action, modified FROM adoptions ORDER BY adopted_at DESC, path DESC"
            ) { row in
                Adoption(
                    path: row.text(0), source: row.text(1), sha256: row.text(2), size: row.int(3),
                    action: row.text(4), modified: row.double(5))
            }
        }
    }

    /// Files of other programs that pulls may take, by SHA-256.
    package func registered() throws(AIError) -> [String: Adoption] {
        Dictionary(try adoptions().filter { $0.action == "register" }.map { ($0.sha256, $0) }) { first, _ in first }
    }

    package func remember(_ adoption: Adoption, at now: Double) throws(AIError) {
        try write(isPrecious: true) { connection in
            try connection.run(
                """
                INSERT OR REPLACE INTO adoptions (path, source, sha256, size, action, modified, adopted_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """, adoption.path, adoption.source, adoption.sha256, adoption.size, adoption.action,
                adoption.modified, now)
        }
    }

    /// Follows a folder that was moved.
    package func moveAdoptions(below old: String, to new: String) throws(AIError) {
        try write(isPrecious: true) { connection in
            for column in ["path", "source"] {
                try connection.run(
                    """
                    UPDATE OR REPLACE adoptions SET \(column) = ? || substr(\(column), length(?) + 1)
                    WHERE substr(\(column), 1, length(?) + 1) = ? || '/'
                    """, new, old, old, old)
            }
        }
    }

    package func forget(_ adoption: Adoption) throws(AIError) {
        try write(isPrecious: true) {
            try $0.run("DELETE FROM adoptions WHERE path = ? AND action = ?", adoption.path, adoption.action)
        }
    }
}
