import HubCore

/// Scans one repository folder: all files of Python, other clients and `hub`.
///
/// Unlike in Python's scan, problems do not hide the repository: they are recorded with the rest.
struct RepositoryScanner {
    let candidate: ScanCandidate
    let store: SharedStore?
    /// The catalog's files of a commit.
    let knownTree: (Commit) throws(AIError) -> RepositoryTree?
    /// The file choice of a commit's pulls; nil if unknown.
    let choice: (Commit) throws(AIError) -> FileChoice?

    /// Everything read, by path relative to the cache, with modification times in nanoseconds: folders, and refs, which
    /// older Pythons wrote in place. 0 if missing, -1 if the next scan must read it again.
    private(set) var watched: [WatchedPath] = []
    private var problems: [CacheProblem] = []
    private var folder: RepositoryFolder { candidate.folder }

    init(
        _ candidate: ScanCandidate, store: SharedStore?,
        knownTree: @escaping (Commit) throws(AIError) -> RepositoryTree?,
        choice: @escaping (Commit) throws(AIError) -> FileChoice?
    ) {
        (self.candidate, self.store, self.knownTree, self.choice) = (candidate, store, knownTree, choice)
    }

    /// - Throws: only if the catalog fails.
    mutating func scan() throws(AIError) -> CachedRepository {
        let path = folder.path
        if candidate.isLink { problems.append(CacheProblem(.elsewhere, path)) }
        if candidate.hasForeignName { problems.append(CacheProblem(.name, path)) }
        guard let top = attempt(path, { () throws(AIError) in try OpenFolder.open(path) }) else {
            watched.append(WatchedPath(path: folder.name, modified: -1))
            return found([], [:], [], [:])
        }
        // Only these four matter; the absence of one is watched too.
        for entry in list(top) where ["blobs", "refs", "snapshots", "trees"].contains(entry.name) {
            let kind = try? entry.kind ?? top.status(of: entry)?.kind
            if kind == .symlink { problems.append(CacheProblem(.elsewhere, Path.join(folder.path, entry.name))) }
            if kind == .file || kind == .other {
                problems.append(CacheProblem(.noFile, Path.join(folder.path, entry.name)))
            }
        }
        let (blobs, partials) = scanBlobs(in: top)
        var refs: [String: [String]] = [:]
        if let place = enter("refs", of: top, "refs") { scanRefs(place, "refs/", prefix: "", into: &refs) }
        let trees = enter("trees", of: top, "trees")
        var revisions: [CachedRevision] = []
        if let place = enter("snapshots", of: top, "snapshots") {
            for entry in list(place) where !RepositoryFolder.litter.contains(entry.name) {
                guard let status = look(at: entry, in: place) else { continue }
                guard status.kind == .directory, let commit = Commit(entry.name) else {
                    problems.append(CacheProblem(.noSnapshot, Path.join(place.path, entry.name)))
                    continue
                }
                var revision = scanSnapshot(commit, status, refs[entry.name] ?? [], blobs, in: place)
                if revision.isComplete != false, !isUnreadable(folder.snapshot(commit)) {
                    revision.isComplete = try isComplete(revision, blobs, trees)
                }
                revisions.append(revision)
            }
        }
        return found(revisions, blobs, partials, refs)
    }

    private func found(
        _ revisions: [CachedRevision], _ blobs: [String: CachedBlob], _ partials: [CachedBlob],
        _ refs: [String: [String]]
    ) -> CachedRepository {
        let known = Set(revisions.map(\.commit.hash))
        let dangling = refs.filter { !known.contains($0.key) }.flatMap(\.value).sorted()
        return CachedRepository(
            folder: folder, repository: candidate.repository, revisions: revisions, blobs: blobs,
            partials: partials,
            danglingRefs: dangling, problems: problems)
    }

    // MARK: Reading

