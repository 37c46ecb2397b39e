import Catalog
import HubCore

/// `hub pin`
enum PinCommand {
    static let note = Option<String>("note", "TEXT", .text, "why it is pinned") {
        text throws(AIError) in
        try RegistryEntry.checkLine(text, limit: 200)
        return text
    }

    static let command = Command(
        name: "pin", purpose: .changes, doc: "protect cached models from deletion, or list what is protected",
        detail: """
            Without REF it lists the pins and their notes.

            No hub command deletes a pinned revision before hub unpin: hub gc skips it and says so, hub rm refuses. A model's \
            name alone pins the revisions of it that are cached now, and none that are pulled later.

            Pins follow the cache when it is moved, renamed or used through another HF_HOME. A copy of \
            the cache starts with the same pins; later changes to one do not affect the other. To recognize the cache, hub \
            writes the file .locks/hub.id into it. The pins are in hub's catalog; other programs ignore them.

            If the catalog cannot be read, hub gc deletes no revision; hub rm warns and deletes what was named.
            """,
        operands: [Operand("REF|GLOB", .any, .cachedModel)],
        flags: [note.flag], listKey: "pinned",
        examples: [
            .init("hub pin", "What is pinned, and why."),
            .init("hub pin gpt2", "All cached revisions of a model."),
            .init("hub pin org/model@v1 --note 'the paper needs it'", "One revision, and why."),
        ],
        run: { try await run($0, try Request($1, note: $1[note])) })
}

/// `hub unpin`
enum UnpinCommand {
    static let command = Command(
        name: "unpin", purpose: .changes, doc: "remove pins",
        detail: """
            Removes the pin of a revision, or with a model's name alone those of all its revisions. A revision that is no \
            longer cached can be unpinned by its commit or its model's name.
            """,
        operands: [Operand("REF|GLOB", .some, .cachedModel)], listKey: "unpinned",
        examples: [
            .init("hub unpin gpt2", "All pins of a model."),
            .init("hub unpin org/model@v1", "That of one revision."),
        ],
        run: { try await PinCommand.release($0, try PinCommand.Request($1)) })
}
