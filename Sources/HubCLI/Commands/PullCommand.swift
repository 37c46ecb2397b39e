import HubCore
import ModelFormats

/// `hub pull`
enum PullCommand {
    static let include = Option.text(
        "include", "GLOB", repeats: true, "download only matching files",
        detail: "Globs are those of the Hub: they match the whole path, case matters, and * also matches /.")
    static let exclude = Option.text("exclude", "GLOB", repeats: true, "skip matching files")
    static let format = Option<WeightChoice.Format>.choice(
        "format", "download one set of weights, and all other files",
        detail: """
            all, the default, is every file. auto picks the set that this machine can use: MLX on a Mac with Apple silicon, \
            then safetensors, then GGUF, the first that fits in three quarters of the memory; of several GGUF files the \
            largest quantized one that does. hub info lists the sets.
            """)
    static let quant = Option.text(
        "quant", "NAME", kind: .quantization, "download the weights with this name, such as Q4_K_M",
        detail: """
            Case does not matter. It means GGUF; in a repository without GGUF it means any set that hub info lists under \
            that name. The projector of a GGUF model is downloaded too.
            """)
    static let revision = Option.text(
        "revision", "REV", kind: .revision, "a branch, tag or commit; the same as REF@REV",
        detail: "The default is main.")
    static let estimate = Switch(
        "estimate", short: "n", "show what would be downloaded and whether it fits; download nothing",
        detail: "Nothing is written to the cache either.")
    static let force = Switch("force", short: "f", "download again what is cached")
    static let connections = Option.whole(
        "connections", in: 1...64, "how many connections to use at once, for all models and files",
        detail: "The default is 8 for large files, and up to 32 in all while there are small ones.")
    static let limitRate = Option.rate("limit-rate", "download no faster than this, over all connections")

    static let localDir = Option.text(
        "local-dir", "DIR", kind: .folder, "put the files into this folder instead of the cache",
        detail: """
            hub keeps the same records in DIR/.cache/huggingface as hf download. Files that are cached are copied. A file \
            that you changed since it was downloaded is replaced only with --force.
            """)
    static let yes = Switch("yes", short: "y", "accepted for consistency; hub pull never asks")

    static let command = Command(
        name: "pull", purpose: .changes, doc: "download models into the cache, or resume",
        detail: """
            Downloads a whole repository, one of its sets of weights, or the files that match globs, into the cache that all \
            Hugging Face tools share. Files that are already there are not downloaded again, and an interrupted download \
            resumes where it stopped. Every file is checked against its digest before it is used.

            An alias from hub registry that names a quantization downloads that one, unless globs, --quant or --format say \
            otherwise.

            It prints the folder of each model. Free disk space is checked before the download starts.
            """,
        operands: [Operand("REF", .some, .model)],
        flags: [
            include.flag, exclude.flag, format.flag, quant.flag, revision.flag, estimate.flag, force.flag,
            connections.flag, limitRate.flag, localDir.flag, yes.flag,
        ],
        listKey: "models",
        examples: [
            .init("hub pull openai/gpt-oss-20b", "Download the whole repository."),
            .init("hub pull org/model-GGUF --quant Q4_K_M --estimate", "Show the cost; download nothing."),
            .init("hub pull org/model --local-dir ./model", "Put plain files into a folder."),
            .init("cd \"$(hub pull -q org/model)\"", "For scripts: print only the folder."),
        ],
        run: run)
}
