import Catalog
import HubCore

/// `hub registry`
enum RegistryCommand {
    enum Action: String, Sendable, CaseIterable {
        case ls, add, rm
        case importing = "import"
        case export

        /// The flags that belong to it.
        var flags: [Flag] {
            switch self {
            case .ls: [capability.flag, recommended.flag]
            case .add: RegistryCommand.fields + [replace.flag]
            case .export: [all.flag]
            case .rm, .importing: []
            }
        }

        /// How many words follow it.
        var words: ClosedRange<Int> {
            switch self {
            case .ls, .export: 0...0
            case .add: 1...2
            case .rm: 1 ... .max
            case .importing: 1...1
            }
        }

        var usage: String {
            switch self {
            case .ls, .export: rawValue
            case .add: "add ALIAS REPO"
            case .rm: "rm ALIAS..."
            case .importing: "import FILE, or - for stdin"
            }
        }
    }

    /// What an entry may be filed under; a model of this machine is in no list.
    enum Provider: String, Sendable, CaseIterable { case huggingface, mlx }

    static let capability = Option<ModelCapability>(
        "capability", "NAME", .choice(ModelCapability.allCases.map(\.rawValue)), repeats: true,
        "ls: only models that are good for this; add: what it is good for",
        detail: "One of \(ModelCapability.allCases.map(\.rawValue).joined(separator: ", "))."
    ) { text throws(AIError) in try Option.value(text) }
    static let recommended = Switch("recommended", "ls: only models that are recommended for this machine's memory")
    static let all = Switch("all", "export: the shipped entries too")
    static let replace = Switch("replace", "add: replace an entry of the same alias")

    static let name = line("name", "add: a name for people", RegistryEntry.Limit.name)
    static let description = line("description", "add: a sentence about it", RegistryEntry.Limit.description)
    static let size = Option<ModelSize>.choice("size", "add: its size class")
    static let contextLength = Option.whole(
        "context-length", in: 1...1_000_000_000, "add: how many tokens it can attend to")
    static let parameters = Option.whole("parameters", in: 1 ... .max, "add: its number of parameters")
    static let quantization = line(
        "quantization", "add: its quantization, such as Q4_K_M", RegistryEntry.Limit.quantization)
    static let memory = Option.size(
        "memory", "add: the least memory of a machine that should use it", detail: "Such as 8GB.")
    static let provider = Option<Provider>.choice(
        "provider", "add: the provider of its format", detail: "huggingface is the default.")
    static let pick = Switch("pick", "add: recommend it where the memory is enough")

    static let fields = [
        name.flag, description.flag, size.flag, contextLength.flag, capability.flag, parameters.flag,
        quantization.flag, memory.flag, provider.flag, pick.flag,
    ]

    private static func line(_ name: String, _ doc: String, _ limit: Int) -> Option<String> {
        Option(name, "TEXT", .text, doc) { text throws(AIError) in
            try RegistryEntry.checkLine(text, limit: limit)
            return text
        }
    }

    static let command = Command(
        name: "registry", isMinor: true, purpose: .changes,
        doc: "show or change the curated list of models and their aliases",
        detail: """
            hub comes with a list of models to start with, each under an alias of one word. Every command takes an alias \
            in place of a model: hub pull llama-3.2-1b, also with @revision and :files. Sizes come from the catalog, as far \
            as they are known.

            ls (the default) shows the list. Marks say which models are cached, which are recommended for this machine's \
            memory, and which run in hub try; llama.cpp, MLX, transformers or diffusers run the others. add ALIAS REPO adds \
            an entry of your own, which goes before a shipped one and survives upgrades of hub. rm ALIAS... removes an \
            entry; a shipped one is hidden, and add ALIAS restores it. export writes your entries as JSON, and import \
            FILE (or - for stdin) reads them: all, or none if one is wrong.
            """,
        operands: [
            Operand("ls|add|rm|import|export", .optional, .choice(Action.allCases.map(\.rawValue))),
            Operand("WORD", .any, .alias),
        ],
        flags: [recommended.flag, capability.flag] + fields.filter { $0.name != capability.flag.name } + [
            replace.flag, all.flag,
        ],
        listKey: "models",
        examples: [
            .init(
                "hub registry ls --capability code-generation --recommended",
                "Models for code that fit this machine."),
            .init("hub registry add mine org/model --memory 8GB --pick", "An alias of your own."),
            .init("hub registry rm mine llama-3.1-70b", "Removes your own, hides a shipped one."),
            .init(
                "hub registry export > list.json; hub registry import list.json",
                "Copies your entries to another machine."),
        ],
        run: { try await run($0, Request($1)) })
}
