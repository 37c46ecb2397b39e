import HubCore

/// `hub export`
enum ExportCommand {
    static let output = Option<String>(
        "output", short: "o", "PATH", .file, "where it is written: a file, a folder, or - for a pipe",
        detail: "PATH is a folder if it exists as one or ends in a slash."
    ) { text throws(AIError) in
        if text.isEmpty { throw AIError(.invalidInput, "the value is empty") }
        return text
    }
    static let split = Option.size(
        "split", "write PATH.001, PATH.002 and so on, none larger than this",
        detail: "A FAT32 disk takes files below 4.29 GB: --split 4GB.")
    static let since = Option.text(
        "since", "FILE", kind: .file, "leave out what the other machine has",
        detail: """
            FILE is what hub cache inventory printed there. Large files that it lists are left out. If both machines have an \
            older revision of a file of 1 MiB or more, only what has changed is written.
            """)

    static let command = Command(
        name: "export", purpose: .changes,
        doc: "write cached models to an archive or a folder, for hub import",
        detail: """
            Writes what the cache has of each REF, REF@REVISION or REF:FILES: the contents, the file lists, the branch, the choice of files \
            and what the catalog knows. The archive is a tar file whose first entry is a list of everything; the same \
            models always make the same bytes. Every file is checked against its digest while it is read.

            After an interruption the same command checks what is there (PATH.incomplete) and continues. The archive gets its \
            name when it is complete. If PATH exists, hub asks; without a terminal it needs --force.
            """,
        operands: [Operand("REF", .some, .cachedModel)],
        flags: [output.flag, SharedFlags.force.flag, split.flag, since.flag],
        listKey: "models", synopsis: "-o PATH [FLAGS] REF...",
        examples: [
            .init("hub export org/model -o model.tar", "One archive."),
            .init("hub export org/model org/other -o /media/stick/models --split 4GB", "Parts for a FAT32 disk."),
            .init(
                "hub export org/model -o - --since there.json | ssh host hub import -",
                "Only what the other side lacks."),
        ],
        run: { try await run($0, Request($1)) })
}

/// `hub cache inventory`
enum InventoryCommand {
    static let command = Command(
        name: "inventory",
        doc: "list the cached contents, for hub export --since on another machine",
        detail: """
            Prints one JSON document with the SHA-256 and the size of every large file in the cache, and the cached \
            revisions. hub export --since leaves out what it lists. Names and sizes are read, not contents.
            """,
        operands: [],
        listKey: "blobs",
        examples: [
            .init("hub cache inventory > there.json", "On the machine that is to receive models."),
            .init("hub export org/model -o new.tar --since there.json", "On the other one."),
        ],
        run: { context, _ in try await run(context) })
}
