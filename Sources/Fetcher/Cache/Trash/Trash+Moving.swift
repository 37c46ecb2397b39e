package import HubCore

extension Trash {
    /// Moves the items of a plan into the trash. Interrupted moves come first; a failed row does not stop the others.
    ///
    /// - Parameter protection: read now.
    package func take(_ plan: DeletionPlan, protection: Protection) throws(AIError) -> Deletion.Outcome {
        try create()
        let lock = try exclusive()
        defer { withExtendedLifetime(lock) {} }
        _ = try finishUnderLock()
        return Deletion.Outcome(of: plan) { row, outcome throws(AIError) in try take(row, protection, &outcome) }
    }

    private func take(_ row: DeletionPlan.Row, _ protection: Protection, _ outcome: inout Deletion.Outcome)
        throws(AIError) -> Bool
    {
        if case .payload(let hash) = row.subject {
            outcome.trashedBytes += try keep(payload: hash, of: row)
            var tally = FreedTally()
            try SharedStore(layout: layout).remove(unused: hash, sparing: protection.openFiles, &tally)
        }
        if let path = row.subject.path {
            outcome.spared.append(.init(path: path, obstacle: .notForTheTrash))
            return false
        }
        guard let folder = row.folder, FileSystem.exists(folder.path) else { return true }
        guard let claim = try outcome.claim(folder, for: row, protection) else { return false }
        guard let entry = try entry(for: row, folder) else { return true }
        // Counts also what was moved before an error.
        defer { outcome.trashedBytes += size(of: entry) }
        try carryOut(entry, folder)
        withExtendedLifetime(claim) {}
        return true
    }

    /// Gives a payload of the shared store a second name in the trash; returns its bytes.
    private func keep(payload hash: String, of row: DeletionPlan.Row) throws(AIError) -> Int64 {
        guard let payloads = try SharedStore(layout: layout).folder(of: hash),
            let status = try payloads.status(of: hash), status.kind == .file
        else { return 0 }
        var entry = made(row, "", [], payloads: [hash])
        entry.isComplete = true
        try payloads.link(hash, to: write(entry), as: TrashEntry.payloadName(hash))
        return status.links == 1 ? status.size : 0
    }

    /// The bytes that emptying an entry would free. Unreadable files are not counted.
    private func size(of entry: TrashEntry) -> Int64 {
        guard let blocks = try? SharedBlocks(below: [place(entry)]) else { return 0 }
        var ledger = DeletionLedger(nil, blocks)
        if let kept = (try? folder(of: entry)) ?? nil { try? count(kept, besides: entry.bookkeeping, &ledger) }
        return ledger.freedBytes
    }

    /// Finishes interrupted moves. Files changed since stay.
    ///
    /// - Returns: the errors of entries that could not be finished; they do not stop others.
    package func finish() -> [AIError] {
        do throws(AIError) {
            guard try FileSystem.status(path)?.kind == .directory, try !entryNames().isEmpty else { return [] }
            let lock = try exclusive()
            defer { withExtendedLifetime(lock) {} }
            return try finishUnderLock()
        } catch {
            return [error]
        }
    }

    private func finishUnderLock() throws(AIError) -> [AIError] {
        var faults: [AIError] = []
        for name in try entryNames() { do throws(AIError) { try finish(name) } catch { faults.append(error) } }
        return faults
    }

    private func finish(_ name: String) throws(AIError) {
        guard let top = try OpenFolder.open(path), let folder = try top.ownFolder(OpenFolder.Entry(name)) else {
            return
        }
        // A temporary manifest from an interruption.
        for entry in try folder.entries()
        where entry.name.hasPrefix(TrashEntry.manifest + ".") && entry.name.hasSuffix(".tmp") {
            try folder.remove(entry)
        }
        guard let entry = try entry(name) else {
            // Without a manifest nothing was moved into it.
            try top.removeEmptyFolder(name)
            return
        }
        guard !entry.isComplete else { return }
        let repository = RepositoryFolder(cache: layout, name: entry.folder)
        guard let claim = try RepositoryUse.claim(repository) else { return }
        try carryOut(entry, repository, unchangedSince: entry.trashedAt)
        withExtendedLifetime(claim) {}
    }

    // MARK: Planning moves

    /// The entry of a row; nil if nothing is left.
    private func entry(for row: DeletionPlan.Row, _ folder: RepositoryFolder) throws(AIError) -> TrashEntry? {
        var (names, others): ([String], [String]) = ([], [])
        var blobs: Set<String> = []
        let isWhole = try row.isWhole(in: folder)
        switch row.subject {
        case _ where isWhole: names = [folder.name]
        case .revision(let named):
            names = try folder.refs(naming: named) + ["snapshots/\(named.hash)"]
            blobs = try folder.linkedBlobs(below: folder.snapshot(named))
                .subtracting(folder.linkedBlobs(below: folder.snapshots, besides: named.hash))
            others = ["trees/\(named.hash).json", ".no_exist/\(named.hash)"]
        case .files(let named, let paths):
            names = paths.map { "snapshots/\(named.hash)/\($0)" }
            blobs = row.blobs
        case .partial(let partials): blobs = Set(partials)
        case .orphan(let name): blobs = try folder.linkedBlobs(below: folder.snapshots).contains(name) ? [] : [name]
        case .remains, .payload, .local, .xet: return nil
        }
        names += blobs.sorted().map { "blobs/\($0)" } + others
        var moves: [TrashEntry.Move] = []
        for name in names {
            let path = isWhole ? name : "\(folder.name)/\(name)"
            guard try FileSystem.linkStatus(Path.join(layout.root, path)) != nil else { continue }
            moves.append(.init(from: path, to: String(moves.count)))
        }
        guard !moves.isEmpty else { return nil }
        let linked = isWhole ? Set(try FileSystem.entries(folder.blobs) ?? []) : blobs
        return made(row, folder.name, moves, payloads: payloads(of: linked, in: folder))
    }

