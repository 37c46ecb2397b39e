import Fetcher
import HubCore

/// `hub gc`
enum GcCommand {
    static let detached = Switch("detached", "revisions that no branch or tag points to")
    static let partials = Switch("partials", "unfinished downloads")
    static let orphans = Switch("orphans", "files that no revision needs")
    static let damaged = Switch(
        "damaged", "revisions with broken links, files of the wrong size, or damage that hub verify found")
    static let maxSize = Option.size(
        "max-size", "the size of the cache: the least recently used goes until it is no larger",
        detail: "Such as 50GB or 1.5TiB.")
    static let free = Option.size(
        "free", "delete the least recently used until this much of the disk is free", detail: "Such as 20GB.")
    static let bestEffort = Switch(
        "best-effort", "delete what can go even if --max-size or --free is not reached",
        detail: "Without it, nothing is deleted if the target cannot be reached, and the exit code is 6.")

    static let choose = Switch(
        "choose", "choose in a full-screen list",
        detail: "This is what gc does on a terminal without a rule. With --free it shows how much is still missing."
    )
    static let plain = Switch(
        "plain", "choose from numbered rows instead of the full-screen list",
        detail: "For screen readers and for terminals that cannot show a full screen.")

    static let command = Command(
        name: "gc", purpose: .changes, doc: "free disk space by rule, after showing what goes and why",
        detail: """
            Deletes cached models and leftover files, which you choose in a list or by rules.

            --detached, --partials, --orphans and --damaged each select one kind of thing. --unused-for selects revisions \
            by their last use; together with --detached or --damaged it narrows these. --keep protects what it names. \
            --max-size and --free are targets: the least recently used revisions go until the target is reached. A \
            revision that would free nothing stays, because something outside the cache has its files too. If the target \
            cannot be reached, nothing is deleted and the exit code is 6, unless --best-effort is given.

            Last use is what hub ls shows as USED; hub help ls says what counts.

            Without a rule, on a terminal, gc shows everything that can be deleted in a full-screen list; press ? there \
            for the keys. Enter shows what you marked once more, and only then y deletes it.

            With a rule, gc shows the plan with a reason for each row, asks, and deletes. Without a terminal and without \
            --yes it deletes nothing and the exit code is 2. What is pinned, named by --keep, being downloaded or open \
            in another program stays, and is listed. If the pins cannot be read, gc deletes no revision (exit code 6). The next run \
            finishes a deletion that was interrupted.
            """,
        flags: [
            detached.flag, partials.flag, orphans.flag, damaged.flag, SharedFlags.unusedFor.flag,
            SharedFlags.keep.flag, maxSize.flag, free.flag, bestEffort.flag, choose.flag, plain.flag,
            SharedFlags.dryRun.flag, SharedFlags.yes.flag, SharedFlags.trash.flag,
        ],
        exclusive: [["choose", "plain"]],
        listKey: "plan",
        examples: [
            .init("hub gc", "Choose in a full-screen list."),
            .init("hub gc --detached --partials --orphans", "What nothing refers to any more."),
            .init(
                "hub gc --unused-for 30d --keep gpt2 --dry-run", "What was not used for a month, except one model."),
            .init(
                "hub gc --max-size 200GB --best-effort --yes", "For a nightly job: keep the cache within a limit."),
        ],
        run: { try await run($0, Request($1)) })

    /// What is deleted, and how.
    struct Request {
        /// All rules but those that the cache decides.
        var policy = DeletionPolicy()
        /// What `--keep` names.
        var keep: [String]
        var bestEffort: Bool
        /// `--choose` or `--plain`, as it is spelled; nil if neither was given.
        var byHand: Flag?
        var isPlain: Bool
        var dryRun: Bool
        var yes: Bool
        var trash: Bool

        init(_ arguments: ParsedArguments) {
            policy.detached = arguments[detached]
            policy.partials = arguments[partials]
            policy.orphans = arguments[orphans]
            policy.damaged = arguments[damaged]
            policy.olderThan = arguments[SharedFlags.unusedFor].map { Double($0.seconds) }
            policy.maxSize = arguments[maxSize]?.bytes
            policy.free = arguments[free]?.bytes
            keep = arguments.all(SharedFlags.keep)
            bestEffort = arguments[GcCommand.bestEffort]
            isPlain = arguments[plain]
            byHand = isPlain ? plain.flag : arguments[choose] ? choose.flag : nil
            dryRun = arguments[SharedFlags.dryRun]
            yes = arguments[SharedFlags.yes]
            trash = arguments[SharedFlags.trash]
        }
    }

    static func run(_ context: Context, _ request: Request) async throws {
        var policy = request.policy
        let kept = try request.keep.map { text throws(AIError) in try CacheSelector(text, context) }
        if try isChosenByHand(context, request) { return try await chooseByHand(context, request) }
        guard !policy.isEmpty else {
            throw AIError(
                .invalidInput, "missing a rule for what to delete",
                advice:
                    "give one such as --detached, --partials, --orphans, --unused-for 30d, --max-size 50GB or --free 20GB"
            )
        }
        let workspace = try await context.workspace()
        // Moves that were agreed to and cut off; nothing is lost by them.
        if !request.dryRun { await context.finishDeletions(of: workspace) }
        let state = try await workspace.state(fresh: true)
        policy.keep = try zip(request.keep, kept).flatMap { text, selector throws(AIError) in
            try selector.kept(text, in: state, undone: "nothing was deleted")
        }
        if policy.damaged { policy.verified = await workspace.damage() }
        let planner = DeletionPlanner(state, protection: try await workspace.protection(for: state))
        let plan = try await Blocking.run { [policy] in
            try policy.plan(
                with: planner, now: Timestamp.now, diskFree: FileSystem.diskSpace(state.layout.root).available)
        }
        let view = DeletionView(context: context, workspace: workspace, plan: plan)
        if !request.bestEffort, let refusal = refusal(plan) {
            view.showRefused(isTrash: request.trash)
            throw refusal
        }
        var failures = Failures()
        try await view.run(
            isDryRun: request.dryRun, isAgreed: request.yes,
            isTrash: request.trash, &failures)
        try failures.finish()
    }

    /// Why a plan is not carried out that misses its targets; nil if it reaches them.
    private static func refusal(_ plan: DeletionPlan) -> AIError? {
        guard !plan.unreached.isEmpty else { return nil }
        let parts = plan.unreached.map { target in
            switch target {
            case .size(let wanted, let reached):
                "cannot reach --max-size \(ByteCount(wanted)): \(ByteCount(reached)) would be left"
            case .free(let wanted, let now):
                "cannot reach --free \(ByteCount(wanted)): \(ByteCount(now)) are free, and \(ByteCount(plan.freedBytes)) can be deleted"
            }
        }
        return AIError(
            .ioError, parts.joined(separator: "; "),
            advice: "nothing was deleted; --best-effort deletes what it can")
    }
}
