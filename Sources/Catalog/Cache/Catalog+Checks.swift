package import HubCore

extension Catalog {
    /// Keeps what looking through the numbers of a blob gave.
    ///
    /// - Parameters:
    ///   - sha256: the blob's digest in hexadecimal digits.
    ///   - file: what it was like.
    ///   - isWhole: whether every number was looked at; such a result is not replaced by one of samples of the same file.
    package func remember(
        check findings: JSON, of sha256: String, in file: FileFingerprint, version: Int, isWhole: Bool,
        at now: Double
    ) throws(AIError) {
        try write { connection in
            try connection.run(
                """
                INSERT INTO checks (sha256, device, inode, size, modified, changed, version, whole, checked_at, findings)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (sha256, device, inode) DO UPDATE SET size = excluded.size, modified = excluded.modified,
                    changed = excluded.changed, version = excluded.version, whole = excluded.whole,
                    checked_at = excluded.checked_at, findings = excluded.findings
                WHERE excluded.whole >= checks.whole OR excluded.version > checks.version
                    OR excluded.size <> checks.size OR excluded.modified <> checks.modified
                    OR excluded.changed <> checks.changed
                """, sha256, Int64(bitPattern: file.device), Int64(bitPattern: file.inode), file.size,
                file.modified, file.changed, Int64(version), Int64(isWhole ? 1 : 0), now, findings.text())
        }
    }

    /// What is known of a blob's numbers; nil where nobody looked, only at samples where all is asked for, or at what the file
    /// was before.
    package func check(of sha256: String, in file: FileFingerprint, version: Int, isWhole: Bool) throws(AIError)
        -> JSON?
    {
        let text = try read { connection in
            try connection.first(
                """
                SELECT findings FROM checks WHERE sha256 = ? AND device = ? AND inode = ? AND size = ? AND modified = ?
                    AND changed = ? AND version = ? AND whole >= ?
                """, sha256, Int64(bitPattern: file.device), Int64(bitPattern: file.inode), file.size,
                file.modified, file.changed, Int64(version), Int64(isWhole ? 1 : 0), map: { $0.text(0) })
        }
        // A row that cannot be read is as good as none: the numbers are looked at again.
        return text.flatMap { try? JSON.parse($0) }
    }
}
