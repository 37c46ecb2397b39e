import Catalog
import Fetcher
import HubCore

/// `hub gc` without a rule: a person chooses.
extension CollectCommand {
    /// Whether a person is to choose: at a terminal, and by no rule but `--free`, which then is where to get to.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` where `--choose` or `--plain` stands beside a rule.
    static func isChosenByHand(_ context: Context, _ arguments: ParsedArguments, _ policy: DeletionPolicy)
        throws(AIError) -> Bool
    {
        var others = policy
        others.free = nil
        let isAsked = arguments[plain] || arguments[choose]
        guard isAsked || policy.isEmpty, context.mode == .human, !arguments[SharedFlags.yes] else {
            if isAsked {
                throw AIError(
                    .invalidInput,
                    "with --\(arguments[plain] ? plain.flag.name : choose.flag.name) a person chooses, so --json, -q and --yes do not go with it"
                )
            }
            return false
        }
        if isAsked, !others.isEmpty || !policy.keep.isEmpty {
            throw AIError(
                .invalidInput,
                "--\(arguments[plain] ? plain.flag.name : choose.flag.name) takes no rule but --free",
                advice: "leave out either")
        }
        return isAsked || (context.isInteractive && context.output.settings.outputIsTerminal && policy.keep.isEmpty)
    }

    /// Shows what there is, lets a person choose, and deletes what was reviewed.
    static func chooseByHand(_ context: Context, _ arguments: ParsedArguments, goal: Int64?) async throws {
        let isDumb = ["dumb", "unknown", nil].contains(context.environment["TERM"])
        let isFullScreen =
            !arguments[plain] && !isDumb && context.isInteractive && context.output.settings.outputIsTerminal
        let workspace = try await context.workspace()
        let state = try await workspace.state(fresh: true)
        let (environment, now) = (context.environment, context.now)
        let inventory = try await Offload.run {
            let pins = workspace.dispensable.use { catalog throws(AIError) in
                try catalog.pins(ofCache: workspace.layout.root)
            }
            return try CacheInventory(
                state, pins: Set((pins ?? []).map { PinnedRevision(folder: $0.folder, commit: $0.commit) }),
                xet: XetFolder(environment), now: now)
        }
        guard !inventory.items.isEmpty else {
            context.output.note("nothing is cached in \(workspace.layout.root)")
            return
        }
        let actions = ScreenActions(workspace: workspace)
        let review: ScreenReview?
        if isFullScreen {
            let session = try ScreenSession(inventory, goal: goal, context: context, actions: actions)
            switch try await session.run() {
            case .quit: review = nil
            case .delete(let chosen): review = chosen
            }
        } else {
            review = try await PlainList(inventory, goal: goal, context: context, actions: actions).choose()
        }
        guard let review else {
            context.output.note("nothing was deleted")
            return
        }
        try await delete(review, inventory, context, workspace, isDryRun: arguments[SharedFlags.dryRun])
    }

    private static func delete(
        _ review: ScreenReview, _ inventory: CacheInventory, _ context: Context, _ workspace: Workspace,
        isDryRun: Bool
    ) async throws {
        if !review.plan.isEmpty {
            try await DeletionView(context: context, workspace: workspace, plan: review.plan).run(
                isDryRun: isDryRun, isAgreed: true)
        }
        guard review.includesXet else { return }
        let xet = inventory.xet
        guard !isDryRun else {
            context.output.line(Styled("the chunks in \(xet.path): \(ByteCount(xet.size))"))
            return
        }
        let freed = try await Offload.run { try xet.remove() }
        context.output.line(Styled("\(ByteCount(freed)) freed in \(xet.path)", .strong))
    }
}
