import HubCore

/// Whether one of a model's chat templates makes a text of the conversations that every chat begins with.
struct TemplateTrial {
    private let templates: ChatTemplates
    private let name: String

    init(_ templates: ChatTemplates, _ name: String) { (self.templates, self.name) = (templates, name) }

    /// - Throws: ``ErrorCode/malformedModel`` where it cannot be rendered, ``ErrorCode/unsupportedModel`` for what is not
    ///   implemented, ``ErrorCode/invalidInput`` where it refuses the conversations.
    func run() throws(AIError) {
        let template = try templates.template(named: name)
        var options = ChatTemplate.Options(variables: templates.specialTokens)
        if name == ChatTemplates.toolName { options.tools = [Self.tool] }
        // Templates for pictures and sound take what is said as a list of parts, some of them only so.
        var first: AIError?
        for content in [Self.text, Self.parts] {
            do throws(AIError) { return try render(template, options, content) } catch { first = first ?? error }
        }
        if let first { throw first }
    }

    private func render(
        _ template: ChatTemplate, _ options: ChatTemplate.Options, _ content: (String) -> JSON
    ) throws(AIError) {
        func turn(_ role: String, _ text: String) -> JSON {
            .object(["role": .string(role), "content": content(text)])
        }
        let question = [turn("user", "Hello!")]
        let talk = question + [turn("assistant", "How are you?"), turn("user", "I am well.")]
        for messages in [question, talk] {
            let text = try template.render(json: messages, options).text
            guard text.contains(messages.count == 1 ? "Hello!" : "I am well.") else {
                throw AIError(
                    .invalidInput, "\(template.path): the chat template leaves out what the person says",
                    context: .init(path: template.path))
            }
        }
    }

    private static func text(_ text: String) -> JSON { .string(text) }

    private static func parts(_ text: String) -> JSON {
        .array([.object(["type": "text", "text": .string(text)])])
    }

    private static let tool: JSON = .object([
        "type": "function",
        "function": .object([
            "name": "weather", "description": "Tells the weather of a place.",
            "parameters": .object([
                "type": "object", "properties": .object(["place": .object(["type": "string"])]),
                "required": .array(["place"]),
            ]),
        ]),
    ])
}