    /// Records an error as a problem and continues.
    private mutating func attempt<Value>(
        _ path: @autoclosure () -> String, _ look: () throws(AIError) -> Value?
    ) -> Value? {
        do throws(AIError) { return try look() } catch {
            problems.append(CacheProblem(.unreadable, path(), error.message))
            // A change of mode does not change the modification time.
            watched.append(WatchedPath(path: folder.name, modified: -1))
            return nil
        }
    }

    /// Opens a subfolder and watches its modification time, or its absence.
    private mutating func enter(_ name: String, of parent: OpenFolder, _ path: String) -> OpenFolder? {
        let above = folder.path
        let place = attempt(Path.join(above, path)) { () throws(AIError) in try parent.folder(name) }
        guard let place else {
            watched.append(WatchedPath(path: "\(folder.name)/\(path)", modified: 0))
            return nil
        }
        watch(place, path)
        return place
    }

    /// Taken before the listing: a change in between is seen next time.
    private mutating func watch(_ place: OpenFolder, _ path: String) {
        let modified = (try? place.status().modifiedNanoseconds) ?? -1
        watched.append(WatchedPath(path: "\(folder.name)/\(path)", modified: modified))
    }

    private mutating func list(_ place: OpenFolder) -> [OpenFolder.Entry] {
        let entries = attempt(place.path) { () throws(AIError) in try place.entries() } ?? []
        for entry in entries where !entry.isText {
            problems.append(CacheProblem(.bytes, Path.join(place.path, entry.name)))
        }
        return entries
    }

    private mutating func look(at entry: OpenFolder.Entry, in place: OpenFolder) -> FileStatus? {
        attempt(Path.join(place.path, entry.name)) { () throws(AIError) in try place.status(of: entry) }
    }

    /// Whether something in a folder could not be read.
    private func isUnreadable(_ path: String) -> Bool {
        problems.contains { $0.kind == .unreadable && $0.path.hasPrefix(path) }
    }

    // MARK: Blobs

    /// Whether a name in `blobs/` is a partial or an unfinished copy, of any client.
    private static func isUnfinished(_ name: String) -> Bool {
        name.hasSuffix(".incomplete") || name.hasSuffix(".tmp") || name.hasPrefix("tmp_") || name.hasPrefix(".")
    }

    private mutating func scanBlobs(in top: OpenFolder) -> ([String: CachedBlob], [CachedBlob]) {
        var blobs: [String: CachedBlob] = [:]
        var partials: [CachedBlob] = []
        guard let place = enter("blobs", of: top, "blobs") else { return ([:], []) }
        let entries = list(place)
        blobs.reserveCapacity(entries.count)
        for entry in entries {
            let name = entry.name
            // It may vanish at any moment: Python's prune takes no lock.
            guard let status = look(at: entry, in: place) else { continue }
            switch status.kind {
            case .file where entry.isText && !Self.isUnfinished(name):
                blobs[name] = CachedBlob(name: name, file: PhysicalFile(status))
            case .file: partials.append(CachedBlob(name: name, file: PhysicalFile(status)))
            case .symlink:
                // A temporary link without content.
                if name.hasPrefix(".") || Self.isUnfinished(name) { continue }
                blobs[name] = link(name, in: place)
            default: problems.append(CacheProblem(.noBlob, Path.join(place.path, name)))
            }
        }
        return (blobs, partials)
    }

    /// An entry of `blobs/` that is a link: identified by its first hop, measured at the final target.
    private mutating func link(_ name: String, in place: OpenFolder) -> CachedBlob {
        let hash = place.linkText(name).flatMap { store?.hash(ofLink: $0, in: folder) }
        // Its target can be deleted without a change in this repository.
        note(folder.cache.sharedStore)
        if let store, let hash { note(Path.parent(store.payload(hash))) }
        let target = attempt(Path.join(place.path, name)) { () throws(AIError) in try place.target(name) }
        // Elsewhere nothing is watched.
        if hash == nil { watched.append(WatchedPath(path: folder.name, modified: -1)) }
        return CachedBlob(
            name: name, file: target?.kind == .file ? target.map(PhysicalFile.init) : nil, sharedHash: hash,
            isForeign: hash == nil)
    }

