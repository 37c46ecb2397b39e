import HubCore

/// `hub chats`
enum ChatsCommand {
    enum Action: Sendable { case ls, show, rm, export, search }

    static let all = Switch("all", "everything: not only the conversations named")

    static let command = Command.family(
        "chats", doc: "list, show, search, export or remove kept conversations",
        detail: """
            hub chat keeps conversations on this machine, in conversations.sqlite3 beside the catalog; hub chat --no-keep does \
            not. ls lists them, the latest first. search finds those where all words were said in one message or \
            answer; a word may be cut off. export prints Markdown, with --json a document. rm asks; without a terminal it \
            needs --yes; --all removes every conversation, --older-than those that ended long ago. The beginning of an ID \
            will do.
            """,
        [
            Command(
                name: "ls", doc: "list the kept conversations, the latest first", listKey: "conversations",
                run: { try await run($0, Request(.ls, $1)) }
            ).asUsual,
            Command(
                name: "show", doc: "print a conversation", operands: [Operand("ID", .one, .conversation)],
                run: { try await run($0, Request(.show, $1)) }),
            Command(
                name: "search", doc: "find conversations in which all words were said",
                operands: [Operand("TEXT", .some, .text)], listKey: "conversations",
                run: { try await run($0, Request(.search, $1)) }),
            Command(
                name: "export", doc: "write a conversation as Markdown, or as JSON",
                operands: [Operand("ID", .one, .conversation)], run: { try await run($0, Request(.export, $1)) }),
            Command(
                name: "rm", purpose: .changes, doc: "remove conversations",
                operands: [Operand("ID", .any, .conversation)],
                flags: [all.flag, SharedFlags.olderThan.flag, SharedFlags.yes.flag], listKey: "conversations",
                run: { try await run($0, Request(.rm, $1)) }),
        ],
        examples: [
            .init("hub chats", "List them."), .init("hub chats search kraken", "Where was that said?"),
            .init("hub chats export 3f0a > chat.md", "Save one as Markdown."),
            .init("hub chat --continue=3f0a", "Go on with one."),
        ])
}
