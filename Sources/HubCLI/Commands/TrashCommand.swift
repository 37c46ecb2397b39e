import HubCore

/// `hub trash`
enum TrashCommand {
    enum Action: String, Sendable, CaseIterable { case ls, restore, empty }

    static let olderThan = Option.age(
        "older-than", "empty: only what went into it so long ago", detail: "Such as 30d, 2w, 12h.")

    static let command = Command(
        name: "trash", isMinor: true, purpose: .changes,
        doc: "what hub rm --trash and hub gc --trash have put aside",
        detail: """
            The trash lies beside the cache, on the same disk: what is in it frees nothing. ls (the default) shows it. \
            restore REF puts a model, or one revision of it, back exactly as it was; it refuses where something else stands \
            in the place. empty deletes it for good, and only then is the space free; without a terminal it needs --yes.
            """,
        operands: [
            Operand("ls|restore|empty", .optional, .choice(Action.allCases.map(\.rawValue))),
            Operand("REF", .any, .model),
        ],
        flags: [olderThan.flag, SharedFlags.dryRun.flag, SharedFlags.yes.flag],
        examples: [
            .init("hub trash", "What lies in it."),
            .init("hub trash restore org/model", "Back into the cache."),
            .init("hub trash empty --older-than 30d --yes", "For a nightly job."),
        ],
        run: run)
}
