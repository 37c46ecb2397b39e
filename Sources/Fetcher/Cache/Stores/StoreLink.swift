package import HubCore
import Libc

/// A file of the cache that was read whole and has this digest.
package struct ProvenFile: Sendable, Hashable {
    package let path: String
    package let sha256: String
    package var size: Int64 { stamp.size }
    let device: UInt64
    let stamp: FileStamp

    /// - Parameter status: of the opened file that was read.
    package init(path: String, sha256: String, _ status: FileStatus) {
        (self.path, self.sha256) = (path, sha256)
        (device, stamp) = (status.device, status.stamp)
    }
}

/// Gives a file of the cache a name in another program's store, without a second copy.
package enum StoreLink {
    package enum Way: String, Sendable, Hashable {
        case reflink, hardlink, symlink
        /// The same content was there.
        case present
    }

    /// Makes the name: a reflink, else a hard link, else a symbolic link, for stores on other file systems.
    ///
    /// - Parameter file: proven by the caller.
    /// - Throws: ``ErrorCode/fileChanged`` if something else has the name, or the file was changed since it was proven.
    package static func make(_ path: String, of file: ProvenFile) throws -> Way {
        try FileSystem.createDirectories(Path.parent(path))
        if try isPresent(path, file) { return .present }
        let temporary = path + ".hub.part"
        try FileSystem.remove(temporary)
        defer { _ = try? FileSystem.remove(temporary) }
        let way = try make(temporary, file.path)
        // A link shares the inode; a clone was made from the name.
        guard let now = try FileSystem.status(file.path), now.device == file.device, now.stamp == file.stamp else {
            throw AIError(.fileChanged, "\(file.path) was changed meanwhile", context: .init(path: file.path))
        }
        guard try FileSystem.rename(temporary, toNew: path) else {
            // The program has just put it there itself.
            if try isPresent(path, file) { return .present }
            throw taken(path)
        }
        try FileSystem.synchronizeDirectory(Path.parent(path))
        return way
    }

    /// Whether the name is there, with this content.
    private static func isPresent(_ path: String, _ file: ProvenFile) throws -> Bool {
        guard try FileSystem.linkStatus(path) != nil else { return false }
        guard let there = try FileSystem.status(path), there.size == file.size,
            try ContentHasher.digest(ofFile: path, like: .sha256(file.sha256)) == .sha256(file.sha256)
        else { throw taken(path) }
        return true
    }

    private static func taken(_ path: String) -> AIError {
        AIError(
            .fileChanged, "\(path) is there already, with other content", advice: "move it away first",
            context: .init(path: path))
    }

    private static func make(_ path: String, _ source: String) throws(AIError) -> Way {
        if try reflink(path, source) { return .reflink }
        // A failed reflink leaves an empty file.
        try FileSystem.remove(path)
        // On an overlay a hard link would copy the file first.
        if !FileSystem.isOverlay(source) {
            do throws(AIError) {
                try FileSystem.createHardLink(source, at: path)
                return .hardlink
            } catch {
                // Another file system or mount; another user's file, or no hard links; too many names. link(2)
                guard let number = error.errno, [EXDEV, EPERM, EMLINK].contains(number) else { throw error }
            }
        }
        try FileSystem.createSymlink(source, at: path)
        return .symlink
    }

    private static func reflink(_ path: String, _ source: String) throws(AIError) -> Bool {
        let from = try FileDescriptor(source)
        let to = try FileDescriptor(path, [.write, .create, .exclusive])
        guard to.reflink(from: from) else { return false }
        try to.synchronizeData()
        return true
    }
}
