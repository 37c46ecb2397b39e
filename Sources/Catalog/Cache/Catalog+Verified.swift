package import HubCore

/// A file that was compared with its digest: its location, and its state then.
package struct VerifiedFile: Sendable, Hashable {
    /// The repository's folder; for a file that is not a blob, its path relative to the cache.
    package var folder: String
    /// The digest.
    package var etag: String
    package var stamp: FileStamp

    package init(folder: String, etag: String, stamp: FileStamp) {
        (self.folder, self.etag, self.stamp) = (folder, etag, stamp)
    }
}

/// Verification times by digest and file state, and known damage. A verification counts for all names of an inode.
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

    /// When a file with this state was verified to have this digest, seconds since 1970; nil if never.
    package func time(_ etag: String, _ stamp: FileStamp) -> Double? { times[Key(etag: etag, stamp: stamp)] }

    /// The states of the damaged files, by digest.
    ///
    /// - Parameter folder: as ``VerifiedFile/folder``.
    package func damage(in folder: String) -> [String: FileStamp] { damaged[folder] ?? [:] }

    package var isEmpty: Bool { times.isEmpty }
    package var hasDamage: Bool { !damaged.isEmpty }
}

extension Catalog {
    /// Records content verified now, in one transaction.
    package func remember(_ files: [VerifiedFile], ofCache path: String, at now: Double) throws(AIError) {
        guard !files.isEmpty else { return }
        try write { connection in
            for file in files { try Self.note(file, isSound: true, path, now, connection) }
        }
    }

    /// Records that a file does not match its digest, even if its state is that of an earlier verification.
    package func remember(damaged file: VerifiedFile, ofCache path: String, at now: Double) throws(AIError) {
        try write { connection in
            // Verifications of its other names are no longer valid.
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

    /// The verified and damaged content of a cache folder or a local folder.
    ///
    /// - Parameter onlyDamaged: leaves out what was right, which is nearly all of it.
    package func verified(inCache path: String, onlyDamaged: Bool = false) throws(AIError) -> VerifiedContent {
        try read { connection in
            var out = VerifiedContent()
            try connection.each(
                """
                SELECT folder, etag, size, modified, inode, verified_at, is_sound FROM verified WHERE cache = ?
                """ + (onlyDamaged ? " AND NOT is_sound" : ""),
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

    /// Removes records of files that are no longer in a repository of a cache folder.
    ///
    /// - Parameter isThere: whether the file exists, by ``VerifiedFile/folder`` and digest.
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
}
