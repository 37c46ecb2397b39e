import HubCore

/// Computed digests, in memory by file identity, so that each file is read once.
final class DigestStore: Sendable {
    private struct Key: Hashable {
        var identity: FileIdentity
        var isLFS: Bool
    }
    private let known = Lock<[Key: ContentDigest]>([:])

    /// The digest of a file, computed if unknown. Reads the file outside the lock.
    ///
    /// - Returns: nil if the file is gone or changes while it is read; scan again.
    func digest(of entry: FolderScan.Entry, isLFS: Bool) throws(AIError) -> ContentDigest? {
        let key = Key(identity: entry.identity, isLFS: isLFS)
        if let digest = known.withLock({ $0[key] }) { return digest }
        guard FileSystem.exists(entry.location) else { return nil }
        let file = try OpenFile(entry.location)
        let hasher = isLFS ? ContentHasher() : ContentHasher(gitSize: entry.identity.size)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 64)
        defer { buffer.deallocate() }
        while true {
            let count = try file.descriptor.read(into: buffer, at: hasher.count)
            if count == 0 { break }
            hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
        guard FileIdentity(try file.descriptor.status()) == entry.identity, hasher.count == entry.identity.size
        else {
            return nil
        }
        let digest = hasher.finish()
        known.withLock { $0[key] = digest }
        return digest
    }
}
