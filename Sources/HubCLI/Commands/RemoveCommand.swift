import Fetcher
import HubCore

/// `hub rm`
enum RemoveCommand {
    static let command = Command(
        name: "rm", purpose: .changes, doc: "delete models from the cache",
        detail: """
            Deletes models, revisions (gpt2@main), files (gpt2:'*.bin'), models by glob ('org/*'), and folders that hub pull \
            --local-dir has filled (./folder). In such a folder only files that are unchanged since the pull are deleted.

            It shows what will be deleted, why, and how much that frees; then it asks. Without a terminal and without --yes \
            it shows the plan, deletes nothing and exits with 2. It refuses to delete what is pinned, and keeps what another \
            process is downloading or has open. With --trash, models are moved to the trash beside the cache; hub trash \
            restore brings them back.
            """,
        operands: [Operand("REF|GLOB|FOLDER", .some, .cachedModelOrFolder)],
        flags: [SharedFlags.dryRun.flag, SharedFlags.yes.flag, SharedFlags.trash.flag],
        listKey: "plan",
        examples: [
            .init("hub rm gpt2", "Delete one model, after asking."),
            .init("hub rm 'org/*' --dry-run", "Show what would be deleted."),
            .init("hub rm gpt2@main --yes", "Delete one revision without asking."),
            .init("hub rm 'org/model:*.bin' --trash", "Move some files to the trash."),
        ],
        run: run)
}
