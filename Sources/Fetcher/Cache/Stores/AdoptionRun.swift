package import Catalog
package import HubCore

/// Carries out an ``AdoptionPlan``, and undoes it. Killed at any moment, every name has its content: a name is replaced
/// by one rename, after both files were read whole and were the same, and only while it is still the file that was read.
package struct AdoptionRun {
    package enum Outcome: Sendable {
        case done(freed: Int64)
        /// Nothing was changed, and why.
        case kept(AIError)
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
        return try withLock(target) {
            let source = try FileDescriptor(unnoticed: row.path)
            return row.action == .reflink
                ? try share(source, target, row) : try replace(target, by: source, row, progress)
        }
    }

    /// The kernel compares the bytes itself.
    private func share(_ source: borrowing FileDescriptor, _ target: String, _ row: AdoptionPlan.Row) throws
        -> Outcome
    {
        let to = try FileDescriptor(target, [.write])
        let adoption = Adoption(
            path: target, source: row.path, sha256: row.sha256, size: row.size, action: row.action.rawValue,
            modified: try to.status().modified)
        try catalog.remember(adoption, at: Timestamp.now)
        guard source.shareBlocks(with: to, size: row.size) else {
            try catalog.forget(adoption)
            return .kept(
                AIError(
                    .fileChanged, "its blocks cannot be shared with \(target.printable), or their bytes differ",
                    context: .init(path: target)))
        }
        return .done(freed: row.size)
    }

    private func replace(
        _ target: String, by source: borrowing FileDescriptor, _ row: AdoptionPlan.Row,
        _ progress: (Int) throws -> Void
    ) throws -> Outcome {
        let second = try FileDescriptor(unnoticed: target)
        let (before, old) = (try source.status(), try second.status())
        guard SharedContent.canLink(before, over: old) else { return .kept(Self.changed(target)) }
        if let fault = try Self.fault(source, before, row, progress) { return .kept(fault) }
        if let fault = try Self.fault(second, old, row, progress) { return .kept(fault) }
        let adoption = Adoption(
            path: target, source: row.path, sha256: row.sha256, size: row.size, action: row.action.rawValue,
            modified: old.modified)
        try catalog.remember(adoption, at: Timestamp.now)
        if let fault = try link(row.path, before, over: target, old) {
            try catalog.forget(adoption)
            return .kept(fault)
        }
        return .done(freed: old.size)
    }

    /// Replaces a name, if both are still the files that were read.
    private func link(_ source: String, _ before: FileStatus, over target: String, _ old: FileStatus) throws
        -> AIError?
    {
        let temporary = Self.temporary(target)
        try FileSystem.remove(temporary)
        defer { _ = try? FileSystem.remove(temporary) }
        do throws(AIError) { try FileSystem.createHardLink(source, at: temporary) } catch { return error }
        // The new name changes the time of the inode, and nothing else.
        guard let made = try FileSystem.linkStatus(temporary), made.device == before.device,
            made.stamp == before.stamp, SharedContent.canLink(made, over: old)
        else { return Self.changed(source) }
        return try Self.rename(temporary, over: target, old)
    }

    /// Replaces a name, if it still is of the file that was read. A file that gets the name in the last moment comes out
    /// of the exchange and is put back.
    private static func rename(_ temporary: String, over target: String, _ old: FileStatus) throws -> AIError? {
        guard try FileSystem.linkStatus(target)?.fingerprint == old.fingerprint else { return changed(target) }
        if try FileSystem.swap(temporary, target) {
            guard let out = try FileSystem.linkStatus(temporary), out.device == old.device, out.stamp == old.stamp
            else {
                _ = try FileSystem.swap(temporary, target)
                return changed(target)
            }
            try FileSystem.remove(temporary)
        } else {
            try FileSystem.rename(temporary, to: target)
        }
        try FileSystem.synchronizeDirectory(Path.parent(target))
        return nil
    }

    private func register(_ row: AdoptionPlan.Row, _ progress: (Int) throws -> Void) throws -> Outcome {
        let source = try FileDescriptor(unnoticed: row.path)
        let status = try source.status()
        if let fault = try Self.fault(source, status, row, progress) { return .kept(fault) }
        try catalog.remember(
            Adoption(
                path: row.path, source: row.tool.rawValue, sha256: row.sha256, size: row.size,
                action: row.action.rawValue, modified: status.modified), at: Timestamp.now)
        return .done(freed: 0)
    }

    // MARK: Undoing

    /// Makes a separate copy again, or forgets where content was.
    ///
    /// - Parameter progress: called with further bytes copied; may throw to stop.
    package func undo(_ adoption: Adoption, progress: (Int) throws -> Void) throws -> Outcome {
        if adoption.action == AdoptionPlan.Action.register.rawValue {
            try catalog.forget(adoption)
            return .done(freed: 0)
        }
        return try withLock(adoption.path) {
            try FileSystem.remove(Self.temporary(adoption.path))
            if let status = try FileSystem.linkStatus(adoption.path), status.kind == .file,
                try isShared(adoption, status)
            {
                if let fault = try Self.separate(adoption, progress) { return .kept(fault) }
            }
            try catalog.forget(adoption)
            return .done(freed: 0)
        }
    }

    /// Whether the name still shares its content with one that hub linked it to; another link to it is its user's own.
    private func isShared(_ adoption: Adoption, _ status: FileStatus) throws -> Bool {
        guard adoption.action == AdoptionPlan.Action.hardlink.rawValue else {
            return FileDigest.areClones(adoption.path, adoption.source)
        }
        let linked = try catalog.adoptions().filter {
            $0.sha256 == adoption.sha256 && $0.action == adoption.action && $0.path != adoption.path
        }
        return try ([adoption.source] + linked.map(\.path)).contains { path in
            guard let other = try FileSystem.linkStatus(path) else { return false }
            return other.device == status.device && other.inode == status.inode
        }
    }

    /// Replaces a name by a copy of its bytes of its own, as it was before.
    private static func separate(_ adoption: Adoption, _ progress: (Int) throws -> Void) throws -> AIError? {
        let path = adoption.path
        let temporary = temporary(path)
        defer { _ = try? FileSystem.remove(temporary) }
        let source = try FileDescriptor(unnoticed: path)
        let status = try source.status()
        let isAsAdopted: Bool
        do {
            let copy = try FileDescriptor(temporary, [.write, .create, .exclusive], mode: 0o600)
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
            defer { buffer.deallocate() }
            let hasher = ContentHasher()
            var offset: Int64 = 0
            while true {
                let count = try source.read(into: buffer, at: offset)
                if count == 0 { break }
                let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                hasher.update(bytes)
                try copy.write(bytes, at: offset)
                offset += Int64(count)
                try progress(count)
            }
            guard offset == status.size else { return changed(path) }
            isAsAdopted = hasher.finish().hex == adoption.sha256
            let made = try copy.status()
            if made.owner != status.owner || made.group != status.group {
                try copy.setOwner(status.owner, group: status.group)
            }
            try copy.setMode(status.mode)
            try copy.synchronizeData()
        }
        // Content that was written since has a time of its own.
        try FileSystem.setTimes(
            temporary, accessed: status.accessed, modified: isAsAdopted ? adoption.modified : status.modified)
        return try rename(temporary, over: path, status)
    }

    // MARK: Proofs

    /// Reads a file whole; nil if it is what the row says and nobody wrote to it meanwhile.
    private static func fault(
        _ file: borrowing FileDescriptor, _ status: FileStatus, _ row: AdoptionPlan.Row,
        _ progress: (Int) throws -> Void
    ) throws -> AIError? {
        guard status.kind == .file, status.size == row.size else { return changed(file.path) }
        let hasher = ContentHasher()
        try hasher.update(file, progress: progress)
        guard try file.status().fingerprint == status.fingerprint else { return changed(file.path) }
        guard hasher.finish().hex == row.sha256 else {
            return AIError(
                .digestMismatch, "the content of \(file.path.printable) is not what its name says",
                context: .init(path: file.path))
        }
        return nil
    }

    private static func changed(_ path: String) -> AIError {
        AIError(.fileChanged, "\(path.printable) was changed meanwhile", context: .init(path: path))
    }

    // MARK: Places

    /// Removes what adopting that was killed left beside its names.
    package func sweep() throws {
        for adoption in try catalog.adoptions() where adoption.action != AdoptionPlan.Action.register.rawValue {
            _ = try withLock(adoption.path) {
                try FileSystem.remove(Self.temporary(adoption.path))
                return .done(freed: 0)
            }
        }
    }

    /// Beside the name: in a cache as pulls name their copies, elsewhere as downloads that other programs skip.
    static func temporary(_ path: String) -> String {
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
        case .held:
            return .kept(AIError(.ioError, "another process is fetching it", context: .init(path: path)))
        case .unsupported: return try body()
        case .taken(let lock):
            let outcome = try body()
            _ = consume lock
            return outcome
        }
    }
}
