import HubCore

/// `hub lock`
enum LockCommand {
    static let file = Option.text(
        "file", "FILE", kind: .file, "the lock to use instead of ./hub.lock")
    static let branches = Switch(
        "branches", "also compare the Hub's branches",
        detail: "A branch that has moved since it was locked makes the exit code 1.")
    /// The same, where nothing is written.
    private static let readFile = reworded(file.flag, "the lock to use instead of ./hub.lock: it is only read")
    /// How files are chosen, as hub pull reads it; nothing is fetched.
    private static let choice = [
        PullCommand.include.flag, PullCommand.exclude.flag,
        reworded(
            PullCommand.format.flag, "lock one set of weights, and the files that are not weights",
            "all is every file; auto the set that hub pull --format auto would take on this machine."),
        PullCommand.quant.flag,
    ]

    private static func reworded(_ flag: Flag, _ doc: String, _ detail: String? = nil) -> Flag {
        var flag = flag
        (flag.doc, flag.detail) = (doc, detail)
        return flag
    }

    static let command = Command.family(
        "lock",
        doc: "write down the exact files of models, for hub pull --locked",
        detail: """
            hub.lock holds for each model the commit, the choice of files, and path, size and digest of each file. The same \
            models always make the same text, so that git shows real changes only.

            hub pull --locked takes exactly the locked files or fails. If all are cached, the Hub is not asked.

            The exit code is 3 if there is no lock, and 1 if check finds a difference.
            """,
        [
            Command(
                name: "ls", doc: "list what is locked",
                detail: "Lists each model of the lock with its commit, its number of files and their size.",
                flags: [readFile], listKey: "models", examples: [.init("hub lock ls", "What hub.lock holds.")],
                run: { try await run($0, Request(.list, $1)) }
            ).asUsual,
            Command(
                name: "write", purpose: .changes, doc: "write the files of models into the lock",
                detail: """
                    Writes for each REF the commit, the choice of files, and path, size and digest of each file. Models that the \
                    lock has already stay in it. A model that the cache has is locked as cached; any other as the Hub has it \
                    now. REF:FILES, --include, --exclude, --format and --quant choose files as for hub pull; without them \
                    the choice of earlier pulls counts.
                    """,
                operands: [Operand("REF", .some, .model)],
                flags: [file.flag] + choice, listKey: "models",
                examples: [
                    .init("hub lock write org/model", "Lock a model; commit hub.lock."),
                    .init("hub lock write org/model-GGUF --quant Q4_K_M", "One set of weights."),
                ],
                run: { try await run($0, Request(.add, $1)) }),
            Command(
                name: "check", doc: "compare the cache with the lock",
                detail: """
                    Says which locked files the cache does not have, or has with other bytes. It needs no network without \
                    --branches, and writes nothing. The exit code is 1 if there is a difference.
                    """,
                operands: [Operand("REF", .any, .model)],
                flags: [readFile, branches.flag], listKey: "models",
                examples: [
                    .init("hub lock check", "Does the cache agree?"),
                    .init("hub lock check --branches", "Has a branch moved, too?"),
                ],
                run: { try await run($0, Request(.check(branches: $1[branches]), $1)) }),
            Command(
                name: "update", purpose: .changes, doc: "move the lock to what the Hub's branches are now",
                detail: """
                    Takes the commit that each branch stands for now, of all models or of each REF, finds the same choice of \
                    files in it, and shows what changes. Models that were locked by commit do not move. Nothing is fetched: \
                    hub pull --locked does that.
                    """,
                operands: [Operand("REF", .any, .model)], flags: [file.flag], listKey: "models",
                examples: [
                    .init("hub lock update", "All models."), .init("hub lock update org/model", "One of them."),
                ],
                run: { try await run($0, Request(.update, $1)) }),
            Command(
                name: "key", doc: "print a digest of the lock",
                detail: """
                    Prints 64 hexadecimal digits, for the key of a CI cache. They change only if what is locked changes.
                    """,
                flags: [readFile], examples: [.init("hub lock key", "For the key of a CI cache.")],
                run: { try await run($0, Request(.key, $1)) }),
        ],
        examples: [
            .init("hub lock write org/model org/other@v1.0 --quant Q4_K_M", "Write or extend hub.lock."),
            .init("hub pull --locked", "Fetch exactly what is locked."),
            .init("hub lock check --branches", "Does the cache agree, and has a branch moved?"),
            .init("hub lock update org/model", "Take the newest commit, and show what changes."),
        ])
}
