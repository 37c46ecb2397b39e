import HubCore

/// `hub verify`
enum VerifyCommand {
    static let full = Switch(
        "full", "also read files that have not changed since they were last verified",
        detail: "Bit rot changes neither size nor modification time.")
    static let repair = Switch(
        "repair", "fetch what is damaged or missing, and nothing else",
        detail: """
            Of a large file it fetches only the damaged ranges, if its range digests were kept when it was fetched or last \
            verified. A new file replaces the old one only after the whole is verified. Files that somebody changed in a \
            folder of --local-dir stay.
            """)

    static let command = Command(
        name: "verify", purpose: .changes, doc: "check cached files against their digests",
        detail: """
            Reads the cache, or the models, revisions, files and folders of --local-dir that are named, and compares every \
            file with its digest. It reports files that differ, are truncated, are missing, are broken links, or do not \
            belong there. Files that passed are not read again until they change.

            A file counts as missing only if a pull selected it, whether that pull finished or was cut off. Files that were left out by globs, \
            --format or --quant count as not downloaded. So do absent files of a model that another program fetched. But a \
            file that you name by its path counts as missing, selected or not.

            The network is used only if the list of a commit's files is not known. If the Hub cannot be reached, \
            blobs are checked against their file names, and the exit code is 5.

            The exit code is 1 if files are damaged or missing. With --repair it is 0 if everything was repaired, otherwise \
            the code of the error that stopped the repair, such as 3 if the model is gone from the Hub. Files that do not belong to a model are \
            listed, but they are not damage and are never deleted.
            """,
        operands: [Operand("REF|GLOB|FOLDER", .any, .cachedModelOrFolder)],
        flags: [full.flag, repair.flag],
        listKey: "models",
        examples: [
            .init("hub verify", "Everything that is new or has changed."),
            .init("hub verify 'org/*' --full", "One organisation's models, every byte."),
            .init("hub verify gpt2 --repair", "Fetch again what is damaged."),
            .init("hub verify ./model --json", "A folder of hub pull --local-dir, for a program."),
        ],
        run: { try await run($0, Request($1)) })
}
