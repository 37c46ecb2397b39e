import Catalog
import Fetcher
import HubCore

/// `hub cache adopt`
enum AdoptCommand {
    static let command = Command(
        name: "adopt", purpose: .changes, doc: "make one copy of models that several programs keep",
        detail: """
            Finds the model files of ollama, LM Studio, llama.cpp's older cache and Jan, and GGUF and safetensors files in the \
            folders you name, compares them with the cache and with each other by SHA-256, and shows how copies can become \
            one. TOOL is ollama, lmstudio, llama.cpp or jan.

            reflink: both files stay and share their blocks, on btrfs and XFS; a program that writes into one of them does not \
            change the other. hardlink: one name is replaced by a second name of the other file, where the file system has no \
            reflinks, both files have one owner, group and mode, the second copy has no other name, and both programs never write into finished files (the cache, ollama, LM \
            Studio and llama.cpp). A hard link shares mode and times, too. register: nothing changes on the disk, and hub \
            pull takes the bytes from there instead of downloading them.

            In the plan, FILE stays, and SECOND COPY is the file or name that is made one with it. Before a name is replaced, \
            both files are read whole and must have the digest. Manifests and settings of other programs are never changed. \
            Downloads under way and files that a program has open are left alone. Without a terminal and without --yes, adopt \
            shows the plan, changes nothing, and the exit code is 2.

            Models that programs name like the Hub's (hf.co/org/name in ollama, org/name in LM Studio) are looked up on the \
            Hub, so that the plan can say which model a file is of; with --offline the catalog alone answers.
            """,
        operands: [Operand("DIR|TOOL", .any, .folder)],
        flags: [SharedFlags.dryRun.flag, SharedFlags.yes.flag],
        listKey: "plan",
        examples: [
            .init("hub cache adopt --dry-run", "What could become one copy."),
            .init("hub cache adopt ollama", "Only files of ollama."),
            .init("hub cache adopt ~/models --yes", "Files of a folder, without a question."),
            .init("hub cache unadopt", "Separate copies again."),
        ],
        run: { try await run($0, Request($1, undo: false)) })

    static let undoing = Command(
        name: "unadopt", purpose: .changes, doc: "make separate copies again of what was adopted",
        detail: """
            Makes separate copies again of what hub cache adopt linked, and forgets what it registered. Where two files share \
            their content, each gets its own again; the disk must have room for them.
            """,
        flags: [SharedFlags.dryRun.flag, SharedFlags.yes.flag], listKey: "plan",
        examples: [.init("hub cache unadopt --dry-run", "What would be copied.")],
        run: { try await run($0, Request($1, undo: true)) })

    /// What is adopted.
    struct Request {
        var words: [String]
        var undo: Bool
        var dryRun: Bool
        var yes: Bool

        init(_ arguments: ParsedArguments, undo: Bool) {
            words = arguments.operands
            self.undo = undo
            dryRun = arguments[SharedFlags.dryRun]
            yes = arguments[SharedFlags.yes]
        }
    }
}
