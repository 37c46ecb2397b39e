import Fetcher
import HubCore

/// `hub gc`
enum CollectCommand {
    static let detached = Switch("detached", "delete revisions that no branch or tag points to")
    static let partials = Switch("partials", "delete unfinished downloads")
    static let orphans = Switch("orphans", "delete files that no revision needs")
    static let damaged = Switch(
        "damaged", "delete revisions with broken links, wrong sizes, or damage that hub verify found")
    static let olderThan = Option.age(
        "older-than", "delete revisions that were not used for this long",
        detail: "Such as 30d, 2w, 1mo, 1y or 12h; 0d means everything.")
    static let keep = Option.text("keep", "REF", kind: .model, repeats: true, "keep this model or revision")
    static let maxSize = Option.size(
        "max-size", "delete the least recently used until the cache is at most this large",
        detail: "Such as 50GB or 1.5TiB.")
    static let free = Option.size(
        "free", "delete the least recently used until this much of the disk is free", detail: "Such as 20GB.")

    static let choose = Switch(
        "choose", "choose in a full-screen list",
        detail: "The default on a terminal if no rule is given. With --free the list shows how much is still to free.")
    static let plain = Switch(
        "plain", "choose from numbered rows instead of the full-screen list",
        detail: "For screen readers, and for terminals without a full-screen mode.")

    static let command = Command(
        name: "gc", purpose: .changes, doc: "free disk space, by rule or by choice",
        detail: """
            --detached, --partials, --orphans and --damaged select kinds of things; whatever one of them selects may be \
            deleted. --older-than and --keep are conditions on cached revisions; all must hold. --max-size and --free are \
            targets, reached by deleting the least recently used first.

            Without a rule, on a terminal, gc shows everything that can be deleted in a full-screen list; ? explains the \
            keys. Nothing is deleted before you have reviewed it and answered y.

            With a rule it shows the plan with a reason for each row, asks, and deletes. Without a terminal and without --yes \
            it deletes nothing and exits with 2. What is pinned, kept, being downloaded or open in another program stays, \
            and is listed. The next deletion finishes one that was interrupted.
            """,
        flags: [
            detached.flag, partials.flag, orphans.flag, damaged.flag, olderThan.flag, keep.flag, maxSize.flag,
            free.flag, choose.flag, plain.flag, SharedFlags.dryRun.flag, SharedFlags.yes.flag,
            SharedFlags.trash.flag,
        ],
        exclusive: [["choose", "plain"]],
        listKey: "plan",
        examples: [
            .init("hub gc", "Choose in a full-screen list."),
            .init("hub gc --detached --partials --orphans", "Delete what nothing refers to any more."),
            .init(
                "hub gc --older-than 30d --keep gpt2 --dry-run", "Show what was not used for a month, except one model."),
            .init("hub gc --max-size 200GB --yes", "For a nightly job: limit the size of the cache."),
        ],
        run: run)

    @Sendable static func run(_ context: Context, _ arguments: ParsedArguments) async throws {
        var policy = DeletionPolicy()
        policy.detached = arguments[detached]
        policy.partials = arguments[partials]
        policy.orphans = arguments[orphans]
        policy.damaged = arguments[damaged]
        policy.olderThan = arguments[olderThan].map { Double($0.seconds) }
        policy.keep = try arguments.all(keep).map { text throws(AIError) in try context.reference(text) }
        policy.maxSize = arguments[maxSize]?.bytes
        policy.free = arguments[free]?.bytes
        if try isChosenByHand(context, arguments, policy) {
            return try await chooseByHand(context, arguments, goal: policy.free)
        }
        guard !policy.isEmpty else {
            throw AIError(
                .invalidInput, "gc needs to be told what may go",
                advice:
                    "such as --detached, --partials, --orphans, --older-than 30d, --max-size 50GB or --free 20GB")
        }
        let workspace = try await context.workspace()
        // Moves that were agreed to and cut off; nothing is lost by them.
        if !arguments[SharedFlags.dryRun] { await context.finishTrash(of: workspace) }
        let state = try await workspace.state(fresh: true)
        for reference in policy.keep where !state.holds(reference) {
            throw AIError(
                .notCached, "nothing in the cache is \(reference), which --keep is to spare",
                advice: "nothing was deleted; hub ls --revisions shows what there is")
        }
        if policy.damaged { policy.verified = await workspace.verified() }
        let planner = try await workspace.planner(state, keep: policy.keep)
        let plan = try await Offload.run { [policy] in
            try policy.plan(
                with: planner, now: Timestamp.now, diskFree: FileSystem.diskSpace(state.layout.root).available)
        }
        var failures = Failures()
        try await DeletionView(context: context, workspace: workspace, plan: plan).run(
            isDryRun: arguments[SharedFlags.dryRun], isAgreed: arguments[SharedFlags.yes],
            isTrash: arguments[SharedFlags.trash], &failures)
        try failures.finish()
    }
}
