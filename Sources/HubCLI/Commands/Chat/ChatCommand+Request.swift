import HubCore
import InferenceKit

extension ChatCommand {
    /// Who is asked, and what.
    struct Request {
        var wish: ModelWish
        /// Whether the model, and the provider, were named: a conversation that goes on has its own.
        var namesModel = true
        var namesProvider: Bool
        /// The conversation that goes on: its id, nil for the last one.
        var continued: String??
        /// nil for what HUB_NO_KEEP says.
        var keeps: Bool?
        /// The folders of documents, and who embeds them.
        var folders: [String]
        var embedder: String?
        /// nil for a conversation, or a pipe's text.
        var prompt: String?
        var system: String?
        /// Files before the prompt.
        var attachments: [String]
        /// Programs that the model may call, and the names of those that nobody has to be asked about.
        var tools: [String]
        var allowedTools: [String]
        var form: AnswerForm.Choice?
        /// Whether the model may search and read pages.
        var searchesWeb: Bool
        var config: GenerateConfig
        var explains: Bool
        var yes: Bool
        /// Flags that were given and are about computing on this machine.
        var computing: [String]

        /// The PROMPT of the command line; nil where a pipe has all of it.
        var words: String? { prompt == "-" ? nil : prompt }

        /// What is typed for one answer of the same model.
        var once: String {
            guard let continued else { return "hub chat \(ShellQuoting.word(wish.model)) PROMPT" }
            let id = continued.map { "=\(ShellQuoting.word($0))" } ?? ""
            return "hub chat --continue\(id) PROMPT"
        }

        /// - Throws: ``ErrorCode/invalidInput`` without a model.
        init(_ arguments: ParsedArguments) throws(AIError) {
            var words = arguments.operands[...]
            let isContinued = arguments.has(continuing.flag.name)
            continued = isContinued ? .some(arguments[continuing]) : nil
            var model = arguments[ChatCommand.model] ?? ""
            if model.isEmpty, isContinued {
                namesModel = false
            } else if model.isEmpty {
                model = words.popFirst() ?? ""
            }
            prompt = words.isEmpty ? nil : words.joined(separator: " ")
            if let prompt, prompt.allSatisfy(\.isWhitespace) { throw AIError(.invalidInput, "the PROMPT is empty") }
            system = arguments[TryCommand.system]
            attachments = arguments.all(InputFlags.attach)
            folders = arguments.all(with)
            embedder = arguments[ChatCommand.embedder]
            keeps = arguments[noKeep] ? false : nil
            namesProvider = arguments.has(ProviderFlags.provider.flag.name)
            if embedder != nil, folders.isEmpty {
                throw AIError(.invalidInput, "--embedder is about the documents of --with, which is missing")
            }
            (tools, allowedTools) = (arguments.all(ChatTools.tool), arguments.all(ChatTools.allow))
            form = AnswerForm.Choice(arguments)
            searchesWeb = arguments[ChatTools.web]
            config = GenerationFlags.config(arguments)
            explains = arguments[ProviderFlags.why]
            yes = arguments[SharedFlags.yes]
            computing = ChatCommand.computing.filter(arguments.has)
            wish = ModelWish(
                model: model, provider: arguments[ProviderFlags.provider] ?? .auto, capability: .textGeneration,
                demand: .init(
                    command: "hub chat", file: arguments[InputFlags.gguf],
                    options: GenerationFlags.options(arguments),
                    yes: yes),
                timeout: arguments[ProviderFlags.timeout])
        }

        /// - Throws: ``ErrorCode/invalidInput`` for a flag that a remote provider cannot honor.
        func checkRemote(_ label: String) throws(AIError) {
            guard let flag = computing.first else { return }
            throw AIError(
                .invalidInput, "--\(flag) is about computing on this machine, and \(label) answers",
                advice: "leave it out, or write --provider local")
        }
    }
}
