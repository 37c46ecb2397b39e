package import HubCore

/// Carries a plan out. Killed at any moment it leaves a cache that Python reads, and what the journal needs to finish it:
/// refs go before the snapshots they name, snapshots before the blobs they link to, a folder's name last.
///
/// Deletions never go by a path that was checked before: each starts at an open folder, see ``OpenFolder``.
package struct Deletion {
    /// What came of it.
    package struct Outcome: Sendable {
        /// st_size of every file whose last name went, as it was then.
        package internal(set) var freedBytes: Int64 = 0
        /// What those took on the disk.
        package internal(set) var allocatedBytes: Int64 = 0
        /// What went into the trash: st_size of every file with no name elsewhere.
        package internal(set) var trashedBytes: Int64 = 0
        /// What stayed after all: somebody has begun to use it since the plan was made.
        package internal(set) var spared: [DeletionPlan.Protected] = []
        /// The rows that are done, by their place in the plan.
        package internal(set) var done: Set<Int> = []
        /// The rows that failed, in the plan's order; part of such a row may be done.
        package internal(set) var failed: [(row: Int, error: AIError)] = []

        /// Whether anything has gone.
        package var hasChanged: Bool { !done.isEmpty || freedBytes > 0 || trashedBytes > 0 }
    }

    private let plan: DeletionPlan
    private let layout: CacheLayout
    private let journal: DeletionJournal?
    private let protection: Protection

    /// - Parameters:
    ///   - journal: nil where nobody is to finish what is cut off.
    ///   - protection: looked at now, for the plan may be minutes old.
    package init(
        _ plan: DeletionPlan, layout: CacheLayout, journal: DeletionJournal? = nil,
        protection: Protection = Protection()
    ) {
        (self.plan, self.layout, self.journal, self.protection) = (plan, layout, journal, protection)
    }

    /// Deletes all that can be, and returns the bytes that went; see ``carryOut()``.
    ///
    /// - Throws: the fault of the first row that failed.
    package func run() throws(AIError) -> Int64 {
        let outcome = carryOut()
        if let first = outcome.failed.first { throw first.error }
        return outcome.freedBytes
    }

    /// Deletes. A row that fails is in no other's way.
    ///
    /// Before a blob goes, its lock is taken and every snapshot is looked at again: a pull may have begun to need it.
    package func carryOut() -> Outcome {
        let rows = journal?.begin(plan.rows.filter { $0.folder != nil || !$0.payloads.isEmpty }) ?? []
        // Taken up by rows of this plan, or settled.
        journal?.end(plan.interrupted)
        var remaining = rows[...]
        var outcome = Outcome()
        for (index, row) in plan.rows.enumerated() {
            // Of what has not begun nothing is left to finish.
            var hasBegun = row.isRest
            do throws(AIError) {
                if try carryOut(row, &outcome, &hasBegun) { outcome.done.insert(index) }
                hasBegun = false
            } catch {
                outcome.failed.append((index, error))
            }
            guard row.folder != nil || !row.payloads.isEmpty, let note = remaining.popFirst() else { continue }
            if !hasBegun { journal?.end([note]) }
        }
        return outcome
    }

    /// Whether it is done; false where it was spared.
    private func carryOut(
        _ row: DeletionPlan.Row, _ outcome: inout Outcome, _ hasBegun: inout Bool
    ) throws(AIError) -> Bool {
        if case .local(let folder, let files) = row.subject {
            outcome.add(try folder.delete(files, sparing: protection.openFiles))
            return true
        }
        guard let folder = row.folder else {
            if case .payload(let hash) = row.subject {
                outcome.add(try SharedStore(layout: layout).sweep(hash, sparing: protection.openFiles))
            }
            return true
        }
        guard let claim = try outcome.claim(folder, for: row, protection) else { return false }
        var removal = RepositoryRemoval(folder: folder, openFiles: protection.openFiles)
        // What went before a fault has gone all the same.
        defer {
            withExtendedLifetime(claim) {}
            outcome.add(removal.freed)
            hasBegun = hasBegun || removal.hasRemoved
        }
        switch row.subject {
        case .revision(let commit): try removal.remove(commit, left: row.blobs)
        case .files(let commit, let paths): try removal.remove(paths, of: commit)
        case .partial(let names): try removal.remove(partials: names)
        case .orphan(let name): try removal.remove(orphans: [name])
        case .remains: try removal.removeRemains()
        case .payload, .local: break
        }
        return true
    }
}

extension DeletionPlan.Row {
    /// What has come in the way of a row since it was planned.
    func obstacle(in folder: RepositoryFolder, _ protection: Protection) throws(AIError) -> String? {
        let commit: Commit
        switch subject {
        case .revision(let named), .files(let named, _): commit = named
        default: return nil
        }
        if protection.pin(folder, commit) != nil { return "pinned" }
        let held = try folder.heldLocks()
        if !held.isEmpty {
            // Where its files are not known, any lock is of it that is not of another revision.
            let others = try folder.linkedBlobs(below: folder.snapshots, besides: commit.hash)
            let tree = try folder.readTree(commit)
            let own = tree.map { held.intersection($0.files.map(\.digest.hex)) } ?? held.subtracting(others)
            if let etag = own.min() { return "in use: \(etag.prefix(12)) is being downloaded" }
        }
        guard !protection.openFiles.users.isEmpty else { return nil }
        let user = try folder.user(of: folder.snapshot(commit), in: protection.openFiles)
        return user.map { "in use: \($0) has a file of it open" }
    }
}

extension Deletion.Outcome {
    /// Bytes that went with some files: of their sizes, and on the disk.
    struct Freed: Sendable {
        var size: Int64 = 0
        var allocated: Int64 = 0

        /// Counts a file that is about to lose this name.
        mutating func add(_ status: FileStatus) {
            guard status.kind == .file, status.links == 1 else { return }
            size += status.size
            allocated += status.allocated
        }
    }

    fileprivate mutating func add(_ freed: Freed) {
        freedBytes += freed.size
        allocatedBytes += freed.allocated
    }

    /// The folder of a row for this deletion alone; nil where something has come in its way, which is noted.
    mutating func claim(
        _ folder: RepositoryFolder, for row: DeletionPlan.Row, _ protection: Protection
    ) throws(AIError) -> RepositoryUse.Claim? {
        guard let claim = try RepositoryUse.claim(folder) else {
            spare(row, "in use: it is being downloaded")
            return nil
        }
        if let why = try row.obstacle(in: folder, protection) {
            spare(row, why)
            return nil
        }
        return claim
    }

    mutating func spare(_ row: DeletionPlan.Row, _ why: String) {
        var commit: Commit?
        switch row.subject {
        case .revision(let named), .files(let named, _): commit = named
        default: break
        }
        if let repository = row.repository {
            spared.append(.init(repository: repository, commit: commit, reason: why))
        }
    }
}

extension RepositoryFolder {
    /// A process that has a file below a folder open, links followed.
    fileprivate func user(of path: String, in open: OpenFiles) throws(AIError) -> String? {
        for name in try FileSystem.entries(path) ?? [] {
            let child = Path.join(path, name)
            guard let entry = try FileSystem.linkStatus(child) else { continue }
            if entry.kind == .directory {
                if let user = try user(of: child, in: open) { return user }
            } else if let status = try FileSystem.status(child),
                let user = open.users[PhysicalFile(status).identity]
            {
                return user
            }
        }
        return nil
    }
}
