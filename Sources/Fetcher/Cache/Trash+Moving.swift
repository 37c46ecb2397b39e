package import HubCore

extension Trash {
    /// Moves what a plan names into the trash. What an earlier run was cut off at comes first; a row that fails is in no
    /// other's way.
    ///
    /// - Parameters:
    ///   - protection: looked at now.
    ///   - journal: where the plan has deletions from that were cut off and end here.
    package func take(_ plan: DeletionPlan, protection: Protection, journal: DeletionJournal? = nil)
        throws(AIError) -> Deletion.Outcome
    {
        try create()
        let lock = try exclusive()
        defer { withExtendedLifetime(lock) {} }
        _ = finishUnderLock()
        var outcome = Deletion.Outcome()
        for (index, row) in plan.rows.enumerated() {
            do throws(AIError) {
                if try take(row, protection, &outcome) { outcome.done.insert(index) }
            } catch {
                outcome.failed.append((index, error))
            }
        }
        journal?.end(plan.interrupted)
        return outcome
    }

    /// Whether it is done; false where it was spared.
    private func take(_ row: DeletionPlan.Row, _ protection: Protection, _ outcome: inout Deletion.Outcome)
        throws(AIError) -> Bool
    {
        if case .payload(let hash) = row.subject {
            let from = "blobs/\(hash.prefix(2))/\(hash)"
            let moves = [TrashEntry.Move(from: from + ".refs", to: "1"), .init(from: from, to: "0")]
            let entry = made(row, "", nil, moves, payloads: [])
            defer { outcome.trashedBytes += size(of: entry) }
            try carryOut(payload: entry, protection.openFiles)
            return true
        }
        guard let folder = row.folder, FileSystem.exists(folder.path) else { return true }
        guard let claim = try outcome.claim(folder, for: row, protection) else { return false }
        guard let entry = try entry(for: row, folder) else { return true }
        if entry.moves[0].from == folder.name, let etag = try folder.heldLocks().min() {
            outcome.spare(row, "in use: another process is writing \(etag.prefix(12))")
            return false
        }
        // What moved before a fault has moved all the same.
        defer { outcome.trashedBytes += size(of: entry) }
        try carryOut(entry, folder)
        withExtendedLifetime(claim) {}
        return true
    }

    /// Bytes that lie in an entry and have no name elsewhere: its emptying would free as many. What cannot be looked at is
    /// not counted.
    private func size(of entry: TrashEntry) -> Int64 {
        func size(_ folder: String, besides bookkeeping: Set<String>) -> Int64 {
            ((try? FileSystem.entries(folder)) ?? []).reduce(0) { sum, name in
                let child = Path.join(folder, name)
                guard !bookkeeping.contains(name), let status = try? FileSystem.linkStatus(child) else {
                    return sum
                }
                if status.kind == .directory { return sum + size(child, besides: ["refs", "trees", ".no_exist"]) }
                return sum + (status.kind == .file && status.links == 1 ? status.size : 0)
            }
        }
        // A payload's manifest is no content either.
        return size(place(entry), besides: entry.bookkeeping.union(entry.payload == nil ? [] : ["1"]))
    }

    /// Makes the moves that an earlier run was cut off at. What has changed since is wanted again, and stays.
    ///
    /// - Returns: why an entry could not be finished: none of it is in the way of anything else.
    package func finish() -> [AIError] {
        do throws(AIError) {
            guard try FileSystem.status(path)?.kind == .directory, try !entryNames().isEmpty else { return [] }
            let lock = try exclusive()
            defer { withExtendedLifetime(lock) {} }
            return finishUnderLock()
        } catch {
            return [error]
        }
    }

    private func finishUnderLock() -> [AIError] {
        var faults: [AIError] = []
        do throws(AIError) {
            for name in try entryNames() {
                do throws(AIError) { try finish(name) } catch { faults.append(error) }
            }
        } catch {
            faults.append(error)
        }
        return faults
    }

    private func finish(_ name: String) throws(AIError) {
        let place = Path.join(path, name)
        // A manifest that was cut off before it took the other's place.
        for name in try FileSystem.entries(place) ?? []
        where name.hasPrefix(TrashEntry.manifest + ".") && name.hasSuffix(".tmp") {
            try FileSystem.remove(Path.join(place, name))
        }
        guard let entry = try entry(name) else {
            // Before its manifest nothing went into it.
            try FileSystem.removeEmptyDirectory(place)
            return
        }
        guard !entry.isComplete else { return }
        if entry.payload != nil { return try carryOut(payload: entry, OpenFiles()) }
        let folder = RepositoryFolder(cache: layout, name: entry.folder)
        guard let claim = try RepositoryUse.claim(folder) else { return }
        try carryOut(entry, folder, unchangedSince: entry.trashedAt)
        withExtendedLifetime(claim) {}
    }

