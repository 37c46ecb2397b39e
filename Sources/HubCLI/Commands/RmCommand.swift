import Fetcher
import HubCore

/// `hub rm`
enum RmCommand {
    static let command = Command(
        name: "rm", purpose: .changes, doc: "delete models from the cache",
        detail: """
            Takes models, revisions (gpt2@main), their files (gpt2:'*.bin'), globs over names ('org/*'), and folders \
            that hub pull --local-dir has filled (./folder). In such a folder, files that you changed stay.

            Shows what would be deleted, why, and how much space that frees; then asks. Without a terminal and without \
            --yes, it shows the plan, deletes nothing, and the exit code is 2. --trash moves files into a trash beside the \
            cache instead, and hub trash restore brings them back.

            A pinned model is refused; if a glob matches pinned models and others, the others are deleted. What another \
            process is downloading or has open stays. If the pins cannot be read, rm says so and deletes what was named.
            """,
        operands: [Operand("REF|GLOB|FOLDER", .some, .cachedModelOrFolder)],
        flags: [SharedFlags.dryRun.flag, SharedFlags.yes.flag, SharedFlags.trash.flag],
        listKey: "plan",
        examples: [
            .init("hub rm gpt2", "Delete one model, after asking."),
            .init("hub rm 'org/*' --dry-run", "Show what would be deleted."),
            .init("hub rm gpt2@main --yes", "Delete one revision without asking."),
            .init("hub rm 'org/model:*.bin' --trash", "Move some files into the trash."),
        ],
        run: { try await run($0, Request($1)) })
}
