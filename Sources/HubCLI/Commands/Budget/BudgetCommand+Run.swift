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
        if request.off { return try await end(context, workspace, record, timer, isDryRun: request.dryRun) }
        guard let rule = try await rule(context, request, workspace, record) else {
            guard !request.install else {
                throw AIError(
                    .invalidInput, "no budget is set",
                    advice: "hub cache budget SIZE install sets one, and applies it every day")
            }
            return context.output.render(json: ["plan": .array([])], quiet: []) {
                context.output.line("no budget is set")
            }
        }
        if request.install { try await install(context, timer, isDryRun: request.dryRun) }
        func current() async throws -> Budget {
            try await workspace.budget(rule, keep: try await context.kept(rule, workspace))
        }
        let budget = try await current()
        let view = BudgetView(context: context, workspace: workspace, budget: budget)
        context.output.document(view.json)
        view.showRule()
        guard !budget.isEmpty else {
            if budget.missing > 0 { throw view.refusal }
            if request.dryRun { context.output.note(unchanged) }
            return
        }
        // Neither a question about the rule nor setting it deletes anything by itself.
        guard !request.dryRun, request.yes || (context.isInteractive && context.mode != .json) else {
            return view.showOnly(isDryRun: request.dryRun)
        }
        try await view.carryOut(isAgreed: request.yes, undone: "nothing was deleted", again: current)
        context.output.document(view.json)
    }

    private static let unchanged = "dry run: nothing was changed"

    /// The rule that holds, or the one that is set now.
    private static func rule(
        _ context: Context, _ request: Request, _ workspace: Workspace, _ record: CacheRecord
    ) async throws -> BudgetRule? {
        guard let size = request.size else { return try await workspace.budgetRule() }
        if !request.keep.isEmpty {
            let kept = try request.keep.map { text throws(AIError) in (text, try CacheSelector(text, context)) }
            let state = try await workspace.state(fresh: true)
            for (text, selector) in kept { _ = try selector.kept(text, in: state, undone: "no budget was set") }
        }
        let rule = BudgetRule(bytes: size, keep: request.keep, olderThan: request.olderThan)
        if !request.dryRun {
            try await Blocking.run {
                try workspace.layout.create()
                try record.setBudget(rule)
            }
        }
        return rule
    }

    /// Ends the budget and its timer.
    private static func end(
        _ context: Context, _ workspace: Workspace, _ record: CacheRecord, _ timer: BudgetTimer, isDryRun: Bool
    ) async throws {
        let rule = try await workspace.budgetRule()
        let hadTimer = try await Blocking.run {
            if isDryRun { return try timer.isInstalled() }
            try record.setBudget(nil)
            return try timer.remove()
        }
        if hadTimer, !isDryRun { context.output.note("stop the timer with: \(BudgetTimer.stopCommand)") }
        context.output.render(json: ["plan": .array([])], quiet: []) {
            guard isDryRun, let rule else { return context.output.line("no budget is set") }
            let timer = hadTimer ? " and its timer" : ""
            context.output.line(Styled("would end the budget of \(ByteCount(rule.bytes))\(timer)"))
        }
        if isDryRun { context.output.note(unchanged) }
    }

    private static func install(_ context: Context, _ timer: BudgetTimer, isDryRun: Bool) async throws {
        if isDryRun { return context.output.note("would write \(try timer.path())") }
        let path = try await Blocking.run { try timer.install() }
        context.output.note("wrote \(path)")
        context.output.note("start it with: \(BudgetTimer.startCommand)")
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
