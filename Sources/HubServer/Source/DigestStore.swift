import HubCore

/// Digests taken so far, kept in memory by the identity of the file, so that each content is read once.
final class DigestStore: Sendable {
    private struct Key: Hashable {
        var identity: FileIdentity
        var isLFS: Bool
    }
    private let known = Lock<[Key: ContentDigest]>([:])

    /// The digest of a file, taken now if it is not known. Reads the file outside the lock, so others are not held up.
    ///
    /// - Returns: nil where the file is gone or changes while it is read; a fresh scan will tell what is there now.
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
