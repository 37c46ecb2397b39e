package import HubCore

/// Carries out a plan. If killed at any moment, it leaves a cache that Python can read and a journal to finish it: refs
/// are deleted before their snapshots, snapshots before their blobs, the folder last.
///
/// Deletions never use a path that was checked before: each starts at an open folder, see ``OpenFolder``.
package struct Deletion {
    /// The result.
    package struct Outcome: Sendable {
        /// st_size of every file whose last name was deleted.
        package internal(set) var freedBytes: Int64 = 0
        /// Their allocated bytes on the disk.
        package internal(set) var allocatedBytes: Int64 = 0
        /// Bytes moved to the trash: st_size of every file without another name.
        package internal(set) var trashedBytes: Int64 = 0
        /// Items kept because they came into use after the plan was made.
        package internal(set) var spared: [DeletionPlan.Protected] = []
        /// The finished rows, by index in the plan.
        package internal(set) var done: Set<Int> = []
        /// The failed rows, in plan order; they may be partly done.
        package internal(set) var failed: [(row: Int, error: AIError)] = []

        /// Whether anything was deleted.
        package var hasChanged: Bool { !done.isEmpty || freedBytes > 0 || trashedBytes > 0 }
    }

    private let plan: DeletionPlan
    private let layout: CacheLayout
    private let journal: DeletionJournal?
    private let protection: Protection

    /// - Parameters:
    ///   - journal: nil if interruptions need not be finished.
    ///   - protection: read now, because the plan may be minutes old.
    package init(
        _ plan: DeletionPlan, layout: CacheLayout, journal: DeletionJournal? = nil,
        protection: Protection = Protection()
    ) {
        (self.plan, self.layout, self.journal, self.protection) = (plan, layout, journal, protection)
    }

    /// Deletes as much as possible and returns the freed bytes; see ``carryOut()``.
    ///
    /// - Throws: the error of the first failed row.
    package func run() throws(AIError) -> Int64 {
        let outcome = carryOut()
        if let first = outcome.failed.first { throw first.error }
        return outcome.freedBytes
    }

    /// Deletes all rows; a failed row does not stop the others.
    ///
    /// Before a blob is deleted, its lock is taken and every snapshot is checked again: a pull may need it now.
    package func carryOut() -> Outcome {
        let rows = journal?.begin(plan.rows.filter { $0.folder != nil || !$0.payloads.isEmpty }) ?? []
        // They are included in this plan, or settled.
        journal?.end(plan.interrupted)
        var remaining = rows[...]
        var outcome = Outcome()
        for (index, row) in plan.rows.enumerated() {
            // A row that has not begun needs no finishing.
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

    /// Returns whether it is done; false if it was spared.
    private func carryOut(
        _ row: DeletionPlan.Row, _ outcome: inout Outcome, _ hasBegun: inout Bool
    ) throws(AIError) -> Bool {
        if case .local(let folder, let files) = row.subject {
            outcome.add(try LocalRemoval(folder: folder, openFiles: protection.openFiles).delete(files))
            return true
        }
        guard let folder = row.folder else {
            if case .payload(let hash) = row.subject {
                let store = SharedStore(layout: layout)
                outcome.add(try PayloadRemoval(store: store, openFiles: protection.openFiles).remove(hash))
            }
            return true
        }
        guard let claim = try outcome.claim(folder, for: row, protection) else { return false }
        var removal = RepositoryRemoval(folder: folder, openFiles: protection.openFiles)
        // Counts also what was deleted before an error.
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
    /// A new obstacle to a row since it was planned.
    func obstacle(in folder: RepositoryFolder, _ protection: Protection) throws(AIError) -> String? {
        let commit: Commit
        switch subject {
        case .revision(let named), .files(let named, _): commit = named
        default: return nil
        }
        if protection.pin(folder, commit) != nil { return "pinned" }
        let held = try folder.heldLocks()
        if !held.isEmpty {
            // If its files are unknown, any lock that is not another revision's counts as its own.
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
    /// Freed bytes: by size, and allocated on the disk.
    struct Freed: Sendable {
        var size: Int64 = 0
        var allocated: Int64 = 0

        /// Counts a file before it loses this name.
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

    /// Locks the folder of a row for this deletion; nil if there is an obstacle, which is recorded.
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
