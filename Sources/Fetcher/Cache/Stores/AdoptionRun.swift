package import Catalog
package import HubCore

/// Carries out an ``AdoptionPlan``, and undoes it. Killed at any moment, every name has its content: a name is replaced
/// by one rename, after the content that stays was read whole.
package struct AdoptionRun {
    package enum Outcome: Sendable, Hashable {
        case done(freed: Int64)
        /// Nothing was changed, and why.
        case kept(String)
    }

    let layout: CacheLayout
    /// Remembers what is done before it is done, so that all of it can be undone.
    let catalog: Catalog

    package init(_ layout: CacheLayout, _ catalog: Catalog) { (self.layout, self.catalog) = (layout, catalog) }

    /// Makes one copy of a row's two.
    ///
    /// - Parameter progress: called with further bytes read; may throw to stop.
    package func carryOut(_ row: AdoptionPlan.Row, progress: (Int) throws -> Void) throws -> Outcome {
        guard let target = row.target else { return try register(row, progress) }
        return try withLock(target) { try join(target, row, progress) }
    }

    private func join(_ target: String, _ row: AdoptionPlan.Row, _ progress: (Int) throws -> Void) throws -> Outcome
    {
        let source = try FileDescriptor(unnoticed: row.path)
        let before = try source.status()
        guard before.kind == .file, before.size == row.size else { return .kept("it has changed") }
        try catalog.remember(
            Adoption(
                path: target, source: row.path, sha256: row.sha256, size: row.size, action: row.action.rawValue,
                isNew: false), at: Timestamp.now)
        let outcome =
            row.action == .reflink
            ? try share(source, target, row) : try replace(target, by: source, before, row, progress)
        if case .kept = outcome, let made = try catalog.adoptions().first(where: { $0.path == target }) {
            try catalog.forget(made)
        }
        return outcome
    }

    /// The kernel compares the bytes itself.
    private func share(_ source: borrowing FileDescriptor, _ target: String, _ row: AdoptionPlan.Row) throws
        -> Outcome
    {
        let to = try FileDescriptor(target, [.write])
        guard source.shareBlocks(with: to, size: row.size) else {
            return .kept("the file system cannot share their blocks, or they differ")
        }
        return .done(freed: row.size)
    }

    private func replace(
        _ target: String, by source: borrowing FileDescriptor, _ before: FileStatus, _ row: AdoptionPlan.Row,
        _ progress: (Int) throws -> Void
    ) throws -> Outcome {
        let hasher = ContentHasher()
        try hasher.update(source, progress: progress)
        guard hasher.finish().hex == row.sha256 else {
            return .kept("its content is not what its name says; hub verify checks the cache")
        }
        let freed = try FileSystem.linkStatus(target).map { $0.links == 1 ? $0.size : 0 } ?? 0
        let temporary = Self.temporary(target)
        try FileSystem.remove(temporary)
        defer { _ = try? FileSystem.remove(temporary) }
        do throws(AIError) { try FileSystem.createHardLink(row.path, at: temporary) } catch {
            return .kept(error.message)
        }
        // The name could have been given to another file since it was opened.
        let made = try FileSystem.linkStatus(temporary)
        guard let made, made.inode == before.inode, made.device == before.device, made.stamp == before.stamp else {
            return .kept("it has changed")
        }
        try FileSystem.rename(temporary, to: target)
        try FileSystem.synchronizeDirectory(Path.parent(target))
        return .done(freed: freed)
    }

    private func register(_ row: AdoptionPlan.Row, _ progress: (Int) throws -> Void) throws -> Outcome {
        let hasher = ContentHasher()
        try hasher.update(FileDescriptor(unnoticed: row.path), progress: progress)
        guard hasher.finish().hex == row.sha256 else { return .kept("its content is not what its name says") }
        try catalog.remember(
            Adoption(
                path: row.path, source: row.tool.rawValue, sha256: row.sha256, size: row.size, action: "register",
                isNew: false), at: Timestamp.now)
        return .done(freed: 0)
    }

    // MARK: Undoing

    /// Makes a separate copy again, or forgets where content was.
    package func undo(_ adoption: Adoption) throws -> Outcome {
        if adoption.action == "register" {
            try catalog.forget(adoption)
            return .done(freed: 0)
        }
        return try withLock(adoption.path) {
            if let status = try FileSystem.linkStatus(adoption.path), status.kind == .file,
                isShared(adoption, status)
            {
                try Self.separate(adoption.path, status)
            }
            try catalog.forget(adoption)
            return .done(freed: 0)
        }
    }

    private func isShared(_ adoption: Adoption, _ status: FileStatus) -> Bool {
        guard adoption.action == AdoptionPlan.Action.hardlink.rawValue else {
            return FileDigest.areClones(adoption.path, adoption.source)
        }
        // The other name may be gone by now; then this one is alone.
        return status.links > 1
    }

    /// Replaces a name by a copy of its bytes of its own.
    private static func separate(_ path: String, _ status: FileStatus) throws {
        let temporary = temporary(path)
        try FileSystem.remove(temporary)
        defer { _ = try? FileSystem.remove(temporary) }
        let source = try FileDescriptor(unnoticed: path)
        do {
            let copy = try FileDescriptor(temporary, [.write, .create, .exclusive])
            try copy.setMode(status.mode)
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
            defer { buffer.deallocate() }
            var offset: Int64 = 0
            while true {
                let count = try source.read(into: buffer, at: offset)
                if count == 0 { break }
                try copy.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset)
                offset += Int64(count)
            }
            try copy.synchronizeData()
        }
        try FileSystem.setTimes(temporary, accessed: status.accessed, modified: status.modified)
        try FileSystem.rename(temporary, to: path)
        try FileSystem.synchronizeDirectory(Path.parent(path))
    }

    // MARK: Places

    /// Beside the name: in a cache as pulls name their copies, elsewhere as downloads that other programs skip.
    private static func temporary(_ path: String) -> String {
        Path.name(Path.parent(path)) == "blobs" ? path + ".hub.copy.incomplete" : path + ".hub.part"
    }

    /// Under the lock of a blob of the cache; other files have none.
    private func withLock(_ path: String, _ body: () throws -> Outcome) throws -> Outcome {
        let blobs = Path.parent(path)
        let repository = Path.parent(blobs)
        guard Path.name(blobs) == "blobs", Path.parent(repository) == layout.root,
            Repository(folderName: Path.name(repository)) != nil
        else { return try body() }
        let folder = RepositoryFolder(cache: layout, name: Path.name(repository))
        let attempt = try FileLock.attempt(folder.lock(Path.name(path)))
        switch consume attempt {
        case .held: return .kept("another process is fetching it")
        case .unsupported: return try body()
        case .taken(let lock):
            let outcome = try body()
            _ = consume lock
            return outcome
        }
    }
}
