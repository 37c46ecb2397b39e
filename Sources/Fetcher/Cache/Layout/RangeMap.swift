import HubCore

/// The map of the safe ranges of a partial, beside it: `<etag>.hub.map.incomplete`. It lists only bytes on stable
/// storage and needs no catalog, so that a moved cache can resume.
///
/// One JSON object: `version` 1, `digest` and `size` of the whole, `inode` of its partial (text; a copy has another),
/// `nonce` of this attempt, `owner` without locks (host and process), and `safe`, a list of `[start, end)`.
struct RangeMap: Sendable, Hashable {
    var digest: ContentDigest
    var size: Int64
    var inode: UInt64
    var nonce: String
    var owner: String?
    var safe: IntervalSet

    static let version: Int64 = 1

    var json: JSON {
        .object([
            "version": .int(Self.version), "digest": .string(digest.hex), "size": .int(size),
            "inode": .string(String(inode)),
            "nonce": .string(nonce), "owner": owner.map { .string($0) },
            "safe": .array(safe.ranges.map { .array([.int($0.lowerBound), .int($0.upperBound)]) }),
        ])
    }

    /// Reads a map; nil if it is absent, unreadable or invalid: then nothing is safe.
    static func read(_ path: String) -> RangeMap? {
        guard let bytes = try? FileSystem.contents(path), let json = try? JSON.parse(bytes),
            json["version"]?.int == version,
            let digest = json["digest"]?.string.flatMap(ContentDigest.init(etag:)), let size = json["size"]?.int,
            size >= 0,
            let inode = json["inode"]?.string.flatMap({ UInt64($0) }), let nonce = json["nonce"]?.string,
            let pairs = json["safe"]?.array
        else { return nil }
        var safe = IntervalSet()
        for pair in pairs {
            guard let bounds = pair.array, bounds.count == 2, let start = bounds[0].int, let end = bounds[1].int,
                start >= 0, start < end, end <= size
            else { return nil }
            safe.insert(start..<end)
        }
        return RangeMap(
            digest: digest, size: size, inode: inode, nonce: nonce, owner: json["owner"]?.string, safe: safe)
    }

    /// Writes the map atomically. Only the holder of the partial may write.
    func write(_ path: String) throws(AIError) {
        let temporary = Self.temporary(path)
        try FileSystem.remove(temporary)
        try FileSystem.replace(
            path, with: Array(json.text().utf8), durable: true, temporary: temporary, syncsFolder: false)
    }

    /// Removes a map and its temporary file.
    static func remove(_ path: String) throws(AIError) {
        try FileSystem.remove(path)
        try FileSystem.remove(temporary(path))
    }

    /// Always the same name, so that a leftover is overwritten; it has the suffix of partials, so that it is counted
    /// and pruned like them.
    static func temporary(_ path: String) -> String {
        String(path.dropLast("incomplete".count)) + "next.incomplete"
    }
}
