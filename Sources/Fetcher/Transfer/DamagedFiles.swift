import HubCore

/// Files known to be damaged although their size is right: by digest, with their state when found. A file replaced
/// since does not count.
package struct DamagedFiles: Sendable {
    private var stamps: [ContentDigest: Set<FileStamp>] = [:]

    package init() {}

    package var isEmpty: Bool { stamps.isEmpty }

    mutating func insert(_ digest: ContentDigest, _ stamp: FileStamp) { stamps[digest, default: []].insert(stamp) }

    /// Whether a path leads to such a file.
    func contains(_ digest: ContentDigest, at path: String) throws(AIError) -> Bool {
        guard let known = stamps[digest], let status = try FileSystem.status(path) else { return false }
        return known.contains(status.stamp)
    }
}
