package import HubCore

extension Trash {
    /// Puts an entry back as it was. Nothing is changed where something stands in its place, or where a blob that it
    /// needs lies in another entry.
    ///
    /// - Parameter journal: forgets deletions of the folder that were cut off, which would go on with what is back.
    package func restore(_ entry: TrashEntry, journal: DeletionJournal? = nil) throws(AIError) {
        var entry = entry
        let lock = try exclusive()
        defer { withExtendedLifetime(lock) {} }
        let folder = RepositoryFolder(cache: layout, name: entry.folder)
        guard let claim = try RepositoryUse.claim(folder) else {
            throw AIError(
                .ioError, "\(entry.repository?.description ?? entry.folder) is in use: it is being downloaded",
                advice: "try again when that is done")
        }
        var waiting: [TrashEntry.Move] = []
        for move in entry.moves where try FileSystem.linkStatus(place(move.to, of: entry)) != nil {
            waiting.append(move)
        }
        for move in waiting { try check(move, of: entry) }
        try checkBlobs(waiting, of: entry, folder)
        // From here on it is on its way back: no later run may go on moving it away.
        entry.isComplete = true
        try write(entry)
        journal?.forget(entry.folder)
        try restorePayloads(of: entry, folder)
        for move in waiting.reversed() {
            let path = Path.join(layout.root, move.from)
            // The very same content lies there already, or that there is none has been noted again.
            if try FileSystem.linkStatus(path) != nil { continue }
            try FileSystem.createDirectories(Path.parent(path))
            try FileSystem.rename(place(move.to, of: entry), to: path)
        }
        withExtendedLifetime(claim) {}
        try FileSystem.removeTree(place(entry))
        try FileSystem.removeEmptyDirectory(path)
    }

    /// Refuses where something else stands in a name's place.
    private func check(_ move: TrashEntry.Move, of entry: TrashEntry) throws(AIError) {
        let (path, kept) = (Path.join(layout.root, move.from), place(move.to, of: entry))
        guard let there = try FileSystem.linkStatus(path) else { return }
        let part = Path.parts(move.from).dropFirst().first
        switch part {
        // Named by their content, or made from the commit's own list.
        case "blobs": if try FileSystem.status(path)?.size == FileSystem.status(kept)?.size { return }
        case "trees", ".no_exist": return
        case "refs": if there.kind == .file, try FileSystem.text(path) == FileSystem.text(kept) { return }
        default: break
        }
        throw AIError(
            .invalidInput, "\(path) stands in the way of what was there",
            advice: "hub rm --trash puts it aside; then restore again", context: .init(path: path))
    }

    /// Refuses where a blob that a link needs has gone into the trash with something else.
    private func checkBlobs(_ moves: [TrashEntry.Move], of entry: TrashEntry, _ folder: RepositoryFolder)
        throws(AIError)
    {
        let own = Set(entry.moves.map(\.from))
        guard !own.contains(folder.name) else { return }
        var needed: Set<String> = []
        for move in moves where move.from.hasPrefix("\(folder.name)/snapshots/") {
            try collectLinks(place(move.to, of: entry), as: Path.join(layout.root, move.from), folder, &needed)
        }
        let missing = needed.filter { name in
            !own.contains("\(folder.name)/blobs/\(name)") && !FileSystem.exists(folder.blob(name))
        }
        guard let name = missing.min() else { return }
        for other in try entries() where other.folder == entry.folder && other.name != entry.name {
            let holds = other.moves.contains { move in
                let inside = move.from == folder.name ? "\(move.to)/blobs/\(name)" : move.to
                return (move.from == folder.name || move.from == "\(folder.name)/blobs/\(name)")
                    && ((try? FileSystem.linkStatus(place(inside, of: other))) ?? nil) != nil
            }
            guard holds else { continue }
            let title =
                "\(other.repository?.description ?? other.folder)" + (other.commit.map { "@\($0.short)" } ?? "")
            throw AIError(
                .invalidInput, "it needs a file that went into the trash with \(title)",
                advice: "hub trash restore \(title) first, or all of \(other.repository?.description ?? "it")")
        }
    }

    /// The blobs that the links at `path` lead to once they are back at `place`.
    private func collectLinks(
        _ path: String, as place: String, _ folder: RepositoryFolder, _ blobs: inout Set<String>
    ) throws(AIError) {
        if let text = FileSystem.linkText(path) {
            let target = Path.normalized(Path.join(Path.parent(place), text))
            if Path.parent(target) == folder.blobs { blobs.insert(Path.name(target)) }
        } else if try FileSystem.linkStatus(path)?.kind == .directory {
            for name in try FileSystem.entries(path) ?? [] {
                try collectLinks(Path.join(path, name), as: Path.join(place, name), folder, &blobs)
            }
        }
    }

    /// Puts payloads back into the store where they are gone, and the lines that say who needs them, before the links come.
    private func restorePayloads(of entry: TrashEntry, _ folder: RepositoryFolder) throws(AIError) {
        let store = SharedStore(layout: layout)
        for hash in entry.payloads {
            let kept = place(TrashEntry.payloadName(hash), of: entry)
            guard FileSystem.exists(kept) else { continue }
            let names = try blobNames(leadingTo: hash, of: entry, folder, store)
            try store.bringBack(hash, from: kept, for: names.map { "\(folder.name)/blobs/\($0)" })
        }
    }

    /// The entries of `blobs/` in the trash that lead to a payload.
    private func blobNames(
        leadingTo hash: String, of entry: TrashEntry, _ folder: RepositoryFolder, _ store: SharedStore
    ) throws(AIError) -> [String] {
        var out: [String] = []
        func look(_ path: String, _ name: String) {
            if let text = FileSystem.linkText(path), store.hash(ofLink: text, in: folder) == hash {
                out.append(name)
            }
        }
        for move in entry.moves {
            if move.from == folder.name {
                let blobs = place("\(move.to)/blobs", of: entry)
                for name in try FileSystem.entries(blobs) ?? [] { look(Path.join(blobs, name), name) }
            } else if let name = move.from.dropping(prefix: "\(folder.name)/blobs/") {
                look(place(move.to, of: entry), name)
            }
        }
        return out
    }
}

extension SharedStore {
    /// Makes sure of a payload and of the lines of its manifest, under its lock. What was the store's own file comes back;
    /// nothing new is published.
    fileprivate func bringBack(_ hash: String, from kept: String, for lines: [String]) throws(AIError) {
        let path = payload(hash)
        try FileSystem.createDirectories(Path.parent(path))
        let lock = try FileDescriptor(path + ".lock", [.write, .create, .noFollow], mode: 0o666)
        try? lock.setMode(0o666)
        try lock.lock()
        let manifest = path + ".refs"
        let isThere = FileSystem.exists(path)
        let known = isThere ? try FileSystem.text(manifest, limit: 64 << 20) : ""
        // Without a manifest nobody deletes the payload, and none is to be made up.
        if let known {
            let all = Set(known.split(separator: "\n").map(String.init)).union(lines).sorted()
            try FileSystem.replace(
                manifest, with: Array((all.joined(separator: "\n") + "\n").utf8), mode: 0o666, isModeExact: true,
                durable: true)
        }
        if !isThere { try FileSystem.createHardLink(kept, at: path) }
    }
}
