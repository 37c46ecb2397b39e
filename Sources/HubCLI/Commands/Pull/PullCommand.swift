import HubCore
import ModelFormats

/// `hub pull`
enum PullCommand {
    static let include = Option.text(
        "include", "GLOB", repeats: true, "take only files that match",
        detail: "The globs are the Hub's own: fnmatch on the whole path, case counts, * crosses slashes.")
    static let exclude = Option.text("exclude", "GLOB", repeats: true, "leave out files that match")
    static let format = Option<WeightChoice.Format>.choice(
        "format", "fetch one set of weights, and the files that are not weights",
        detail: """
            all is every file, and clears what earlier pulls of the revision chose. auto takes the set that this machine \
            can use: MLX on a Mac with Apple silicon, then safetensors, then GGUF, the first that fits in three quarters \
            of the memory; of GGUF the largest quantized one that fits. hub info shows the sets.
            """)
    static let quant = Option.text(
        "quant", "NAME", kind: .quantization, "the set of weights with this name, such as Q4_K_M",
        detail: """
            Case is ignored. Without --format it means GGUF; if the repository has no GGUF, any set that hub info shows \
            under that name. The projector of a GGUF model is fetched too.
            """)
    static let revision = Option.text(
        "revision", "REV", kind: .revision, "a branch, tag or commit, as in REF@REV", detail: "The default is main."
    )
    static let estimate = Switch(
        "estimate", short: "n", "show what would be fetched and whether it fits; fetch nothing",
        detail: "Nothing is written into the cache either.")
    static let force = Switch(
        "force", short: "f",
        "replace what is there: fetch again what is cached; with --local-dir, replace files that differ",
        detail: "With --local-dir, files that the cache has are copied from it, not fetched.")
    static let connections = Option.whole(
        "connections", in: 1...64, "how many connections at once, over all models and files",
        detail: "The default is 8 for large files; while small ones are left, up to 32 in all.")
    static let limitRate = Option.rate("limit-rate", "fetch no faster than this, over all connections")

    static let localDir = Option.text(
        "local-dir", "DIR", kind: .folder, "put the files themselves into this folder instead of the cache",
        detail: """
            DIR/.cache/huggingface holds the same notes as after hf download. Files that the cache has are copied from \
            it. A file that was changed since it was fetched is replaced only with --force; without it the exit code is 7.
            """)
    static let locked = Option.text(
        "locked", "FILE", kind: .file, "take exactly what hub.lock, or FILE, names, or fail",
        detail: """
            Without REF all its models. The branches in the cache are set to the locked commits. If everything is cached, \
            the Hub is not asked. The exit code is 7 if a locked file has other bytes, 3 if a commit is gone. hub lock writes it.
            """
    ).withOptionalValue()
    static let yes = Switch("yes", short: "y", "do not ask: delete what the budget asks for (hub cache budget)")

    static let command = Command(
        name: "pull", purpose: .changes, doc: "fetch models into the cache; resume interrupted downloads",
        detail: """
            Fetches the whole repository, one of its sets of weights, or the files that globs or names choose, into the \
            cache that all Hugging Face tools share. Cached files are not fetched again, and an interrupted \
            download continues where it stopped. Every file is checked against its digest before it counts.

            Each further argument is a file of the first model if the model has a file of that name, or if the argument \
            ends like a file (.json, .safetensors, .gguf and so on). Otherwise it is another model. All of them are looked \
            up before anything is fetched.

            What a completed pull chose (globs, files, --format, --quant) is remembered for the revision. The next pull \
            without a choice of its own takes the same files, even if the branch has moved, and says so. The choices of \
            several pulls add up; --format all clears them. hub verify, hub ls and hub outdated go by what was chosen.

            If another cached revision has a safetensors or GGUF file of 10 MB or more at the same path, hub compares samples \
            of its tensors, and copies those that agree instead of fetching them. The whole file is checked as always.

            An alias of hub registry that names a quantization takes that one, unless globs, --quant or --format say \
            otherwise.

            Prints the folder of each model. Free space is checked before the first byte. If the Hub cannot be reached \
            and everything is cached, hub pull warns, prints the folder, and the exit code is 0.
            """,
        operands: [Operand("REF", .optional, .model), Operand("FILE|REF", .any, .model)],
        flags: [
            include.flag, exclude.flag, format.flag, quant.flag, revision.flag, estimate.flag, force.flag,
            connections.flag, limitRate.flag, localDir.flag, locked.flag, yes.flag,
            SharedFlags.dryRun.flag.unlisted,
        ],
        exclusive: ["include", "exclude", "format", "quant", "revision"].map { ["locked", $0] },
        listKey: "models", synopsis: "[FLAGS] REF [FILE|REF]...",
        examples: [
            .init("hub pull openai/gpt-oss-20b", "The whole repository."),
            .init("hub pull org/model-GGUF --quant Q4_K_M --estimate", "What it would fetch, and whether it fits."),
            .init("hub pull org/model config.json model.safetensors", "Two of its files."),
            .init("hub pull org/model --local-dir ./model", "Plain files in a folder of your own."),
        ],
        run: { try await run($0, Request($1)) })
}
