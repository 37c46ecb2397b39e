package import HubCore
import Libc

/// A fix for a finding that deletes no downloaded data. Each checks again before it acts.
package enum CacheFix: Sendable, Hashable {
    package struct Ref: Sendable, Hashable {
        var folder: RepositoryFolder
        var name: String
        var path: String { folder.ref(name) }
    }
    package struct Partial: Sendable, Hashable {
        var folder: RepositoryFolder
        var name: String
    }

    /// Rewrites refs without the white space around their commits.
    case rewriteRefs([Ref])
    /// Deletes refs that do not name a snapshot: they hide the whole repository from Python.
    case removeDanglingRefs([Ref])
    /// Deletes our partials without a map, which cannot be continued.
    case removePartials([Partial])
    /// Deletes files that are recreated when needed.
    case removeFiles(CacheLayout, [String])
    /// Deletes the file lists of removed revisions.
    case removeTrees(CacheLayout, [String])
    case sweepXet(XetFolder)
    /// Gives items of a group's cache to the group, with the rights of their owner.
    case giveToGroup(CacheLayout, [String])

    /// Seconds after which a file counts as unused.
    static let rest = 3600.0

    /// The result as a sentence, and whether everything was fixed.
    package struct Outcome: Sendable, Hashable {
        package var text: String
        package var isWhole: Bool
    }

    /// Applies the fix.
    package func run(now: Double) throws(AIError) -> Outcome {
        switch self {
        case .rewriteRefs(let refs):
            let count = try Self.count(refs) { ref throws(AIError) in try rewrite(ref) }
            return Outcome(text: "\(Self.plural(count, "ref")) rewritten", isWhole: count == refs.count)
        case .removeDanglingRefs(let refs):
            let count = try Self.count(refs) { ref throws(AIError) in
                guard try isStillDangling(ref, now: now) else { return false }
                return try ref.folder.cache.remove(ref.path)
            }
            return Outcome(text: "\(Self.plural(count, "ref")) deleted", isWhole: count == refs.count)
        case .removePartials(let partials):
            var freed: Int64 = 0
            for partial in partials { freed += try remove(partial) }
            let left = partials.contains { FileSystem.exists($0.folder.blob($0.name)) }
            return Outcome(text: "\(ByteCount(freed)) freed", isWhole: !left)
        case .removeFiles(let layout, let paths):
            let count = try Self.count(paths) { path throws(AIError) in
                guard try isAtRest(path, now: now) else { return false }
                return try layout.remove(path)
            }
            return Outcome(text: "\(Self.plural(count, "file")) deleted", isWhole: count == paths.count)
        case .removeTrees(let layout, let paths):
            let count = try Self.count(paths) { path throws(AIError) in
                guard try isAtRest(path, now: now), Self.isOfGoneRevision(tree: path) else { return false }
                return try layout.remove(path)
            }
            return Outcome(text: "\(Self.plural(count, "file")) deleted", isWhole: count == paths.count)
        case .giveToGroup(let layout, let paths):
            guard let group = try layout.sharingGroup() else {
                return Outcome(text: "nothing changed", isWhole: false)
            }
            let count = try Self.count(paths) { path throws(AIError) in try layout.give(path, to: group) }
            return Outcome(
                text: "\(Self.plural(count, "entry", "entries")) given to the group", isWhole: count == paths.count)
        case .sweepXet(let xet):
            return Outcome(text: "\(ByteCount(try xet.sweep(now: now))) freed", isWhole: true)
        }
    }

    private static func count<Item>(_ items: [Item], _ isDone: (Item) throws(AIError) -> Bool) throws(AIError)
        -> Int
    {
        var count = 0
        for item in items where try isDone(item) { count += 1 }
        return count
    }

    /// Whether the tree's snapshot certainly does not exist; an unreadable one may.
    static func isOfGoneRevision(tree path: String) -> Bool {
        let name = Path.name(path)
        guard name.hasSuffix(".json"), let commit = Commit(String(name.dropLast(5))) else { return false }
        let snapshots = Path.join(Path.parent(Path.parent(path)), "snapshots")
        do {
            // A link's target may be unmounted.
            if try FileSystem.linkStatus(snapshots)?.kind == .symlink { return false }
            return try FileSystem.linkStatus(Path.join(snapshots, commit.hash)) == nil
        } catch { return false }
    }

    /// Only while no pull uses the repository.
    private func rewrite(_ ref: Ref) throws(AIError) -> Bool {
        guard try ref.folder.heldLocks().isEmpty, let commit = try ref.folder.commit(ofRef: ref.name) else {
            return false
        }
        guard let top = try ref.folder.open(), let (place, name) = try top.place(of: "refs/\(ref.name)") else {
            return false
        }
        // A temporary file left beside it by a crash would look like a ref.
        let blobs = try top.makeFolder(OpenFolder.Entry("blobs"))
        try place.replace(
            name, with: Array(commit.hash.utf8), durable: true,
            temporary: (blobs, RepositoryFolder.partialRef()))
        return true
    }

    private static func plural(_ count: Int, _ noun: String, _ nouns: String? = nil) -> String {
        "\(count) \(count == 1 ? noun : nouns ?? noun + "s")"
    }

    /// Whether the group cannot do what the owner can, or a folder does not pass the group on.
    static func isWithheld(_ status: FileStatus, from group: UInt32) -> Bool {
        guard status.kind == .file || status.kind == .directory else { return false }
        return status.group != group || status.mode & groupRights(status) != groupRights(status)
    }

    fileprivate static func groupRights(_ status: FileStatus) -> UInt32 {
        status.kind == .directory ? 0o2070 : (status.mode & 0o600) >> 3
    }

    private func isAtRest(_ path: String, now: Double) throws(AIError) -> Bool {
        guard let status = try FileSystem.linkStatus(path), status.kind != .directory else { return false }
        return now - status.modified >= Self.rest
    }

    private func isStillDangling(_ ref: Ref, now: Double) throws(AIError) -> Bool {
        guard try isAtRest(ref.path, now: now), try ref.folder.heldLocks().isEmpty,
            let commit = try ref.folder.commit(ofRef: ref.name)
        else { return false }
        return try FileSystem.linkStatus(ref.folder.snapshot(commit)) == nil
    }

    /// Under the lock of its blob, and only while it has no map.
    private func remove(_ partial: Partial) throws(AIError) -> Int64 {
        let (folder, etag) = (partial.folder, RepositoryFolder.etag(ofPartial: partial.name))
        func removed() throws(AIError) -> Int64 {
            guard let blobs = try folder.open()?.ownFolder("blobs"),
                try blobs.status(of: etag + ".hub.map.incomplete") == nil,
                let status = try blobs.status(of: partial.name), status.kind == .file,
                try blobs.remove(partial.name)
            else { return 0 }
            return status.links == 1 ? status.size : 0
        }
        let attempt = try FileLock.attempt(folder.lock(etag))
        switch consume attempt {
        case .held: return 0
        case .unsupported: return try removed()
        case .taken(let lock):
            let freed = try removed()
            _ = consume lock
            return freed
        }
    }
}

