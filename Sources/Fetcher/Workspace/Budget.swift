package import Catalog
package import HubCore

/// What a cache's budget asks for: entries of the trash, the oldest first, and then revisions, the least recently used
/// first. No more than is needed.
package struct Budget: Sendable {
    package let rule: BudgetRule
    /// Bytes of the cache and its trash now.
    package let used: Int64
    package private(set) var trash: [TrashEntry] = []
    package private(set) var plan: DeletionPlan
    /// Bytes above the budget that nothing can free.
    package private(set) var missing: Int64 = 0

    package var trashBytes: Int64 { trash.reduce(0) { $0 + $1.size } }
    package var freedBytes: Int64 { trashBytes + plan.freedBytes }
    package var isEmpty: Bool { trash.isEmpty && plan.rows.isEmpty }

    /// - Parameters:
    ///   - incoming: bytes that a pull would add.
    ///   - keep: models that stay: of the rule, and those that are being pulled.
    package init(
        _ rule: BudgetRule, incoming: Int64, keep: [ModelReference], _ state: CacheState, _ trash: [TrashEntry],
        _ protection: Protection, now: Double
    ) throws(AIError) {
        self.rule = rule
        used = state.totalSize + state.partialSize + state.otherSize + trash.reduce(0) { $0 + $1.size }
        let over = used.addingClamped(incoming) - rule.bytes
        let planner = DeletionPlanner(state, protection: protection, now: now)
        plan = planner.plan
        for entry in trash.sorted(by: { $0.trashedAt < $1.trashedAt }) where trashBytes < over && entry.size > 0 {
            self.trash.append(entry)
        }
        if trashBytes < over {
            var policy = DeletionPolicy()
            policy.keep = keep
            policy.olderThan = rule.olderThan.map(Double.init)
            // From an empty disk, so many bytes have to become free.
            policy.free = over - trashBytes
            plan = try policy.plan(with: planner, now: now, diskFree: 0)
            plan.unreached = []
        }
        missing = max(0, over - freedBytes)
        if missing == 0 { try spareWhatIsNotNeeded(over, planner) }
        for index in plan.rows.indices {
            plan.rows[index].reason = "least recently used, for the budget of \(ByteCount(rule.bytes))"
        }
    }

    /// Takes out what the others make needless: a small revision before a large one, or one whose files others need.
    private mutating func spareWhatIsNotNeeded(_ over: Int64, _ planner: DeletionPlanner) throws(AIError) {
        for index in plan.rows.indices.reversed() {
            // What a revision frees beside the earlier ones is the least that is lost without it.
            guard freedBytes - plan.rows[index].freedBytes >= over else { continue }
            var planner = planner
            for row in plan.rows[..<index] + plan.rows[(index + 1)...] {
                for repository in planner.state.repositories where repository.folder == row.folder {
                    for revision in repository.revisions where revision.commit == row.subject.commit {
                        try planner.add(revision, of: repository, reason: row.reason)
                    }
                }
            }
            if trashBytes + planner.plan.freedBytes >= over {
                let protected = plan.protected
                plan = planner.plan
                plan.protected = protected
            }
        }
        for index in trash.indices.reversed() where freedBytes - trash[index].size >= over {
            trash.remove(at: index)
        }
    }

    /// Whether all that goes is in another plan, too.
    package func isPart(of shown: Budget) -> Bool {
        let (trashed, rows) = (shown.trash.map(\.name), shown.plan.rows)
        return trash.allSatisfy { trashed.contains($0.name) }
            && plan.rows.allSatisfy { row in
                rows.contains { $0.folder == row.folder && $0.subject == row.subject }
            }
    }
}

extension CacheRecord {
    /// The rule for the cache's size; nil without one.
    package func budget() throws(AIError) -> BudgetRule? { try catalog.budget(ofCache: try key()) }

    package func setBudget(_ rule: BudgetRule?) throws(AIError) {
        try catalog.setBudget(rule, ofCache: try rule == nil ? key() : idForWriting())
    }
}

extension Workspace {
    /// The rule for the cache's size; nil without one.
    package func budgetRule() async throws -> BudgetRule? {
        await Blocking.run { [dispensable, layout] in
            dispensable.use { catalog throws(AIError) in try CacheRecord(layout, in: catalog).budget() } ?? nil
        }
    }

    /// What a rule asks for now.
    ///
    /// - Parameter pulled: repositories that are being pulled, which stay.
    package func budget(_ rule: BudgetRule, incoming: Int64 = 0, keep: [ModelReference]) async throws -> Budget {
        let state = try await state(fresh: true)
        let protection = try await protection(for: state)
        return try await Blocking.run { [layout] in
            try Budget(
                rule, incoming: incoming, keep: keep, state, Trash(layout).contents().entries, protection,
                now: Timestamp.now)
        }
    }
}
