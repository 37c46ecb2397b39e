import HubCore

/// flock on a repository's folder itself: shared by pulls from before the first file to after the ref, exclusive for a
/// deletion. Locks of blobs alone leave gaps between one file and the next. It makes no file, and no other client takes
/// it; where the file system has no flock nobody is kept out.
final class RepositoryUse: Sendable {
    private let folder: FileDescriptor

    private init(_ folder: consuming FileDescriptor) { self.folder = folder }

    /// Takes part in the use of a folder, which is made where it is missing. Waits while a deletion goes on in it.
    static func share(_ folder: RepositoryFolder) throws(AIError) -> RepositoryUse {
        while true {
            try folder.create()
            let opened: FileDescriptor
            do throws(AIError) { opened = try FileDescriptor(folder.path, [.directory]) } catch {
                // A deletion has just taken it away.
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

    /// The folder for a deletion alone; nil where a pull is at work in it. A folder that is gone is nobody's.
    static func claim(_ folder: RepositoryFolder) throws(AIError) -> Claim? {
        guard try FileSystem.status(folder.path)?.kind == .directory else { return Claim(use: nil) }
        let opened = try FileDescriptor(folder.path, [.directory])
        if try opened.tryLock() == false { return nil }
        return Claim(use: RepositoryUse(opened))
    }

    /// Held as long as it is kept.
    struct Claim { let use: RepositoryUse? }
}
