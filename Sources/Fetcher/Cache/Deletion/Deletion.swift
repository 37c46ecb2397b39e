package import HubCore

/// Carries out a plan. If killed at any moment, it leaves a cache that Python can read and a journal to finish it: refs
/// are deleted before their snapshots, snapshots before their blobs, the folder last.
///
/// Deletions never use a path that was checked before: each starts at an open folder, see ``OpenFolder``.
package struct Deletion {
    /// The result.
    package struct Outcome: Sendable {
        /// The files whose last name was deleted, as measured.
        package internal(set) var freed = FreedBytes()
        package var freedBytes: Int64 { freed.size }
        /// Bytes moved to the trash: st_size of every file without another name.
        package internal(set) var trashedBytes: Int64 = 0
        /// Items kept because they came into use after the plan was made.
        package internal(set) var spared: [DeletionPlan.Protected] = []
        /// The finished rows, by index in the plan.
        package internal(set) var done: Set<Int> = []
        /// The failed rows, in plan order; they may be partly done.
        package internal(set) var failed: [(row: Int, error: AIError)] = []

        /// Whether anything was deleted.
        package var hasChanged: Bool { !done.isEmpty || freed.size > 0 || trashedBytes > 0 }
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
            outcome.freed += try LocalRemoval(folder: folder, openFiles: protection.openFiles).delete(files)
            return true
        }
        guard let folder = row.folder else {
            if case .payload(let hash) = row.subject {
                outcome.freed += try PayloadRemoval(
                    store: SharedStore(layout: layout), openFiles: protection.openFiles
                ).remove(hash)
            }
            return true
        }
        guard let claim = try outcome.claim(folder, for: row, protection) else { return false }
        var removal = RepositoryRemoval(folder: folder, openFiles: protection.openFiles)
        // Counts also what was deleted before an error.
        defer {
            withExtendedLifetime(claim) {}
            outcome.freed += removal.freed
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

extension Deletion.Outcome {
    /// Locks the folder of a row for this deletion; nil if there is an obstacle, which is recorded.
    mutating func claim(
        _ folder: RepositoryFolder, for row: DeletionPlan.Row, _ protection: Protection
    ) throws(AIError) -> RepositoryUse.Claim? {
        guard let claim = try RepositoryUse.claim(folder) else {
            spare(row, .inUse(.pulled))
            return nil
        }
        var obstacles = DeletionObstacles(protection)
        if let why = try obstacles.find(row, in: folder) {
            spare(row, why)
            return nil
        }
        return claim
    }

    mutating func spare(_ row: DeletionPlan.Row, _ why: Obstacle) {
        if let repository = row.repository {
            spared.append(.init(repository: repository, commit: row.subject.commit, obstacle: why))
        }
    }
}
