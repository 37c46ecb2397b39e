import HubCore

/// `hub trash`
enum TrashCommand {
    enum Action: String, Sendable, CaseIterable { case ls, restore, empty }

    static let olderThan = Option.age(
        "older-than", "with empty: only what has been in the trash for this long", detail: "Such as 30d, 2w or 12h."
    )

    static let command = Command(
        name: "trash", isMinor: true, purpose: .changes,
        doc: "list, restore or empty the trash",
        detail: """
            hub rm --trash and hub gc --trash move models to the trash beside the cache, on the same disk: that frees no \
            space yet. ls, the default, lists it. restore REF puts a model or one revision back exactly as it was, the \
            newest copy if there are several; it refuses if something is in its place. empty deletes for good and frees the space; without a terminal it needs --yes.
            """,
        operands: [
            Operand("ls|restore|empty", .optional, .choice(Action.allCases.map(\.rawValue))),
            Operand("REF", .any, .trashed),
        ],
        flags: [olderThan.flag, SharedFlags.dryRun.flag, SharedFlags.yes.flag],
        listKey: "trash",
        examples: [
            .init("hub trash", "List what is in the trash."),
            .init("hub trash restore org/model", "Put a model back into the cache."),
            .init("hub trash empty --older-than 30d --yes", "For a nightly job."),
        ],
        run: { try await run($0, Request($1)) })
}
