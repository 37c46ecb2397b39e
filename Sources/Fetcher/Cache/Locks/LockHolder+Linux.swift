#if os(Linux)
import HubCore
import Libc

/// Finds the process that holds a flock.
enum LockHolder {
    /// The pid of the process that holds the lock on a file; nil if unknown, and for this process.
    /// https://man7.org/linux/man-pages/man5/proc_locks.5.html
    static func process(of path: String) -> Int32? {
        guard let status = (try? FileSystem.status(path)) ?? nil else { return nil }
        for line in locks().split(separator: "\n") {
            // 1: FLOCK ADVISORY WRITE 1234 00:2d:5678 0 EOF. btrfs reports another device here than stat.
            let fields = line.split(separator: " ")
            guard fields.count >= 6, fields[1] == "FLOCK", let process = Int32(fields[4]), process > 0,
                process != getpid()
            else { continue }
            if fields[5].split(separator: ":").last.flatMap({ UInt64($0) }) == status.inode { return process }
        }
        return nil
    }

    /// The locks of this machine, or the first of very many; empty if unreadable. The file's st_size is 0.
    private static func locks() -> String {
        guard let file = try? FileDescriptor("/proc/locks") else { return "" }
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = bytes.withUnsafeMutableBytes { buffer in (try? file.read(into: buffer, at: 0)) ?? 0 }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
#endif
