package import Catalog
package import HubCore

/// The catalog's records of one cache, independent of its path: pins, times of use and choices. The key is an id, a
/// random number in `.locks/hub.id` of the cache, the one place that does not make Python warn. If that file is
/// missing, the folder's device and inode identify the cache, and failing that its path.
package struct CacheRecord: Sendable {
    let layout: CacheLayout
    let catalog: Catalog

    package init(_ layout: CacheLayout, in catalog: Catalog) { (self.layout, self.catalog) = (layout, catalog) }

    package func pins() throws(AIError) -> [Pin] { try catalog.pins(ofCache: try key()) }

    /// - Throws: if the cache has no id and none can be written.
    package func pin(_ folder: String, _ commit: Commit, note: String?) throws(AIError) {
        let id = try idForWriting()
        try catalog.pin(cache: id, folder: folder, commit: commit, note: note, at: Timestamp.now)
    }

    package func unpin(_ folder: String, _ commit: Commit) throws(AIError) {
        try catalog.unpin(cache: try key(), folder: folder, commit: commit)
    }

    /// When revisions were last used, as recorded by `hub`: folder and commit to seconds since 1970.
    package func uses() throws(AIError) -> [String: [String: Double]] { try catalog.uses(ofCache: try key()) }

    /// Records a use; by the cache's path if it cannot be given an id.
    package func markUsed(_ folder: String, _ commit: Commit) throws(AIError) {
        let place = (try? idForWriting()) ?? layout.root
        try catalog.markUsed(cache: place, folder: folder, commit: commit, at: Timestamp.now)
    }

    // MARK: Identity of the cache

    /// The key of the cache's records: its id, or its path if it has none. Records of an earlier hub, which used the
    /// path, get an id.
    func key() throws(AIError) -> String {
        if let id = try identified() { return id }
        guard try catalog.hasRecords(ofCache: layout.root) else { return layout.root }
        return (try? made()) ?? layout.root
    }

    /// The id of the cache; nil if it has none.
    private func identified() throws(AIError) -> String? {
        guard let status = try FileSystem.status(layout.root), status.kind == .directory else { return nil }
        let caches = try catalog.knownCaches()
        let here = PhysicalFile(status).identity
        func isHere(_ cache: KnownCache) -> Bool { cache.place == here }
        guard let id = Self.id(in: layout.root) else {
            guard let known = caches.first(where: isHere) ?? caches.first(where: { $0.path == layout.root }) else {
                return nil
            }
            // `.locks` was emptied. If the file cannot be written again, the second key still identifies the cache.
            try? write(known.id)
            if !isHere(known) { _ = note(known.id, status) }
            return known.id
        }
        guard let known = caches.first(where: { $0.id == id }) else {
            // Another user's hub chose this id, or the catalog is new. Existing records move to it.
            let old = caches.first(where: isHere)?.id
            var key = old
            if key == nil, try catalog.hasRecords(ofCache: layout.root) { key = layout.root }
            guard let key else { return id }
            return note(id, status, recordsOf: key) ? id : key
        }
        if isHere(known) {
            // Renamed, or HF_HOME names it another way: the path must lead here, else a copy would count as the
            // original.
            if known.path != layout.root, Self.place(of: known.path) != known.place { _ = note(id, status) }
            return id
        }
        if isElsewhere(known) { return copied(from: known, status, caches) }
        // It was moved. If that cannot be recorded, the id is enough.
        _ = note(id, status)
        return id
    }

    /// The id for a new record; also records the cache's other keys.
    func idForWriting() throws(AIError) -> String {
        guard let id = try identified() else { return try made() }
        if let status = try FileSystem.status(layout.root),
            try !catalog.knownCaches().contains(where: { $0.id == id })
        {
            try catalog.remember(known(id, status), at: Timestamp.now)
        }
        return id
    }

    /// Gives the cache an id, unless another process was faster.
    private func made() throws(AIError) -> String {
        let caches = try catalog.knownCaches()
        guard let status = try FileSystem.status(layout.root) else { return layout.root }
        let isKept = try catalog.hasRecords(ofCache: layout.root)
        let cache = known(FileSystem.randomHex(16), status)
        return try catalog.remember(
            cache, recordsOf: isKept ? layout.root : nil, knowing: caches.filter { $0.place != cache.place },
            at: Timestamp.now
        ) { try write(cache.id) }
    }

    /// Whether a cache is still where it was, so that this one is a copy of it.
    private func isElsewhere(_ cache: KnownCache) -> Bool {
        Self.place(of: cache.path) == cache.place && Self.id(in: cache.path) == cache.id
    }

    private static func place(of path: String) -> PhysicalFile.Identity? {
        ((try? FileSystem.status(path)) ?? nil).map { PhysicalFile($0).identity }
    }

    /// Gives a copy its own id with the original's pins and times. If the copy is not writable, it shares them.
    private func copied(from original: KnownCache, _ status: FileStatus, _ caches: [KnownCache]) -> String {
        do throws(AIError) {
            // If killed between the two steps, the copy still has the original's id and starts over.
            let id = try catalog.remember(
                known(FileSystem.randomHex(16), status), recordsOf: original.id, isCopy: true, knowing: caches,
                at: Timestamp.now)
            try write(id)
            return id
        } catch { return original.id }
    }

    private func known(_ id: String, _ status: FileStatus) -> KnownCache {
        KnownCache(id: id, path: layout.root, device: status.device, inode: status.inode)
    }

    /// Records the cache's current path; returns whether that succeeded.
    private func note(_ id: String, _ status: FileStatus, recordsOf old: String? = nil) -> Bool {
        do throws(AIError) {
            try catalog.remember(known(id, status), recordsOf: old, at: Timestamp.now)
            return true
        } catch { return false }
    }

    // MARK: The file

    private var idFile: String { Self.idFile(layout.root) }
    private static func idFile(_ root: String) -> String { Path.join(root, ".locks/hub.id") }

    /// The id in a cache; nil if the file is missing or not ours.
    private static func id(in root: String) -> String? {
        let folder = (try? FileSystem.linkStatus(Path.parent(idFile(root)))) ?? nil
        let file = (try? FileSystem.linkStatus(idFile(root))) ?? nil
        guard folder?.kind == .directory, file?.kind == .file,
            let text = (try? FileSystem.text(idFile(root), limit: 64)) ?? nil
        else { return nil }
        let id = text.split(whereSeparator: \.isWhitespace).first.map(String.init) ?? ""
        return id.utf8.count == 32 && id.utf8.allSatisfy(\.isLowercaseHex) ? id : nil
    }

    private func write(_ id: String) throws(AIError) {
        let folder = Path.parent(idFile)
        do throws(AIError) {
            try FileSystem.createDirectories(folder)
            guard try FileSystem.linkStatus(folder)?.kind == .directory else {
                throw AIError(.ioError, "\(folder) is a link, not a folder")
            }
            try FileSystem.replace(idFile, with: Array((id + "\n").utf8), durable: true)
        } catch {
            throw AIError(
                error.code, "cannot pin anything in \(layout.root): \(error.message)",
                advice:
                    "hub writes .locks/hub.id there once, so that pins survive a move of the cache; run this where the cache can be written",
                context: .init(path: idFile), cause: error)
        }
    }
}

extension KnownCache {
    fileprivate var place: PhysicalFile.Identity { .init(device: device, inode: inode) }
}
