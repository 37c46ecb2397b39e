public import HubCore

/// Something that a model may call in a conversation.
public protocol Tool: Sendable {
    /// What the model calls it: letters, digits, `_` and `-`, at most 64 of them.
    var name: String { get }
    /// What it does, for the model.
    var description: String { get }
    /// A JSON Schema of an object: its arguments.
    var parameters: JSON { get }
    /// Does it. An error's message goes back to the model as the tool's answer.
    ///
    /// Several calls of one answer run at the same time. When the task is cancelled it should end: a session waits for it.
    ///
    /// - Parameter arguments: as the model wrote them; not checked against ``parameters``.
    func call(arguments: JSONObject) async throws -> String
}

extension Tool {
    /// Any object.
    public var parameters: JSON { .object(["type": "object"]) }

    /// The tool as templates and the OpenAI protocol take it.
    public var definition: JSON {
        .object([
            "type": "function",
            "function": .object([
                "name": .string(name), "description": .string(description), "parameters": parameters,
            ]),
        ])
    }
}

/// Whether a call of a tool may run.
public enum ToolApproval: Sendable, Hashable {
    /// It may.
    case allowed
    /// It may not, and the model is told why.
    case refused(String)
}
