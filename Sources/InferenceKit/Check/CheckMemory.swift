package import HubCore

/// A blob of the cache: its digest by name and its file's identity.
package struct CheckedBlob: Sendable, Hashable {
    /// The digest in hexadecimal digits, taken from the file name; `hub verify` checks it.
    package let sha256: String
    /// Results are valid while this is unchanged.
    package let fingerprint: FileFingerprint

    package init(sha256: String, fingerprint: FileFingerprint) {
        (self.sha256, self.fingerprint) = (sha256, fingerprint)
    }
}

/// Stores value-scan results for the blobs of one cache.
package struct CheckMemory: Sendable {
    /// The folder of the cache; nil if nothing is stored.
    private let cache: String?
    /// The stored result of a blob; nil if there is none, or only a sampled one and `isWhole` is set.
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

    /// Stores nothing.
    package static let none = CheckMemory(cache: nil, recall: { _, _, _ in nil }, keep: { _, _, _, _ in })

    /// The blob at a path; nil if it is outside this cache: any file may be named like a digest.
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

    /// Within this time a second change may leave the file's timestamps the same.
    private static let settlingNanoseconds: Int64 = 100_000_000

    /// Whether a write after this moment will change the blob's timestamps, so that a stored result becomes invalid.
    static func isSettled(_ blob: CheckedBlob, at nanoseconds: Int64) -> Bool {
        nanoseconds - max(blob.fingerprint.changed, blob.fingerprint.modified) > settlingNanoseconds
    }
}
