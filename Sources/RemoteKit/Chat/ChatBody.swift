import HubChatTemplates
import HubCore
import InferenceKit

/// The body of a request for the next turn of a conversation.
struct ChatBody: Sendable {
    var model: String
    var messages: [Message]
    var options: ChatOptions
    var config: GenerateConfig
    var dialect: ChatDialect
    /// How the server wants a schema.
    var schemaForm = SchemaForm.openAI

    /// The ways to ask for JSON that fits a schema.
    enum SchemaForm: Sendable {
        /// `{type: json_schema, json_schema: {name, schema, strict}}`
        case openAI
        /// `{type: json_schema, schema}`
        case together
        /// `{type: json_object, schema}`
        case schemaInObject
        /// `{type: json_object, value}`
        case value
    }

    /// The request. `model` comes first, so that the router can route by a short beginning.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for what cannot be sent.
    func json(isStream: Bool) throws(AIError) -> JSON {
        guard !messages.isEmpty else { throw AIError(.invalidInput, "the conversation has no message") }
        var turns: [JSON] = []
        for message in try numbered() { turns.append(try turn(message)) }
        var members: [(key: String, value: JSON)] = [("model", .string(model)), ("messages", .array(turns))]
        members += try dialect.members(config)
        if isStream { members += [("stream", true), ("stream_options", .object(["include_usage": true]))] }
        let tools = try options.checkedTools()
        if !tools.isEmpty { members.append(("tools", .array(tools))) }
        if let choice = options.toolChoice { members.append(("tool_choice", toolChoice(choice))) }
        if let format = options.responseFormat { members.append(("response_format", try responseFormat(format))) }
        if let effort = options.reasoningEffort {
            guard dialect.takesReasoningEffort else { throw dialect.refusal("a reasoning effort") }
            members.append(("reasoning_effort", .string(effort.rawValue)))
        }
        return .object(JSONObject(members))
    }

    // MARK: Messages

    /// The messages with an id for every tool call and its result, which the protocol wants and local models do not need:
    /// results without one belong to the calls before them in order.
    private func numbered() throws(AIError) -> [Message] {
        var out = messages
        var waiting: [String] = []
        for (place, message) in messages.enumerated() {
            if !message.toolCalls.isEmpty { waiting = [] }
            for (number, call) in message.toolCalls.enumerated() {
                let id = call.id ?? "call_\(place)_\(number)"
                out[place].toolCalls[number].id = id
                waiting.append(id)
            }
            guard message.role == .tool else { continue }
            guard let id = message.toolCallID ?? waiting.first else {
                throw AIError(.invalidInput, "the result of a tool belongs to no call")
            }
            out[place].toolCallID = id
            waiting.removeAll { $0 == id }
        }
        return out
    }

    /// A message. An assistant's reasoning is not sent back: models are not trained to read it.
    private func turn(_ message: Message) throws(AIError) -> JSON {
        if message.role != .user, !message.images.isEmpty {
            throw AIError(.invalidInput, "only a user's message can hold pictures")
        }
        return .object([
            "role": .string(message.role.rawValue), "content": try content(message),
            "tool_calls": message.toolCalls.isEmpty ? nil : .array(message.toolCalls.map(Self.call)),
            "tool_call_id": message.toolCallID.map { .string($0) }, "name": message.name.map { .string($0) },
        ])
    }

    private func content(_ message: Message) throws(AIError) -> JSON? {
        guard !message.images.isEmpty else {
            // A null is left out: not every server takes it.
            return message.content.map { .string($0) } ?? (message.toolCalls.isEmpty ? "" : nil)
        }
        var parts: [JSON] = message.content.map { [.object(["type": "text", "text": .string($0)])] } ?? []
        for image in message.images {
            parts.append(
                .object(["type": "image_url", "image_url": .object(["url": .string(try Self.address(image))])]))
        }
        return .array(parts)
    }

    private static func address(_ image: Message.Picture) throws(AIError) -> String {
        switch image {
        case .bytes(let bytes, let mediaType): return "data:\(mediaType);base64,\(Base64.text(bytes))"
        case .address(let address):
            guard Origin(address) != nil else {
                throw AIError(.invalidInput, "\"\(address.printable)\" is not the http address of a picture")
            }
            return address
        }
    }

    /// The protocol has the arguments as text.
    private static func call(_ call: Message.ToolCall) -> JSON {
        .object([
            "id": call.id.map { .string($0) }, "type": "function",
            "function": .object([
                "name": .string(call.name), "arguments": .string(call.argumentText),
            ]),
        ])
    }

    // MARK: Tools and formats

    private func toolChoice(_ choice: ToolChoice) -> JSON {
        switch choice {
        case .auto: "auto"
        case .none: "none"
        case .required: "required"
        case .tool(let name): .object(["type": "function", "function": .object(["name": .string(name)])])
        }
    }

    private func responseFormat(_ format: ResponseFormat) throws(AIError) -> JSON {
        switch format {
        case .text: return .object(["type": "text"])
        case .jsonObject: return .object(["type": "json_object"])
        case .regularExpression: throw dialect.refusal("a regular expression for the answer")
        case .gbnf: throw dialect.refusal("a grammar for the answer")
        case .jsonSchema(let name, let schema, let isStrict):
            switch schemaForm {
            case .openAI:
                return .object([
                    "type": "json_schema",
                    "json_schema": .object(["name": .string(name), "schema": schema, "strict": .bool(isStrict)]),
                ])
            case .together: return .object(["type": "json_schema", "schema": schema])
            case .schemaInObject: return .object(["type": "json_object", "schema": schema])
            case .value: return .object(["type": "json_object", "value": schema])
            }
        }
    }
}
