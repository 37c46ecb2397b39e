package import HubCore

extension Catalog {
    /// Keeps what looking through the numbers of a blob gave.
    ///
    /// - Parameters:
    ///   - sha256: the blob's digest in hexadecimal digits.
    ///   - isWhole: whether every number was looked at; such a result is not replaced by one of samples.
    package func remember(
        check findings: JSON, of sha256: String, version: Int, isWhole: Bool, at now: Double
    ) throws(AIError) {
        try write { connection in
            try connection.run(
                """
                INSERT INTO checks (sha256, version, whole, checked_at, findings) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (sha256) DO UPDATE SET version = excluded.version, whole = excluded.whole,
                    checked_at = excluded.checked_at, findings = excluded.findings
                WHERE excluded.whole >= checks.whole OR excluded.version > checks.version
                """, sha256, Int64(version), Int64(isWhole ? 1 : 0), now, findings.text())
        }
    }

    /// What is known of a blob's numbers; nil where nobody looked, or only at samples where all is asked for.
    package func check(of sha256: String, version: Int, isWhole: Bool) throws(AIError) -> JSON? {
        let text = try read { connection in
            try connection.first(
                "SELECT findings FROM checks WHERE sha256 = ? AND version = ? AND whole >= ?", sha256,
                Int64(version),
                Int64(isWhole ? 1 : 0), map: { $0.text(0) })
        }
        // A row that cannot be read is as good as none: the numbers are looked at again.
        return text.flatMap { try? JSON.parse($0) }
    }
}
