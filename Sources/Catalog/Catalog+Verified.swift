package import HubCore

/// Content that was proven: where, and what its file was like then.
package struct VerifiedFile: Sendable, Hashable {
    /// The repository's folder; for a file that is no blob its path below the cache.
    package var folder: String
    /// The digest.
    package var etag: String
    package var stamp: FileStamp

    package init(folder: String, etag: String, stamp: FileStamp) {
        (self.folder, self.etag, self.stamp) = (folder, etag, stamp)
    }
}

/// When content was proven, by its digest and what the file was like. Whichever name of an inode was read, it counts for
/// all of them.
package struct VerifiedContent: Sendable {
    private struct Key: Hashable {
        var etag: String
        var stamp: FileStamp
    }
    private var times: [Key: Double] = [:]

    package init() {}

    fileprivate mutating func note(_ etag: String, _ stamp: FileStamp, _ time: Double) {
        times[Key(etag: etag, stamp: stamp)] = time
    }

    /// When a file that is still like this was found to have this digest, seconds since 1970; nil where it was not.
    package func time(_ etag: String, _ stamp: FileStamp) -> Double? { times[Key(etag: etag, stamp: stamp)] }

    package var isEmpty: Bool { times.isEmpty }
}

extension Catalog {
    /// Notes content that was proven just now, in one transaction.
    package func remember(_ files: [VerifiedFile], ofCache path: String, at now: Double) throws(AIError) {
        guard !files.isEmpty else { return }
        try write { connection in
            for file in files {
                try connection.run(
                    """
                    INSERT OR REPLACE INTO verified (cache, folder, etag, size, modified, inode, verified_at)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """, path, file.folder, file.etag, file.stamp.size, file.stamp.modified,
                    Int64(bitPattern: file.stamp.inode), now)
            }
        }
    }

    /// What was proven in a cache folder, or in a folder of one's own.
    package func verified(inCache path: String) throws(AIError) -> VerifiedContent {
        try read { connection in
            var out = VerifiedContent()
            try connection.each(
                "SELECT etag, size, modified, inode, verified_at FROM verified WHERE cache = ?", list: [path]
            ) { row in
                let stamp = FileStamp(
                    size: row.int(1), modified: row.int(2), inode: UInt64(bitPattern: row.int(3)))
                out.note(row.text(0), stamp, row.double(4))
                return true
            }
            return out
        }
    }

    /// Forgets that a file had this digest: it has not any more, although it looks as it did.
    package func forgetVerified(_ etag: String, _ stamp: FileStamp, inCache path: String) throws(AIError) {
        try write { connection in
            try connection.run(
                "DELETE FROM verified WHERE cache = ? AND etag = ? AND inode = ?", path, etag,
                Int64(bitPattern: stamp.inode))
        }
    }

    /// Forgets what was proven in a repository of a cache folder but is not there any more.
    ///
    /// - Parameter etags: what is there.
    package func forgetVerified(inFolder folder: String, besides etags: Set<String>, ofCache path: String)
        throws(AIError)
    {
        let known = try read { connection in
            try connection.query(
                "SELECT etag FROM verified WHERE cache = ? AND folder = ?", path, folder, map: { $0.text(0) })
        }
        let gone = known.filter { !etags.contains($0) }
        guard !gone.isEmpty else { return }
        try write { connection in
            for etag in gone {
                try connection.run(
                    "DELETE FROM verified WHERE cache = ? AND folder = ? AND etag = ?", path, folder, etag)
            }
        }
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
}
