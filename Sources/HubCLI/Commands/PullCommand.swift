import HubCore
import ModelFormats

/// `hub pull`
enum PullCommand {
    static let include = Option.text(
        "include", "GLOB", repeats: true, "fetch only files that match",
        detail: "The globs are the Hub's own: fnmatch on the whole path, case counts, * crosses slashes.")
    static let exclude = Option.text("exclude", "GLOB", repeats: true, "leave out files that match")
    static let format = Option<WeightChoice.Format>.choice(
        "format", "fetch one set of weights, and all that is no weights",
        detail: """
            all is the default: every file. auto takes the set that this machine can use: MLX on a Mac with Apple \
            silicon, then safetensors, then GGUF, the first that fits in three quarters of the memory; of GGUF the \
            largest quantised one that does. hub info shows the sets.
            """)
    static let quant = Option.text(
        "quant", "NAME", kind: .quantization, "the set of weights with this name, such as Q4_K_M",
        detail: """
            Case does not count. Alone it means GGUF; where a repository has no GGUF, any set that hub info shows under \
            that name. A GGUF model's projector comes along.
            """)
    static let revision = Option.text(
        "revision", "REV", kind: .revision, "a branch, tag or commit; the same as REF@REV",
        detail: "The default is main.")
    static let estimate = Switch(
        "estimate", short: "n", "show what would be fetched and whether it fits; fetch nothing",
        detail: "Nothing is written into the cache either.")
    static let force = Switch("force", short: "f", "fetch again what is cached")
    static let connections = Option.whole(
        "connections", in: 1...64, "how many connections at once, over all models and files",
        detail: "The default is 8 for large files, and up to 32 in all while there are small ones.")
    static let limitRate = Option.rate("limit-rate", "fetch no faster than this, over all connections")

    static let localDir = Option.text(
        "local-dir", "DIR", kind: .folder, "put the files themselves into this folder instead of the cache",
        detail: """
            The bookkeeping in DIR/.cache/huggingface is that of hf download. What the cache holds is copied from there. A \
            file that was changed since it was fetched is only replaced with --force.
            """)
    static let yes = Switch("yes", short: "y", "accepted for consistency; hub pull never asks")

    static let command = Command(
        name: "pull", purpose: .changes, doc: "fetch models into the cache; resume interrupted downloads",
        detail: """
            Fetches the whole repository, one of its sets of weights, or the files that the globs choose, into the cache that all Hugging Face tools \
            share. What is there already is not fetched again; what was interrupted goes on where it stopped. Every \
            file is checked by its digest before it counts.

            An alias of hub registry that names a quantization takes that one, unless globs, --quant or --format say \
            otherwise.

            On stdout: where each model is. Free space is checked before the first byte.
            """,
        operands: [Operand("REF", .some, .model)],
        flags: [
            include.flag, exclude.flag, format.flag, quant.flag, revision.flag, estimate.flag, force.flag,
            connections.flag, limitRate.flag, localDir.flag, yes.flag,
        ],
        listKey: "models",
        examples: [
            .init("hub pull openai/gpt-oss-20b", "The whole repository."),
            .init("hub pull org/model-GGUF --quant Q4_K_M --estimate", "What it would cost; nothing is fetched."),
            .init("hub pull org/model --local-dir ./model", "Plain files in a folder of your own."),
            .init("cd \"$(hub pull -q org/model)\"", "For scripts: the folder alone."),
        ],
        run: run)
}
