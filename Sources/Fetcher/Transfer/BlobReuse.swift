import HubCore

/// Takes content that is already on this machine instead of fetching it.
enum BlobReuse {
    enum Outcome {
        /// In place, with its range digests.
        case taken(RangeDigests)
        /// The content does not match its digest.
        case different
        /// Another process holds the lock.
        case locked
    }

    /// Verifies the content at `source` and puts it in place: by a reflink if supported, else a hard link, else a copy.
    /// If the source is already in place, it is only verified.
    ///
    /// - Parameters:
    ///   - links: whether a hard link is allowed. Not if users may change the file.
    ///   - isCancelled: checked during verification.
    ///   - progress: called with the number of further bytes read.
    /// - Throws: `CancellationError`; ``AIError`` if the source cannot be read or the new name cannot be created.
    static func adopt(
        _ file: RepositoryFile, from source: String, to places: TransferPlaces, links: Bool = true,
        isCancelled: () -> Bool,
        progress: (Int) -> Void
    ) throws -> Outcome {
        let attempt = try FileLock.attempt(places.lock)
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
        let content = try FileDescriptor(real)
        let before = try content.status()
        let hasher = ContentHasher(like: file.digest, size: file.size)
        try hasher.update(content) { count in
            if isCancelled() { throw CancellationError() }
            progress(count)
        }
        guard hasher.finish() == file.digest, try isUnchanged(content, before) else { return .different }
        // An earlier pull's partial is no longer needed.
        try places.sweep()
        let blob = places.content
        if real == FileSystem.resolved(blob) { return .taken(hasher.ranges) }
        try FileSystem.createDirectories(Path.parent(blob))
        let temporary = places.copy
        try FileSystem.remove(temporary)
        defer { _ = try? FileSystem.remove(temporary) }
        if try reflink(content, to: temporary) {
            guard try isUnchanged(content, before) else { return .different }
            try FileSystem.rename(temporary, to: blob)
            return .taken(hasher.ranges)
        }
        try FileSystem.remove(temporary)
        if links, try link(real, to: temporary) {
            // The name may have been given to another file since it was opened.
            guard let made = try FileSystem.linkStatus(temporary), made.device == before.device,
                made.stamp == before.stamp
            else { return .different }
            try FileSystem.rename(temporary, to: blob)
            return .taken(hasher.ranges)
        }
        try FileCopy.fill(temporary, from: content)
        guard try isUnchanged(content, before) else { return .different }
        try FileSystem.rename(temporary, to: blob)
        return .taken(hasher.ranges)
    }

    /// Whether nobody wrote to an open file meanwhile: it may be another program's.
    private static func isUnchanged(_ file: borrowing FileDescriptor, _ before: FileStatus) throws(AIError) -> Bool
    {
        try file.status().stamp == before.stamp
    }

    /// Creates a reflink; false if unsupported.
    private static func reflink(_ source: borrowing FileDescriptor, to path: String) throws(AIError) -> Bool {
        let to = try FileDescriptor(path, [.write, .create, .exclusive])
        guard to.reflink(from: source) else { return false }
        try to.synchronizeData()
        return true
    }

    /// Creates a hard link; false on another file system, or one without hard links.
    private static func link(_ source: String, to path: String) throws(AIError) -> Bool {
        do throws(AIError) { try FileSystem.createHardLink(source, at: path) } catch {
            guard error.errno != nil else { throw error }
            return false
        }
        return true
    }
}
