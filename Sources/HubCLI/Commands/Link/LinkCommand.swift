import Fetcher
import HubCore

/// `hub cache link`
enum LinkCommand {
    enum Tool: String, Sendable, CaseIterable {
        case ollama, lmstudio
        case llamaCpp = "llama.cpp"
    }

    static let name = Option.text(
        "name", "NAME", "a name for people to read: in ollama, NAME:TAG or NAMESPACE/NAME:TAG")
    static let quant = Option.text(
        "quant", "NAME", kind: .quantization, "the set of weights with this name, such as Q4_K_M")

    static let command = Command(
        name: "link", purpose: .changes,
        doc: "show a cached GGUF to ollama, LM Studio or llama.cpp without a second copy",
        detail: """
            Gives a cached GGUF file a name in another program's store: a reflink where the file system can, else a hard link, \
            else, on another disk, a symbolic link. The file is read first, and must match its digest. hub prints the name that \
            the program knows now.

            ollama gets a manifest, with the model's own files template, params and system if they are cached, and as \
            hub/ORG-NAME:QUANT unless --name says otherwise. LM Studio gets the file in its folder ORG/NAME. llama.cpp finds \
            models of the Hugging Face cache itself; its older cache gets the file.

            Nothing that the program wrote is changed. Only GGUF files can be linked; split ones are refused for ollama, \
            which cannot load them. A repository with several sets of weights needs REF:FILE or --quant.
            """,
        operands: [
            Operand("ollama|lmstudio|llama.cpp", .one, .choice(Tool.allCases.map(\.rawValue))),
            Operand("REF[:FILE]", .one, .cachedModel),
        ],
        flags: [name.flag, quant.flag],
        examples: [
            .init(
                "hub cache link ollama org/model-GGUF --quant Q4_K_M", "For ollama run hub/org-model-GGUF:Q4_K_M."),
            .init("hub cache link lmstudio org/model-GGUF --quant Q4_K_M", "In LM Studio's list of models."),
        ],
        run: { try await run($0, try Request($1)) })

    /// What is linked, and where.
    struct Request {
        var tool: Tool
        var model: String
        var name: String?
        var quant: String?

        init(_ arguments: ParsedArguments) throws(AIError) {
            let names = Tool.allCases.map(\.rawValue)
            guard let tool = Tool(rawValue: arguments.operands[0]) else {
                throw .unknown("program", arguments.operands[0], names, of: "hub cache link")
            }
            self.tool = tool
            model = arguments.operands[1]
            name = arguments[LinkCommand.name]
            quant = arguments[LinkCommand.quant]
            if name != nil, tool != .ollama {
                throw AIError(.invalidInput, "--name is for ollama: the others name models by their files")
            }
        }
    }
}
