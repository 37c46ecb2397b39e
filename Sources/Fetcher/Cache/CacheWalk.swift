import HubCore
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Everything below a cache folder that only a diagnosis asks for, seen in one walk. Links are not followed.
struct CacheWalk {
    /// A file or folder.
    struct Item: Sendable, Hashable {
        var path: String
        var bytes: Int64
        /// Seconds since 1970.
        var modified: Double
    }

    /// What belongs to another user, where this one is not root.
    private(set) var ofOthers: [Item] = []
    /// Folders in which this user can make nothing.
    private(set) var unwritable: [Item] = []
    /// What everybody may write, those of the shared store that are meant to be so left out.
    private(set) var worldWritable: [Item] = []
    /// The entries of `.no_exist/`.
    private(set) var missing: [Item] = []
    /// Lock files of blobs that are neither here nor on their way.
    private(set) var locks: [Item] = []
    /// Trees of commits without a snapshot.
    private(set) var trees: [Item] = []
    /// What was to be renamed: `refs/*.tmp`, `trees/*.tmp`, and folders `tmp*` in which links were tried.
    private(set) var temporaries: [Item] = []
    /// Tried links of ours.
    private(set) var probes: [Item] = []
    /// What could not be read, and why.
    private(set) var unreadable: [CacheProblem] = []

    private let layout: CacheLayout
    private let user = geteuid()

    init(_ layout: CacheLayout) {
        self.layout = layout
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

    /// - Parameter parts: the path below the cache.
    private mutating func note(_ item: Item, _ status: FileStatus, _ parts: [String]) {
        let name = parts.last ?? ""
        if user != 0, status.owner != user { ofOthers.append(item) }
        if status.kind == .directory, access(item.path, W_OK | X_OK) != 0 { unwritable.append(item) }
        let isMeant = parts.first == "blobs" && (name.hasSuffix(".refs") || name.hasSuffix(".lock"))
        // In a folder with the sticky bit only its owner removes a file.
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
            if CacheMend.isOfGoneRevision(tree: item.path) { trees.append(item) }
        case _ where parts.count == 2 && name.hasPrefix("tmp") && status.kind == .directory:
            temporaries.append(item)
        default: break
        }
    }

    /// Whether the blob of a lock is here, or somebody has begun to fetch it.
    private func isNeeded(lock path: String) -> Bool {
        let parts = Path.parts(path.dropping(prefix: Path.join(layout.root, ".locks") + "/") ?? "").map(String.init)
        guard let repository = parts.first, let name = parts.last, parts.count > 1 else { return true }
        let folder = RepositoryFolder(cache: layout, name: repository)
        let etag = String(name.dropLast(".lock".count))
        if FileSystem.exists(folder.blob(etag)) { return true }
        // What cannot be looked at is not known to be gone.
        guard let names = try? FileSystem.entries(folder.blobs) else { return FileSystem.exists(folder.blobs) }
        return names.contains { $0.hasPrefix(etag) }
    }
}
