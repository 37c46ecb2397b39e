import HubCore
import InferenceKit

extension ChatCommand {
    /// Who is asked, and what.
    struct Request {
        var wish: ModelWish
        /// nil for a conversation, or a pipe's text.
        var prompt: String?
        var system: String?
        /// Files before the prompt.
        var attachments: [String]
        /// Programs that the model may call, and the names of those that nobody has to be asked about.
        var tools: [String]
        var allowedTools: [String]
        var form: AnswerForm.Choice?
        var config: GenerateConfig
        var explains: Bool
        var yes: Bool
        /// Flags that were given and are about computing on this machine.
        var computing: [String]

        /// - Throws: ``ErrorCode/invalidInput`` without a model.
        init(_ arguments: ParsedArguments) throws(AIError) {
            var words = arguments.operands[...]
            guard let model = arguments[ChatCommand.model] ?? words.popFirst() else {
                throw AIError(
                    .invalidInput, "missing MODEL",
                    advice: "write hub chat MODEL PROMPT, or hub chat -m MODEL PROMPT")
            }
            prompt = words.isEmpty ? nil : words.joined(separator: " ")
            if let prompt, prompt.allSatisfy(\.isWhitespace) { throw AIError(.invalidInput, "the PROMPT is empty") }
            system = arguments[ChatCommand.system]
            attachments = arguments.all(attach)
            (tools, allowedTools) = (arguments.all(ChatTools.tool), arguments.all(ChatTools.allow))
            form = AnswerForm.Choice(arguments)
            config = GenerationFlags.config(arguments)
            explains = arguments[ProviderFlags.why]
            yes = arguments[SharedFlags.yes]
            computing = ChatCommand.computing.filter(arguments.has)
            wish = ModelWish(
                model: model, provider: arguments[ProviderFlags.provider] ?? .auto, capability: .textGeneration,
                demand: .init(
                    command: "hub chat", file: arguments[TryCommand.file],
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
