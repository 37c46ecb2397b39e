public import HubCore
public import HubGrammar

/// Whether the model must call a tool.
public enum ToolChoice: Sendable, Hashable {
    /// The model decides.
    case auto
    /// It calls none.
    case none
    /// It calls at least one.
    case required
    /// It calls this one.
    case tool(String)
}

/// The form of an answer.
public enum ResponseFormat: Sendable, Hashable {
    /// Any text.
    case text
    /// A JSON object.
    case jsonObject
    /// JSON that fits a schema.
    case jsonSchema(name: String, schema: JSON, isStrict: Bool = true)
    /// A text that is a regular expression as a whole; for models on this machine.
    case regularExpression(String)
    /// A text of a grammar in GBNF; for models on this machine.
    case gbnf(String)

    /// What holds a model on this machine to it; nil for any text.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` that names what is wrong with it or not supported.
    public func grammar() throws(AIError) -> OutputGrammar? {
        switch self {
        case .text: nil
        case .jsonObject: .jsonObject
        case .jsonSchema(_, let schema, _): try OutputGrammar(jsonSchema: schema)
        case .regularExpression(let source): try OutputGrammar(regularExpression: source)
        case .gbnf(let source): try OutputGrammar(gbnf: source)
        }
    }
}

/// How much a model reasons before it answers.
public enum ReasoningEffort: String, Sendable, Hashable, CaseIterable {
    /// Not at all.
    case none
    /// As little as it can.
    case minimal
    /// Little.
    case low
    /// The usual amount.
    case medium
    /// Much.
    case high
    /// As much as it can.
    case xhigh
}

/// What is asked of a turn besides the messages.
public struct ChatOptions: Sendable, Hashable {
    /// The tools that the model may call, as templates and the OpenAI protocol take them:
    /// `{"type": "function", "function": {"name", "description", "parameters"}}`.
    public var tools: [JSON]
    /// Whether it must; nil for the provider's default.
    public var toolChoice: ToolChoice?
    /// The form of the answer; nil for the provider's default.
    public var responseFormat: ResponseFormat?
    /// How much it reasons; nil for the provider's default.
    public var reasoningEffort: ReasoningEffort?

    /// Options; by default nothing is asked.
    public init(
        tools: [JSON] = [], toolChoice: ToolChoice? = nil, responseFormat: ResponseFormat? = nil,
        reasoningEffort: ReasoningEffort? = nil
    ) {
        self.tools = tools
        self.toolChoice = toolChoice
        self.responseFormat = responseFormat
        self.reasoningEffort = reasoningEffort
    }
}

extension ChatOptions {
    /// The tools in the protocol's form. A bare function, as some templates take it, is put in it.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for a tool without a name, and for a choice that fits no tool.
    package func checkedTools() throws(AIError) -> [JSON] {
        var checked: [JSON] = []
        for tool in tools {
            if tool["function"]?["name"]?.string != nil {
                checked.append(tool)
            } else if tool["name"]?.string != nil, tool["function"] == nil {
                checked.append(.object(["type": "function", "function": tool]))
            } else {
                throw AIError(.invalidInput, "a tool has no name")
            }
        }
        switch toolChoice {
        case nil, ToolChoice.none?: break
        case .auto?, .required?, .tool?:
            guard !checked.isEmpty else {
                throw AIError(.invalidInput, "a tool is to be called, and there are no tools")
            }
        }
        if case .tool(let name)? = toolChoice,
            !checked.contains(where: { $0["function"]?["name"]?.string == name })
        {
            throw AIError(.invalidInput, "there is no tool \"\(name.printable)\"")
        }
        return checked
    }
}
