import HubChatTemplates
import HubCore

/// Reads the messages of OpenAI's chat protocol.
enum ReadMessages {
    static func messages(_ list: [JSON]) throws(APIFault) -> [Message] {
        guard !list.isEmpty else { throw .invalid("'messages' is empty", param: "messages") }
        var messages: [Message] = []
        // The name of the tool that each call is for: results often come without it, and some templates want it.
        var called: [String: String] = [:]
        for (number, json) in list.enumerated() {
            let place = "messages[\(number)]"
            guard let object = json.object else { throw .invalid("'\(place)' must be an object", param: place) }
            let fields = Fields(object, prefix: place + ".")
            let role = try fields.required("role", try fields.string("role"))
            var message: Message
            switch role {
            case "system", "developer": message = Message(role: .system, content: nil)
            case "user": message = Message(role: .user, content: nil)
            case "assistant": message = Message(role: .assistant, content: nil)
            case "tool", "function": message = Message(role: .tool, content: nil)
            default: throw .invalid("'\(place).role' is \"\(role.printable)\"", param: place + ".role")
            }
            try read(fields["content"], into: &message, place + ".content")
            message.reasoning = try fields.string("reasoning_content", "reasoning")
            for call in try fields.array("tool_calls") ?? [] {
                let call = try self.call(call, place)
                if let id = call.id { called[id] = call.name }
                message.toolCalls.append(call)
            }
            if message.role == .tool {
                message.toolCallID = try fields.string("tool_call_id")
                message.name = try fields.string("name") ?? message.toolCallID.flatMap { called[$0] }
            }
            if message.content == nil, message.toolCalls.isEmpty {
                guard message.role == .assistant || !message.images.isEmpty else {
                    throw .invalid("'\(place).content' is missing", param: place + ".content")
                }
                message.content = ""
            }
            messages.append(message)
        }
        return messages
    }

    /// Content: a text, parts, or nothing.
    static func read(_ content: JSON?, into message: inout Message, _ place: String) throws(APIFault) {
        guard let content else { return }
        if let text = content.string {
            message.content = text
            return
        }
        guard let parts = content.array else {
            throw .invalid("'\(place)' must be a text or a list of parts", param: place)
        }
        var texts: [String] = []
        for part in parts {
            switch part["type"]?.string {
            case "text", "input_text", "output_text":
                guard let text = part["text"]?.string else {
                    throw .invalid("a part of '\(place)' has no text", param: place)
                }
                texts.append(text)
            case "refusal": texts.append(part["refusal"]?.string ?? "")
            case "image_url", "input_image":
                let address = part["image_url"]?.string ?? part["image_url"]?["url"]?.string
                let (bytes, type) = try SentPicture.dataURL(address ?? "", place)
                message.images.append(.bytes(bytes, mediaType: type))
            case "input_audio": throw .notSupported("no model here hears: '\(place)' has audio")
            case let type:
                throw .invalid("'\(place)' has a part of the type \"\((type ?? "").printable)\"", param: place)
            }
        }
        message.content = texts.joined(separator: "\n")
    }

    private static func call(_ json: JSON, _ place: String) throws(APIFault) -> Message.ToolCall {
        let function = json["function"]
        guard let name = function?["name"]?.string else {
            throw .invalid("a call of '\(place)' has no name", param: place + ".tool_calls")
        }
        var call = Message.ToolCall(id: json["id"]?.string, name: name)
        // OpenAI's text or Ollama's object. A model errs, and its client sends that back with what was wrong.
        switch function?["arguments"] {
        case nil, .null?: break
        case .object(let object)?: call.arguments = object
        case .string(let text)?:
            if text.allSatisfy(\.isWhitespace) { break }
            if let json = try? JSON.parse(text), !json.isDeeper(than: Fields.mostLevels), let object = json.object {
                call.arguments = object
            } else {
                call.unreadArguments = text
            }
        case .some:
            let place = place + ".tool_calls"
            throw .invalid("'\(place)': arguments must be a text or an object", param: place)
        }
        return call
    }
}
