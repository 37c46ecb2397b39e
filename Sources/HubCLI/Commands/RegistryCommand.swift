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
    }

    /// What an entry may be filed under; a model of this machine is in no list.
    enum Provider: String, Sendable, CaseIterable { case huggingface, mlx }

    static let capability = Option<ModelCapability>(
        "capability", "NAME", .choice(ModelCapability.allCases.map(\.rawValue)), repeats: true,
        "ls: only models for this; add: what the model is for",
        detail: "One of \(ModelCapability.allCases.map(\.rawValue).joined(separator: ", "))."
    ) { text throws(AIError) in try Option.value(text) }
    static let recommended = Switch("recommended", "ls: only models recommended for the memory of this machine")
    static let all = Switch("all", "export: also the entries that come with hub")
    static let replace = Switch("replace", "add: replace the entry with the same alias")

    static let name = line("name", "add: its display name", RegistryEntry.Limit.name)
    static let description = line("description", "add: a one-line description", RegistryEntry.Limit.description)
    static let size = Option<ModelSize>.choice("size", "add: its size class")
    static let contextLength = Option.whole(
        "context-length", in: 1...1_000_000_000, "add: its context length in tokens")
    static let parameters = Option.whole("parameters", in: 1 ... .max, "add: its number of parameters")
    static let quantization = line(
        "quantization", "add: its quantization, such as Q4_K_M", RegistryEntry.Limit.quantization)
    static let memory = Option.size(
        "memory", "add: the memory that a machine needs for it", detail: "Such as 8GB.")
    static let provider = Option<Provider>.choice(
        "provider", "add: the kind of weights it has", detail: "huggingface is the default.")
    static let pick = Switch("pick", "add: recommend it on machines with enough memory")

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
        doc: "list and edit the curated models and their aliases",
        detail: """
            hub comes with a list of models to start with, each with a one-word alias. An alias works wherever a model name \
            does, also with @revision and :files: hub pull llama-3.2-1b. Sizes come from the catalog, if known.

            ls, the default, shows the list; marks show what is cached and what is recommended for the memory of this \
            machine. add ALIAS REPO adds an entry of your own, which overrides the list and survives upgrades of hub. rm \
            ALIAS... removes an entry; one that comes with hub is hidden, and add ALIAS shows it again. export prints your \
            entries as JSON; import FILE (- for stdin) reads them, all or none.
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
                "hub registry ls --capability code-generation --recommended", "Models that write code on this machine."),
            .init("hub registry add mine org/model --memory 8GB --pick", "Add an alias of your own."),
            .init("hub registry rm mine llama-3.1-70b", "Remove your own entry, and hide one that comes with hub."),
            .init("hub registry export > list.json; hub registry import list.json", "Copy your entries to another machine."),
        ],
        run: run)
}
