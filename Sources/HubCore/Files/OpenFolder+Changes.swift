import CPlatform
import Libc

/// Changes in an open folder. Each goes by a single name from the descriptor, so that no folder can be swapped for a
/// link between check and change.
extension OpenFolder {
    /// unlinkat(2): whether it existed. Links are not followed.
    @discardableResult
    package func remove(_ entry: Entry) throws(AIError) -> Bool {
        guard let number = number({ entry.withCString { unlinkat(descriptor, $0, 0) } }) else { return true }
        if number == ENOENT { return false }
        throw failure("cannot delete", entry, number)
    }

    @discardableResult
    package func remove(_ name: String) throws(AIError) -> Bool { try remove(Entry(name)) }

    /// Removes an empty folder; returns false if it is missing, not a folder, or not empty.
    @discardableResult
    package func removeEmptyFolder(_ entry: Entry) throws(AIError) -> Bool {
        guard let number = number({ entry.withCString { unlinkat(descriptor, $0, AT_REMOVEDIR) } }) else {
            return true
        }
        if [ENOENT, ENOTEMPTY, EEXIST, ENOTDIR].contains(number) { return false }
        throw failure("cannot delete the folder", entry, number)
    }

    @discardableResult
    package func removeEmptyFolder(_ name: String) throws(AIError) -> Bool { try removeEmptyFolder(Entry(name)) }

    /// Removes the empty folders of a relative path, from the innermost.
    package func removeEmptyFolders(above path: String) throws(AIError) {
        var parts = Path.parts(path).dropLast()
        while !parts.isEmpty {
            guard let (folder, name) = try place(of: parts.joined(separator: "/")),
                try folder.removeEmptyFolder(name)
            else { return }
            parts.removeLast()
        }
    }

    /// Removes a name with everything below it. Links are not followed; names that are not UTF-8 are removed too.
    ///
    /// - Parameter note: called with each file's status after its removal.
    /// - Throws: also if something was added to a folder meanwhile.
    package func removeTree(_ entry: Entry, note: (FileStatus) -> Void = { _ in }) throws(AIError) {
        guard let status = try status(of: entry) else { return }
        guard status.kind == .directory else {
            if try remove(entry) { note(status) }
            return
        }
        if let folder = try ownFolder(entry) {
            for child in try folder.entries() { try folder.removeTree(child, note: note) }
        }
        let number = number { entry.withCString { unlinkat(descriptor, $0, AT_REMOVEDIR) } }
        guard let number, number != ENOENT else { return }
        throw failure("cannot delete the folder", entry, number)
    }

    package func removeTree(_ name: String) throws(AIError) { try removeTree(Entry(name)) }

    /// renameat(2)
    package func move(_ name: String, to folder: OpenFolder, as newName: String) throws(AIError) {
        guard let number = number({ renameat(descriptor, name, folder.descriptor, newName) }) else { return }
        throw .system(
            "cannot rename \(Path.join(path, name)) to", path: Path.join(folder.path, newName), errno: number)
    }

    /// As ``move(_:to:as:)``, and file by file where a folder cannot be renamed: on an overlay one of a lower layer cannot
    /// be, EXDEV. https://docs.kernel.org/filesystems/overlayfs.html
    package func moveTree(_ name: String, to folder: OpenFolder, as newName: String) throws(AIError) {
        do throws(AIError) { try move(name, to: folder, as: newName) } catch {
            guard error.errno == EXDEV, try status(of: name)?.kind == .directory else { throw error }
            try mergeTree(name, into: folder, as: newName)
        }
    }

    /// Moves what is in a folder into another one file by file; what is there of the same name stays where it is. If
    /// interrupted, calling it again continues.
    ///
    /// - Parameter takes: whether a file or link is moved, by its status; the folders of others stay.
    package func mergeTree(
        _ name: String, into folder: OpenFolder, as newName: String,
        where takes: (FileStatus) -> Bool = { _ in true }
    ) throws(AIError) {
        guard let from = try ownFolder(Entry(name)) else { return }
        let to = try folder.makeFolder(Entry(newName))
        for entry in try from.entries() {
            guard entry.isText, let status = try from.status(of: entry) else { continue }
            if status.kind == .directory {
                try from.mergeTree(entry.name, into: to, as: entry.name, where: takes)
            } else if takes(status), try to.status(of: entry) == nil {
                try from.move(entry.name, to: to, as: entry.name)
            }
        }
        try removeEmptyFolder(name)
    }

    /// linkat(2): a second name for the same inode.
    package func link(_ name: String, to folder: OpenFolder, as newName: String) throws(AIError) {
        guard let number = number({ linkat(descriptor, name, folder.descriptor, newName, 0) }) else { return }
        throw .system("cannot link", path: Path.join(folder.path, newName), errno: number)
    }

    /// Creates or opens a subfolder, without following a link.
    package func makeFolder(_ entry: Entry) throws(AIError) -> OpenFolder {
        let number = number { entry.withCString { mkdirat(descriptor, $0, 0o777) } }
        if let number, number != EEXIST { throw failure("cannot make the folder", entry, number) }
        guard let folder = try ownFolder(entry) else { throw failure("cannot make the folder", entry, ENOTDIR) }
        return folder
    }

    /// Writes a new file and renames it over the old one: a reader sees the old or the new, whole.
    ///
    /// - Parameters:
    ///   - isModeExact: the file has exactly this mode before anything is written, regardless of the umask.
    ///   - durable: content and name are on stable storage when this returns.
    ///   - place: the temporary folder and name; nil for this folder and a random name.
    package func replace(
        _ name: String, with bytes: [UInt8], mode: UInt32 = 0o666, isModeExact: Bool = false, durable: Bool = false,
        temporary place: (folder: OpenFolder, name: String)? = nil
    ) throws(AIError) {
        let (folder, temporary) = place ?? (self, "\(name).\(FileSystem.randomHex(4)).tmp")
        let file = try FileDescriptor(temporary, in: folder, [.write, .create, .exclusive, .noFollow], mode: mode)
        do throws(AIError) {
            if isModeExact { try file.setMode(mode, orLess: true) }
            try file.write(bytes)
            if durable { try file.synchronizeData() }
            try folder.move(temporary, to: self, as: name)
        } catch {
            _ = try? folder.remove(temporary)
            throw error
        }
        if durable { try synchronize() }
    }

    /// Flushes the folder's names, so that a rename in it survives a power cut.
    package func synchronize() throws(AIError) {
        guard let number = number({ hub_sync_all(descriptor) }) else { return }
        // Some network and FUSE file systems do not support it for folders; the files' data is already safe.
        if [EINVAL, ENOTSUP, EOPNOTSUPP, EBADF].contains(number) { return }
        throw .system("cannot flush", path: path, errno: number)
    }
}
