import HubCore

/// A small separate file system mounted below a folder. The creator must unmount it.
package final class SmallDisk: Sendable {
    package let path: String

    /// nil if this user may not mount one.
    ///
    /// - Parameter size: as `8m`.
    package init?(_ folder: TemporaryFolder, _ size: String) async throws {
        path = folder("disk")
        try FileSystem.createDirectories(path)
        let mount = "/bin/mount"
        guard FileSystem.exists(mount) else { return nil }
        let result = try await RunningProcess.run(mount, ["-t", "tmpfs", "-o", "size=\(size)", "tmpfs", path])
        guard result.status == 0 else { return nil }
    }

    /// One of a certain kind, such as `btrfs`, in a file; nil if this user may not mount one, or cannot make it.
    package init?(_ folder: TemporaryFolder, _ kind: String, size: Int64) async throws {
        path = folder(kind)
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

    /// Mounts it anew with other options, as `ro`; whether that could be.
    package func remount(_ options: String) async throws -> Bool {
        try await RunningProcess.run("/bin/mount", ["-o", "remount,\(options)", path]).status == 0
    }

    package func unmount() async throws { _ = try await RunningProcess.run("/bin/umount", ["-l", path]) }
}
