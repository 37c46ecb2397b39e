package import HubCore

extension Catalog {
    /// Stores the result of scanning a blob's values.
    ///
    /// - Parameters:
    ///   - sha256: the blob's digest in hexadecimal digits.
    ///   - file: its fingerprint.
    ///   - isWhole: whether every value was scanned; such a result is not replaced by a sampled one of the same file.
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

    /// The stored scan of a blob; nil if there is none, if only samples were scanned and all are requested, or if the
    /// file has changed.
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
        // An unreadable row counts as none: the values are scanned again.
        return text.flatMap { try? JSON.parse($0) }
    }
}
