import Catalog
import Fetcher
import HubCore

extension BudgetCommand {
    static func run(_ context: Context, _ request: Request) async throws {
        let workspace = try await context.workspace(needsCatalog: true)
        guard let catalog = workspace.catalog else {
            throw workspace.catalogFault ?? AIError(.catalogUnusable, "the catalog cannot be used")
        }
        let record = CacheRecord(workspace.layout, in: catalog)
        let timer = BudgetTimer(context.environment, cache: workspace.layout.root)
        if request.off {
            let hadTimer = try await Blocking.run {
                try record.setBudget(nil)
                return try timer.remove()
            }
            if hadTimer { context.output.note("stop the timer with: \(BudgetTimer.stopCommand)") }
            return context.output.render(json: ["plan": .array([])], quiet: []) {
                context.output.line("no budget is set")
            }
        }
        if let size = request.size {
            // A slip must not cost what it should protect.
            for text in request.keep { _ = try CacheSelector(text, context) }
            let rule = BudgetRule(bytes: size, keep: request.keep, olderThan: request.olderThan)
            try await Blocking.run {
                try workspace.layout.create()
                try record.setBudget(rule)
            }
        }
        guard let rule = try await workspace.budgetRule() else {
            guard !request.install else {
                throw AIError(.invalidInput, "no budget is set", advice: "hub cache budget SIZE --install sets one")
            }
            return context.output.render(json: ["plan": .array([])], quiet: []) {
                context.output.line("no budget is set")
            }
        }
        if request.install {
            let path = try await Blocking.run { try timer.install() }
            context.output.note("wrote \(path)")
            context.output.note("start it with: \(BudgetTimer.startCommand)")
        }
        func current() async throws -> Budget {
            try await workspace.budget(rule, keep: try await context.kept(rule, workspace))
        }
        let budget = try await current()
        let view = BudgetView(context: context, workspace: workspace, budget: budget)
        context.output.document(view.json)
        view.showRule()
        guard !budget.isEmpty else {
            if budget.missing > 0 { throw view.refusal }
            return
        }
        // Neither a question about the rule nor setting it deletes anything by itself.
        guard !request.dryRun, request.yes || (context.isInteractive && context.mode != .json) else {
            return view.showOnly(isDryRun: request.dryRun)
        }
        guard try await view.carryOut(isAgreed: request.yes, again: current) else {
            return context.output.note("nothing was deleted")
        }
        context.output.document(view.json)
    }
}

extension Context {
    /// The models of a rule's `--keep`, as references; a glob means all cached models that it matches.
    func kept(_ rule: BudgetRule, _ workspace: Workspace) async throws -> [ModelReference] {
        let state = try await workspace.state()
        return try rule.keep.flatMap { text -> [ModelReference] in
            switch try CacheSelector(text, self) {
            case .reference(let reference): return [reference]
            case .glob(let glob):
                return state.repositories.filter { glob.matches($0.repository.description) }.map {
                    ModelReference($0.repository)
                }
            }
        }
    }
}
