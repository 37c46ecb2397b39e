package import HubCore
import Libc

/// A folder beside the cache into which deletions move files by rename: fast, exactly reversible, frees nothing. Each
/// entry's manifest is written before its first move.
package struct Trash: Sendable {
    let layout: CacheLayout
    /// The folder; it need not exist.
    package let path: String

    package init(_ layout: CacheLayout) {
        self.layout = layout
        path = Self.path(ofCache: layout.root)
    }

    static func path(ofCache root: String) -> String { root + "-trash" }

    /// Creates the folder with the cache's mode, so that its contents stay as private.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` if nothing can be renamed into it.
    package func create() throws(AIError) {
        guard let cache = try FileSystem.status(layout.root) else { return }
        let place = FileSystem.exists(path) ? path : Path.parent(path)
        guard try FileSystem.status(place)?.device == cache.device else {
            throw AIError(
                .invalidInput,
                "the trash \(path) is on another file system than the cache, so nothing can be moved there",
                advice: "delete without --trash", context: .init(path: path))
        }
        guard !FileSystem.exists(path) else { return }
        try FileSystem.createDirectories(path, mode: cache.mode)
        try FileSystem.setMode(path, cache.mode, orLess: true)
    }

    /// The exclusive lock for changes to the trash.
    func exclusive() throws(AIError) -> FileDescriptor {
        let folder = try FileDescriptor(path, [.directory])
        // NFS requires a writable descriptor, which folders do not have: there nothing is locked.
        if try folder.tryLock() == false { try folder.lock() }
        return folder
    }

    /// The open folder of an entry; nil if it is gone.
    func folder(of entry: TrashEntry) throws(AIError) -> OpenFolder? {
        try OpenFolder.open(path)?.ownFolder(OpenFolder.Entry(entry.name))
    }

    func place(_ entry: TrashEntry) -> String { Path.join(path, entry.name) }
    func place(_ name: String, of entry: TrashEntry) -> String { Path.join(place(entry), name) }

    /// The entries of the trash, the newest first, and the errors of unreadable ones. A folder without a manifest
    /// counts as empty.
    package func contents() throws(AIError) -> (entries: [TrashEntry], faults: [AIError]) {
        var out: [TrashEntry] = []
        var faults: [AIError] = []
        for name in try entryNames() {
            do throws(AIError) {
                if let entry = try entry(name) { out.append(entry) }
            } catch {
                faults.append(error)
            }
        }
        out.sort { ($1.trashedAt, $1.name) < ($0.trashedAt, $0.name) }
        measure(&out)
        return (out, faults)
    }

    /// Sets what emptying frees of each entry after the older ones. What cannot be read counts as it was planned.
    private func measure(_ entries: inout [TrashEntry]) {
        guard !entries.isEmpty else { return }
        var ledger = DeletionLedger(nil, (try? SharedBlocks(below: [path])) ?? SharedBlocks())
        for index in entries.indices.reversed() {
            let before = ledger.freedBytes
            guard let kept = (try? folder(of: entries[index])) ?? nil,
                (try? count(kept, besides: entries[index].bookkeeping, &ledger)) != nil
            else { continue }
            entries[index].size = ledger.freedBytes - before
        }
    }

    /// The entries of ``contents()`` that can be read.
    package func entries() throws(AIError) -> [TrashEntry] { try contents().entries }

    /// The folders created by deletions. Everything else there is left alone.
    ///
    /// - Parameter prefix: the prefix of their names.
    func entryNames(prefix: String = "") throws(AIError) -> [String] {
        var out: [String] = []
        for name in try FileSystem.entries(path) ?? [] {
            guard let rest = name.dropping(prefix: prefix), TrashEntry.isName(rest),
                try FileSystem.linkStatus(Path.join(path, name))?.kind == .directory
            else { continue }
            out.append(name)
        }
        return out
    }

    /// An entry by its manifest; nil if it has none.
    func entry(_ name: String) throws(AIError) -> TrashEntry? {
        guard let bytes = try FileSystem.contents(Path.join(Path.join(path, name), TrashEntry.manifest)) else {
            return nil
        }
        guard let json = try? JSON.parse(bytes), let entry = TrashEntry(name: name, json: json) else {
            throw AIError(
                .ioError, "\(Path.join(path, name)) has a manifest that cannot be read",
                advice: "move what you need out of it by hand, then remove it", context: .init(path: path))
        }
        return entry
    }

    /// Writes an entry's manifest, and creates its folder if missing.
    ///
    /// - Returns: that folder.
    @discardableResult
    func write(_ entry: TrashEntry) throws(AIError) -> OpenFolder {
        let folder = try OpenFolder.open(existing: path).makeFolder(OpenFolder.Entry(entry.name))
        try folder.replace(TrashEntry.manifest, with: Array(JSON.object(entry.json).text().utf8), durable: true)
        return folder
    }

    /// Removes an entry's folder with its remaining contents. The manifest is deleted last, so that a restore can tell
    /// what has already been restored.
    func remove(_ entry: TrashEntry) throws(AIError) {
        guard let folder = try folder(of: entry) else { return }
        for child in try folder.entries() where child.name != TrashEntry.manifest { try folder.removeTree(child) }
        try folder.remove(TrashEntry.manifest)
        try OpenFolder.open(path)?.removeEmptyFolder(entry.name)
        try FileSystem.removeEmptyDirectory(path)
    }

    // MARK: Emptying

    /// The name prefix of an entry that is being deleted.
    private static let gone = ".deleted-"

    /// Deletes entries permanently.
    package func empty(_ entries: [TrashEntry]) throws(AIError) -> FreedBytes {
        guard let top = try OpenFolder.open(path) else { return FreedBytes() }
        let lock = try exclusive()
        defer { withExtendedLifetime(lock) {} }
        var ledger = DeletionLedger(nil, try SharedBlocks(below: [path]))
        for entry in entries {
            // A partly deleted entry must not be restorable.
            do throws(AIError) { try top.move(entry.name, to: top, as: Self.gone + entry.name) } catch {
                // In a lower layer of an overlay, where folders cannot be renamed.
                guard error.errno == EXDEV else { throw error }
                var entry = entry
                entry.isBeingDeleted = true
                let kept = try write(entry)
                try count(kept, besides: entry.bookkeeping, &ledger)
                try remove(entry)
            }
        }
        for name in try entryNames(prefix: Self.gone) {
            guard let folder = try top.ownFolder(OpenFolder.Entry(name)) else { continue }
            let manifest = try folder.contents(TrashEntry.manifest, limit: 64 << 20)
            let entry = manifest.flatMap { try? JSON.parse($0) }.flatMap { TrashEntry(name: name, json: $0) }
            try count(folder, besides: entry?.bookkeeping ?? [], &ledger)
            try top.removeTree(name)
        }
        try FileSystem.removeEmptyDirectory(path)
        return ledger.freed
    }

    /// Counts the files in a folder of the trash as deleted.
    ///
    /// - Parameter bookkeeping: names that plans do not count.
    func count(_ folder: OpenFolder, besides bookkeeping: Set<String>, _ ledger: inout DeletionLedger)
        throws(AIError)
    {
        for entry in try folder.entries() where !bookkeeping.contains(entry.name) {
            guard let status = try folder.status(of: entry) else { continue }
            if status.kind == .file {
                ledger.take(ledger.choice([PhysicalFile(status)]))
            } else if status.kind == .directory, let inner = try folder.ownFolder(entry) {
                try count(inner, besides: ["refs", "trees", ".no_exist"], &ledger)
            }
        }
    }
}
