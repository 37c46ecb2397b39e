import HubCore

/// A physical file of the cache: a blob, or a plain file in a snapshot.
package struct PhysicalFile: Sendable, Hashable {
    /// st_size in bytes.
    package var size: Int64
    /// Bytes on the disk: fewer if it is sparse or compressed.
    package var allocated: Int64
    package var device: UInt64
    package var inode: UInt64
    /// The number of hard links.
    package var links: UInt64
    package var modified: Double
    package var accessed: Double

    var identity: Identity { Identity(device: device, inode: inode) }

    /// Identifies a physical file.
    package struct Identity: Sendable, Hashable {
        package var device: UInt64
        package var inode: UInt64
    }

    /// Larger than any real file: a sparse one can claim nearly 2^63, and sums would overflow.
    static let mostBytes: Int64 = 1 << 50

    init(_ status: FileStatus) {
        (device, inode, links) = (status.device, status.inode, status.links)
        size = min(status.size, Self.mostBytes)
        allocated = min(status.allocated, Self.mostBytes)
        (modified, accessed) = (status.modified, status.accessed)
    }

    init(
        size: Int64, allocated: Int64, device: UInt64, inode: UInt64, links: UInt64, modified: Double,
        accessed: Double
    ) {
        (self.size, self.allocated, self.device, self.inode, self.links) = (size, allocated, device, inode, links)
        (self.modified, self.accessed) = (modified, accessed)
    }
}

/// An entry of `blobs/`.
package struct CachedBlob: Sendable, Hashable {
    /// The name: the etag.
    package var name: String
    /// The file, or the linked payload in the shared store; nil if missing.
    package var file: PhysicalFile?
    /// The name in the shared store, if the entry links to it.
    package var sharedHash: String?
    /// Whether the entry links to a place outside the repository and the shared store. The target is not ours and
    /// stays.
    package var isForeign = false
}
