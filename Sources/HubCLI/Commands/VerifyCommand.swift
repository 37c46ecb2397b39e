import HubCore

/// `hub verify`
enum VerifyCommand {
    static let full = Switch(
        "full", "read what has not changed since it was last verified as well",
        detail: "A disk that loses bits changes neither a file's size nor its time.")
    static let repair = Switch(
        "repair", "fetch what is damaged or missing, and nothing else",
        detail: """
            Of a large file only the damaged ranges, where its range digests were kept when it was fetched or last \
            verified. A new file takes the old one's place when the whole is proven, not before. What somebody changed in \
            a folder of --local-dir stays.
            """)

    static let command = Command(
        name: "verify", purpose: .changes, doc: "check cached files against their digests",
        detail: """
            Reads what is cached, as fast as the processors and the disk allow, and compares every file with its digest: \
            everything, or the models, revisions, files and folders of --local-dir that are named. It says what differs, \
            ends too soon, is missing, leads nowhere or does not belong there. What it found right is remembered and not \
            read again until it changes.

            No network is used where the files of a commit are known. Where they are not and nobody can be asked, blobs \
            are still compared with their names, and the status is that of the failure.

            Damage is status 1. With --repair the status is 0 if nothing is damaged any more; else it is that of what \
            stood in the way: 3 where the model is gone from the Hub, 4, 5, 6 or 7. Files that do not belong to a model \
            are named, never deleted, and no damage. Of a model of which only some files were fetched the others are \
            missing: name what you want, such as 'org/model:*.gguf'.
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
        run: run)
}
