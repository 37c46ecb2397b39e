import Fetcher
import HubCore

/// `hub gc` without a rule: a person chooses.
extension GcCommand {
    /// Whether a person is to choose: at a terminal, and by no rule but `--free`, which then is where to get to.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` where `--choose` or `--plain` stands beside a rule.
    static func isChosenByHand(_ context: Context, _ request: Request) throws(AIError) -> Bool {
        let hasKeep = !request.keep.isEmpty
        var others = request.policy
        others.free = nil
        guard request.byHand != nil || request.policy.isEmpty, context.mode == .human, !request.yes else {
            if let flag = request.byHand {
                throw AIError(.invalidInput, "--\(flag.name) cannot be used with --json, -q or --yes")
            }
            return false
        }
        if let flag = request.byHand, !others.isEmpty || hasKeep {
            throw AIError(
                .invalidInput, "--\(flag.name) can only be combined with --free", advice: "leave out either")
        }
        return request.byHand != nil
            || (context.isInteractive && context.output.settings.outputIsTerminal && !hasKeep)
    }

    /// Shows what there is, lets a person choose, and deletes what was reviewed.
    static func chooseByHand(_ context: Context, _ request: Request) async throws {
        let isDumb = ["dumb", "unknown", nil].contains(context.environment["TERM"])
        let isFullScreen =
            !request.isPlain && !isDumb && context.isInteractive && context.output.settings.outputIsTerminal
        let workspace = try await context.workspace()
        if !request.dryRun { await context.finishDeletions(of: workspace) }
        let inventory = try await inventory(workspace, now: context.now)
        guard !inventory.items.isEmpty else {
            context.output.note("nothing is cached in \(workspace.layout.root)")
            return
        }
        let model = ScreenModel(
            inventory, goal: request.policy.free, isTrash: request.trash, isDryRun: request.dryRun, columns: 80,
            lines: 24, now: context.now)
        var choice: (plan: DeletionPlan, isTrash: Bool)?
        context.interruption.kept = "nothing was deleted"
        if isFullScreen {
            choice = try await ScreenSession(model, context, workspace).run()
        } else if let items = try await PlainList(model: model, context: context).choose() {
            let protection = try await workspace.protection(for: inventory.state)
            choice = try await Blocking.run {
                (try inventory.plan(items, protection: protection, now: Timestamp.now), request.trash)
            }
        }
        context.interruption.kept = nil
        guard let choice else {
            context.output.note("nothing was deleted")
            return
        }
        var failures = Failures()
        try await DeletionView(context: context, workspace: workspace, plan: choice.plan).run(
            isDryRun: request.dryRun, isAgreed: isFullScreen, isTrash: choice.isTrash, &failures)
        try failures.finish()
    }

    private static func inventory(_ workspace: Workspace, now: Double) async throws -> CacheInventory {
        let state = try await workspace.state(fresh: true)
        let protection = try await workspace.protection(for: state)
        if let fault = protection.pinsFault { throw Protection.refusal(fault) }
        let verified = await workspace.damage()
        return try await Blocking.run {
            try CacheInventory(state, protection: protection, verified: verified, xet: workspace.xet, now: now)
        }
    }
}
