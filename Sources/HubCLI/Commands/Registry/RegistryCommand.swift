import Catalog
import HubCore

/// `hub registry`
enum RegistryCommand {
    enum Action: Sendable { case ls, add, rm, importing, export }

    /// What an entry may be filed under; a model of this machine is in no list.
    enum Provider: String, Sendable, CaseIterable { case huggingface, mlx }

    static let capability = Option<ModelCapability>(
        "capability", "NAME", .choice(ModelCapability.allCases.map(\.rawValue)), repeats: true,
        "what the model is good for",
        detail: "One of \(ModelCapability.allCases.map(\.rawValue).joined(separator: ", "))."
    ) { text throws(AIError) in try Option.value(text) }
    static let recommended = Switch("recommended", "only models that are recommended for this machine's memory")
    static let all = Switch("all", "everything: not only your own entries")
    static let replace = Switch("replace", "replace an entry of the same alias")

    static let name = line("name", "a name for people to read", RegistryEntry.Limit.name)
    static let description = line("description", "a sentence about it", RegistryEntry.Limit.description)
    static let size = Option<ModelSize>.choice("size-class", "its size class")
    static let contextLength = Option.whole(
        "context-length", in: 1...1_000_000_000, "how many tokens it can attend to")
    static let parameters = Option.whole("parameters", in: 1 ... .max, "its number of parameters")
    static let quantization = line(
        "quantization", "its quantization, such as Q4_K_M", RegistryEntry.Limit.quantization)
    static let memory = Option.size(
        "memory", "the least memory of a machine that should use it", detail: "Such as 8GB.")
    static let format = Option<Provider>.choice(
        "format", "whether its files are for MLX or for transformers and others (huggingface, the default)")
    static let pick = Switch("pick", "recommend it where the memory is enough")

    static let fields = [
        name.flag, description.flag, size.flag, contextLength.flag, capability.flag, parameters.flag,
        quantization.flag, memory.flag, format.flag, pick.flag,
    ]

    private static func line(_ name: String, _ doc: String, _ limit: Int) -> Option<String> {
        Option(name, "TEXT", .text, doc) { text throws(AIError) in
            try RegistryEntry.checkLine(text, limit: limit)
            return text
        }
    }

    static let command = Command.family(
        "registry",
        doc: "show or change the curated list of models and their aliases",
        detail: """
            hub comes with a list of models to start with, each under an alias of one word. Every command takes an alias \
            in place of a model: hub pull llama-3.2-1b, also with @revision and :files. Sizes come from the catalog, as far \
            as they are known.

            Entries of your own go before shipped ones and survive upgrades of hub.
            """,
        [
            Command(
                name: "ls", doc: "show the list",
                detail: """
                    Shows the aliases, their models and sizes. Marks say which models are cached, which are recommended for this \
                    machine's memory, and which run in hub try; llama.cpp, MLX, transformers or diffusers run the others.
                    """,
                flags: [recommended.flag, capability.flag], listKey: "models",
                examples: [
                    .init("hub registry ls --recommended", "Models that fit this machine."),
                    .init("hub registry ls --capability embeddings -q", "The aliases of models for vectors."),
                ],
                run: { try await run($0, Request(.ls, $1)) }
            ).asUsual,
            Command(
                name: "add", purpose: .changes, doc: "add an entry of your own, or restore a hidden one",
                detail: """
                    Adds ALIAS for the model REPO. Your entries go before shipped ones and survive upgrades of hub. ALIAS \
                    alone restores a shipped entry that hub registry rm has hidden.
                    """,
                operands: [Operand("ALIAS", .one, .alias), Operand("REPO", .optional, .model)],
                flags: fields + [replace.flag], listKey: "models",
                examples: [
                    .init("hub registry add mine org/model --memory 8GB --pick", "An alias of your own."),
                    .init("hub registry add llama-3.1-70b", "A shipped entry again."),
                ],
                run: { try await run($0, Request(.add, $1)) }),
            Command(
                name: "rm", purpose: .changes, doc: "remove your entries, hide shipped ones",
                detail:
                    "Removes entries of your own. A shipped entry is hidden; hub registry add ALIAS restores it.",
                operands: [Operand("ALIAS", .some, .alias)],
                examples: [.init("hub registry rm mine llama-3.1-70b", "Removes your own, hides a shipped one.")],
                run: { try await run($0, Request(.rm, $1)) }),
            Command(
                name: "import", purpose: .changes, doc: "read entries from a file, or from stdin",
                detail: "Reads what hub registry export wrote, - from stdin. If one entry is wrong, none is added.",
                operands: [Operand("FILE|-", .one, .file)],
                examples: [.init("hub registry import list.json", "The entries of another machine.")],
                run: { try await run($0, Request(.importing, $1)) }),
            Command(
                name: "export", doc: "write your entries as JSON",
                detail: "Prints your own entries as JSON, for hub registry import on another machine.",
                flags: [all.flag], listKey: "models",
                examples: [.init("hub registry export > list.json", "For another machine.")],
                run: { try await run($0, Request(.export, $1)) }),
        ],
        examples: [
            .init(
                "hub registry ls --capability code-generation --recommended",
                "Models for code that fit this machine."),
            .init("hub registry add mine org/model --memory 8GB --pick", "An alias of your own."),
            .init("hub registry rm mine llama-3.1-70b", "Removes your own, hides a shipped one."),
            .init(
                "hub registry export > list.json; hub registry import list.json",
                "Copies your entries to another machine."),
        ])
}
