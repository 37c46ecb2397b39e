package import HubCore

/// Carries out a plan. If killed at any moment, it leaves a cache that Python can read, in which a revision is whole or
/// gone.
///
/// Deletions never use a path that was checked before: each starts at an open folder, see ``OpenFolder``.
package struct Deletion {
    /// The result.
    package struct Outcome: Sendable {
        var tally = FreedTally()
        /// The files whose last name was deleted, as measured, without what other files share of them.
        package var freed: FreedBytes { tally.freed }
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
    private let protection: Protection

    /// - Parameter protection: read now, because the plan may be minutes old.
    package init(_ plan: DeletionPlan, layout: CacheLayout, protection: Protection = Protection()) {
        (self.plan, self.layout, self.protection) = (plan, layout, protection)
    }

    /// Deletes all rows; a failed row does not stop the others.
    ///
    /// Before a blob is deleted, its lock is taken and every snapshot is checked again: a pull may need it now.
    package func carryOut() -> Outcome {
        Outcome(of: plan) { row, outcome throws(AIError) in try carryOut(row, &outcome) }
    }

    /// Returns whether it is done; false if it was spared.
    private func carryOut(_ row: DeletionPlan.Row, _ outcome: inout Outcome) throws(AIError) -> Bool {
        let openFiles = protection.openFiles
        switch row.subject {
        case .local(let folder, let files):
            try LocalRemoval(folder: folder, openFiles: openFiles).delete(files, &outcome.tally)
        case .xet(let folder):
            let bytes = try folder.sweep(now: Timestamp.now)
            outcome.tally += FreedBytes(size: bytes, allocated: bytes)
        case .payload(let hash):
            try SharedStore(layout: layout).remove(unused: hash, sparing: openFiles, &outcome.tally)
        default: return try carryOut(row, of: row.folder!, &outcome)
        }
        return true
    }

    private func carryOut(_ row: DeletionPlan.Row, of folder: RepositoryFolder, _ outcome: inout Outcome)
        throws(AIError) -> Bool
    {
        guard let claim = try outcome.claim(folder, for: row, protection) else { return false }
        var removal = RepositoryRemoval(folder: folder, openFiles: protection.openFiles, tally: outcome.tally)
        // Counts also what was deleted before an error.
        defer {
            withExtendedLifetime(claim) {}
            outcome.tally = removal.tally
        }
        switch row.subject {
        case .revision(let commit): try removal.remove(commit)
        case .files(let commit, let paths): try removal.remove(paths, of: commit)
        case .partial(let names): try removal.remove(blobs: Set(names))
        case .orphan(let name): try removal.remove(blobs: [name])
        case .remains: try removal.removeWhole([])
        case .payload, .local, .xet: break
        }
        return true
    }
}

extension Deletion.Outcome {
    /// Calls a closure for each row, which returns whether it is done; false if it was spared.
    init(
        of plan: DeletionPlan,
        _ carryOut: (DeletionPlan.Row, inout Deletion.Outcome) throws(AIError) -> Bool
    ) {
        tally.blocks = plan.blocks
        for (index, row) in plan.rows.enumerated() {
            do throws(AIError) {
                if try carryOut(row, &self) { done.insert(index) }
            } catch {
                failed.append((index, error))
            }
        }
    }

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