extension CacheLayout {
    /// Gives a file or folder to a group; false if it is gone, or of another user, or the user is not of the group.
    fileprivate func give(_ path: String, to group: UInt32) throws(AIError) -> Bool {
        let item: FileDescriptor
        if path == root {
            item = try FileDescriptor(path, [.directory])
        } else {
            guard let below = path.dropping(prefix: root + "/"),
                let (folder, name) = try OpenFolder.open(root)?.place(of: below)
            else { return false }
            do throws(AIError) { item = try FileDescriptor(name, in: folder, [.noFollow, .nonBlocking]) } catch {
                // Gone, a link by now, or unreadable.
                guard let number = error.errno, [ENOENT, ELOOP, EACCES, EPERM].contains(number) else { throw error }
                return false
            }
        }
        do throws(AIError) {
            let status = try item.status()
            if status.group != group { try item.setOwner(status.owner, group: group) }
            try item.setMode(status.mode | CacheFix.groupRights(status))
            return true
        } catch {
            guard error.errno == EPERM else { throw error }
            return false
        }
    }

    /// Removes a file below the cache without following links; returns whether it existed.
    fileprivate func remove(_ path: String) throws(AIError) -> Bool {
        guard let below = path.dropping(prefix: root + "/"),
            let (folder, name) = try OpenFolder.open(root)?.place(of: below)
        else { return false }
        return try folder.remove(name)
    }
}
