import HubCore
import Libc

/// Everything below a cache folder that only a diagnosis needs, found in one walk. Links are not followed.
struct CacheWalk {
    /// A file or folder.
    struct Item: Sendable, Hashable {
        var path: String
        var bytes: Int64
        /// Seconds since 1970.
        var modified: Double
    }

    /// Items of other users, if not run by root.
    private(set) var ofOthers: [Item] = []
    /// Folders that this user cannot write.
    private(set) var unwritable: [Item] = []
    /// World-writable items, except those of the shared store that must be.
    private(set) var worldWritable: [Item] = []
    /// Items of a group's cache that the group cannot use as its owner does, or that are not the group's.
    private(set) var withheld: [Item] = []
    /// The entries of `.no_exist/`.
    private(set) var missing: [Item] = []
    /// Lock files of blobs that neither exist nor are being downloaded.
    private(set) var locks: [Item] = []
    /// Trees of commits without a snapshot.
    private(set) var trees: [Item] = []
    /// Temporary files: `refs/*.tmp`, `trees/*.tmp`, and folders `tmp*` of link tests.
    private(set) var temporaries: [Item] = []
    /// Our link tests.
    private(set) var probes: [Item] = []
    /// Unreadable items, with reasons.
    private(set) var unreadable: [CacheProblem] = []

    private let layout: CacheLayout
    private let user = geteuid()
    private let group: UInt32?

    init(_ layout: CacheLayout) {
        self.layout = layout
        group = (try? layout.sharingGroup()) ?? nil
        visit({ () throws(AIError) in try OpenFolder.open(layout.root) }, layout.root, [])
        locks = locks.filter { !isNeeded(lock: $0.path) }
    }

    private mutating func visit(_ open: () throws(AIError) -> OpenFolder?, _ path: String, _ parts: [String]) {
        do throws(AIError) {
            guard let folder = try open() else { return }
            let status = try folder.status()
            note(Item(path: path, bytes: 0, modified: status.modified), status, parts)
            for entry in try folder.entries() {
                guard let status = try folder.status(of: entry) else { continue }
                let (child, place) = (parts + [entry.name], Path.join(path, entry.name))
                if status.kind == .directory, entry.isText {
                    visit({ () throws(AIError) in try folder.folder(entry.name) }, place, child)
                } else {
                    let bytes = status.kind == .file ? PhysicalFile(status).size : 0
                    note(Item(path: place, bytes: bytes, modified: status.modified), status, child)
                }
            }
        } catch {
            unreadable.append(CacheProblem(.unreadable, path, error.message))
        }
    }

    /// - Parameter parts: the path relative to the cache.
    private mutating func note(_ item: Item, _ status: FileStatus, _ parts: [String]) {
        let name = parts.last ?? ""
        if user != 0, status.owner != user { ofOthers.append(item) }
        if status.kind == .directory, access(item.path, W_OK | X_OK) != 0 { unwritable.append(item) }
        if let group, CacheFix.isWithheld(status, from: group) { withheld.append(item) }
        let isMeant = parts.first == "blobs" && (name.hasSuffix(".refs") || name.hasSuffix(".lock"))
        // In a folder with the sticky bit only the owner can remove a file.
        if status.kind != .symlink, status.mode & 0o1002 == 0o002, !isMeant { worldWritable.append(item) }
        if parts.first == ".locks" {
            if status.kind == .file, name.hasSuffix(".lock") { locks.append(item) }
            return
        }
        guard parts.count > 1 else {
            if status.kind == .directory, name.hasPrefix("tmp") { temporaries.append(item) }
            return
        }
        switch parts[1] {
        case ".no_exist": if status.kind == .file { missing.append(item) }
        case "blobs" where name == "links.hub.incomplete" && status.kind == .symlink: probes.append(item)
        case _ where ["refs", "trees"].contains(parts[1]) && name.hasSuffix(".tmp") && status.kind == .file:
            temporaries.append(item)
        case "trees" where parts.count == 3 && status.kind == .file:
            if CacheFix.isOfGoneRevision(tree: item.path) { trees.append(item) }
        case _ where parts.count == 2 && name.hasPrefix("tmp") && status.kind == .directory:
            temporaries.append(item)
        default: break
        }
    }

    /// Whether the blob of a lock exists or is being downloaded.
    private func isNeeded(lock path: String) -> Bool {
        let parts = Path.parts(path.dropping(prefix: Path.join(layout.root, ".locks") + "/") ?? "").map(String.init)
        guard let repository = parts.first, let name = parts.last, parts.count > 1 else { return true }
        let folder = RepositoryFolder(cache: layout, name: repository)
        let etag = String(name.dropLast(".lock".count))
        if FileSystem.exists(folder.blob(etag)) { return true }
        // An unreadable folder may contain it.
        guard let names = try? FileSystem.entries(folder.blobs) else { return FileSystem.exists(folder.blobs) }
        return names.contains { $0.hasPrefix(etag) }
    }
}
