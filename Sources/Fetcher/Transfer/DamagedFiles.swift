import HubCore

/// Files that are known not to hold what they should, though they are there with the right size: by digest, each as it
/// was when that was found out. What has been put into their place since is none of them.
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
