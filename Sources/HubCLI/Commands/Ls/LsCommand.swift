import HubCore

/// `hub ls`
enum LsCommand {
    enum Sort: String, Sendable, CaseIterable { case used, size, name, downloaded }

    static let sort = Option<Sort>.choice(
        "sort", "what comes first",
        detail: "The last used (the default), the largest, by name, or the last downloaded.")
    static let largerThan = Option.size("larger-than", "only what is larger than this", detail: "Such as 1GB.")
    static let limit = Option.whole("limit", in: 1 ... .max, "at most this many")
    static let revisions = Switch("revisions", "a line for each cached revision")
    static let partials = Switch(
        "partials", "unfinished downloads: shown too",
        detail: "Each under the name of its file, if the catalog knows it.")

    static let command = Command(
        name: "ls", doc: "list what is cached, with sizes and last use",
        detail: """
            Lists the models, datasets and Spaces in the cache, whichever tool put them there. Arguments limit the list to \
            ids or globs. SIZE counts finished files. FREES is the space that deleting this row alone would free: files \
            that other rows need stay, and unfinished downloads of the model go. So FREES of an incomplete model can be more \
            than its SIZE. The last line says how much can be freed in all: everything that is not pinned.

            USED is the later of two times: when hub last used the model (pull, path or try), and when its largest file was last \
            read, by any program (the file's access time). If most of the cache was read in one go, as a backup or an \
            indexer does, only hub's own times count where it has them. hub gc uses the same times.

            TRIED is the result of the last smoke test of hub try, and the speed it measured; a test at a provider counts if \
            there is no other.

            NOTE says incomplete if files are missing that a pull selected, damaged if hub verify found damage that has not been \
            repaired, or pinned. A narrow terminal shows fewer columns before it cuts a name.
            """,
        operands: [Operand("REF|GLOB", .any, .cachedModel)],
        flags: [sort.flag, largerThan.flag, SharedFlags.unusedFor.flag, limit.flag, revisions.flag, partials.flag],
        listKey: "models",
        examples: [
            .init("hub ls", "Everything, the last used first."),
            .init("hub ls 'mlx-community/*' --sort size", "One organisation's models, the largest first."),
            .init("hub ls --larger-than 1GB --unused-for 30d", "Large models that nobody has used for a month."),
            .init("hub ls -q", "The ids alone, for scripts."),
        ],
        run: { try await run($0, Request($1)) })
}
