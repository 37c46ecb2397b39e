import Fetcher
import HubCore

/// `hub rm`
enum RemoveCommand {
    static let command = Command(
        name: "rm", purpose: .changes, doc: "delete models from the cache",
        detail: """
            Takes models, revisions (gpt2@main), files of them (gpt2:'*.bin'), globs over names ('org/*'), and folders \
            that hub pull --local-dir has filled (./folder), of which only files go that are as the pull left them.

            Shows what goes, why and what that frees, asks, and deletes. Where nobody can be asked and --yes is \
            missing, it shows the plan, deletes nothing and ends with status 2. What is pinned is refused; what another \
            process is fetching or has open stays. With --trash what goes from the cache is moved beside it, and hub \
            trash restore brings it back.
            """,
        operands: [Operand("REF|GLOB|FOLDER", .some, .cachedModelOrFolder)],
        flags: [SharedFlags.dryRun.flag, SharedFlags.yes.flag, SharedFlags.trash.flag],
        listKey: "plan",
        examples: [
            .init("hub rm gpt2", "One model, after a yes."),
            .init("hub rm 'org/*' --dry-run", "What would go."),
            .init("hub rm gpt2@main --yes", "One revision, without being asked."),
            .init("hub rm 'org/model:*.bin' --trash", "Some files, with a way back."),
        ],
        run: run)
}