    /// Watches a folder of the shared store.
    private mutating func note(_ path: String) {
        let key = path.dropping(prefix: folder.cache.root + "/") ?? path
        guard !watched.contains(where: { $0.path == key }) else { return }
        let status = try? FileSystem.status(path)
        watched.append(WatchedPath(path: key, modified: status?.modifiedNanoseconds ?? 0))
    }

    // MARK: Refs

    private mutating func scanRefs(
        _ place: OpenFolder, _ path: String, prefix: String, into refs: inout [String: [String]]
    ) {
        for entry in list(place)
        where entry.isText && !(prefix.isEmpty && RepositoryFolder.litter.contains(entry.name)) {
            guard let status = look(at: entry, in: place) else { continue }
            let (name, child) = (entry.name, Path.join(place.path, entry.name))
            switch status.kind {
            case .directory:
                if let inner = enter(name, of: place, path + name) {
                    scanRefs(inner, path + name + "/", prefix: prefix + name + "/", into: &refs)
                }
            case .other: problems.append(CacheProblem(.noFile, child))
            // A temporary file before its rename.
            case _ where name.hasSuffix(".tmp"): continue
            default:
                watched.append(
                    WatchedPath(path: "\(folder.name)/\(path)\(name)", modified: status.modifiedNanoseconds))
                let bytes = attempt(child) { () throws(AIError) in try place.contents(name, limit: 4096) }
                guard let bytes else { continue }
                let text = String(decoding: bytes, as: UTF8.self)
                let trimmed = Commit(text) == nil ? text.filter { !$0.isWhitespace } : text
                refs[trimmed, default: []].append(prefix + name)
                if Commit(trimmed) == nil {
                    problems.append(CacheProblem(.refWithoutCommit, child))
                } else if trimmed != text {
                    problems.append(CacheProblem(.refWithSpace, child))
                }
            }
        }
    }

    // MARK: Snapshots

    private mutating func scanSnapshot(
        _ commit: Commit, _ status: FileStatus, _ refs: [String], _ blobs: [String: CachedBlob],
        in place: OpenFolder
    ) -> CachedRevision {
        var revision = CachedRevision(
            commit: commit, refs: refs.sorted(), files: [], isComplete: nil, downloadedAt: 0, lastUsedAt: 0)
        if let inner = enter(commit.hash, of: place, "snapshots/" + commit.hash) {
            scanFiles(inner, "snapshots/\(commit.hash)/", prefix: "", depth: 2, blobs, into: &revision)
        }
        if revision.downloadedAt == 0 { revision.downloadedAt = status.modified }
        for file in revision.files {
            let physical = file.file ?? file.blob.flatMap { blobs[$0]?.file }
            if let physical { revision.lastUsedAt = max(revision.lastUsedAt, physical.accessed) }
        }
        // Not the folder's access time: reading it, as here, is not use.
        if revision.lastUsedAt == 0 { revision.lastUsedAt = status.modified }
        if revision.files.contains(where: \.isBroken) { revision.isComplete = false }
        return revision
    }

