package import HubCore

extension Catalog {
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
}
