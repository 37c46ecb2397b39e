import HubCore

/// `hub rm`
enum RemoveCommand {
    static let command = Command(
        name: "rm", purpose: .changes, doc: "delete models from the cache",
        detail: """
            Shows what goes, why and what that frees, asks, and deletes. Where nobody can be asked and --yes is \
            missing, it shows the plan, deletes nothing and ends with status 2.
            """,
        operands: [Operand("REF|GLOB", .some, .model)],
        flags: [SharedFlags.dryRun.flag, SharedFlags.yes.flag],
        examples: [
            .init("hub rm gpt2", "One model, after a yes."),
            .init("hub rm 'org/*' --dry-run", "What would go."),
            .init("hub rm gpt2@main --yes", "One revision, without being asked."),
        ],
        run: run)

    @Sendable static func run(_ context: Context, _ arguments: ParsedArguments) async throws {
        throw AIError(.invalidInput, "not built yet")
    }
}