    // MARK: What is to move

    /// The entry of a row; nil where nothing is there any more.
    private func entry(for row: DeletionPlan.Row, _ folder: RepositoryFolder) throws(AIError) -> TrashEntry? {
        var names: [String] = []
        var blobs: Set<String> = []
        var commit: Commit?
        switch row.subject {
        case .revision(let named):
            commit = named
            guard try folder.snapshotNames() != [named.hash] else {
                names = [""]
                break
            }
            names = try folder.refs(naming: named) + ["snapshots/\(named.hash)"]
            blobs = try folder.linkedBlobs(below: folder.snapshot(named)).union(row.blobs)
                .subtracting(folder.linkedBlobs(below: folder.snapshots, besides: named.hash))
        case .files(let named, let paths):
            commit = named
            names = paths.map { "snapshots/\(named.hash)/\($0)" }
            blobs = row.blobs
        case .partial(let partials): blobs = Set(partials)
        case .orphan(let name): blobs = try folder.linkedBlobs(below: folder.snapshots).contains(name) ? [] : [name]
        case .remains: names = try folder.snapshotNames().isEmpty ? [""] : []
        case .payload, .local: return nil
        }
        names += blobs.sorted().map { "blobs/\($0)" }
        if case .revision(let named) = row.subject, names != [""] {
            names += ["trees/\(named.hash).json", ".no_exist/\(named.hash)"]
        }
        var moves: [TrashEntry.Move] = []
        for name in names {
            let path = name.isEmpty ? folder.name : "\(folder.name)/\(name)"
            guard try FileSystem.linkStatus(Path.join(layout.root, path)) != nil else { continue }
            moves.append(.init(from: path, to: String(moves.count)))
        }
        guard !moves.isEmpty else { return nil }
        let linked = names == [""] ? Set(try FileSystem.entries(folder.blobs) ?? []) : blobs
        return made(row, folder.name, commit, moves, payloads: payloads(of: linked, in: folder))
    }

    private func made(
        _ row: DeletionPlan.Row, _ folder: String, _ commit: Commit?, _ moves: [TrashEntry.Move], payloads: [String]
    ) -> TrashEntry {
        let now = Timestamp.now
        return TrashEntry(
            name: TrashEntry.newName(at: now), repository: row.repository, folder: folder,
            commit: commit, refs: row.refs, what: row.subject.word, size: row.freedBytes, trashedAt: now,
            moves: moves,
            payloads: payloads)
    }

    /// The payloads that entries of `blobs/` lead to.
    private func payloads(of names: Set<String>, in folder: RepositoryFolder) -> [String] {
        let store = SharedStore(layout: layout)
        guard store.exists() else { return [] }
        return Set(
            names.compactMap { name in
                FileSystem.linkText(folder.blob(name)).flatMap { store.hash(ofLink: $0, in: folder) }
            }
        ).sorted()
    }

    // MARK: Moving

    /// - Parameter time: what has changed after it stays.
    private func carryOut(_ entry: TrashEntry, _ folder: RepositoryFolder, unchangedSince time: Double? = nil)
        throws(AIError)
    {
        do throws(AIError) {
            try write(entry)
            try moveAll(of: entry, folder, unchangedSince: time)
        } catch {
            // What cannot be moved would fail every later run too: who was told asks again, or not.
            try? settle(entry)
            throw error
        }
        try settle(entry)
    }

    private func moveAll(of entry: TrashEntry, _ folder: RepositoryFolder, unchangedSince time: Double?)
        throws(AIError)
    {
        let store = SharedStore(layout: layout)
        for hash in entry.payloads {
            let kept = place(TrashEntry.payloadName(hash), of: entry)
            // A link can outlive what it led to.
            if FileSystem.exists(store.payload(hash)), !FileSystem.exists(kept) {
                try FileSystem.createHardLink(store.payload(hash), at: kept)
            }
        }
        let blobs = "\(folder.name)/blobs/"
        for move in entry.moves where !move.from.hasPrefix(blobs) {
            // All of it: its partials are locked like any other's.
            if move.from == folder.name, try !folder.heldLocks().isEmpty { continue }
            try self.move(move, of: entry, unchangedSince: time)
        }
        let waiting = Dictionary(
            entry.moves.compactMap { move in move.from.dropping(prefix: blobs).map { ($0, move) } }
        ) { first, _ in first }
        try folder.withBlobLocks(Set(waiting.keys)) { names throws(AIError) in
            let needed = try folder.linkedBlobs(below: folder.snapshots)
            for name in names where !needed.contains(name) {
                try move(waiting[name]!, of: entry, unchangedSince: time)
            }
        }
        for name in ["refs", "trees", ".no_exist"] {
            try FileSystem.removeEmptyDirectory(Path.join(folder.path, name))
        }
        // A repository that held nothing else is none any more.
        var removal = RepositoryRemoval(folder: folder, openFiles: OpenFiles())
        try removal.remove(partials: [])
    }

