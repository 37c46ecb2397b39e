import Fetcher
import HubCore

/// `hub gc`
enum CollectCommand {
    static let detached = Switch("detached", "revisions that no branch or tag names any more")
    static let partials = Switch("partials", "unfinished downloads")
    static let orphans = Switch("orphans", "files that no revision needs")
    static let damaged = Switch(
        "damaged", "revisions with broken links, files of the wrong size, or what hub verify found damaged")
    static let olderThan = Option.age(
        "older-than", "revisions not used for this long",
        detail: "Such as 30d, 2w, 1mo, 1y, 12h; 0d is everything.")
    static let keep = Option.text("keep", "REF", kind: .model, repeats: true, "spare this model or revision")
    static let maxSize = Option.size(
        "max-size", "delete the least recently used until the cache is no larger than this",
        detail: "Such as 50GB or 1.5TiB.")
    static let free = Option.size(
        "free", "delete the least recently used until this much of the disk is free", detail: "Such as 20GB.")

    static let choose = Switch(
        "choose", "choose in a full-screen list",
        detail: "What gc does without a rule on a terminal. With --free it shows how far one has to go.")
    static let plain = Switch(
        "plain", "choose from numbered rows instead of the full-screen list",
        detail: "For readers of screens and for terminals that cannot show a full screen.")

    static let command = Command(
        name: "gc", purpose: .changes, doc: "free disk space by rule, after showing what goes and why",
        detail: """
            --detached, --partials, --orphans and --damaged choose kinds of things; what any of them names may go. \
            --older-than and --keep are conditions on cached revisions; all of them must hold. --max-size and --free are targets, \
            reached by deleting what was used longest ago first.

            Without a rule, on a terminal, it shows everything that can go in a full-screen list to choose from; ? there \
            explains the keys. Every path is shown before a y deletes it.

            By rule it shows the plan with a reason for each row, asks, and deletes. Where nobody can be asked and --yes is \
            missing, it deletes nothing and ends with status 2. What is pinned, kept, being fetched or open in another \
            program stays, and is named. A deletion that was cut off is finished by the next one.
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
            .init("hub gc --detached --partials --orphans", "What nothing refers to any more."),
            .init(
                "hub gc --older-than 30d --keep gpt2 --dry-run", "What went unused for a month, but for one model."),
            .init("hub gc --max-size 200GB --yes", "For a nightly job: keep the cache within bounds."),
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
