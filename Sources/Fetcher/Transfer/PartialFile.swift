import HubCore
import Libc

/// A partial on the disk, its map and its lock. Opened, flushed and finished on the transfer's own queue; written on the
/// engine's thread; read for the digest on a third. All access is by position, so that they do not interfere.
final class PartialFile: @unchecked Sendable {
    /// The result of opening.
    enum Opening {
        /// Another process holds the lock.
        case locked
        /// The blob exists by now.
        case blobExists
        /// Ready, with the safe bytes of an earlier run.
        case ready(IntervalSet, note: String?)
    }

    private let file: RepositoryFile
    private var places: TransferPlaces
    var path: String { places.partial }
    private var descriptor: FileDescriptor?
    private var lock: FileLock?
    private var inode: UInt64 = 0
    private let nonce = FileSystem.randomHex(8)
    private var hasher: ContentHasher?
    /// Whether the names of partial and map are on stable storage.
    private var isNamed = false
    /// Whether the file system cannot flush it.
    private(set) var isUnflushed = false

    init(_ file: RepositoryFile, at places: TransferPlaces) {
        self.file = file
        self.places = places
    }

    /// Takes the lock, checks whether the blob exists by now, and opens the partial.
    ///
    /// - Parameters:
    ///   - restart: discards an earlier run's bytes.
    ///   - besideHolder: fetches into a partial of its own if another process holds the lock.
    func open(restart: Bool, besideHolder: Bool = false) throws(AIError) -> Opening {
        if lock == nil {
            let attempt = try FileLock.attempt(places.lock)
            switch consume attempt {
            case .held:
                guard besideHolder else { return .locked }
                places.nonce = nonce
            case .unsupported:
                // Two processes with one partial would write into each other's verified bytes.
                places.nonce = nonce
            case .taken(let taken): lock = consume taken
            }
        }
        if !restart, try places.isReady() {
            try places.sweep()
            return .blobExists
        }
        try FileSystem.createDirectories(Path.parent(path))
        hasher = ContentHasher(like: file.digest, size: file.size)
        var note: String?
        do throws(AIError) {
            // The holder's partial looks like one that was left.
            if !restart, places.nonce != nil, !besideHolder { try places.claim() }
            if !restart, let found = try resume(&note) { return found }
            try discard()
            return try make(note)
        } catch {
            // Created or promoted just now by a process that the lock did not exclude because the lock file was
            // deleted.
            guard error.errno == ENOENT || error.errno == EEXIST, FileSystem.exists(Path.parent(path)) else {
                throw error
            }
            return .locked
        }
    }

    private func make(_ note: String?) throws(AIError) -> Opening {
        let made = try FileDescriptor(path, [.write, .create, .exclusive])
        do throws(AIError) { try made.preallocate(file.size) } catch {
            _ = try? FileSystem.remove(path)
            throw error
        }
        inode = try made.status().inode
        _ = try made.tryLock()
        descriptor = consume made
        return .ready(IntervalSet(), note: note)
    }

    /// Resumes an earlier run's partial, if the size is right and the map is for this content.
    ///
    /// The partial itself is locked too. Otherwise, after a deleted lock file, a second process could write into a
    /// partial being verified.
    private func resume(_ note: inout String?) throws(AIError) -> Opening? {
        guard let status = try FileSystem.linkStatus(path), status.kind == .file else { return nil }
        guard let map = RangeMap.read(places.map), map.digest == file.digest, map.size == file.size else {
            note = "\(path) has no map of what is safe in it: starting over"
            return nil
        }
        guard status.size == file.size else {
            note = "\(path) has \(status.size) bytes instead of \(file.size): starting over"
            return nil
        }
        if map.inode != status.inode {
            // A cache that was copied. The digest of the whole decides in the end.
            note = "\(path) is a copy; its map is still used"
        }
        let opened = try FileDescriptor(path, [.write, .noFollow])
        if try opened.tryLock() == false { return .locked }
        inode = try opened.status().inode
        descriptor = consume opened
        return .ready(map.safe, note: note)
    }

