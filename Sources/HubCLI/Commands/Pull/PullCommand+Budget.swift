import Catalog
import Fetcher
import HubCore

extension PullCommand {
    /// What the cache's budget asks for before these pulls; nil without a rule, or if they add nothing to the cache.
    static func budget(for plans: [PullPlan], _ workspace: Workspace, _ context: Context) async throws -> Budget? {
        let incoming = PullTotals(plans).neededBytes
        guard incoming > 0, plans.allSatisfy(\.destination.isCache), let rule = try await workspace.budgetRule()
        else {
            return nil
        }
        var keep = try await context.kept(rule, workspace)
        for plan in plans {
            keep.append(ModelReference(plan.repository))
            // What is reused of others would have to be downloaded if they went first.
            for case .elsewhere(let source) in plan.files.map(\.state) {
                guard let rest = source.dropping(prefix: workspace.layout.root + "/"),
                    let folder = Path.parts(rest).first,
                    let repository = Repository(folderName: String(folder))
                else { continue }
                keep.append(ModelReference(repository))
            }
        }
        return try await workspace.budget(rule, incoming: incoming, keep: keep)
    }

    /// Frees what the budget asks for, after a yes.
    static func makeRoom(
        for plans: [PullPlan], isAgreed: Bool, _ workspace: Workspace, _ context: Context
    ) async throws {
        guard let budget = try await budget(for: plans, workspace, context), !budget.isEmpty || budget.missing > 0
        else {
            return
        }
        let view = BudgetView(context: context, workspace: workspace, budget: budget)
        context.output.document([
            "models": .array([]), "budget": .object(["plan": .array(BudgetView.plan(budget))]),
        ])
        try await view.carryOut(isAgreed: isAgreed, undone: "nothing was deleted, and nothing was fetched") {
            try await Self.budget(for: plans, workspace, context)
        }
    }
}
