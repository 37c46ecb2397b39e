import HubCore

/// `hub verify`
enum VerifyCommand {
    static let full = Switch(
        "full", "also check files that have not changed since they were last verified",
        detail: "A failing disk changes neither the size nor the time of a file.")
    static let repair = Switch(
        "repair", "download what is damaged or missing, and nothing else",
        detail: """
            Of a large file only the damaged ranges are downloaded, if their digests were recorded when it was downloaded or \
            last verified. The new file replaces the old one only when all of it has been checked. Files you have changed in \
            a --local-dir folder stay as they are.
            """)

    static let command = Command(
        name: "verify", purpose: .changes, doc: "check cached files against their digests",
        detail: """
            Reads cached files and compares each with its digest: the whole cache, or the models, revisions, files and \
            --local-dir folders that are named. It reports files that differ, are truncated, are missing, are broken links \
            or do not belong there. What is OK is remembered and not read again until it changes.

            It needs no network if the file list of a commit is known. If the list is unknown and the Hub cannot be asked, \
            blobs are still compared with their names, and the exit code is that of the failure.

            Damage is exit code 1. With --repair it is 0 once nothing is damaged any more; otherwise it is that of the \
            obstacle: 3 if the model is gone from the Hub, 4, 5, 6 or 7. Files that do not belong to a model are listed but \
            are not damage, and are never deleted.
            """,
        operands: [Operand("REF|GLOB|FOLDER", .any, .cachedModelOrFolder)],
        flags: [full.flag, repair.flag],
        listKey: "models",
        examples: [
            .init("hub verify", "Check everything that is new or has changed."),
            .init("hub verify 'org/*' --full", "Check every byte of one organization's models."),
            .init("hub verify gpt2 --repair", "Download again what is damaged."),
            .init("hub verify ./model --json", "Check a folder of hub pull --local-dir, for a program."),
        ],
        run: run)
}
