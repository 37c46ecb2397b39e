import CPlatform
import Libc
import Synchronization

/// An open file that closes itself. It cannot be copied, so it cannot be closed twice or forgotten.
package struct FileDescriptor: ~Copyable, Sendable {
    /// The descriptor's number.
    package let raw: Int32
    /// The path it was opened by, for errors.
    package let path: String
    /// Whether a lock on it was granted.
    private let isLocked = Atomic(false)

    /// How a file is opened.
    package struct Options: OptionSet, Sendable {
        package let rawValue: Int32
        package init(rawValue: Int32) { self.rawValue = rawValue }
        package static let write = Options(rawValue: O_RDWR)
        package static let create = Options(rawValue: O_CREAT)
        package static let exclusive = Options(rawValue: O_EXCL)
        package static let truncate = Options(rawValue: O_TRUNC)
        package static let append = Options(rawValue: O_APPEND)
        package static let noFollow = Options(rawValue: O_NOFOLLOW)
        package static let nonBlocking = Options(rawValue: O_NONBLOCK)
        package static let directory = Options(rawValue: O_DIRECTORY)
    }

    /// open(2), close-on-exec.
    package init(_ path: String, _ options: Options = [], mode: UInt32 = 0o666) throws(AIError) {
        let descriptor = Self.opened(path, options, mode)
        guard descriptor >= 0 else { throw .system("cannot open", path: path, errno: errno) }
        self.raw = descriptor
        self.path = path
    }

    /// openat(2) of a name in a folder, close-on-exec.
    package init(
        _ name: String, in folder: OpenFolder, _ options: Options = [], mode: UInt32 = 0o666
    ) throws(AIError) {
        let path = Path.join(folder.path, name)
        var descriptor: Int32
        repeat {
            descriptor = openat(folder.descriptor, name, options.rawValue | O_CLOEXEC, mode_t(mode))
        } while descriptor < 0 && errno == EINTR
        guard descriptor >= 0 else { throw .system("cannot open", path: path, errno: errno) }
        self.raw = descriptor
        self.path = path
    }

    private static func opened(_ path: String, _ options: Options, _ mode: UInt32) -> Int32 {
        var descriptor: Int32
        repeat {
            descriptor = open(path, options.rawValue | O_CLOEXEC, mode_t(mode))
        } while descriptor < 0 && errno == EINTR
        return descriptor
    }

    /// Opens a model's file for reading, without blocking: it may be a pipe.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` if it is not a regular file, or a broken or cyclic link.
    package static func modelFile(_ path: String) throws(AIError) -> FileDescriptor {
        let descriptor = opened(path, [.nonBlocking], 0)
        guard descriptor >= 0 else {
            let number = errno
            let isLink = number == ENOENT && FileSystem.linkText(path) != nil
            // Of a socket: ENXIO on Linux, EOPNOTSUPP on macOS. open(2)
            let words = [ELOOP: "a link that leads to itself", ENXIO: "not a file", EOPNOTSUPP: "not a file"]
            guard let what = isLink ? "a broken link" : words[number] else {
                throw .system("cannot open", path: path, errno: number)
            }
            throw AIError(.malformedModel, "\(path): \(what)", context: .init(path: path))
        }
        let file = FileDescriptor(raw: descriptor, path: path)
        let kind = try file.status().kind
        guard kind == .file else {
            let what = kind == .directory ? "a folder, not a file" : "not a file"
            throw AIError(.malformedModel, "\(path): \(what)", context: .init(path: path))
        }
        return file
    }

    private init(raw: Int32, path: String) { (self.raw, self.path) = (raw, path) }

    /// Opens a file for reading without changing its access time, if the system and the file's owner permit: checking a
    /// file is not using it.
    package init(unnoticed path: String) throws(AIError) {
        let descriptor = hub_open_unnoticed(path)
        guard descriptor >= 0 else { throw .system("cannot open", path: path, errno: errno) }
        self.raw = descriptor
        self.path = path
    }

    deinit {
        // Unlocks explicitly: closing releases a lock only with the last copy of the descriptor, and a child process
        // being started has one until exec. flock(2)
        if isLocked.load(ordering: .relaxed) { _ = hub_flock(raw, LOCK_UN) }
        close(raw)
    }

    /// fstat(2)
    package func status() throws(AIError) -> FileStatus {
        var info = stat()
        guard fstat(raw, &info) == 0 else { throw .system("cannot read the state of", path: path, errno: errno) }
        return FileStatus(info)
    }

    /// pread(2) until the buffer is full or the file ends; the number of bytes read.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(AIError) -> Int {
        var done = 0
        while done < buffer.count {
            let count = pread(raw, buffer.baseAddress! + done, buffer.count - done, off_t(offset) + off_t(done))
            if count < 0 {
                if errno == EINTR { continue }
                throw .system("cannot read", path: path, errno: errno)
            }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Reads the start of the file on two threads, because most of the time is copying; returns the number of bytes
    /// read.
    func readInHalves(into buffer: UnsafeMutableRawBufferPointer) throws(AIError) -> Int {
        nonisolated(unsafe) let buffer = buffer
        let half = buffer.count / 2
        // Each is written by one thread and read when both have ended.
        nonisolated(unsafe) var first: Result<Int, AIError> = .success(0)
        nonisolated(unsafe) var second: Result<Int, AIError> = .success(0)
        Parallel.perform(2) { part in
            if part == 0 {
                first = Result { () throws(AIError) in try read(into: .init(rebasing: buffer[..<half]), at: 0) }
            } else {
                second = Result { () throws(AIError) in
                    try read(into: .init(rebasing: buffer[half...]), at: Int64(half))
                }
            }
        }
        // A file that was truncated ends in the first half.
        let count = try first.get()
        return count < half ? count : try count + second.get()
    }

    /// Hints that this many bytes from an offset will be read soon, in order.
    package func readAhead(_ offset: Int64, _ count: Int64) { hub_read_ahead(raw, off_t(offset), off_t(count)) }

    /// pwrite(2) until everything is written.
    package func write(_ buffer: UnsafeRawBufferPointer, at offset: Int64) throws(AIError) {
        var done = 0
        while done < buffer.count {
            let count = pwrite(raw, buffer.baseAddress! + done, buffer.count - done, off_t(offset) + off_t(done))
            if count < 0 {
                if errno == EINTR { continue }
                throw .system("cannot write", path: path, errno: errno)
            }
            done += count
        }
    }

    /// Writes all of it at the beginning of the file.
    package func write(_ bytes: [UInt8]) throws(AIError) {
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(AIError) in try write(buffer, at: 0) }
        }
        try result.get()
    }

    /// Everything written, on stable storage (fdatasync; F_FULLFSYNC on macOS).
    ///
    /// - Returns: false where the file system cannot flush a file: its content is then as safe as it gets.
    @discardableResult
    package func synchronizeData() throws(AIError) -> Bool {
        if hub_sync_data(raw) == 0 { return true }
        let number = errno
        // "fd is bound to a special file ... which does not support synchronization", which some FUSE file systems say of
        // every file. fsync(2)
        if [EINVAL, ENOSYS, ENOTSUP, EOPNOTSUPP].contains(number) { return false }
        throw .system("cannot flush", path: path, errno: number)
    }

    /// Sets the size and reserves the space, see `hub_preallocate`.
    package func preallocate(_ size: Int64) throws(AIError) {
        guard hub_preallocate(raw, off_t(size)) == 0 else {
            throw .system("cannot reserve \(ByteCount(size)) for", path: path, errno: errno)
        }
    }

    /// Sets the size.
    package func truncate(to size: Int64) throws(AIError) {
        guard ftruncate(raw, off_t(size)) == 0 else { throw .system("cannot truncate", path: path, errno: errno) }
    }

    /// flock(2), exclusive and without waiting: whether it was granted. nil without flock support.
    package func tryLock(shared: Bool = false) throws(AIError) -> Bool? {
        let operation = (shared ? LOCK_SH : LOCK_EX) | LOCK_NB
        if hub_flock(raw, operation) == 0 {
            guard LockProbe.isHonest(self, operation) else { return nil }
            isLocked.store(true, ordering: .relaxed)
            return true
        }
        switch errno {
        case EWOULDBLOCK: return false
        // NFS emulates it by fcntl locks, which need a writable descriptor for an exclusive lock. flock(2)
        case EBADF: return nil
        case let number where Self.hasNoLocks(number): return nil
        default: throw .system("cannot lock", path: path, errno: errno)
        }
    }

    /// flock(2), waiting until it is granted; does nothing without flock support.
    package func lock(shared: Bool = false) throws(AIError) {
        if hub_flock(raw, shared ? LOCK_SH : LOCK_EX) == 0 {
            if LockProbe.isHonest(self, shared ? LOCK_SH : LOCK_EX) { isLocked.store(true, ordering: .relaxed) }
            return
        }
        guard Self.hasNoLocks(errno) else { throw .system("cannot lock", path: path, errno: errno) }
    }

    /// Whether an errno of flock(2) says that the file system has no locks. ENOTSUP and EOPNOTSUPP are one number on Linux
    /// and two on macOS.
    private static func hasNoLocks(_ number: Int32) -> Bool {
        [ENOSYS, ENOTSUP, EOPNOTSUPP, ENOLCK].contains(number)
    }

    /// Releases the lock before the descriptor is closed.
    package func unlock() { _ = hub_flock(raw, LOCK_UN) }

    /// Shares all extents of `source` (reflink); false if unsupported.
    package func reflink(from source: borrowing FileDescriptor) -> Bool { hub_reflink(source.raw, raw) == 0 }

    /// Whether the file shares all its extents with another of the same size; false too if unknown.
    package func sharesExtents(with other: borrowing FileDescriptor) -> Bool {
        hub_shares_extents(raw, other.raw) == 1
    }

    /// The ranges of the file's first `size` bytes whose blocks other files share: where they are on the disk, and their
    /// bytes. Empty too if unknown.
    package func sharedExtents(size: Int64) -> [(start: UInt64, length: UInt64)] {
        var out: [(start: UInt64, length: UInt64)] = []
        let result = withUnsafeMutablePointer(to: &out) { list in
            hub_shared_extents(raw, UInt64(max(0, size)), list) { list, start, length in
                list!.assumingMemoryBound(to: [(start: UInt64, length: UInt64)].self).pointee.append(
                    (start, length))
            }
        }
        return result == 0 ? out : []
    }

    /// Whether another file could share this one's blocks; nothing is changed.
    package func canShareBlocks(with target: borrowing FileDescriptor) -> Bool {
        hub_share_blocks(raw, target.raw, 0, 0) >= 0
    }

    /// Makes another file of the same bytes share this one's blocks; the kernel compares them.
    ///
    /// - Returns: false if the file system cannot, or the bytes differ. What was shared by then stays shared.
    package func shareBlocks(with target: borrowing FileDescriptor, size: Int64) -> Bool {
        var offset: Int64 = 0
        while offset < size {
            // btrfs takes at most 16 MiB at a time. ioctl_fideduperange(2)
            let count = hub_share_blocks(raw, target.raw, off_t(offset), UInt64(min(16 << 20, size - offset)))
            guard count > 0 else { return false }
            offset += count
        }
        return true
    }

    /// Asks the kernel to forget the file's pages, so that it is read from the disk.
    package func forgetPages() { hub_forget_pages(raw) }

    /// fchown(2)
    package func setOwner(_ owner: UInt32, group: UInt32) throws(AIError) {
        guard fchown(raw, uid_t(owner), gid_t(group)) == 0 else {
            throw .system("cannot change the owner of", path: path, errno: errno)
        }
    }

    /// fchmod(2). Some mounts refuse it and show one mode for all files, which is no error if it is this mode.
    ///
    /// - Parameter orLess: also if it permits less.
    package func setMode(_ mode: UInt32, orLess: Bool = false) throws(AIError) {
        if fchmod(raw, mode_t(mode)) == 0 { return }
        let number = errno
        let own = try status().mode
        if own == mode || orLess && own & ~mode == 0 { return }
        throw .system("cannot change the mode of", path: path, errno: number)
    }
}
