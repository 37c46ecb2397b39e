import HubCore

/// `hub search`
enum SearchCommand {
    enum Sort: String, Sendable, CaseIterable { case relevance, downloads, likes, trending, updated, created }

    static let task = Option.text("task", "TASK", "only models for this task, such as text-generation")
    static let library = Option.text("library", "NAME", "only models for this library, such as mlx")
    static let author = Option.text("author", "NAME", "only models of this user or organisation")
    static let license = Option.text("license", "ID", "only models under this license, such as apache-2.0")
    static let tag = Option.text("tag", "TAG", repeats: true, "only models with this tag; with all of several")
    static let gated = Switch("gated", "only models that ask for an agreement first")
    static let open = Switch("open", "only models that anyone may fetch")
    static let cached = Switch("cached", "only models that are on this machine")
    static let sort = Option<Sort>.choice(
        "sort", "what comes first", detail: "With a QUERY relevance is the default, without one downloads.")
    static let limit = Option.whole(
        "limit", in: 1 ... .max, "how many models at most", detail: "The default is 20; there is no upper bound.")

    static let command = Command(
        name: "search", doc: "find models on the Hub, or in the catalog when offline",
        detail: """
            Asks the Hub and the local catalog together; offline the catalog alone answers. Without a QUERY all models \
            are listed. Filters narrow the answer: a model has to pass all of them. Models that are on this machine \
            carry a mark.
            """,
        operands: [Operand("QUERY", .optional, .text)],
        flags: [
            task.flag, library.flag, author.flag, license.flag, tag.flag, gated.flag, open.flag, cached.flag,
            sort.flag,
            limit.flag,
        ],
        exclusive: [["gated", "open"]],
        examples: [
            .init("hub search 'qwen coder'", "The 20 models that fit these words best."),
            .init("hub search llama --task text-generation --open --limit 100", "Narrowed down, and more of them."),
            .init("hub search --author mlx-community --sort updated -q", "The ids alone, the last updated first."),
            .init("hub search --cached --offline", "What is here, without any network."),
        ],
        run: run)
}
