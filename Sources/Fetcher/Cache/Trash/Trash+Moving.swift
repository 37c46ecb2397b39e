package import HubCore

extension Trash {
    /// Moves the items of a plan into the trash. Interrupted moves come first; a failed row does not stop the others.
    ///
    /// - Parameters:
    ///   - protection: read now.
    ///   - journal: the source of the plan's interrupted deletions, which end here.
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

    /// Returns whether it is done; false if it was spared.
    private func take(_ row: DeletionPlan.Row, _ protection: Protection, _ outcome: inout Deletion.Outcome)
        throws(AIError) -> Bool
    {
        if case .payload(let hash) = row.subject {
            let from = "blobs/\(hash.prefix(2))/\(hash)"
            let moves = [TrashEntry.Move(from: from + ".refs", to: "1"), .init(from: from, to: "0")]
            let entry = made(row, "", moves, payloads: [])
            defer { outcome.trashedBytes += size(of: entry) }
            try carryOut(payload: entry, protection.openFiles)
            return true
        }
        guard let folder = row.folder, FileSystem.exists(folder.path) else { return true }
        guard let claim = try outcome.claim(folder, for: row, protection) else { return false }
        guard let entry = try entry(for: row, folder) else { return true }
        if entry.moves[0].from == folder.name, let etag = try folder.heldLocks().min() {
            outcome.spare(row, .inUse(.writing(etag)))
            return false
        }
        // Counts also what was moved before an error.
        defer { outcome.trashedBytes += size(of: entry) }
        try carryOut(entry, folder)
        withExtendedLifetime(claim) {}
        return true
    }

    /// The bytes that emptying an entry would free. Unreadable files are not counted.
    private func size(of entry: TrashEntry) -> Int64 {
        var ledger = DeletionLedger(nil)
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
        if entry.payload != nil { return try carryOut(payload: entry, OpenFiles()) }
        let repository = RepositoryFolder(cache: layout, name: entry.folder)
        guard let claim = try RepositoryUse.claim(repository) else { return }
        try carryOut(entry, repository, unchangedSince: entry.trashedAt)
        withExtendedLifetime(claim) {}
    }

    // MARK: Planning moves

    /// The entry of a row; nil if nothing is left.
    private func entry(for row: DeletionPlan.Row, _ folder: RepositoryFolder) throws(AIError) -> TrashEntry? {
        var names: [String] = []
        var blobs: Set<String> = []
        switch row.subject {
        case .revision(let named):
            guard try folder.snapshotNames() != [named.hash] else {
                names = [""]
                break
            }
            names = try folder.refs(naming: named) + ["snapshots/\(named.hash)"]
            blobs = try folder.linkedBlobs(below: folder.snapshot(named)).union(row.blobs)
                .subtracting(folder.linkedBlobs(below: folder.snapshots, besides: named.hash))
        case .files(let named, let paths):
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
        var removal = RepositoryRemoval(folder: folder, openFiles: OpenFiles())
        try removal.remove(partials: [])
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
        guard try kept.status(of: move.to) == nil, let (place, name) = try root.place(of: move.from),
            let status = try place.status(of: name)
        else { return }
        if let time, status.changed > time { return }
        try place.move(name, to: kept, as: move.to)
    }

    /// Moves a payload of the shared store with its manifest: under its lock, and while no repository links to it.
    private func carryOut(payload entry: TrashEntry, _ open: OpenFiles) throws(AIError) {
        let store = SharedStore(layout: layout)
        guard let hash = entry.payload, let root = try OpenFolder.open(layout.root) else { return }
        guard store.exists(), let folder = try store.folder(of: hash), let status = try folder.status(of: hash)
        else {
            return try settle(entry)
        }
        let lock = try store.lockFile(hash, in: folder)
        guard try lock.tryLock() != false else { return }
        try bringBackManifest(of: entry, to: root)
        if open.users[PhysicalFile(status).identity] == nil, store.references(hash)?.isEmpty == true {
            do throws(AIError) {
                let kept = try write(entry)
                for step in entry.moves { try move(step, from: root, to: kept, unchangedSince: nil) }
            } catch {
                // Without its manifest the payload could never be deleted.
                try? bringBackManifest(of: entry, to: root)
                try? settle(entry)
                throw error
            }
        }
        try settle(entry)
    }

    /// Undoes the first half of an interrupted move: the manifest must be checked again.
    private func bringBackManifest(of entry: TrashEntry, to root: OpenFolder) throws(AIError) {
        guard let manifest = entry.moves.first, let payload = entry.moves.last, entry.moves.count > 1,
            let (place, name) = try root.place(of: payload.from), try place.status(of: name) != nil,
            let kept = try folder(of: entry), try kept.status(of: manifest.to) != nil
        else { return }
        if try place.status(of: Path.name(manifest.from)) == nil {
            try kept.move(manifest.to, to: place, as: Path.name(manifest.from))
        } else {
            // A client that linked to the payload since has written a new one.
            try kept.remove(manifest.to)
        }
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
