package import HubCore

extension Catalog {
    /// Stores a verified blob's digest states at the ends of its ranges.
    package func remember(_ ranges: RangeDigests, of file: RepositoryFile) throws(AIError) {
        try write { connection in
            try connection.run(
                "INSERT OR REPLACE INTO range_digests (sha256, size, states) VALUES (?, ?, ?)",
                file.digest.hex, file.size, ranges.states)
        }
    }

    /// The range digests of a blob; nil if they were never stored.
    package func rangeDigests(of digest: ContentDigest) throws(AIError) -> RangeDigests? {
        try read { connection in
            try connection.first(
                "SELECT states, size FROM range_digests WHERE sha256 = ?", digest.hex,
                map: { RangeDigests($0.blob(0), size: $0.int(1)) }) ?? nil
        }
    }
}
