import HubCore

/// `hub budget`
enum BudgetCommand {
    static let keep = Option.text(
        "keep", "REF|GLOB", kind: .model, repeats: true, "never delete this model or revision for the budget")
    static let olderThan = Option.age(
        "older-than", "delete only what was not used for this long", detail: "Such as 30d or 2w.")
    static let install = Switch(
        "install", "apply the budget every day",
        detail: "Writes a timer of systemd for this user, on macOS an agent of launchd, and says how to start it.")
    static let off = Switch("off", "end the budget, and remove the timer")

    static let command = Command(
        name: "budget", isMinor: true, purpose: .changes, doc: "keep the cache within a size, before each pull",
        detail: """
            Sets a size that the cache and its trash may have. A pull that would exceed it first frees what it needs, and no \
            more: the oldest entries of the trash, and then the revisions that were not used for longest. Pinned models, \
            models of --keep, and what is in use stay. On a terminal the pull asks; elsewhere it needs --yes, or it shows the \
            plan and exits with status 2. A pull that cannot be made to fit exits with status 6. hub pull --estimate shows \
            what would go.

            Without a size, budget shows the rule and what is used, and if that is too much, asks whether to delete what the \
            plan shows; --yes does it without asking, --dry-run only shows it.
            """,
        operands: [Operand("SIZE", .optional, .text)],
        flags: [
            keep.flag, olderThan.flag, install.flag, off.flag, SharedFlags.dryRun.flag, SharedFlags.yes.flag,
        ],
        exclusive: [["off", "install"]],
        listKey: "plan",
        examples: [
            .init("hub budget 200GB --keep gpt2", "A rule for the cache."),
            .init("hub budget", "The rule, and what is used."),
            .init("hub budget --install", "Apply it every day."),
            .init("hub budget --off", "No rule any more."),
        ],
        run: { try await run($0, try Request($1)) })

    /// The rule, or what to do with it.
    struct Request {
        var size: Int64?
        var keep: [String]
        var olderThan: Int64?
        var install: Bool
        var off: Bool
        var dryRun: Bool
        var yes: Bool

        init(_ arguments: ParsedArguments) throws(AIError) {
            if let text = arguments.operand {
                let size = try ByteCount(parsing: text)
                guard size.bytes > 0, text.contains(where: \.isLetter) else {
                    throw AIError(.invalidInput, "\(text.printable) is not a size", advice: "write it like 200GB")
                }
                self.size = size.bytes
            }
            keep = arguments.all(BudgetCommand.keep)
            olderThan = arguments[BudgetCommand.olderThan]?.seconds
            install = arguments[BudgetCommand.install]
            off = arguments[BudgetCommand.off]
            dryRun = arguments[SharedFlags.dryRun]
            yes = arguments[SharedFlags.yes]
            guard size != nil || (keep.isEmpty && olderThan == nil) else {
                throw AIError(
                    .invalidInput, "--keep and --older-than belong to a size", advice: "hub budget SIZE --keep REF")
            }
            if off, size != nil { throw AIError(.invalidInput, "--off takes no size") }
        }
    }
}
