import HubCore

/// `hub chats`
enum ChatsCommand {
    enum Action: String, Sendable, CaseIterable { case ls, show, rm, export, search }

    static let command = Command(
        name: "chats", isMinor: true, doc: "list, show, search, export or remove kept conversations",
        detail: """
            hub chat keeps conversations on this machine, in conversations.sqlite3 beside the catalog; hub chat --no-keep does \
            not. ls, the default, lists them, the latest first. search finds those where all words were said in one message or \
            answer; a word may be cut off. export prints Markdown, with --json a document. rm asks; without a terminal it \
            needs --yes. The beginning of an ID will do.
            """,
        operands: [
            Operand("ls|show|rm|export|search", .optional, .choice(Action.allCases.map(\.rawValue))),
            Operand("ID|TEXT", .any, .conversation),
        ],
        flags: [SharedFlags.yes.flag], listKey: "conversations",
        examples: [
            .init("hub chats", "List them."), .init("hub chats search kraken", "Where was that said?"),
            .init("hub chats export 3f0a > chat.md", "Save one as Markdown."),
            .init("hub chat --continue=3f0a", "Go on with one."),
        ],
        run: { try await run($0, Request($1)) })
}
