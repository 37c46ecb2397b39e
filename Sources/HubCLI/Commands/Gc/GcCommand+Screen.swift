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
        let (goal, isDryRun) = (request.policy.free, request.dryRun)
        if !isDryRun { await context.finishTrash(of: workspace) }
        let inventory = try await inventory(workspace, now: context.now)
        guard !inventory.items.isEmpty else {
            context.output.note("nothing is cached in \(workspace.layout.root)")
            return
        }
        let actions = ScreenActions(workspace: workspace)
        var isTrash = request.trash
        let review: ScreenReview?
        context.interruption.kept = "nothing was deleted"
        if isFullScreen {
            let session = try ScreenSession(
                inventory, goal: goal, isTrash: isTrash, isDryRun: isDryRun, context: context, actions: actions)
            switch try await session.run() {
            case .quit: review = nil
            case .delete(let chosen, let intoTrash): (review, isTrash) = (chosen, intoTrash)
            }
        } else {
            review = try await PlainList(
                inventory, goal: goal, isTrash: isTrash, isDryRun: isDryRun, context: context, actions: actions
            ).choose()
        }
        context.interruption.kept = nil
        guard let review else {
            context.output.note("nothing was deleted")
            return
        }
        var failures = Failures()
        if !review.plan.isEmpty {
            try await DeletionView(context: context, workspace: workspace, plan: review.plan).run(
                isDryRun: isDryRun, isAgreed: true, isTrash: isTrash, &failures)
        }
        if review.includesXet {
            try await failures.attempt(context.output) {
                try await sweepXet(inventory.xet, context, workspace, isDryRun: isDryRun, isTrash: isTrash)
            }
        }
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

    private static func sweepXet(
        _ removable: XetFolder.Removable, _ context: Context, _ workspace: Workspace, isDryRun: Bool, isTrash: Bool
    ) async throws {
        guard let xet = workspace.xet else { return }
        if isTrash {
            context.output.note(
                "the chunks in \(xet.path) stay: they are not part of the cache, and can be downloaded again")
        } else if isDryRun {
            context.output.line(Styled("the chunks in \(xet.path): \(ByteCount(removable.size))"))
        } else {
            let freed = try await Blocking.run { try xet.sweep(now: Timestamp.now) }
            context.output.line(Styled("\(ByteCount(freed)) freed in \(xet.path)", .strong))
        }
    }
}
