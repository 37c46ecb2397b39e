import Catalog
import HubCore

/// `hub search`
enum SearchCommand {
    enum Format: String, Sendable, CaseIterable { case gguf, mlx, safetensors }

    static let task = Option.text("task", "TASK", kind: .task, "only models for this task, such as text-generation")
    static let capability = Option<ModelCapability>.named(
        "capability", "only models with this capability",
        detail: """
            A capability stands for tasks of the Hub. code-generation and reasoning have no task and are found by the tags \
            that publishers set.
            """)
    static let library = Option.text("library", "NAME", "only models for this library, such as mlx")
    static let author = Option.text("author", "NAME", "only models of this user or organization")
    static let license = Option.text("license", "ID", "only models under this license, such as apache-2.0")
    static let tag = Option.text("tag", "TAG", repeats: true, "only models with this tag; several must all match")
    static let format = Option<Format>.choice("format", "only models with weights in this format")
    static let minParams = Option.parameters("min-params", "only models with at least this many parameters, such as 7B")
    static let maxParams = Option.parameters("max-params", "only models with at most this many parameters")
    static let maxSize = Option.size(
        "max-size", "only repositories of at most this size",
        detail: "The size of all files with their history: that is what the Hub reports.")
    static let fits = Switch(
        "fits", "only models that fit in the memory and on the disk of this machine",
        detail: """
            An estimate: 16 bits per parameter, four and a half for GGUF, and never more than the repository holds; its size \
            counts if the parameters are unknown. The weights must fit in three quarters of the memory, as for hub pull \
            --format auto, and in the free space of the cache's disk unless --cached is given. hub says how many models \
            are skipped because neither number is known.
            """)
    static let gated = Switch("gated", "only models that require agreeing to terms")
    static let open = Switch("open", "only models that anyone may download")
    static let cached = Switch("cached", "only models that are cached")
    static let curated = Switch("curated", "only models of the curated list (see hub registry)")
    static let vanished = Switch("vanished", "also models that were deleted from the Hub")
    static let sort = Option<ModelQuery.Sort>.choice(
        "sort", "what to list first",
        detail: """
            relevance, the default, lists a model of exactly this name first, then the most downloaded. The Hub cannot sort by \
            size: the largest of the 1,000 most downloaded matches are listed.
            """)
    static let limit = Option.whole(
        "limit", in: 1 ... .max, "list at most this many models", detail: "The default is 20. There is no upper limit.")

    static let command = Command(
        name: "search", doc: "find models on the Hub, or offline in the catalog",
        detail: """
            Asks the Hub and the local catalog together; offline only the catalog. Without a QUERY it lists all models. All \
            words of a QUERY must match, in any order. A QUERY may also contain terms: author:NAME, task:TASK, library:NAME, \
            license:ID, tag:TAG, capability:NAME and format:NAME mean the same as the flags. Put double quotes around a \
            value with spaces ('tag:"text to speech"' in a shell), and around words that only look like a term. A tag that \
            contains a colon, such as dataset:squad, is taken as a tag.

            A model must pass all filters. A model whose size or number of parameters is unknown passes no limit on it. \
            Cached models are marked. If nothing matches, hub searches for the nearest words that find something; with \
            --json it only names them.
            """,
        operands: [Operand("QUERY", .any, .text)],
        flags: [
            task.flag, capability.flag, library.flag, author.flag, license.flag, tag.flag, format.flag,
            minParams.flag, maxParams.flag, maxSize.flag, fits.flag, gated.flag, open.flag, cached.flag,
            curated.flag, vanished.flag, sort.flag, limit.flag,
        ],
        exclusive: [["gated", "open"]],
        listKey: "models",
        examples: [
            .init(
                "hub search qwen coder license:apache-2.0", "The 20 most popular matches with this license."
            ),
            .init(
                "hub search llama --format gguf --fits --limit 100", "Up to 100 GGUF models that fit this machine."),
            .init("hub search --author mlx-community --sort updated -q", "Only the ids, the most recently updated first."),
            .init("hub search --cached --offline", "Cached models, without the network."),
        ],
        run: run)
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
