package import HubCore

/// What a scan of one repository's cache folder found, as text of the scanner's own, with the state of the folders it
/// was read from. While no folder's modification time changes, the text stays true.
package struct RememberedScan: Sendable, Hashable {
    package var folder: String
    package var scan: String
    /// Path below the cache to modification time in nanoseconds; nil where the folder was too fresh to be trusted.
    package var directories: [String: Int64]

    package init(folder: String, scan: String, directories: [String: Int64]) {
        self.folder = folder
        self.scan = scan
        self.directories = directories
    }

    /// The text with its checksum before it: SQLite does not notice a byte that is flipped within a text, and what is
    /// remembered here is shown without a look at the disk.
    fileprivate var kept: String { "\(Self.checksum(folder, scan)) \(scan)" }

    /// The scan of a folder as it was kept; nil where it is damaged, or from before there were checksums.
    fileprivate init?(folder: String, kept: String) {
        let parts = kept.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == Self.checksum(folder, String(parts[1])) else { return nil }
        self.init(folder: folder, scan: String(parts[1]), directories: [:])
    }

    /// FNV-1a of 64 bits. http://www.isthe.com/chongo/tech/comp/fnv/
    private static func checksum(_ texts: String...) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for text in texts {
            for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            hash = (hash ^ 0xFF) &* 0x100_0000_01B3
        }
        return String(hash, radix: 16)
    }
}

extension Catalog {
    /// The scans of a cache folder, by repository folder.
    package func scans(ofCache path: String) throws(AIError) -> [String: RememberedScan] {
        try read { connection in
            var out: [String: RememberedScan] = [:]
            var folders: [Int64: String] = [:]
            for (row, folder, scan) in try connection.query(
                "SELECT repository, folder, scan FROM repositories JOIN caches USING (cache) WHERE path = ?", path,
                map: { ($0.int(0), $0.text(1), $0.text(2)) })
            {
                guard let known = RememberedScan(folder: folder, kept: scan) else { continue }
                folders[row] = folder
                out[folder] = known
            }
            for (row, path, modified) in try connection.query(
                """
                SELECT repository, directories.path, modified FROM directories
                JOIN repositories USING (repository) JOIN caches USING (cache) WHERE caches.path = ?
                """, path, map: { ($0.int(0), $0.text(1), $0.int(2)) })
            {
                if let folder = folders[row] { out[folder]?.directories[path] = modified }
            }
            return out
        }
    }

    /// Replaces the scans of some repositories and forgets those of others.
    ///
    /// - Parameter blobs: for each folder the blobs in it with their sizes, for finding content that is already here.
    package func remember(
        scans: [RememberedScan], blobs: [String: [(etag: String, size: Int64)]], gone: [String],
        ofCache path: String
    ) throws(AIError) {
        try write { connection in
            try connection.run("INSERT INTO caches (path) VALUES (?) ON CONFLICT DO NOTHING", path)
            let cache = try connection.first("SELECT cache FROM caches WHERE path = ?", path, map: { $0.int(0) })
            for folder in gone + scans.map(\.folder) {
                try connection.run("DELETE FROM repositories WHERE cache = ? AND folder = ?", cache, folder)
            }
            for scan in scans {
                try connection.run(
                    "INSERT INTO repositories (cache, folder, scan) VALUES (?, ?, ?)", cache, scan.folder, scan.kept
                )
                let row = connection.lastInsertedRow
                for (directory, modified) in scan.directories {
                    try connection.run(
                        "INSERT INTO directories (repository, path, modified) VALUES (?, ?, ?)", row, directory,
                        modified)
                }
                for blob in blobs[scan.folder] ?? [] {
                    try connection.run(
                        "INSERT INTO blobs (repository, etag, size) VALUES (?, ?, ?)", row, blob.etag, blob.size)
                }
            }
        }
    }

    /// Repository folders of a cache that hold a blob of this name and size, as far as the last scans know.
    package func folders(holding etag: String, size: Int64, inCache path: String) throws(AIError) -> [String] {
        try read { connection in
            try connection.query(
                """
                SELECT folder FROM blobs JOIN repositories USING (repository) JOIN caches USING (cache)
                WHERE etag = ? AND size = ? AND path = ? ORDER BY folder
                """, etag, size, path, map: { $0.text(0) })
        }
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