    /// Forgets everything fetched so far.
    func discard() throws(AIError) {
        descriptor = nil
        isNamed = false
        try places.clear()
    }

    /// Forgets all but some of the bytes, and digests from the beginning.
    func keep(only ranges: IntervalSet) throws(AIError) {
        hasher = ContentHasher(like: file.digest, size: file.size)
        try flush(ranges)
    }

    /// Writes received bytes at their position.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(AIError) {
        guard descriptor != nil else { throw AIError(.ioError, "\(path) is not open") }
        try descriptor!.write(bytes, at: offset)
    }

    /// Flushes written bytes to stable storage, then records them in the map.
    func flush(_ written: IntervalSet) throws(AIError) {
        guard descriptor != nil else { return }
        if try !descriptor!.synchronizeData() { isUnflushed = true }
        let map = RangeMap(
            digest: file.digest, size: file.size, inode: inode, nonce: nonce,
            owner: places.nonce.map { _ in ProcessOwner.current.description }, safe: written)
        do throws(AIError) { try map.write(places.map) } catch {
            // Python's prune may delete ".incomplete" files at any moment. The next flush writes the map again.
            guard error.errno == ENOENT else { throw error }
            return
        }
        // A power cut must not lose the name of the safe bytes.
        if !isNamed { try FileSystem.synchronizeDirectory(Path.parent(path)) }
        isNamed = true
    }

    /// Feeds the next bytes of the front to the digest.
    func hash(_ range: Range<Int64>) throws(AIError) {
        guard descriptor != nil, let hasher else { throw AIError(.ioError, "\(path) is not open") }
        // Small enough to stay in the CPU cache for the digest.
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 << 10, alignment: 4096)
        defer { buffer.deallocate() }
        var at = range.lowerBound
        while at < range.upperBound {
            let wanted = Int(min(Int64(buffer.count), range.upperBound - at))
            let count = try descriptor!.read(
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: at)
            guard count > 0 else { throw AIError(.ioError, "\(path) became shorter while it was read") }
            hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            at += Int64(count)
        }
    }

    /// The digest of the complete content.
    func digest() -> ContentDigest? { hasher?.finish() }
    /// The range digests.
    var ranges: RangeDigests { hasher?.ranges ?? RangeDigests() }

    /// Renames the verified content into place. The lock is kept until the links are made.
    func promote() throws(AIError) {
        guard descriptor != nil else { throw AIError(.ioError, "\(path) is not open") }
        if try !descriptor!.synchronizeData() { isUnflushed = true }
        try FileSystem.createDirectories(Path.parent(places.content))
        if try !rename(to: places.content) {
            // Python's prune deletes partials at any moment. The open file still has every byte.
            try FileCopy.copy(from: descriptor!, to: places.content, through: places.copy)
        }
        try RangeMap.remove(places.map)
        descriptor = nil
        if file.size > 4 << 20 { try FileSystem.synchronizeDirectory(Path.parent(places.content)) }
    }

    /// Renames the partial; false if its name is gone or belongs to another file.
    private func rename(to blob: String) throws(AIError) -> Bool {
        guard try FileSystem.linkStatus(path)?.inode == inode else { return false }
        do throws(AIError) { try FileSystem.rename(path, to: blob) } catch {
            guard error.errno == ENOENT else { throw error }
            return false
        }
        return true
    }

    /// Closes the partial and releases the lock.
    ///
    /// - Parameter isUnused: nothing was received, now or before: the partial is discarded.
    func close(isUnused: Bool) {
        if isUnused, descriptor != nil, (try? FileSystem.linkStatus(path))??.inode == inode {
            // A leftover partial is handled by the next pull or gc.
            try? discard()
        }
        descriptor = nil
        lock = nil
    }
}
