import Catalog
import HubCore

/// `hub pin`
enum PinCommand {
    static let note = Option<String>("note", "TEXT", .text, "why, for whoever wonders later") {
        text throws(AIError) in
        try RegistryEntry.checkLine(text, limit: 200)
        return text
    }

    static let command = Command(
        name: "pin", isMinor: true, purpose: .changes, doc: "protect cached models from deletion",
        detail: """
            What is pinned is deleted by no hub command until hub unpin: hub gc passes it over and says so, hub rm refuses \
            it. A model's name alone pins the revisions of it that are cached now. Pins are kept in hub's catalog: other \
            programs know nothing of them.
            """,
        operands: [Operand("REF|GLOB", .some, .cachedModel)],
        flags: [note.flag],
        examples: [
            .init("hub pin gpt2", "All cached revisions of a model."),
            .init("hub pin org/model@v1 --note 'the paper needs it'", "One revision, and why."),
        ],
        run: run)
}

/// `hub unpin`
enum UnpinCommand {
    static let command = Command(
        name: "unpin", isMinor: true, purpose: .changes, doc: "remove pins",
        detail: """
            Lets go what hub pin protects: a revision, or with a model's name alone all pinned revisions of it. What is not \
            in the cache any more can be unpinned by its commit or its model's name.
            """,
        operands: [Operand("REF|GLOB", .some, .cachedModel)],
        examples: [
            .init("hub unpin gpt2", "All pins of a model."),
            .init("hub unpin org/model@v1", "That of one revision."),
        ],
        run: PinCommand.release)
}
