package import HubCore

extension Trash {
    /// Restores an entry. Fails without changes if something is in its place, if something of it is missing, or if a
    /// blob it needs is in another entry. Of a blob that exists in both places the cache's stays.
    ///
    /// An entry that is already restored completely, because an earlier restore was killed at its end, is only removed.
    package func restore(_ entry: TrashEntry) throws(AIError) {
        guard !entry.isBeingDeleted else {
            throw AIError(
                .ioError, "\(entry.title) is partly deleted, so it cannot be restored",
                advice: "hub trash empty deletes the rest; hub pull downloads it again",
                context: .init(path: place(entry)))
        }
        var entry = entry
        let lock = try exclusive()
        defer { withExtendedLifetime(lock) {} }
        let folder = RepositoryFolder(cache: layout, name: entry.folder)
        guard let claim = try RepositoryUse.claim(folder) else {
            throw AIError(
                .ioError, "\(entry.repository?.description ?? entry.folder) is in use: it is being downloaded",
                advice: "try again when that has finished")
        }
        var waiting: [TrashEntry.Move] = []
        for move in entry.moves where try FileSystem.linkStatus(place(move.to, of: entry)) != nil {
            waiting.append(move)
        }
        try checkWhole(waiting, of: entry, folder)
        var steps: [TrashEntry.Move] = []
        for move in waiting where try !isHeld(move, entry) { steps.append(move) }
        let isContinued = entry.isBeingRestored
        // From here on no later run may continue moving it to the trash.
        entry.isComplete = true
        entry.isBeingRestored = true
        let kept = try write(entry)
        try FileSystem.createDirectories(layout.root)
        let root = try OpenFolder.open(existing: layout.root)
        try restorePayloads(of: entry, in: kept, folder)
        for move in steps.reversed() {
            guard let (place, name) = try root.place(of: move.from, making: true) else { continue }
            guard let there = try place.status(of: name) else {
                try kept.moveTree(move.to, to: place, as: name)
                continue
            }
            // Something else has appeared meanwhile. The rest stays in the trash.
            guard isContinued, there.kind == .directory else {
                throw inTheWay(Path.join(place.path, name), of: entry)
            }
            try kept.mergeTree(move.to, into: place, as: name)
        }
        withExtendedLifetime(claim) {}
        try remove(entry)
    }

    // MARK: Existing files

    /// Whether the same is in the cache. Throws if something else is there.
    private func isHeld(_ move: TrashEntry.Move, _ entry: TrashEntry) throws(AIError) -> Bool {
        let (path, kept) = (Path.join(layout.root, move.from), place(move.to, of: entry))
        guard let there = try FileSystem.linkStatus(path) else { return false }
        // An earlier restore moved a part of the folder's files; where a name is in both places, the cache's stays.
        if entry.isBeingRestored, there.kind == .directory { return false }
        switch Path.parts(move.from).dropFirst().first {
        // The name says what is in it. A link leads into the shared store.
        case "blobs":
            let own = try FileSystem.linkStatus(kept)
            if there.kind == .symlink || own?.kind == .symlink || there.size == own?.size { return true }
        // Derived from the commit's file list.
        case "trees", ".no_exist": return true
        case "refs": if there.kind == .file, try FileSystem.text(path) == FileSystem.text(kept) { return true }
        default: break
        }
        throw inTheWay(path, of: entry)
    }

    private func inTheWay(_ path: String, of entry: TrashEntry) -> AIError {
        let snapshot = entry.commit.map { RepositoryFolder(cache: layout, name: entry.folder).snapshot($0) }
        let isBack = snapshot.map { FileSystem.exists($0) && ($0 == path || $0.hasPrefix(path + "/")) } ?? false
        let what = isBack ? "\(entry.title) is in the cache already" : "\(path) already exists with other content"
        // Moved into the trash, it would be the first to be restored.
        return AIError(
            .invalidInput, "\(what), so it was not restored",
            advice:
                "hub rm \(isBack ? entry.title : entry.repository?.description ?? entry.title) deletes what is there; then restore again",
            context: .init(path: path))
    }

    // MARK: Missing files

