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
        var text = "\(ByteCount(budget.used)) of \(ByteCount(budget.rule.bytes)) are used"
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

    /// The error of a budget that cannot be kept.
    var refusal: AIError {
        AIError(
            .diskFull,
            "the budget of \(ByteCount(budget.rule.bytes)) cannot be kept: \(ByteCount(budget.missing)) too much would be left",
            advice: "hub budget SIZE sets a larger one, hub budget --off ends it")
    }

    /// Frees what the plan says, after a yes.
    ///
    /// - Throws: ``ErrorCode/diskFull`` if that is not enough, before anything is deleted.
    func carryOut(isAgreed: Bool) async throws {
        if budget.missing > 0 { throw refusal }
        showPlan()
        guard
            try await context.confirm(
                "Delete this for the budget?", isGiven: isAgreed,
                otherwise: "refusing to delete without confirmation")
        else { throw AIError(.cancelled, "nothing was deleted") }
        let (budget, layout) = (budget, workspace.layout)
        // Minutes may have passed at the question.
        let state = try await workspace.state(fresh: true)
        let protection = try await workspace.protection(for: state)
        if let fault = protection.pinsFault, budget.plan.concernsPins { throw Protection.refusal(fault) }
        let (freed, failed) = try await Blocking.run {
            var freed: Int64 = 0
            if !budget.trash.isEmpty { freed += try Trash(layout).empty(budget.trash).size }
            let outcome = Deletion(budget.plan, layout: layout, protection: protection).carryOut()
            return (freed + outcome.freedBytes, outcome.failed.first?.error)
        }
        output.line(Styled("\(ByteCount(freed)) freed", .strong))
        if let failed { throw failed }
        _ = try await workspace.state()
    }
}
