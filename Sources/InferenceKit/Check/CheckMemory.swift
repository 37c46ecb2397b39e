package import HubCore

/// Where results about a file's numbers are kept and found again, by the digest of its content.
package struct CheckMemory: Sendable {
    /// What is known of a digest; nil where nothing is, or not of every number where that is asked for.
    package let recall: @Sendable (_ sha256: String, _ version: Int, _ isWhole: Bool) -> JSON?
    package let keep: @Sendable (_ sha256: String, _ version: Int, _ isWhole: Bool, JSON) -> Void

    package init(
        recall: @escaping @Sendable (String, Int, Bool) -> JSON?,
        keep: @escaping @Sendable (String, Int, Bool, JSON) -> Void
    ) {
        (self.recall, self.keep) = (recall, keep)
    }

    /// Nothing is kept.
    package static let none = CheckMemory(recall: { _, _, _ in nil }, keep: { _, _, _, _ in })

    /// The digest of a file that lies in a cache as a blob, which its own name tells; nil of any other.
    static func digest(of path: String) -> String? {
        guard let place = FileSystem.resolved(path), Path.name(Path.parent(place)) == "blobs" else { return nil }
        let name = Path.name(place)
        let isDigest =
            name.utf8.count == 64
            && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        return isDigest ? name : nil
    }
}
