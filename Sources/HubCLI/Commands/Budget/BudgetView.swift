import Catalog
import Fetcher
import HubCore

/// Shows what a budget asks for, asks, and does it.
struct BudgetView {
    let context: Context
    let workspace: Workspace
    let budget: Budget
    private var output: Output { context.output }

    var json: JSONObject {
        [
            "budget_bytes": .int(budget.rule.bytes), "used_bytes": .int(budget.used),
            "plan": .array(Self.plan(budget)),
        ]
    }

    /// What would go: of the trash without a commit of its own.
    static func plan(_ budget: Budget) -> [JSON] {
        budget.trash.map { entry in
            .object([
                "id": entry.repository.map { .string($0.id.name) }, "commit": entry.commit.map { .string($0.hash) },
                "reason": "in the trash", "freed_bytes": .int(entry.size),
            ])
        }
            + budget.plan.rows.map { row in
                .object([
                    "id": row.repository.map { .string($0.id.name) },
                    "commit": row.subject.commit.map { .string($0.hash) },
                    "refs": .array(row.refs.map { .string($0) }), "reason": .string(row.reason),
                    "freed_bytes": .int(row.freedBytes),
                    "last_used_at": row.lastUsedAt.map { .string(Timestamp.iso8601($0)) },
                ])
            }
    }

    func showRule() {
        let (used, most) = (ByteCount(budget.used), ByteCount(budget.rule.bytes))
        var text =
            used.bytes > most.bytes
            ? "\(used) used, \(ByteCount(used.bytes - most.bytes)) over the budget of \(most)"
            : "the budget is \(most); \(used) are used"
        if !budget.rule.keep.isEmpty { text += "; \(budget.rule.keep.joined(separator: ", ")) stay" }
        if let age = budget.rule.olderThan { text += "; only what was not used for \(Age(seconds: age)) goes" }
        output.line(Styled(text))
    }

    func showPlan() {
        var table = Table([
            .init("DELETE", least: 16, cut: .middle), .init("FREES", .right), .init("WHY", optional: true),
        ])
        for entry in budget.trash {
            let name = entry.repository.map { "\($0)" } ?? entry.what
            table.add([Styled(name, .name), Styled("\(ByteCount(entry.size))"), "in the trash"])
        }
        for row in budget.plan.rows {
            table.add([
                Styled(DeletionView.name(row), .name), Styled("\(ByteCount(row.freedBytes))"), Styled(row.reason),
            ])
        }
        output.table(table)
        output.line(Styled("\(ByteCount(budget.freedBytes)) in all", .strong))
    }

    /// The plan, where nobody is asked whether to carry it out.
    func showOnly(isDryRun: Bool) {
        showPlan()
        if budget.missing > 0 {
            output.warning(refusal.message, advice: refusal.specificAdvice)
        }
        if isDryRun {
            output.note("dry run: nothing was changed")
        } else if budget.missing == 0 {
            output.note("hub cache budget --yes deletes this")
        }
    }

    /// The error of a budget that cannot be kept.
    var refusal: AIError {
        AIError(
            .diskFull,
            "the budget of \(ByteCount(budget.rule.bytes)) cannot be kept: \(ByteCount(budget.missing)) too much would be left",
            advice: "hub cache budget SIZE sets a larger one, hub cache budget off ends it")
    }

    /// Frees what the plan says, after a yes.
    ///
    /// - Parameters:
    ///   - undone: the message after a no.
    ///   - again: what the budget asks for now, for the case that it changed while the question stood.
    /// - Throws: ``ErrorCode/diskFull`` if that is not enough, before anything is deleted;
    ///   ``ErrorCode/confirmationRequired`` without a yes.
    func carryOut(isAgreed: Bool, undone: String, again: () async throws -> Budget?) async throws {
        if budget.missing > 0 { throw refusal }
        showPlan()
        for use in await workspace.sharedUses(of: budget.plan) { output.note(use) }
        try await context.requireYes(
            "Delete this for the budget?", isGiven: isAgreed,
            otherwise: "refusing to delete without confirmation", undone: undone)
        var budget = budget
        if !isAgreed {
            guard let now = try await again() else { return }
            guard now.missing == 0, now.isPart(of: budget) else {
                throw AIError(
                    .fileChanged, "the cache has changed meanwhile; nothing was deleted",
                    advice: "the same command shows what the budget asks for now")
            }
            budget = now
        }
        try await delete(budget)
    }

    private func delete(_ budget: Budget) async throws {
        let layout = workspace.layout
        let state = try await workspace.state(fresh: true)
        let protection = try await workspace.protection(for: state)
        if let fault = protection.pinsFault, budget.plan.concernsPins { throw Protection.refusal(fault) }
        let (trashed, outcome) = try await Blocking.run {
            let trashed = budget.trash.isEmpty ? 0 : try Trash(layout).empty(budget.trash).size
            return (trashed, Deletion(budget.plan, layout: layout, protection: protection).carryOut())
        }
        output.line(Styled("\(ByteCount(trashed + outcome.freedBytes)) freed", .strong))
        _ = try await workspace.state()
        await workspace.forgetVerified(after: budget.plan)
        if let failed = outcome.failed.first { throw failed.error }
        if let kept = outcome.spared.first {
            throw AIError(
                .diskFull, "the budget is not kept: \(kept.name) stays: \(kept.reason)",
                advice: "the same command frees something else")
        }
    }
}
