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
        "ls: only models that are good for this; add: what it is good for",
        detail: "One of \(ModelCapability.allCases.map(\.rawValue).joined(separator: ", "))."
    ) { text throws(AIError) in try Option.value(text) }
    static let recommended = Switch("recommended", "ls: only models that are recommended for this machine's memory")
    static let all = Switch("all", "export: the shipped entries too")
    static let replace = Switch("replace", "add: take the place of an entry of the same alias")

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
        "provider", "add: whose format it is in", detail: "huggingface is the default.")
    static let pick = Switch("pick", "add: recommend it wherever the memory suffices")

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
            hub comes with a list of models that are good to begin with, each under an alias of one word. An alias is \
            understood wherever a model is: hub pull llama-3.2-1b, with @revision and :files too. Sizes come from the \
            catalog, as far as the Hub was asked.

            ls (the default) shows the list; marks tell what is cached and what is recommended for this machine's memory. \
            add ALIAS REPO adds an entry of your own, which wins and survives upgrades of hub. rm ALIAS... takes an entry \
            out; a shipped one is hidden, and add ALIAS brings it back. export writes your entries as JSON, and import \
            FILE (or - for stdin) reads them: all of them, or none and what is wrong with which.
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
                "hub registry ls --capability code-generation --recommended", "What writes code on this machine."),
            .init("hub registry add mine org/model --memory 8GB --pick", "An alias of one's own."),
            .init("hub registry rm mine llama-3.1-70b", "Takes out one's own, and hides a shipped one."),
            .init("hub registry export > list.json; hub registry import list.json", "To another machine."),
        ],
        run: run)
}
