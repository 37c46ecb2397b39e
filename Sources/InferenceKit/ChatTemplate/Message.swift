public import HubCore

/// One turn of a conversation, as a model's chat template is given it.
public struct Message: Sendable, Hashable {
    /// Who speaks.
    public enum Role: String, Sendable, Hashable {
        /// Whoever set the model up.
        case system
        /// The person.
        case user
        /// The model.
        case assistant
        /// The result of a tool that the model called.
        case tool
    }

    /// A call of a tool that the model asked for.
    public struct ToolCall: Sendable, Hashable {
        /// What ties the result to the call, where the model's template uses such.
        public var id: String?
        /// The tool's name.
        public var name: String
        /// The arguments by name.
        public var arguments: JSONObject

        /// A call of a tool.
        public init(id: String? = nil, name: String, arguments: JSONObject = [:]) {
            self.id = id
            self.name = name
            self.arguments = arguments
        }

        var json: JSON {
            .object([
                "id": id.map { .string($0) }, "type": "function",
                "function": .object(["name": .string(name), "arguments": .object(arguments)]),
            ])
        }
    }

    /// Who speaks.
    public var role: Role
    /// What is said; nil where the model only calls tools.
    public var content: String?
    /// What the model thought before it spoke.
    public var reasoning: String?
    /// The tools that the model calls.
    public var toolCalls: [ToolCall]
    /// Of a tool's result: the call it answers.
    public var toolCallID: String?
    /// Of a tool's result: the tool's name.
    public var name: String?

    /// A turn.
    public init(
        role: Role, content: String?, reasoning: String? = nil, toolCalls: [ToolCall] = [],
        toolCallID: String? = nil, name: String? = nil
    ) {
        self.role = role
        self.content = content
        self.reasoning = reasoning
        self.toolCalls = toolCalls
        self.toolCallID = toolCallID
        self.name = name
    }

    /// What the model is told before the conversation.
    public static func system(_ content: String) -> Message { Message(role: .system, content: content) }
    /// What the person says.
    public static func user(_ content: String) -> Message { Message(role: .user, content: content) }
    /// What the model says.
    public static func assistant(_ content: String, toolCalls: [ToolCall] = []) -> Message {
        Message(role: .assistant, content: content, toolCalls: toolCalls)
    }
    /// What a tool gave.
    public static func tool(_ content: String, callID: String? = nil, name: String? = nil) -> Message {
        Message(role: .tool, content: content, toolCallID: callID, name: name)
    }

    /// The turn as a template sees it: what is not there is absent.
    public var json: JSON {
        .object([
            "role": .string(role.rawValue), "content": content.map { .string($0) },
            "reasoning_content": reasoning.map { .string($0) },
            "tool_calls": toolCalls.isEmpty ? nil : .array(toolCalls.map(\.json)),
            "tool_call_id": toolCallID.map { .string($0) }, "name": name.map { .string($0) },
        ])
    }
}
