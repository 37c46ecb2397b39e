import HubChatTemplates
public import HubCore

extension KeptConversation.Turn {
    /// What is kept beside the message.
    var details: JSON {
        .object([
            "model": model.map { .string($0) }, "provider": provider.map { .string($0) },
            "sources": sources.isEmpty ? nil : .array(sources.map { .string($0) }),
            "images": message.images.isEmpty ? nil : .array(message.images.map(Self.json)),
        ])
    }

    /// A turn as it was kept.
    init(at time: Double, message text: String, details: String) throws(AIError) {
        do {
            let (json, details) = (try JSON.parse(Array(text.utf8)), try JSON.parse(Array(details.utf8)))
            guard let message = Message(kept: json, images: details["images"]?.array ?? []) else {
                throw AIError(.ioError, "a turn of the conversation is not a message")
            }
            self.init(
                message, at: time, model: details["model"]?.string, provider: details["provider"]?.string,
                sources: details["sources"]?.array?.compactMap(\.string) ?? [])
        } catch { throw AIError.wrapping(error) }
    }

    private static func json(_ picture: Message.Picture) -> JSON {
        switch picture {
        case .address(let address): .object(["address": .string(address)])
        case .bytes(let bytes, let mediaType):
            .object(["media_type": .string(mediaType), "base64": .string(Base64.text(bytes))])
        }
    }
}

extension Message {
    /// A message as ``json`` writes it; nil for anything else.
    fileprivate init?(kept json: JSON, images: [JSON]) {
        guard let role = json["role"]?.string.flatMap(Role.init) else { return nil }
        let parts = json["content"]?.array?.compactMap { $0["text"]?.string }
        let calls = (json["tool_calls"]?.array ?? []).compactMap { call -> ToolCall? in
            guard let name = call["function"]?["name"]?.string else { return nil }
            return ToolCall(
                id: call["id"]?.string, name: name, arguments: call["function"]?["arguments"]?.object ?? [:],
                unreadArguments: call["function"]?["arguments"]?.string)
        }
        self.init(
            role: role, content: json["content"]?.string ?? parts?.first,
            reasoning: json["reasoning_content"]?.string, toolCalls: calls,
            toolCallID: json["tool_call_id"]?.string, name: json["name"]?.string,
            images: images.compactMap(Self.picture))
    }

    private static func picture(_ json: JSON) -> Picture? {
        if let address = json["address"]?.string { return .address(address) }
        guard let type = json["media_type"]?.string, let text = json["base64"]?.string,
            let bytes = Base64.bytes(text)
        else { return nil }
        return .bytes(bytes, mediaType: type)
    }
}

extension KeptConversation {
    /// `hub chats show --json`, and the export for programs.
    public var json: JSONObject {
        [
            "id": .string(id), "created_at": .string(Timestamp.iso8601(createdAt)),
            "updated_at": .string(Timestamp.iso8601(updatedAt)), "model": .string(model),
            "provider": .string(provider), "title": .string(title), "system": system.map { .string($0) },
            "messages": .array(turns.map(Self.json)),
        ]
    }

    private static func json(_ turn: Turn) -> JSON {
        var object = turn.message.json.object ?? [:]
        object["at"] = .string(Timestamp.iso8601(turn.at))
        for (key, value) in turn.details.object?.members ?? [] where key != "images" { object[key] = value }
        return .object(object)
    }

    /// The conversation as Markdown.
    public var markdown: String {
        var text = "# \(title.isEmpty ? "Conversation" : title)\n\n"
        text += "\(id.isEmpty ? "" : "\(id), ")\(Timestamp.iso8601(createdAt)), \(model)\n"
        if let system { text += "\n## System\n\n\(system)\n" }
        for turn in turns {
            let who =
                switch turn.message.role {
                case .user: "You"
                case .assistant: turn.model ?? model
                case .system: "System"
                case .tool: "Tool \(turn.message.name ?? "")"
                }
            text += "\n## \(who)\n\n"
            if let content = turn.message.content, !content.isEmpty { text += content + "\n" }
            for call in turn.message.toolCalls {
                text += "\nCalls `\(call.name)` with `\(call.argumentText)`\n"
            }
            if !turn.sources.isEmpty { text += "\n" }
            for (index, source) in turn.sources.enumerated() { text += "\(index + 1). \(source)\n" }
        }
        return text
    }
}
