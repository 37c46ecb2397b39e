package import HubCore

/// What a scan of one repository's cache folder found, as bytes of the scanner's own.
package struct RememberedScan: Sendable, Hashable {
    package var folder: String
    /// What a list shows, and what must be unchanged for it to be true.
    package var summary: [UInt8]
    /// Everything that was found; nil where nobody has asked for it yet.
    package var details: [UInt8]?

    package init(folder: String, summary: [UInt8], details: [UInt8]?) {
        self.folder = folder
        self.summary = summary
        self.details = details
    }
}

extension Catalog {
    /// Hands over the summaries of a cache folder's scans, by repository folder. The bytes live as long as the call.
    package func scans(ofCache path: String, _ body: (String, UnsafeRawBufferPointer) -> Void) throws(AIError) {
        _ = try read { connection in
            try connection.query(
                "SELECT folder, summary FROM repositories JOIN caches USING (cache) WHERE path = ?", path
            ) { row in row.withBlob(1) { body(row.text(0), $0) } }
        }
    }

    /// All that the scans of a cache folder found, by repository folder, as far as that was remembered.
    package func scanDetails(ofCache path: String) throws(AIError) -> [String: [UInt8]] {
        try read { connection in
            let rows = try connection.query(
                """
                SELECT folder, details FROM scans JOIN repositories USING (repository) JOIN caches USING (cache)
                WHERE path = ?
                """, path, map: { ($0.text(0), $0.blob(1)) })
            return Dictionary(rows) { $1 }
        }
    }

    /// Replaces the scans of some repositories and forgets those of others.
    package func remember(scans: [RememberedScan], gone: [String], ofCache path: String) throws(AIError) {
        try write { connection in
            try connection.run("INSERT INTO caches (path) VALUES (?) ON CONFLICT DO NOTHING", path)
            let cache = try connection.first("SELECT cache FROM caches WHERE path = ?", path, map: { $0.int(0) })
            for folder in gone + scans.map(\.folder) {
                try connection.run("DELETE FROM repositories WHERE cache = ? AND folder = ?", cache, folder)
            }
            for scan in scans {
                try connection.run(
                    "INSERT INTO repositories (cache, folder, summary) VALUES (?, ?, ?)", cache, scan.folder,
                    scan.summary)
                guard let details = scan.details else { continue }
                try connection.run(
                    "INSERT INTO scans (repository, details) VALUES (?, ?)", connection.lastInsertedRow, details)
            }
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

    /// Notes that a cached revision was used.
    package func markUsed(cache: String, folder: String, commit: Commit, at now: Double) throws(AIError) {
        try write { connection in
            try connection.run(
                "INSERT OR REPLACE INTO uses (cache, folder, \"commit\", used_at) VALUES (?, ?, ?, ?)",
                cache, folder, commit.hash, now)
        }
    }

    /// When the revisions of a cache were last used, as far as `hub` saw it: folder and commit to seconds since 1970.
    package func uses(ofCache path: String) throws(AIError) -> [String: [String: Double]] {
        try read { connection in
            var out: [String: [String: Double]] = [:]
            for (folder, commit, time) in try connection.query(
                "SELECT folder, \"commit\", used_at FROM uses WHERE cache = ?", path,
                map: { ($0.text(0), $0.text(1), $0.double(2)) })
            {
                out[folder, default: [:]][commit] = time
            }
            return out
        }
    }

    /// Keeps how fast a pull was, for estimates. Only the last hundred are kept.
    package func remember(bytes: Int64, seconds: Double, origin: String, at now: Double) throws(AIError) {
        try write { connection in
            // Two pulls may end at once; the time is what tells them apart.
            var at = now
            while try connection.first("SELECT 1 FROM bandwidth WHERE at = ?", at, map: { $0.int(0) }) != nil {
                at = at.nextUp
            }
            try connection.run(
                "INSERT INTO bandwidth (at, origin, bytes, seconds) VALUES (?, ?, ?, ?)", at, origin, bytes, seconds
            )
            try connection.run(
                "DELETE FROM bandwidth WHERE at NOT IN (SELECT at FROM bandwidth ORDER BY at DESC LIMIT 100)")
        }
    }

    /// Bytes a second of the last ten pulls from an origin, all their bytes over all their seconds; nil where there are none.
    package func bandwidth(origin: String) throws(AIError) -> (bytesPerSecond: Double, pulls: Int)? {
        try read { connection in
            try connection.first(
                """
                SELECT sum(bytes), sum(seconds), count(*) FROM
                (SELECT bytes, seconds FROM bandwidth WHERE origin = ? ORDER BY at DESC LIMIT 10)
                """, origin
            ) { row -> (Double, Int)? in
                guard row.int(2) > 0, row.double(1) > 0 else { return nil }
                return (row.double(0) / row.double(1), Int(row.int(2)))
            } ?? nil
        }
    }
}
