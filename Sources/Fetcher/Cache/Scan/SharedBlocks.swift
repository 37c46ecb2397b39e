import HubCore

/// What files share with others on btrfs, XFS and the like (reflinks). Shared blocks leave the disk with the last file that
/// has them. The file system says which blocks are shared, but not by whom: those of one known file are taken to be of an
/// unknown file as well, which keeps them; those of several known files are taken to be only theirs.
package struct SharedBlocks: Sendable {
    /// Blocks that the same files share.
    private struct Group: Sendable {
        var bytes: Int64
        /// The known files that still have them.
        var holders: Int
    }

    private struct Share: Sendable {
        /// Bytes that the file does not have alone.
        var bytes: Int64
        var groups: [Int] = []
    }

    private var groups: [Group] = []
    private var shares: [PhysicalFile.Identity: Share] = [:]

    /// Nothing is shared but by hard links.
    package init() {}

    /// Asks the file system. A file that cannot be opened shares nothing.
    init(_ files: some Sequence<(path: String, file: PhysicalFile)>) {
        var devices: [UInt64: Bool] = [:]
        var extents: [UInt64: [Extent]] = [:]
        var known: [PhysicalFile] = []
        var seen: Set<PhysicalFile.Identity> = []
        for (path, file) in files {
            if devices[file.device] == nil { devices[file.device] = FileSystem.mayShareBlocks(path) }
            guard devices[file.device] == true, seen.insert(file.identity).inserted,
                let descriptor = try? FileDescriptor(path, [.noFollow, .nonBlocking]),
                let status = try? descriptor.status(), PhysicalFile(status).identity == file.identity
            else { continue }
            let found = descriptor.sharedExtents(size: status.size)
            guard !found.isEmpty else { continue }
            extents[file.device, default: []] += found.map {
                Extent(start: $0.start, end: $0.start &+ $0.length, file: known.count)
            }
            shares[file.identity] = Share(bytes: found.reduce(0) { $0 + Int64(clamping: $1.length) })
            known.append(file)
        }
        for list in extents.values { divide(list, among: known) }
    }

    /// What files below folders share.
    init(below folders: [String]) throws(AIError) {
        var files: [(path: String, file: PhysicalFile)] = []
        for folder in folders where FileSystem.mayShareBlocks(folder) { try Self.collect(folder, &files) }
        self.init(files)
    }

    private static func collect(_ folder: String, _ files: inout [(path: String, file: PhysicalFile)])
        throws(AIError)
    {
        guard let open = try OpenFolder.open(folder) else { return }
        for entry in try open.entries() where entry.isText {
            guard let status = try open.status(of: entry) else { continue }
            let path = Path.join(folder, entry.name)
            if status.kind == .directory { try collect(path, &files) }
            if status.kind == .file { files.append((path, PhysicalFile(status))) }
        }
    }

    // MARK: Who shares with whom

    /// A range on the disk, of a file by its number.
    private struct Extent {
        var start: UInt64
        var end: UInt64
        var file: Int
    }

    /// Cuts ranges where others begin or end, and groups the pieces by the files that have them.
    private mutating func divide(_ extents: [Extent], among files: [PhysicalFile]) {
        var steps = extents.map { (at: $0.start, file: $0.file, change: 1) }
        steps += extents.map { (at: $0.end, file: $0.file, change: -1) }
        steps.sort { $0.at < $1.at }
        var active: [Int: Int] = [:]
        var places: [Set<Int>: Int] = [:]
        var last: UInt64 = 0
        for step in steps {
            if active.count > 1, step.at > last {
                let holders = Set(active.keys)
                let group = places[holders] ?? groups.count
                if group == groups.count {
                    places[holders] = group
                    groups.append(Group(bytes: 0, holders: holders.count))
                    for file in holders { shares[files[file].identity]!.groups.append(group) }
                }
                groups[group].bytes += Int64(clamping: step.at - last)
            }
            last = step.at
            active[step.file, default: 0] += step.change
            if active[step.file] == 0 { active[step.file] = nil }
        }
    }

    /// Adds what further files share, among themselves.
    mutating func add(_ other: SharedBlocks) {
        let first = groups.count
        groups += other.groups
        for (file, share) in other.shares where shares[file] == nil {
            shares[file] = Share(bytes: share.bytes, groups: share.groups.map { $0 + first })
        }
    }

    // MARK: What leaves the disk

    /// Takes a file away, or puts it back; returns what leaves or returns.
    mutating func lose(_ file: PhysicalFile, back: Bool = false) -> FreedBytes {
        let share = shares[file.identity]
        var bytes = FreedBytes(size: file.size, allocated: file.allocated)
        if let share {
            bytes = FreedBytes(
                size: max(0, bytes.size - share.bytes), allocated: max(0, bytes.allocated - share.bytes))
        }
        for group in share?.groups ?? [] {
            let before = groups[group].holders
            groups[group].holders += back ? 1 : -1
            if min(before, groups[group].holders) == 0 {
                bytes += FreedBytes(size: groups[group].bytes, allocated: groups[group].bytes)
            }
        }
        return bytes
    }
}

extension SharedBlocks {
    /// What the files of a cache share.
    package init(_ state: CacheState) {
        self.init(state.repositories, payloads: state.unusedPayloads, in: state.layout)
    }

    /// - Parameter payloads: those of the shared store that no repository needs.
    init(_ repositories: [CachedRepository], payloads: [CachedBlob], in layout: CacheLayout) {
        let store = SharedStore(layout: layout)
        func place(_ blob: CachedBlob, _ folder: RepositoryFolder) -> (path: String, file: PhysicalFile)? {
            guard let file = blob.file, !blob.isForeign else { return nil }
            return (blob.sharedHash.map(store.payload) ?? folder.blob(blob.name), file)
        }
        var files = payloads.compactMap { payload in
            payload.file.map { (path: store.payload(payload.name), file: $0) }
        }
        for repository in repositories {
            let folder = repository.folder
            files += (Array(repository.blobs.values) + repository.partials).compactMap { place($0, folder) }
            for revision in repository.revisions {
                files += revision.files.compactMap { file in
                    file.file.map { (path: Path.join(folder.snapshot(revision.commit), file.path), file: $0) }
                }
            }
        }
        self.init(files)
    }
}

/// Counts files whose last name is deleted.
struct FreedTally: Sendable {
    private(set) var freed = FreedBytes()
    var blocks = SharedBlocks()

    /// Counts a file that has lost this name, by its status before.
    mutating func add(_ status: FileStatus) {
        if status.kind == .file, status.links == 1 { freed += blocks.lose(PhysicalFile(status)) }
    }

    static func += (tally: inout Self, bytes: FreedBytes) { tally.freed += bytes }
}
