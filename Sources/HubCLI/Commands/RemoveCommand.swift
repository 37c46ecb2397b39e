import Fetcher
import HubCore

/// `hub rm`
enum RemoveCommand {
    static let command = Command(
        name: "rm", purpose: .changes, doc: "delete models from the cache",
        detail: """
            Deletes models, revisions (gpt2@main), files of them (gpt2:'*.bin'), models whose names match a glob ('org/*'), \
            and folders that hub pull --local-dir has filled (./folder): of those, only files that are unchanged since.

            Shows what goes, why and how much that frees, asks, and deletes. Without a terminal and without --yes it shows \
            the plan, deletes nothing and ends with status 2. Pinned revisions are refused; what another process is \
            downloading or has open stays. With --trash, what goes is moved beside the cache, and hub trash restore brings \
            it back. If the pins cannot be read, rm says so and deletes what was named.
            """,
        operands: [Operand("REF|GLOB|FOLDER", .some, .modelOrFolder)],
        flags: [SharedFlags.dryRun.flag, SharedFlags.yes.flag, SharedFlags.trash.flag],
        examples: [
            .init("hub rm gpt2", "One model, after a yes."),
            .init("hub rm 'org/*' --dry-run", "What would go."),
            .init("hub rm gpt2@main --yes", "One revision, without being asked."),
            .init("hub rm 'org/model:*.bin' --trash", "Some files, with a way back."),
        ],
        run: run)
}
