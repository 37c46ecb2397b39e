public import HubCore

/// One turn of a conversation, the input of a chat template.
public struct Message: Sendable, Hashable {
    /// The author.
    public enum Role: String, Sendable, Hashable {
        /// Instructions from the application.
        case system
        /// The user.
        case user
        /// The model.
        case assistant
        /// The result of a tool that the model called.
        case tool
    }

    /// A tool call made by the model.
    public struct ToolCall: Sendable, Hashable {
        /// Links the result to the call, if the template uses ids.
        public var id: String?
        /// The tool's name.
        public var name: String
        /// The arguments by name.
        public var arguments: JSONObject
        /// The arguments as the model wrote them, if that is not a JSON object; nil if it is one.
        public var unreadArguments: String?

        /// A call of a tool.
        public init(
            id: String? = nil, name: String, arguments: JSONObject = [:], unreadArguments: String? = nil
        ) {
            self.id = id
            self.name = name
            self.arguments = arguments
            self.unreadArguments = unreadArguments
        }

        /// The arguments as the model wrote them.
        package var argumentText: String { unreadArguments ?? JSON.object(arguments).text() }

        var json: JSON {
            .object([
                "id": id.map { .string($0) }, "type": "function",
                "function": .object([
                    "name": .string(name), "arguments": unreadArguments.map { .string($0) } ?? .object(arguments),
                ]),
            ])
        }
    }

    /// The author.
    public var role: Role
    /// The text; nil if the model only calls tools.
    public var content: String?
    /// The model's reasoning before its answer.
    public var reasoning: String?
    /// The model's tool calls.
    public var toolCalls: [ToolCall]
    /// For a tool's result: the id of its call.
    public var toolCallID: String?
    /// For a tool's result: the tool's name.
    public var name: String?
    /// Pictures that belong to the text, for models that see.
    public var images: [Picture]

    /// A picture of a turn.
    public enum Picture: Sendable, Hashable {
        /// An address that the model's provider fetches.
        case address(String)
        /// A file's bytes and their media type: `image/png`.
        case bytes([UInt8], mediaType: String)
    }

    /// A turn.
    public init(
        role: Role, content: String?, reasoning: String? = nil, toolCalls: [ToolCall] = [],
        toolCallID: String? = nil, name: String? = nil, images: [Picture] = []
    ) {
        self.role = role
        self.content = content
        self.reasoning = reasoning
        self.toolCalls = toolCalls
        self.toolCallID = toolCallID
        self.name = name
        self.images = images
    }

    /// A system turn.
    public static func system(_ content: String) -> Message { Message(role: .system, content: content) }
    /// A user turn.
    public static func user(_ content: String, images: [Picture] = []) -> Message {
        Message(role: .user, content: content, images: images)
    }
    /// An assistant turn.
    public static func assistant(_ content: String, toolCalls: [ToolCall] = []) -> Message {
        Message(role: .assistant, content: content, toolCalls: toolCalls)
    }
    /// A tool's result.
    public static func tool(_ content: String, callID: String? = nil, name: String? = nil) -> Message {
        Message(role: .tool, content: content, toolCallID: callID, name: name)
    }

    /// The text, or for a template that knows pictures a list of parts: first a mark for each picture.
    private var contentJSON: JSON? {
        guard !images.isEmpty else { return content.map { .string($0) } }
        let text = content.map { [JSON.object(["type": "text", "text": .string($0)])] } ?? []
        return .array(images.map { _ in .object(["type": "image"]) } + text)
    }

    /// The turn for a template; nil members are omitted.
    public var json: JSON {
        .object([
            "role": .string(role.rawValue), "content": contentJSON,
            "reasoning_content": reasoning.map { .string($0) },
            "tool_calls": toolCalls.isEmpty ? nil : .array(toolCalls.map(\.json)),
            "tool_call_id": toolCallID.map { .string($0) }, "name": name.map { .string($0) },
        ])
    }
}
