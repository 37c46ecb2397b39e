import HubCore

/// Takes content that is already on this machine instead of fetching it.
enum BlobReuse {
    enum Outcome {
        /// In its place; what the digest came to at the ends of its ranges.
        case taken(RangeDigests)
        /// The content is not what its name says.
        case different
        /// Another process is at work on it.
        case locked
    }

    /// Proves the content at `source` anew, and gives it its place: sharing the extents where the file system can, else
    /// by a hard link, else by a copy. Where the source is that place, there is nothing to do but the proof.
    ///
    /// - Parameters:
    ///   - links: whether a hard link will do. Not where people may change the file.
    ///   - isCancelled: asked while the content is proven, which takes long where it is large.
    ///   - progress: hears how many further bytes have been read.
    /// - Throws: `CancellationError`; ``AIError`` where the source cannot be read or the new name cannot be made.
    static func adopt(
        _ file: RepositoryFile, from source: String, to places: TransferPlaces, links: Bool = true,
        isCancelled: () -> Bool,
        progress: (Int) -> Void
    ) throws -> Outcome {
        let attempt = try BlobLock.attempt(places.lock)
        switch consume attempt {
        case .held: return .locked
        case .unsupported: return try take(file, from: source, to: places, links, isCancelled, progress)
        case .taken(let lock):
            let taken = try take(file, from: source, to: places, links, isCancelled, progress)
            _ = consume lock
            return taken
        }
    }

    private static func take(
        _ file: RepositoryFile, from source: String, to places: TransferPlaces, _ links: Bool,
        _ isCancelled: () -> Bool, _ progress: (Int) -> Void
    ) throws -> Outcome {
        guard let real = FileSystem.resolved(source) else { return .different }
        let hasher = ContentHasher(like: file.digest, size: file.size)
        try hasher.update(file: real) { count in
            if isCancelled() { throw CancellationError() }
            progress(count)
        }
        guard hasher.finish() == file.digest else { return .different }
        // What an earlier pull began to fetch of it is of no more use.
        try places.sweep()
        let blob = places.content
        if real == FileSystem.resolved(blob) { return .taken(hasher.ranges) }
        try FileSystem.createDirectories(Path.parent(blob))
        let temporary = places.copy
        try FileSystem.remove(temporary)
        defer { _ = try? FileSystem.remove(temporary) }
        if try reflink(real, to: temporary) {
            try FileSystem.rename(temporary, to: blob)
            return .taken(hasher.ranges)
        }
        try FileSystem.remove(temporary)
        guard links else {
            try FileCopy.copy(real, to: blob, through: temporary)
            return .taken(hasher.ranges)
        }
        do throws(AIError) {
            try FileSystem.createHardLink(real, at: temporary)
            try FileSystem.rename(temporary, to: blob)
        } catch {
            // Another file system, or one without hard links.
            try FileCopy.copy(real, to: blob, through: temporary)
        }
        return .taken(hasher.ranges)
    }

    /// A new file that shares the extents of another; false where the file system cannot.
    private static func reflink(_ source: String, to path: String) throws(AIError) -> Bool {
        let from = try FileDescriptor(source)
        let to = try FileDescriptor(path, [.write, .create, .exclusive])
        guard to.reflink(from: from) else { return false }
        try to.synchronizeData()
        return true
    }
}
