import Catalog
import HubCore

/// `hub pin`
enum PinCommand {
    static let note = Option<String>("note", "TEXT", .text, "say why, for later") {
        text throws(AIError) in
        try RegistryEntry.checkLine(text, limit: 200)
        return text
    }

    static let command = Command(
        name: "pin", isMinor: true, purpose: .changes, doc: "protect cached models from deletion",
        detail: """
            No hub command deletes a pinned model until hub unpin: hub gc skips it and says so, hub rm refuses. The name of \
            a model alone pins all revisions that are cached now. Other programs know nothing of pins.
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
            Removes the pin of a revision, or with the name of a model alone the pins of all its revisions. What is no \
            longer cached can be unpinned by its commit or by the name of its model.
            """,
        operands: [Operand("REF|GLOB", .some, .cachedModel)],
        examples: [
            .init("hub unpin gpt2", "All pins of a model."),
            .init("hub unpin org/model@v1", "The pin of one revision."),
        ],
        run: PinCommand.release)
}
