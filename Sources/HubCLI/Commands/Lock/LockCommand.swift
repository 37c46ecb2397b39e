import HubCore

/// `hub lock`
enum LockCommand {
    static let file = Option.text(
        "file", "FILE", kind: .file, "the lock to read and write instead of ./hub.lock")
    static let check = Switch(
        "check", "compare the cache with the lock; the exit code is 1 if they differ",
        detail: "Nothing is written, and the network is not used without --upstream.")
    static let upstream = Switch(
        "upstream", "with --check, also compare the Hub's branches",
        detail: "A branch that has moved since it was locked makes the exit code 1.")
    static let update = Switch(
        "update", "move the lock to what the Hub's branches are now, and show what changes",
        detail: "Without REF all models move. What was locked by commit stays.")
    static let key = Switch(
        "key", "print a digest of the lock, for the key of a CI cache",
        detail: "64 hexadecimal digits, which change only with what is locked.")

    static let command = Command(
        name: "lock", isMinor: true, purpose: .changes,
        doc: "write down the exact files of models; hub pull --locked takes them",
        detail: """
            Writes hub.lock: for each REF the commit, the choice of files, and path, size and digest of each file. The \
            text is sorted and the same for the same models, for git. A model that the cache has is locked as cached; any other \
            as the Hub has it now. REF:FILES, --include, --exclude, --format and --quant choose files as for hub pull; \
            without them the choice of earlier pulls counts.

            hub pull --locked takes exactly the locked files or fails. If all are cached, the Hub is not asked.

            Without REF or flags it lists what is locked. The exit code is 3 if there is no lock, and 1 if --check finds a \
            difference.
            """,
        operands: [Operand("REF", .any, .model)],
        flags: [
            file.flag, check.flag, upstream.flag, update.flag, key.flag, PullCommand.include.flag,
            PullCommand.exclude.flag, PullCommand.format.flag, PullCommand.quant.flag,
        ],
        exclusive: [["check", "update", "key"]]
            + ["include", "exclude", "format", "quant"].flatMap { name in
                ["check", "update", "key"].map { [$0, name] }
            },
        listKey: "models",
        examples: [
            .init("hub lock org/model org/other@v1.0 --quant Q4_K_M", "Write or extend hub.lock."),
            .init("hub pull --locked", "Fetch exactly what is locked."),
            .init("hub lock --check --upstream", "Does the cache agree, and has a branch moved?"),
            .init("hub lock --update org/model", "Take the newest commit, and show what changes."),
        ],
        run: { try await run($0, Request($1)) })
}
