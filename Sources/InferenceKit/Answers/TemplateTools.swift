import HubChatTemplates
import HubCore

/// How tools, and calls that were made, are given to a template.
enum TemplateTools {
    /// The variables that templates read tools from. The last is SmolLM3's, for functions without the protocol's frame.
    private static let variables = ["tools", "custom_tools", "xml_tools"]

    /// Whether tools can be offered to a model.
    static func areKnown(_ template: ChatTemplate, _ format: AnswerFormat) -> Bool {
        variables.contains(where: template.has) || format.description(of: []) != nil
    }

    /// Puts tools where the template looks for them.
    static func offer(
        _ tools: [JSON], _ template: ChatTemplate, _ format: AnswerFormat, _ inputs: inout ChatTemplate.Options,
        _ messages: inout [Message]
    ) {
        guard !tools.isEmpty else { return }
        inputs.tools = tools
        guard !template.has("tools"), !template.has("custom_tools") else { return }
        if template.has("xml_tools") {
            inputs.variables["xml_tools"] = .array(tools.compactMap { $0["function"] })
        } else if let text = format.description(of: tools) {
            if messages.first?.role == .system {
                messages[0].content = (messages[0].content.map { $0 + "\n\n" } ?? "") + text
            } else {
                messages.insert(.system(text), at: 0)
            }
        }
    }

    /// Renders a conversation. Some templates expect the arguments of calls as a text, others as an object: if the object
    /// makes an error, the text is tried.
    ///
    /// - Throws: what ``ChatTemplate/render(json:_:)`` throws for the first of the two.
    static func render(
        _ messages: [Message], _ template: ChatTemplate, _ format: AnswerFormat, _ inputs: ChatTemplate.Options
    ) throws(AIError) -> ChatTemplate.Rendering {
        let messages = template.source.contains("tool_calls") ? messages : messages.map { inText($0, format) }
        do throws(AIError) {
            return try template.render(json: TemplateMessages.json(messages, template, format), inputs)
        } catch {
            guard error.code == .malformedModel, messages.contains(where: { !$0.toolCalls.isEmpty }) else {
                throw error
            }
            let texts = TemplateMessages.json(messages, template, format, argumentsAreTexts: true)
            guard let rendered = try? template.render(json: texts, inputs) else { throw error }
            return rendered
        }
    }

    /// A message with its calls in its text, as the model wrote them: for templates that do not handle calls.
    private static func inText(_ message: Message, _ format: AnswerFormat) -> Message {
        guard !message.toolCalls.isEmpty, let calls = format.written(message.toolCalls) else { return message }
        var message = message
        let text = message.content ?? ""
        message.content = text + (text.isEmpty ? "" : "\n") + calls
        message.toolCalls = []
        return message
    }

    /// How a template writes a call; nil if it does not handle calls, or refuses this one.
    static func sample(_ template: ChatTemplate) -> String? {
        guard template.source.contains("tool_calls") else { return nil }
        let call = Message.ToolCall(id: "callid000", name: "look", arguments: ["at": "x"])
        let tool = JSON.object([
            "type": "function",
            "function": .object([
                "name": "look", "description": "Looks.",
                "parameters": .object([
                    "type": "object", "properties": .object(["at": .object(["type": "string"])]),
                ]),
            ]),
        ])
        let messages = [Message.user("x"), .assistant("", toolCalls: [call])]
        let inputs = ChatTemplate.Options(
            tools: [tool], addsGenerationPrompt: false, variables: ["bos_token": "", "eos_token": ""])
        return try? render(messages, template, AnswerFormat(calls: nil, reasoning: nil), inputs).text
    }
}