    /// - Parameter depth: the number of folders up to the repository's.
    private mutating func scanFiles(
        _ place: OpenFolder, _ path: String, prefix: String, depth: Int, _ blobs: [String: CachedBlob],
        into revision: inout CachedRevision
    ) {
        let way = String(repeating: "../", count: depth) + "blobs/"
        for entry in list(place) {
            let name = prefix + entry.name
            let status = entry.kind == .directory ? nil : look(at: entry, in: place)
            guard let kind = status?.kind ?? entry.kind else { continue }
            switch kind {
            case .directory:
                if entry.isText, let inner = enter(entry.name, of: place, path + entry.name) {
                    scanFiles(
                        inner, path + entry.name + "/", prefix: name + "/", depth: depth + 1, blobs, into: &revision
                    )
                }
                continue
            case .file:
                guard let status else { continue }
                revision.files.append(CachedFile(path: name, file: PhysicalFile(status), isBroken: false))
            case .symlink:
                guard entry.isText, let text = place.linkText(entry.name) else { continue }
                let blob = blob(ofLink: text, in: place.path, way: way)
                let isBroken = blob.map { blobs[$0]?.file == nil } ?? leadsNowhere(entry.name, in: place)
                revision.files.append(CachedFile(path: name, blob: blob, isBroken: isBroken))
                if isBroken { problems.append(CacheProblem(.brokenLink, Path.join(place.path, entry.name))) }
            case .other:
                problems.append(CacheProblem(.noFile, Path.join(place.path, entry.name)))
                continue
            }
            revision.downloadedAt = max(revision.downloadedAt, status?.modified ?? 0)
        }
    }

    /// Whether a link's target is missing; an inaccessible target counts as existing.
    private func leadsNowhere(_ name: String, in place: OpenFolder) -> Bool {
        do throws(AIError) { return try place.target(name) == nil } catch { return false }
    }

    /// The blob in the text of a snapshot's link; nil if it points elsewhere.
    ///
    /// - Parameter way: the usual prefix of Python and hub; other spellings of the same path are resolved.
    private func blob(ofLink text: String, in path: String, way: String) -> String? {
        if text.hasPrefix(way) {
            let name = text.utf8.dropFirst(way.utf8.count)
            if !name.isEmpty, !name.contains(UInt8(ascii: "/")), name.first != UInt8(ascii: ".") {
                return String(Substring(name))
            }
        }
        let target = Path.normalized(Path.join(path, text))
        return Path.parent(target) == folder.blobs ? Path.name(target) : nil
    }

    /// Whether all files of the commit's tree, or all that pulls chose, are present; nil if the tree is unknown.
    private mutating func isComplete(
        _ revision: CachedRevision, _ blobs: [String: CachedBlob], _ trees: OpenFolder?
    ) throws(AIError) -> Bool? {
        var sizes: [ExactText: Int64] = [:]
        sizes.reserveCapacity(revision.files.count)
        for file in revision.files {
            guard let physical = file.file ?? file.blob.flatMap({ blobs[$0]?.file }) else { continue }
            sizes[ExactText(file.path)] = physical.size
        }
        let choice = try choice(revision.commit) ?? .everything
        if let bytes = treeBytes(revision.commit, trees) {
            var isComplete = true
            let isSound = TreeText.read(bytes) { file in
                guard isComplete, sizes[ExactText(file.path)] != file.size else { return }
                isComplete = !choice.matches(file.path)
            }
            if isSound { return isComplete }
        }
        return try knownTree(revision.commit).map { tree in
            tree.files.allSatisfy { sizes[ExactText($0.path)] == $0.size || !choice.matches($0.path) }
        }
    }

    private mutating func treeBytes(_ commit: Commit, _ trees: OpenFolder?) -> [UInt8]? {
        // About 200 bytes per file, and some repositories have hundreds of thousands.
        do throws(AIError) { return try trees?.contents(commit.hash + ".json", limit: 1 << 30) } catch {
            // Python writes it 0600: in a shared cache another user's cannot be read; the scan continues without it.
            if error.code != .permissionDenied {
                problems.append(CacheProblem(.unreadable, folder.tree(commit), error.message))
            }
            return nil
        }
    }
}

/// A folder or file that a scan was read from.
struct WatchedPath: Sendable, Hashable {
    /// Below the cache.
    var path: String
    /// Nanoseconds since 1970; 0 if missing, -1 if not reliable.
    var modified: Int64
}
