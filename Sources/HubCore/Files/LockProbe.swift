import CPlatform
import Libc

/// Recognises file systems that grant every lock to everybody: such locks exclude nobody, and count as none.
enum LockProbe {
    /// What is known of a file system, by its device.
    private static let known = Lock<[UInt64: Bool]>([:])

    /// Whether a lock that was just granted excludes others. A file system is asked once, by two probes: a second opening
    /// of the file in this process, and where that is granted, as by locks that are a process's, another process.
    ///
    /// - Parameter operation: of flock(2), to take the lock again.
    static func isHonest(_ file: borrowing FileDescriptor, _ operation: Int32) -> Bool {
        guard let status = try? file.status() else { return true }
        if let known = known.withLock({ $0[status.device] }) { return known }
        let isFolder = status.kind == .directory
        // Renamed or removed since, or not ours to write: nothing is learned.
        guard isSame(file.path, status), let isFirst = opened(file.path, isFolder, status) else { return true }
        var isHonest = !isFirst
        if isFirst {
            // Closing a file gave up the locks of a process.
            _ = hub_flock(file.raw, operation)
            let other = hub_other_process_gets_lock(file.path, isFolder ? 1 : 0)
            guard other >= 0 else { return true }
            isHonest = other == 0
        }
        known.withLock { $0[status.device] = isHonest }
        return isHonest
    }

    private static func isSame(_ path: String, _ status: FileStatus) -> Bool {
        guard let there = (try? FileSystem.linkStatus(path)) ?? nil else { return false }
        return there.inode == status.inode && there.device == status.device
    }

    /// Whether another opening of the file gets the lock; nil if it cannot be asked.
    private static func opened(_ path: String, _ isFolder: Bool, _ status: FileStatus) -> Bool? {
        guard let second = try? FileDescriptor(path, isFolder ? [.directory] : [.write, .noFollow, .nonBlocking])
        else { return nil }
        if hub_flock(second.raw, LOCK_EX | LOCK_NB) == 0 { return true }
        return errno == EWOULDBLOCK ? false : nil
    }
}
