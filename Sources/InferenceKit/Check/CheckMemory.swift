package import HubCore

/// A blob of the cache: what its name says it holds, and which file it is.
package struct CheckedBlob: Sendable, Hashable {
    /// The digest in hexadecimal digits, by its name alone: whether that is true is `hub verify`'s to say.
    package let sha256: String
    /// What it is like; what was found in it holds as long as this does.
    package let fingerprint: FileFingerprint

    package init(sha256: String, fingerprint: FileFingerprint) {
        (self.sha256, self.fingerprint) = (sha256, fingerprint)
    }
}

/// Where results about a file's numbers are kept and found again: those of the blobs of one cache.
package struct CheckMemory: Sendable {
    /// The folder of the cache; nil where nothing is kept.
    private let cache: String?
    /// What is known of a blob; nil where nothing is, or not of every number where that is asked for.
    package let recall: @Sendable (_ blob: CheckedBlob, _ version: Int, _ isWhole: Bool) -> JSON?
    package let keep: @Sendable (_ blob: CheckedBlob, _ version: Int, _ isWhole: Bool, JSON) -> Void

    package init(
        cache: String?,
        recall: @escaping @Sendable (CheckedBlob, Int, Bool) -> JSON?,
        keep: @escaping @Sendable (CheckedBlob, Int, Bool, JSON) -> Void
    ) {
        self.cache = cache.flatMap(FileSystem.resolved)
        (self.recall, self.keep) = (recall, keep)
    }

    /// Nothing is kept.
    package static let none = CheckMemory(cache: nil, recall: { _, _, _ in nil }, keep: { _, _, _, _ in })

    /// The blob that a path leads to; nil for what is none of this cache: anybody may call a file of his own so.
    func blob(_ path: String) throws(AIError) -> CheckedBlob? {
        guard let cache, let place = FileSystem.resolved(path) else { return nil }
        let folder = Path.parent(place)
        let name = Path.name(place)
        guard Path.name(folder) == "blobs", Path.parent(Path.parent(folder)) == cache, name.utf8.count == 64,
            name.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }),
            let status = try FileSystem.status(place)
        else { return nil }
        return CheckedBlob(sha256: name, fingerprint: status.fingerprint)
    }

    /// A change within so much time of the one before may leave the times as they are.
    private static let settlingNanoseconds: Int64 = 100_000_000

    /// Whether what was read of a blob from a moment on will be seen to hold no more once somebody writes into it.
    static func isSettled(_ blob: CheckedBlob, at nanoseconds: Int64) -> Bool {
        nanoseconds - max(blob.fingerprint.changed, blob.fingerprint.modified) > settlingNanoseconds
    }
}