    /// Notes that an entry is finished; one into which nothing went is none.
    private func settle(_ entry: TrashEntry) throws(AIError) {
        var entry = entry
        entry.isComplete = true
        for move in entry.moves where try FileSystem.linkStatus(place(move.to, of: entry)) != nil {
            return try write(entry)
        }
        for hash in entry.payloads { try FileSystem.remove(place(TrashEntry.payloadName(hash), of: entry)) }
        try FileSystem.remove(place(TrashEntry.manifest, of: entry))
        try FileSystem.removeEmptyDirectory(place(entry))
    }

    private func move(_ move: TrashEntry.Move, of entry: TrashEntry, unchangedSince time: Double?) throws(AIError) {
        let (from, to) = (Path.join(layout.root, move.from), place(move.to, of: entry))
        guard try FileSystem.linkStatus(to) == nil, let status = try FileSystem.linkStatus(from) else { return }
        if let time, status.changed > time { return }
        try FileSystem.rename(from, to: to)
    }

    /// Moves a payload of the shared store with its manifest: under its lock, and while no repository links to it.
    private func carryOut(payload entry: TrashEntry, _ open: OpenFiles) throws(AIError) {
        let store = SharedStore(layout: layout)
        guard let hash = entry.payload else { return }
        let path = store.payload(hash)
        guard store.exists(), let status = try FileSystem.linkStatus(path) else { return try settle(entry) }
        let lock = try FileDescriptor(path + ".lock", [.write, .create, .noFollow], mode: 0o666)
        guard try lock.tryLock() != false else { return }
        try bringBackManifest(of: path, entry)
        if open.users[PhysicalFile(status).identity] == nil, store.references(hash)?.isEmpty == true {
            do throws(AIError) {
                try write(entry)
                for step in entry.moves { try move(step, of: entry, unchangedSince: nil) }
            } catch {
                // Without its manifest nobody could ever delete it.
                try? bringBackManifest(of: path, entry)
                try? settle(entry)
                throw error
            }
        }
        try settle(entry)
    }

    /// Undoes the first half of a move that was cut off: what the manifest says has to be asked again.
    private func bringBackManifest(of payload: String, _ entry: TrashEntry) throws(AIError) {
        guard let move = entry.moves.first, entry.moves.count > 1, FileSystem.exists(payload) else { return }
        let (there, kept) = (Path.join(layout.root, move.from), place(move.to, of: entry))
        guard try FileSystem.linkStatus(kept) != nil else { return }
        if try FileSystem.linkStatus(there) == nil {
            try FileSystem.rename(kept, to: there)
        } else {
            // Who has linked to the payload since has made a new one.
            try FileSystem.remove(kept)
        }
    }
}

extension DeletionPlan.Row.Subject {
    /// What it is, in a word.
    package var word: String {
        switch self {
        case .revision: "revision"
        case .files(_, let paths): paths.count == 1 ? "1 file" : "\(paths.count) files"
        case .partial: "partial"
        case .orphan: "blob"
        case .remains: "remains"
        case .payload: "payload"
        case .local(_, let files) where files.isEmpty: "bookkeeping"
        case .local(_, let files): files.count == 1 ? "1 file" : "\(files.count) files"
        }
    }
}

extension RepositoryFolder {
    /// The refs that name a commit, by path below the repository.
    fileprivate func refs(naming commit: Commit) throws(AIError) -> [String] {
        var out: [String] = []
        func visit(_ path: String, _ prefix: String) throws(AIError) {
            for name in try FileSystem.entries(path) ?? [] {
                let child = Path.join(path, name)
                if try FileSystem.linkStatus(child)?.kind == .directory {
                    try visit(child, prefix + name + "/")
                } else if try FileSystem.text(child)?.filter({ !$0.isWhitespace }) == commit.hash {
                    out.append(prefix + name)
                }
            }
        }
        try visit(refs, "refs/")
        return out
    }

    /// The blobs that all snapshots but one link to.
    func linkedBlobs(below path: String, besides name: String) throws(AIError) -> Set<String> {
        var out: Set<String> = []
        for other in try FileSystem.entries(path) ?? [] where other != name {
            out.formUnion(try linkedBlobs(below: Path.join(path, other)))
        }
        return out
    }
}
