import HubCore

/// A small separate file system mounted below a folder. The creator must unmount it.
package final class SmallDisk: Sendable {
    package let path: String
    /// A disk that an overlay needs.
    private let below: String?

    /// nil if this user may not mount one.
    ///
    /// - Parameter size: as `8m`.
    package init?(_ folder: TemporaryFolder, _ size: String) async throws {
        path = folder("disk")
        below = nil
        try FileSystem.createDirectories(path)
        let mount = "/bin/mount"
        guard FileSystem.exists(mount) else { return nil }
        let result = try await RunningProcess.run(mount, ["-t", "tmpfs", "-o", "size=\(size)", "tmpfs", path])
        guard result.status == 0 else { return nil }
    }

    /// One of a certain kind, such as `btrfs`, in a file; nil if this user may not mount one, or cannot make it.
    package init?(_ folder: TemporaryFolder, _ kind: String, size: Int64) async throws {
        path = folder(kind)
        below = nil
        let image = folder("\(kind).image")
        try FileSystem.createDirectories(path)
        try FileDescriptor(image, [.write, .create]).truncate(to: size)
        let places = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
        for line in ["mkfs.\(kind) -q '\(image)'", "mount -o loop '\(image)' '\(path)'"] {
            guard try await RunningProcess.run("/bin/sh", ["-c", line], environment: places).status == 0 else {
                return nil
            }
        }
    }

    /// An overlay whose lower layer is a folder, as in a container of an image; nil if this user may not mount one. Below it
    /// is a disk of its own, which ``unmount()`` takes away too.
    package init?(_ folder: TemporaryFolder, over lower: String) async throws {
        path = folder("overlay")
        guard let disk = try await SmallDisk(folder, "256m") else { return nil }
        for name in [path, disk.path + "/upper", disk.path + "/work"] { try FileSystem.createDirectories(name) }
        let options = "lowerdir=\(lower),upperdir=\(disk.path)/upper,workdir=\(disk.path)/work,redirect_dir=off"
        let mount = ["-t", "overlay", "-o", options, "overlay", path]
        guard try await RunningProcess.run("/bin/mount", mount).status == 0 else {
            try await disk.unmount()
            return nil
        }
        below = disk.path
    }

    /// Mounts it anew with other options, as `ro`; whether that could be.
    package func remount(_ options: String) async throws -> Bool {
        try await RunningProcess.run("/bin/mount", ["-o", "remount,\(options)", path]).status == 0
    }

    /// Bytes in use, after everything that was deleted has been given back: some file systems do that later.
    package func used() async throws -> Int64 {
        guard try await remount("ro"), try await remount("rw") else {
            throw AIError(.ioError, "\(path) cannot be mounted anew")
        }
        let space = try FileSystem.diskSpace(path)
        return space.total - space.available
    }

    package func unmount() async throws {
        for place in [path, below].compactMap(\.self) {
            _ = try await RunningProcess.run("/bin/umount", ["-l", place])
        }
    }
}
