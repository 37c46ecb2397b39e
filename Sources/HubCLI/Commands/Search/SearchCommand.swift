import Catalog
import HubCore

/// `hub search`
enum SearchCommand {
    enum Format: String, Sendable, CaseIterable { case gguf, mlx, safetensors }

    static let task = Option.text(
        "task", "TASK", kind: .task, "the task: only models for it, such as text-generation")
    static let capability = Option<ModelCapability>.named(
        "capability", "what the model is good for",
        detail: """
            Each stands for tasks of the Hub; code-generation and reasoning have none and use the publisher's tags.
            """)
    static let library = Option.text("library", "NAME", "only models for this library, such as mlx")
    static let author = Option.text("author", "NAME", "only models of this user or organisation")
    static let license = Option.text("license", "ID", "only models under this license, such as apache-2.0")
    static let tag = Option.text(
        "tag", "TAG", repeats: true, "only models with this tag; given several times, all must match")
    static let format = Option<Format>.choice("format", "only models with weights in this format")
    static let minParams = Option.parameters(
        "min-params", "only models with at least this many parameters, such as 7B")
    static let maxParams = Option.parameters("max-params", "only models with at most this many parameters")
    static let smallerThan = Option.size(
        "smaller-than", "only repositories of at most so many bytes", detail: "All files count, with their history."
    )
    static let fits = Option.size(
        "fits", "only models that fit in this machine's memory and disk, or in a memory of SIZE",
        detail: """
            --fits=8GB means a machine with 8 GB of memory. --fits alone means this machine, and without --cached also \
            its free disk space. The weights, as SIZE estimates them, have to fit in three quarters of the memory. \
            Models of unknown size are skipped and counted.
            """
    ).withOptionalValue()
    static let runs = Switch(
        "runs", "only models that hub try runs",
        detail: """
            By what the Hub says of architecture, class, format and quantization, and by the memory of this machine; models of \
            which too little is known are not shown. TOKENS/S is about \
            how fast a model writes here. hub help architectures lists what runs.
            """
    )
    static let gated = Switch("gated", "only models with terms to accept first")
    static let ungated = Switch("ungated", "only models that anyone can download")
    static let cached = Switch("cached", "only models that are on this machine")
    static let curated = Switch("curated", "only models of the curated list (hub registry)")
    static let vanished = Switch("vanished", "also models that were deleted from the Hub")
    static let sort = Option<ModelQuery.Sort>.choice(
        "sort", "what comes first",
        detail: """
            relevance is the default: a model of exactly this name, then models with the words in their name, then the \
            others, the most downloaded first. The Hub cannot sort by size: the largest of its 1,000 most downloaded matches \
            are shown.
            """)
    static let limit = Option.whole(
        "limit", in: 1 ... .max, "at most this many", detail: "The default is 20; there is no upper bound.")

    static let command = Command(
        name: "search", doc: "find models on the Hub, or in the catalog when offline",
        detail: """
            Asks the Hub and the local catalog together; with --offline, only the catalog answers. If the Hub cannot be \
            reached, hub shows what the catalog knows, and the exit code is 5. Without a QUERY all models \
            are listed. All words of a QUERY have to occur, in any order. author:NAME, task:TASK, library:NAME, license:ID, \
            tag:TAG, capability:NAME and format:NAME in a QUERY mean the same as the flags. A word such as dataset:squad \
            means the tag of that name. Quote a value with spaces: 'tag:"text to speech"'. Quoted words without a name \
            before them, such as '"task:x"', are searched for as they are.

            A model has to pass all filters. If a filter needs a number that is unknown, the model does not pass. PARAMS \
            is the number of parameters that the Hub has, or if it has none, the one in the name. SIZE is that of one set of \
            weights: ~ marks an estimate (16 bits for each parameter, 4.5 in GGUF, or the width in the name, such as -4bit), and \
            <= the size of the whole repository, where no more is known. With --curated it is the size of the set that the alias means. A dot marks models on this machine. If \
            nothing matches, hub searches for the nearest words that find something; with --json it only names them, \
            with --quiet it does neither.
            """,
        operands: [Operand("QUERY", .any, .text)],
        flags: [
            task.flag, capability.flag, library.flag, author.flag, license.flag, tag.flag, format.flag,
            minParams.flag, maxParams.flag, smallerThan.flag, fits.flag, runs.flag, gated.flag, ungated.flag,
            cached.flag,
            curated.flag, vanished.flag, sort.flag, limit.flag,
        ],
        exclusive: [["gated", "ungated"]],
        listKey: "models",
        examples: [
            .init(
                "hub search qwen coder license:apache-2.0", "The 20 most downloaded matches under this license."
            ),
            .init("hub search instruct --fits=8GB", "Chat models for a laptop with 8 GB of memory."),
            .init("hub search --author mlx-community --sort updated -q", "Only the ids, the last updated first."),
            .init("hub search --cached --offline", "What is here, without any network."),
        ],
        run: { try await run($0, Request($1)) })
}

extension Option where Value == ModelCapability {
    /// A capability by its name. They are too many to stand in a line of usage.
    static func named(_ name: String, _ doc: String, detail: String) -> Option {
        let names = ModelCapability.allCases.map(\.rawValue)
        let all = "One of \(names.joined(separator: ", ")). "
        return Option(name, "NAME", .choice(names), doc, detail: all + detail) { text throws(AIError) in
            if let value = ModelCapability(rawValue: text) { return value }
            throw .notOneOf(text, names)
        }
    }
}
