#if os(Linux)
import CPlatform
import HubCore
import Libc

extension OpenFiles {
    /// Checks every other process. https://man7.org/linux/man-pages/man5/proc.5.html
    ///
    /// - Parameter wanted: the files to check.
    static func look(for wanted: Set<PhysicalFile.Identity>) throws(AIError) -> OpenFiles {
        var found = OpenFiles()
        guard !wanted.isEmpty else { return found }
        guard FileSystem.exists("/proc/self") else {
            found.warning = "/proc is not mounted: cannot check which files other programs have open"
            return found
        }
        var hidden = 0
        // With /proc mounted with hidepid=2 other users' processes are not listed, though process 1 always exists.
        if !FileSystem.exists("/proc/1") { hidden += 1 }
        for name in try FileSystem.entries("/proc") ?? [] {
            guard let process = Int32(name), process != getpid() else { continue }
            do throws(AIError) {
                let files = try files(of: process, wanted)
                guard !files.isEmpty else { continue }
                let user = "\(title(process)) (\(process))"
                for file in files where found.users[file] == nil { found.users[file] = user }
            } catch {
                // Kernel threads and ended processes have no command line and no files.
                if [EACCES, EPERM].contains(error.errno), !bytes("/proc/\(process)/cmdline").isEmpty {
                    hidden += 1
                }
            }
        }
        if hidden > 0 {
            found.remark = "cannot check files opened by other users"
        }
        return found
    }

    /// The files that a process has open or mapped.
    private static func files(of process: Int32, _ wanted: Set<PhysicalFile.Identity>) throws(AIError)
        -> Set<PhysicalFile.Identity>
    {
        var found: Set<PhysicalFile.Identity> = []
        let folder = "/proc/\(process)/fd"
        for name in try FileSystem.entries(folder) ?? [] {
            // It may be closed by now.
            guard let status = try? FileSystem.status("\(folder)/\(name)") else { continue }
            let identity = PhysicalFile(status).identity
            if wanted.contains(identity) { found.insert(identity) }
        }
        let mapped = MappedFiles(inodes: Set(wanted.map(\.inode)))
        let result = hub_mapped_files(process, Unmanaged.passUnretained(mapped).toOpaque()) {
            context, device, inode, path in
            let list = Unmanaged<MappedFiles>.fromOpaque(context!).takeUnretainedValue()
            if list.inodes.contains(inode) { list.files.append((device, inode, String(cString: path!))) }
        }
        if result != 0, errno != ENOENT, errno != ESRCH {
            throw .system("cannot read", path: "/proc/\(process)/maps", errno: errno)
        }
        for (device, inode, path) in mapped.files {
            let named = PhysicalFile.Identity(device: device, inode: inode)
            // btrfs and overlayfs report another device here than stat: the path decides.
            let status = try? FileSystem.status("/proc/\(process)/root\(path)")
            for identity in [named, status.map { PhysicalFile($0).identity }] {
                if let identity, wanted.contains(identity) { found.insert(identity) }
            }
        }
        return found
    }

    /// The name of a process.
    private static func title(_ process: Int32) -> String {
        let name = String(decoding: bytes("/proc/\(process)/comm"), as: UTF8.self)
        return name.split(separator: "\n").first.map(String.init) ?? "a process"
    }

    /// The start of a file of /proc, whose st_size is 0; empty if unreadable.
    private static func bytes(_ path: String) -> [UInt8] {
        guard let file = try? FileDescriptor(path) else { return [] }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = bytes.withUnsafeMutableBytes { buffer in (try? file.read(into: buffer, at: 0)) ?? 0 }
        return Array(bytes[..<count])
    }
}

/// What the callback of hub_mapped_files collects.
private final class MappedFiles {
    let inodes: Set<UInt64>
    var files: [(device: UInt64, inode: UInt64, path: String)] = []
    init(inodes: Set<UInt64>) { self.inodes = inodes }
}
#endif
