import HubCore

/// `hub cache budget`
enum BudgetCommand {
    static let command = Command(
        name: "budget", purpose: .changes, doc: "keep the cache within a size, before each pull",
        detail: """
            Sets a size that the cache and its trash may have. A pull that would exceed it first frees what it needs, and no \
            more: the oldest entries of the trash, and then the revisions that were not used for longest. Pinned models, \
            models of --keep, and what is in use stay. On a terminal the pull asks; elsewhere it needs --yes; without that, it \
            shows the plan and the exit code is 2. If a pull cannot be made to fit, the exit code is 6. hub pull --estimate \
            shows what would go.

            install applies the budget every day: it writes a timer of systemd for this user, on macOS an agent of launchd, and \
            says how to start it. budget SIZE install sets the size too. off ends the budget, and removes the timer.

            Without a size, budget shows the rule, what is used, and if that is too much, what would go. On a terminal it asks \
            whether to delete that; --yes does it without asking. --dry-run deletes nothing, and neither sets nor ends a budget or \
            a timer.
            """,
        operands: [
            Operand("SIZE|off|install", .optional, .choice(["off", "install"])),
            Operand("install", .optional, .choice(["install"])),
        ],
        flags: [
            SharedFlags.keep.flag, SharedFlags.unusedFor.flag, SharedFlags.dryRun.flag, SharedFlags.yes.flag,
        ],
        listKey: "plan",
        examples: [
            .init("hub cache budget 200GB --keep gpt2", "A rule for the cache."),
            .init("hub cache budget", "The rule, and what is used."),
            .init("hub cache budget install", "Apply it every day."),
            .init("hub cache budget off", "No rule any more."),
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
            let words = arguments.operands
            install = words.contains("install")
            off = words.contains("off")
            for text in words where text != "install" && text != "off" {
                let bytes = try Self.size(text, isFirst: text == words[0])
                guard size == nil else { throw AIError(.invalidInput, "a budget has one size") }
                size = bytes
            }
            if off, words.count > 1 { throw AIError(.invalidInput, "off takes no other word") }
            if install, words.count > 1, size == nil {
                throw AIError(
                    .invalidInput, "install was given twice", advice: "write hub cache budget SIZE install")
            }
            keep = arguments.all(SharedFlags.keep)
            olderThan = arguments[SharedFlags.unusedFor]?.seconds
            dryRun = arguments[SharedFlags.dryRun]
            yes = arguments[SharedFlags.yes]
            guard size != nil || (keep.isEmpty && olderThan == nil) else {
                throw AIError(
                    .invalidInput, "--keep and --unused-for belong to a size",
                    advice: "hub cache budget SIZE --keep REF")
            }
        }

        /// The size that a word is, in bytes.
        private static func size(_ text: String, isFirst: Bool) throws(AIError) -> Int64 {
            if let size = try? ByteCount(parsing: text), size.bytes > 0, text.contains(where: \.isLetter) {
                return size.bytes
            }
            let words = isFirst ? ["off", "install"] : ["install"]
            let near = NearestName.of(text, among: words).map { "; did you mean \($0)?" } ?? ""
            throw AIError(
                .invalidInput, "\"\(text.printable)\" is not a size\(near)",
                advice: isFirst
                    ? "hub cache budget takes a size such as 200GB, or off, or install"
                    : "hub cache budget takes a size such as 200GB, and install behind it")
        }
    }
}
