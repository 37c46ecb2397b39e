package import HubCore
import Libc

/// Gives a file of the cache a name in another program's store, without a second copy.
package enum StoreLink {
    package enum Way: String, Sendable, Hashable {
        case reflink, hardlink, symlink
        /// The same content was there.
        case present
    }

    /// Makes the name: a reflink, else a hard link, else a symbolic link, for stores on other file systems.
    ///
    /// - Parameter source: a file with this digest, proven by the caller.
    /// - Throws: ``ErrorCode/fileChanged`` if other content has the name.
    package static func make(_ path: String, of source: String, sha256: String, size: Int64) throws -> Way {
        try FileSystem.createDirectories(Path.parent(path))
        if let there = try FileSystem.status(path) {
            let isSame =
                try there.size == size
                && ContentHasher.digest(ofFile: path, like: .sha256(sha256)) == .sha256(sha256)
            guard isSame else {
                throw AIError(
                    .fileChanged, "\(path) is there already, with other content", advice: "move it away first",
                    context: .init(path: path))
            }
            return .present
        }
        let temporary = path + ".hub.part"
        try FileSystem.remove(temporary)
        defer { _ = try? FileSystem.remove(temporary) }
        let way = try make(temporary, source)
        try FileSystem.rename(temporary, to: path)
        try FileSystem.synchronizeDirectory(Path.parent(path))
        return way
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
