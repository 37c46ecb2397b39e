public import HubChatTemplates
public import HubCore

/// A tool call as a model wrote it. Models err: the arguments may not be JSON.
public struct GeneratedToolCall: Sendable, Hashable {
    /// Links the result to the call; nil if the provider gives none.
    public var id: String?
    /// The tool's name.
    public var name: String
    /// The arguments as written.
    public var arguments: String

    /// A call.
    public init(id: String? = nil, name: String, arguments: String) {
        self.id = id
        self.name = name
        self.arguments = arguments
    }

    /// The call with its arguments by name. No text means no arguments.
    ///
    /// - Throws: ``ErrorCode/generationFailed`` if the arguments are not a JSON object.
    public func parsed() throws(AIError) -> Message.ToolCall {
        let text = arguments.contains { !$0.isWhitespace } ? arguments : "{}"
        guard let json = try? JSON.parse(text), let object = json.object else {
            throw AIError(
                .generationFailed,
                "the model calls the tool \(name.printable) with arguments that are not a JSON object")
        }
        return Message.ToolCall(id: id, name: name, arguments: object)
    }
}
