import HubCore

/// `hub trash`
enum TrashCommand {
    enum Action: Sendable { case ls, restore, empty }

    static let command = Command.family(
        "trash", doc: "list, restore or empty the trash",
        detail: """
            hub rm --trash and hub gc --trash move models to the trash beside the cache, on the same disk, which \
            frees no space yet. restore puts them back, and empty deletes them for good.
            """,
        [
            Command(
                name: "ls", doc: "list what is in the trash",
                detail: "Lists what hub rm --trash and hub gc --trash moved, with sizes and when that was.",
                operands: [Operand("REF", .any, .trashed)], listKey: "trash",
                examples: [.init("hub trash", "All of it.")],
                run: { try await run($0, Request(.ls, $1)) }
            ).asUsual,
            Command(
                name: "restore", purpose: .changes, doc: "put models back into the cache",
                detail: """
                    Puts a model or one revision back exactly as it was, the newest copy if there are several. It refuses if \
                    something is in its place.
                    """,
                operands: [Operand("REF", .some, .trashed)], flags: [SharedFlags.dryRun.flag], listKey: "trash",
                examples: [.init("hub trash restore org/model", "Undo hub rm org/model --trash.")],
                run: { try await run($0, Request(.restore, $1)) }),
            Command(
                name: "empty", purpose: .changes, doc: "delete what is in the trash, and free its space",
                detail: """
                    Deletes for good what is in the trash, and frees its space. It asks first; without a terminal it needs --yes.
                    """,
                flags: [SharedFlags.olderThan.flag, SharedFlags.dryRun.flag, SharedFlags.yes.flag],
                listKey: "trash",
                examples: [
                    .init("hub trash empty", "All of it, after asking."),
                    .init("hub trash empty --older-than 30d --yes", "For a nightly job."),
                ],
                run: { try await run($0, Request(.empty, $1)) }),
        ],
        examples: [
            .init("hub trash", "List what is in the trash."),
            .init("hub trash restore org/model", "Put a model back into the cache."),
            .init("hub trash empty --older-than 30d --yes", "For a nightly job."),
        ])
}