    /// Throws if something of an entry is neither in it nor in the cache, or a blob that its links need is elsewhere.
    private func checkWhole(_ waiting: [TrashEntry.Move], of entry: TrashEntry, _ folder: RepositoryFolder)
        throws(AIError)
    {
        let own = Set(waiting.map(\.from))
        guard !own.contains(folder.name) else { return }
        var gone: Set<String> = []
        for move in entry.moves where !own.contains(move.from) && move.isContent {
            if try FileSystem.linkStatus(Path.join(layout.root, move.from)) == nil { gone.insert(move.from) }
        }
        // A link that was broken before is restored as it was.
        let missing = try neededBlobs(waiting, of: entry, folder).subtracting(own)
        let others = try entries().filter { $0.folder == entry.folder && $0.name != entry.name }
        for path in gone.union(missing).sorted() {
            guard let other = others.first(where: { holds($0, path) }) else { continue }
            throw AIError(
                .invalidInput, "it needs a file that went into the trash with \(other.title)",
                advice:
                    "hub trash restore \(other.title) first, or all of \(other.repository?.description ?? "it")")
        }
        guard !waiting.isEmpty || gone.isEmpty else {
            throw AIError(
                .ioError, "nothing of \(entry.title) is left in the trash",
                advice: "hub ls shows whether it is back; hub pull downloads it again",
                context: .init(path: place(entry)))
        }
        guard gone.isEmpty else {
            throw AIError(
                .ioError,
                "\(entry.title) cannot be restored: \(gone.sorted().joined(separator: ", ")) is gone from the trash",
                advice: "hub pull downloads it again; the rest stays in \(place(entry)) until hub trash empty",
                context: .init(path: place(entry)))
        }
    }

    /// The blobs, by path relative to the cache, that restored links need and the cache lacks.
    private func neededBlobs(_ moves: [TrashEntry.Move], of entry: TrashEntry, _ folder: RepositoryFolder)
        throws(AIError) -> Set<String>
    {
        var needed: Set<String> = []
        for move in moves where move.from.hasPrefix("\(folder.name)/snapshots/") {
            let path = place(move.to, of: entry)
            needed.formUnion(try OpenFolder.open(path)?.linkedBlobNames() ?? [])
            if let blob = FileSystem.linkText(path).flatMap(OpenFolder.blobName) { needed.insert(blob) }
        }
        return Set(needed.filter { !FileSystem.exists(folder.blob($0)) }.map { "\(folder.name)/blobs/\($0)" })
    }

    /// Whether an entry contains what was at a path of the cache.
    private func holds(_ entry: TrashEntry, _ path: String) -> Bool {
        entry.moves.contains { move in
            guard let rest = path.dropping(prefix: move.from), rest.isEmpty || rest.hasPrefix("/") else {
                return false
            }
            return ((try? FileSystem.linkStatus(place(move.to + rest, of: entry))) ?? nil) != nil
        }
    }

    /// Restores missing payloads to the store, and their manifest lines, before the links.
    private func restorePayloads(
        of entry: TrashEntry, in kept: OpenFolder, _ folder: RepositoryFolder
    ) throws(AIError) {
        guard !entry.payloads.isEmpty else { return }
        let store = SharedStore(layout: layout)
        // The entries of `blobs/` in the trash that link to each payload.
        var lines: [String: [String]] = [:]
        func look(_ path: String, _ name: String) {
            guard let text = FileSystem.linkText(path), let hash = store.hash(ofLink: text, in: folder) else {
                return
            }
            lines[hash, default: []].append("\(folder.name)/blobs/\(name)")
        }
        for move in entry.moves {
            if move.from == folder.name {
                let blobs = place("\(move.to)/blobs", of: entry)
                for name in try FileSystem.entries(blobs) ?? [] { look(Path.join(blobs, name), name) }
            } else if let name = move.from.dropping(prefix: "\(folder.name)/blobs/") {
                look(place(move.to, of: entry), name)
            }
        }
        for hash in entry.payloads where try kept.status(of: TrashEntry.payloadName(hash))?.kind == .file {
            try store.bringBack(hash, from: kept, for: lines[hash] ?? [])
        }
    }
}

extension TrashEntry {
    fileprivate var title: String { "\(repository?.description ?? folder)" + (commit.map { "@\($0.short)" } ?? "") }
}

extension TrashEntry.Move {
    /// Whether it is irreplaceable content: lists and metadata are recreated, and a partial may have become a blob.
    fileprivate var isContent: Bool {
        let part = Path.parts(from).dropFirst().first
        return part != "trees" && part != ".no_exist" && !(part == "blobs" && from.hasSuffix(".incomplete"))
    }
}

extension SharedStore {
    /// Restores a payload and its manifest lines, under its lock. Only the store's own file is restored; nothing new is
    /// published.
    fileprivate func bringBack(_ hash: String, from kept: OpenFolder, for lines: [String]) throws(AIError) {
        guard let folder = try folder(of: hash, making: true) else { return }
        let lock = try lockFile(hash, in: folder)
        try lock.lock()
        let isThere = try folder.status(of: hash)?.kind == .file
        let known = isThere ? try FileSystem.text(payload(hash) + ".refs", limit: 64 << 20) : ""
        // Without a manifest the payload is never deleted, and none is invented.
        if let known {
            try writeManifest(hash, Set(known.split(separator: "\n").map(String.init)).union(lines), in: folder)
        }
        if !isThere { try kept.link(TrashEntry.payloadName(hash), to: folder, as: hash) }
    }
}
