package import HubCore

/// The state of one file of a snapshot on disk.
package enum SnapshotFile: Sendable, Hashable {
    /// Missing, a broken link, a link to another blob, or of the wrong size.
    case absent
    /// A link to the blob of this digest, or to the file itself, with the right size.
    case present

    /// The state of a file in a snapshot: its target must have the tree's size, and a link must point to the tree's
    /// blob. A plain file (a cache without links) is checked only by size.
    package static func state(_ file: RepositoryFile, commit: Commit, in folder: RepositoryFolder) throws(AIError)
        -> SnapshotFile
    {
        let path = Path.join(folder.snapshot(commit), file.path)
        guard let entry = try FileSystem.linkStatus(path) else { return .absent }
        if entry.kind == .symlink {
            guard let text = FileSystem.linkText(path), Path.name(text) == file.digest.hex else { return .absent }
        }
        guard let target = try FileSystem.status(path), target.kind == .file, target.size == file.size else {
            return .absent
        }
        return .present
    }

    /// Whether a blob exists with the right size, directly or through the shared store.
    package static func hasBlob(_ file: RepositoryFile, in folder: RepositoryFolder) throws(AIError) -> Bool {
        guard let status = try FileSystem.status(folder.blob(file.digest.hex)) else { return false }
        return status.kind == .file && status.size == file.size
    }

    /// Creates the snapshot's link to its blob; without link support the blob itself is moved there, as in Python.
    package static func link(_ file: RepositoryFile, commit: Commit, in folder: RepositoryFolder, symlinks: Bool)
        throws(AIError)
    {
        let path = Path.join(folder.snapshot(commit), file.path)
        try FileSystem.createDirectories(Path.parent(path))
        let blob = folder.blob(file.digest.hex)
        guard symlinks else {
            guard FileSystem.exists(blob) else { return }
            // A blob of the shared store is shared: make a copy.
            guard FileSystem.linkText(blob) == nil else {
                return try FileCopy.copy(blob, to: path, through: folder.partialCopy(file.digest.hex))
            }
            return try FileSystem.rename(blob, to: path)
        }
        let text = RepositoryFolder.linkText(path: file.path, etag: file.digest.hex)
        if FileSystem.linkText(path) == text { return }
        // Created elsewhere and renamed, so that readers never find the name missing and a crash leaves nothing in the
        // snapshot.
        let temporary = folder.partialLink(file.digest.hex)
        try FileSystem.createSymlink(text, at: temporary)
        try FileSystem.rename(temporary, to: path)
    }
}

/// Copies of file content.
enum FileCopy {
    /// A new file with the content of the one at `source`.
    static func copy(_ source: String, to path: String, through temporary: String) throws(AIError) {
        let from = try FileDescriptor(source)
        try copy(from: from, to: path, through: temporary)
    }

    /// A new file with the same content: a reflink if supported, else a byte copy. It gets its name only when complete
    /// and on stable storage; before, it is at `temporary`.
    static func copy(from: borrowing FileDescriptor, to path: String, through temporary: String) throws(AIError) {
        try FileSystem.remove(temporary)
        do throws(AIError) {
            try fill(temporary, from: from)
            try FileSystem.rename(temporary, to: path)
        } catch {
            _ = try? FileSystem.remove(temporary)
            throw error
        }
    }

    /// The new file alone, on stable storage.
    static func fill(_ path: String, from: borrowing FileDescriptor) throws(AIError) {
        let to = try FileDescriptor(path, [.write, .create, .exclusive])
        if !to.reflink(from: from) {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
            defer { buffer.deallocate() }
            var offset: Int64 = 0
            while true {
                let count = try from.read(into: buffer, at: offset)
                if count == 0 { break }
                try to.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset)
                offset += Int64(count)
            }
        }
        try to.synchronizeData()
    }
}
