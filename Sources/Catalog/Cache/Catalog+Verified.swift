package import HubCore

/// A file that was read and compared with its digest: where, and what it was like then.
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

/// When content was proven, by its digest and what the file was like, and what was found damaged. Whichever name of an
/// inode was read, a proof counts for all of them.
package struct VerifiedContent: Sendable {
    private struct Key: Hashable {
        var etag: String
        var stamp: FileStamp
    }
    private var times: [Key: Double] = [:]
    private var damaged: [String: [String: FileStamp]] = [:]

    package init() {}

    fileprivate mutating func note(_ file: VerifiedFile, _ time: Double, isSound: Bool) {
        if isSound {
            times[Key(etag: file.etag, stamp: file.stamp)] = time
        } else {
            damaged[file.folder, default: [:]][file.etag] = file.stamp
        }
    }

    /// When a file that is still like this was found to have this digest, seconds since 1970; nil where it was not.
    package func time(_ etag: String, _ stamp: FileStamp) -> Double? { times[Key(etag: etag, stamp: stamp)] }

    /// What the files were like that were found not to hold what they should, by their digests.
    ///
    /// - Parameter folder: as ``VerifiedFile/folder``.
    package func damage(in folder: String) -> [String: FileStamp] { damaged[folder] ?? [:] }

    package var isEmpty: Bool { times.isEmpty }
    package var hasDamage: Bool { !damaged.isEmpty }
}

extension Catalog {
    /// Notes content that was proven just now, in one transaction.
    package func remember(_ files: [VerifiedFile], ofCache path: String, at now: Double) throws(AIError) {
        guard !files.isEmpty else { return }
        try write { connection in
            for file in files { try Self.note(file, isSound: true, path, now, connection) }
        }
    }

    /// Notes that a file has not the digest that it should have, although it may look as it did when it had.
    package func remember(damaged file: VerifiedFile, ofCache path: String, at now: Double) throws(AIError) {
        try write { connection in
            // What was said of another name of it holds no more.
            try connection.run(
                "DELETE FROM verified WHERE cache = ? AND etag = ? AND inode = ? AND is_sound", path, file.etag,
                Int64(bitPattern: file.stamp.inode))
            try Self.note(file, isSound: false, path, now, connection)
        }
    }

    private static func note(
        _ file: VerifiedFile, isSound: Bool, _ cache: String, _ now: Double, _ connection: Connection
    ) throws {
        try connection.run(
            """
            INSERT OR REPLACE INTO verified (cache, folder, etag, size, modified, inode, verified_at, is_sound)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """, cache, file.folder, file.etag, file.stamp.size, file.stamp.modified,
            Int64(bitPattern: file.stamp.inode), now, isSound ? 1 : 0)
    }

    /// What was read in a cache folder, or in a folder of one's own, and whether it was right.
    package func verified(inCache path: String) throws(AIError) -> VerifiedContent {
        try read { connection in
            var out = VerifiedContent()
            try connection.each(
                "SELECT folder, etag, size, modified, inode, verified_at, is_sound FROM verified WHERE cache = ?",
                list: [path]
            ) { row in
                let stamp = FileStamp(
                    size: row.int(2), modified: row.int(3), inode: UInt64(bitPattern: row.int(4)))
                out.note(
                    VerifiedFile(folder: row.text(0), etag: row.text(1), stamp: stamp), row.double(5),
                    isSound: row.int(6) != 0)
                return true
            }
            return out
        }
    }

    /// Forgets what was read in a repository of a cache folder and is not there any more.
    ///
    /// - Parameter isThere: whether there is such a file, by ``VerifiedFile/folder`` and digest.
    package func forgetVerified(
        below folder: String, ofCache path: String, unless isThere: (String, String) -> Bool
    ) throws(AIError) {
        let known = try read { connection in
            try connection.query(
                """
                SELECT folder, etag FROM verified
                WHERE cache = ? AND (folder = ? OR folder > ? AND folder < ?)
                """, path, folder, folder + "/", folder + "0",
                map: { (folder: $0.text(0), etag: $0.text(1)) })
        }
        let gone = known.filter { !isThere($0.folder, $0.etag) }
        guard !gone.isEmpty else { return }
        try write { connection in
            for file in gone {
                try connection.run(
                    "DELETE FROM verified WHERE cache = ? AND folder = ? AND etag = ?", path, file.folder, file.etag
                )
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