    private func made(
        _ row: DeletionPlan.Row, _ folder: String, _ moves: [TrashEntry.Move], payloads: [String]
    ) -> TrashEntry {
        let now = Timestamp.now
        return TrashEntry(
            name: TrashEntry.newName(at: now), repository: row.repository, folder: folder,
            commit: row.subject.commit, refs: row.refs, what: row.subject.word, size: row.freedBytes,
            trashedAt: now, moves: moves, payloads: payloads)
    }

    /// The payloads that entries of `blobs/` link to.
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

    /// - Parameter time: files changed after it stay.
    private func carryOut(_ entry: TrashEntry, _ folder: RepositoryFolder, unchangedSince time: Double? = nil)
        throws(AIError)
    {
        do throws(AIError) {
            try moveAll(of: entry, to: write(entry), folder, unchangedSince: time)
        } catch {
            // If only part was moved, a later run moves the rest.
            if try isEmpty(entry) { try settle(entry) }
            throw error
        }
        try settle(entry)
    }

    /// Whether nothing has been moved into an entry.
    private func isEmpty(_ entry: TrashEntry) throws(AIError) -> Bool {
        guard let kept = try folder(of: entry) else { return true }
        for move in entry.moves where try kept.status(of: move.to) != nil { return false }
        return true
    }

    private func moveAll(
        of entry: TrashEntry, to kept: OpenFolder, _ folder: RepositoryFolder, unchangedSince time: Double?
    ) throws(AIError) {
        guard let root = try OpenFolder.open(layout.root) else { return }
        let store = SharedStore(layout: layout)
        for hash in entry.payloads {
            // A link can outlive its target.
            guard let payloads = try store.folder(of: hash), try payloads.status(of: hash)?.kind == .file,
                try kept.status(of: TrashEntry.payloadName(hash)) == nil
            else { continue }
            try payloads.link(hash, to: kept, as: TrashEntry.payloadName(hash))
        }
        let blobs = "\(folder.name)/blobs/"
        for move in entry.moves where !move.from.hasPrefix(blobs) {
            // The whole folder: its partials may be locked.
            if move.from == folder.name, try !folder.heldLocks().isEmpty { continue }
            try self.move(move, from: root, to: kept, unchangedSince: time)
        }
        let waiting = Dictionary(
            entry.moves.compactMap { move in move.from.dropping(prefix: blobs).map { ($0, move) } }
        ) { first, _ in first }
        try folder.withBlobLocks(Set(waiting.keys)) { names throws(AIError) in
            let needed = try root.ownFolder("\(folder.name)/snapshots").map { snapshots throws(AIError) in
                try folder.linkedBlobs(in: snapshots)
            }
            for name in names where needed?.contains(name) != true {
                try move(waiting[name]!, from: root, to: kept, unchangedSince: time)
            }
        }
        if let top = try root.ownFolder(OpenFolder.Entry(folder.name)) {
            for name in ["refs", "trees", ".no_exist"] { try top.removeEmptyFolder(name) }
        }
        // Removes the repository if it is empty now.
        var removal = RepositoryRemoval(folder: folder)
        try removal.removeIfEmpty()
    }

    /// Marks an entry as finished; removes an empty one.
    private func settle(_ entry: TrashEntry) throws(AIError) {
        guard try !isEmpty(entry) else { return try remove(entry) }
        var entry = entry
        entry.isComplete = true
        try write(entry)
    }

    private func move(
        _ move: TrashEntry.Move, from root: OpenFolder, to kept: OpenFolder, unchangedSince time: Double?
    ) throws(AIError) {
        guard let (place, name) = try root.place(of: move.from), let status = try place.status(of: name) else {
            return
        }
        if try kept.status(of: move.to) != nil {
            // A folder that was being moved file by file.
            guard let time, status.kind == .directory else { return }
            return try place.mergeTree(name, into: kept, as: move.to) { $0.changed <= time }
        }
        if let time, status.changed > time { return }
        try place.moveTree(name, to: kept, as: move.to)
    }
}

extension RepositoryFolder {
    /// The refs to a commit, by path relative to the repository.
    fileprivate func refs(naming commit: Commit) throws(AIError) -> [String] {
        var out: [String] = []
        func visit(_ place: OpenFolder, _ prefix: String) throws(AIError) {
            for entry in try place.entries() where entry.isText {
                if try place.status(of: entry)?.kind == .directory {
                    if let inner = try place.ownFolder(entry) { try visit(inner, prefix + entry.name + "/") }
                } else if try place.isRef(entry, to: commit) {
                    out.append(prefix + entry.name)
                }
            }
        }
        if let place = try open()?.ownFolder("refs") { try visit(place, "refs/") }
        return out
    }

    /// The blobs that the other snapshots link to.
    func linkedBlobs(below path: String, besides name: String) throws(AIError) -> Set<String> {
        var out: Set<String> = []
        for other in try FileSystem.entries(path) ?? [] where other != name {
            out.formUnion(try linkedBlobs(below: Path.join(path, other)))
        }
        return out
    }
}
