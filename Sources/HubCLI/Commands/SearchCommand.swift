import Catalog
import HubCore

/// `hub search`
enum SearchCommand {
    enum Format: String, Sendable, CaseIterable { case gguf, mlx, safetensors }

    static let task = Option.text("task", "TASK", kind: .task, "only models for this task, such as text-generation")
    static let capability = Option<ModelCapability>.named(
        "capability", "only models that are good for this",
        detail: """
            Each stands for tasks of the Hub; code-generation and reasoning have none and go by the tags that the \
            publisher gave.
            """)
    static let library = Option.text("library", "NAME", "only models for this library, such as mlx")
    static let author = Option.text("author", "NAME", "only models of this user or organisation")
    static let license = Option.text("license", "ID", "only models under this license, such as apache-2.0")
    static let tag = Option.text("tag", "TAG", repeats: true, "only models with this tag; with all of several")
    static let format = Option<Format>.choice("format", "only models with weights in this format")
    static let minParams = Option.parameters("min-params", "only models of so many parameters or more, such as 7B")
    static let maxParams = Option.parameters("max-params", "only models of so many parameters or fewer")
    static let maxSize = Option.size(
        "max-size", "only repositories of at most so many bytes",
        detail: "All of its files count, with their history, for more is not known without looking at each.")
    static let fits = Switch(
        "fits", "only models that this machine has memory and disk for",
        detail: """
            An estimate: weights of 16 bits a parameter, of four and a half in GGUF, and never more than the \
            repository has bytes, which count where the parameters are not known. They have to fit into three quarters \
            of the memory, as for hub pull --format auto, and into the free space of the cache's disk unless --cached \
            is given. How many are left out because neither is known is said.
            """)
    static let gated = Switch("gated", "only models that ask for an agreement first")
    static let open = Switch("open", "only models that anyone may fetch")
    static let cached = Switch("cached", "only models that are on this machine")
    static let curated = Switch("curated", "only models of the curated list (hub registry)")
    static let vanished = Switch("vanished", "also models that are gone from the Hub")
    static let sort = Option<ModelQuery.Sort>.choice(
        "sort", "what comes first",
        detail: """
            relevance is the default: a model of exactly this name, then the most downloaded. The Hub does not sort by \
            size: of the 1000 most downloaded matches the largest are shown.
            """)
    static let limit = Option.whole(
        "limit", in: 1 ... .max, "how many models at most", detail: "The default is 20; there is no upper bound.")

    static let command = Command(
        name: "search", doc: "find models on the Hub, or in the catalog when offline",
        detail: """
            Asks the Hub and the local catalog together; offline the catalog alone answers. Without a QUERY all models \
            are listed. All words of a QUERY have to occur, in any order. It may hold terms beside words: author:NAME, \
            task:TASK, library:NAME, license:ID, tag:TAG, capability:NAME and format:NAME mean what the flags mean, a \
            value with spaces stands between double quotes ('tag:"text to speech"' in a shell), and so do words that \
            only look like a term. A tag of the Hub \
            that has a colon itself, such as dataset:squad, is meant as a tag.

            Filters narrow the answer: a model has to pass all of them, and one of which a number is not known passes \
            no bound. Models that are on this machine carry a mark. Where nothing matches, the nearest words that find \
            something are proposed and shown at once; with --json they are only named, with --quiet not at all.
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
                "hub search qwen coder license:apache-2.0", "The 20 best-known models that fit, under this license."
            ),
            .init(
                "hub search llama --format gguf --fits --limit 100", "What runs on this machine, and more of it."),
            .init("hub search --author mlx-community --sort updated -q", "The ids alone, the last updated first."),
            .init("hub search --cached --offline", "What is here, without any network."),
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
