import HubCore

/// `hub chats`
enum ChatsCommand {
    enum Action: Sendable { case ls, show, rm, export, search }

    static let all = Switch("all", "everything: not only the conversations named")

    static let command = Command.family(
        "chats", doc: "list, show, search, export or remove kept conversations",
        detail: """
            hub chat keeps conversations on this machine, in conversations.sqlite3 beside the catalog; hub chat --no-keep does \
            not. The beginning of an ID is enough.
            """,
        [
            Command(
                name: "ls", doc: "list the kept conversations, the latest first",
                detail: "Lists each conversation with its ID, its last use, its model and how it begins.",
                listKey: "conversations", examples: [.init("hub chats", "All of them.")],
                run: { try await run($0, Request(.ls, $1)) }
            ).asUsual,
            Command(
                name: "show", doc: "print a conversation",
                detail: "Prints what was said. The beginning of an ID is enough; hub chats lists the IDs.",
                operands: [Operand("ID", .one, .conversation)],
                examples: [.init("hub chats show 3f0a", "The conversation whose ID begins so.")],
                run: { try await run($0, Request(.show, $1)) }),
            Command(
                name: "search", doc: "find conversations in which all words were said",
                detail: """
                    Lists the conversations where all words stand in one message or answer. The beginning of a word is enough.
                    """,
                operands: [Operand("TEXT", .some, .text)], listKey: "conversations",
                examples: [.init("hub chats search kraken", "Where was that said?")],
                run: { try await run($0, Request(.search, $1)) }),
            Command(
                name: "export", doc: "write a conversation as Markdown, or as JSON",
                detail:
                    "Prints a conversation as Markdown, with --json as a document. The beginning of an ID is enough.",
                operands: [Operand("ID", .one, .conversation)],
                examples: [.init("hub chats export 3f0a > chat.md", "A file for others to read.")],
                run: { try await run($0, Request(.export, $1)) }),
            Command(
                name: "rm", purpose: .changes, doc: "remove conversations",
                detail: """
                    Removes the conversations that are named, all of them, or those that ended long ago. It asks first; without \
                    a terminal it needs --yes.
                    """,
                operands: [Operand("ID", .any, .conversation)],
                flags: [all.flag, SharedFlags.olderThan.flag, SharedFlags.yes.flag], listKey: "conversations",
                examples: [
                    .init("hub chats rm 3f0a", "One conversation, after asking."),
                    .init("hub chats rm --older-than 1y --yes", "Old ones, in a script."),
                ],
                run: { try await run($0, Request(.rm, $1)) }),
        ],
        examples: [
            .init("hub chats", "List them."), .init("hub chats search kraken", "Where was that said?"),
            .init("hub chats export 3f0a > chat.md", "Save one as Markdown."),
            .init("hub chat --continue=3f0a", "Go on with one."),
        ])
}
