import HubCore

/// flock on a repository's folder itself: shared by pulls from before the first file to after the ref, exclusive for a
/// deletion. Blob locks alone leave gaps between files. It creates no file and other clients do not take it; without
/// flock support it excludes nobody.
final class RepositoryUse: Sendable {
    private let folder: FileDescriptor

    private init(_ folder: consuming FileDescriptor) { self.folder = folder }

    /// Takes the shared lock of a folder, which is created if missing. Waits while a deletion is running.
    static func share(_ folder: RepositoryFolder) throws(AIError) -> RepositoryUse {
        while true {
            try folder.create()
            let opened: FileDescriptor
            do throws(AIError) { opened = try FileDescriptor(folder.path, [.directory]) } catch {
                // A deletion has just removed it.
                guard error.isAbsence else { throw error }
                continue
            }
            try opened.lock(shared: true)
            let now = try FileSystem.status(folder.path)
            if try now?.inode == opened.status().inode {
                try FileSystem.createDirectories(folder.snapshots)
                return RepositoryUse(opened)
            }
        }
    }

    /// Takes the exclusive lock for a deletion; nil if a pull is running. A missing folder needs no lock.
    static func claim(_ folder: RepositoryFolder) throws(AIError) -> Claim? {
        guard try FileSystem.status(folder.path)?.kind == .directory else { return Claim(use: nil) }
        let opened = try FileDescriptor(folder.path, [.directory])
        if try opened.tryLock() == false { return nil }
        return Claim(use: RepositoryUse(opened))
    }

    /// Held as long as this value exists.
    struct Claim { let use: RepositoryUse? }
}
