import HubChatTemplates
public import HubCore

extension Transcript: Codable {
    /// The conversation as JSON: `{"version": 1, "entries": [{"type": "prompt", "text": "Hi"}, ...]}`.
    public var json: JSON {
        .object(["version": 1, "entries": .array(entries.map(Self.json))])
    }

    /// A conversation from its JSON.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for JSON that is not a transcript, and for a later version.
    public init(json: JSON) throws(AIError) {
        guard let list = json["entries"]?.array else { throw Self.fault("it has no entries") }
        guard json["version"]?.int == 1 else { throw Self.fault("its version is not 1") }
        for entry in list { entries.append(try Self.entry(entry)) }
    }

    /// Reads ``json`` from any decoder.
    public init(from decoder: any Decoder) throws { try self.init(json: try JSON(from: decoder)) }

    /// Writes ``json`` to any encoder.
    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }

    private static func fault(_ what: String) -> AIError {
        AIError(.invalidInput, "this is not the transcript of a conversation: \(what)")
    }

    // MARK: Writing

    private static func json(_ entry: Entry) -> JSON {
        switch entry {
        case .instructions(let text): .object(["type": "instructions", "text": .string(text)])
        case .prompt(let prompt):
            .object([
                "type": "prompt", "text": .string(prompt.text),
                "images": prompt.images.isEmpty ? nil : .array(prompt.images.map(json)),
            ])
        case .toolCalls(let turn):
            .object([
                "type": "tool_calls", "text": turn.text.isEmpty ? nil : .string(turn.text),
                "reasoning": turn.reasoning.map { .string($0) },
                "calls": .array(
                    turn.calls.map {
                        .object([
                            "id": $0.id.map { .string($0) }, "name": .string($0.name),
                            "arguments": .string($0.arguments),
                        ])
                    }),
            ])
        case .toolOutput(let output):
            .object([
                "type": "tool_output", "call_id": .string(output.callID), "name": .string(output.name),
                "text": .string(output.text), "is_error": .bool(output.isError),
            ])
        case .response(let response):
            .object([
                "type": "response", "text": .string(response.text),
                "reasoning": response.reasoning.map { .string($0) },
                "finish_reason": .string(response.finishReason.rawValue),
            ])
        case .shortening(let trace): json(trace)
        }
    }

    private static func json(_ trace: Shortening) -> JSON {
        .object([
            "type": "shortening", "policy": .string(trace.policy.rawValue),
            "dropped_turns": .int(Int64(trace.droppedTurns)), "kept_turns": .int(Int64(trace.keptTurns)),
            "prompt_tokens": .int(Int64(trace.promptTokens)), "context_tokens": .int(Int64(trace.contextTokens)),
            "summary": trace.summary.map { .string($0) },
        ])
    }

    private static func json(_ picture: Message.Picture) -> JSON {
        switch picture {
        case .address(let address): .object(["address": .string(address)])
        case .bytes(let bytes, let mediaType):
            .object(["media_type": .string(mediaType), "base64": .string(Base64.text(bytes))])
        }
    }

    // MARK: Reading

    private static func entry(_ json: JSON) throws(AIError) -> Entry {
        func text(_ key: String) throws(AIError) -> String {
            guard let text = json[key]?.string else { throw fault("an entry has no \(key)") }
            return text
        }
        func number(_ key: String) throws(AIError) -> Int {
            guard let number = json[key]?.int, number >= 0 else { throw fault("an entry has no \(key)") }
            return Int(clamping: number)
        }
        let kind = try text("type")
        switch kind {
        case "instructions": return .instructions(try text("text"))
        case "prompt":
            var images: [Message.Picture] = []
            for picture in json["images"]?.array ?? [] { images.append(try self.picture(picture)) }
            return .prompt(Prompt(try text("text"), images: images))
        case "tool_calls":
            var calls: [GeneratedToolCall] = []
            for call in json["calls"]?.array ?? [] {
                guard let name = call["name"]?.string, let arguments = call["arguments"]?.string else {
                    throw fault("a call has no name or no arguments")
                }
                calls.append(GeneratedToolCall(id: call["id"]?.string, name: name, arguments: arguments))
            }
            return .toolCalls(
                ToolCalls(calls: calls, text: json["text"]?.string ?? "", reasoning: json["reasoning"]?.string))
        case "tool_output":
            return .toolOutput(
                ToolOutput(
                    callID: try text("call_id"), name: try text("name"), text: try text("text"),
                    isError: json["is_error"]?.bool ?? false))
        case "response":
            return .response(
                Response(
                    text: try text("text"), reasoning: json["reasoning"]?.string,
                    finishReason: FinishReason(rawValue: try text("finish_reason"))))
        case "shortening":
            guard let policy = ContextPolicy(rawValue: try text("policy")) else {
                throw fault("a shortening has an unknown policy")
            }
            return .shortening(
                Shortening(
                    policy: policy, droppedTurns: try number("dropped_turns"), keptTurns: try number("kept_turns"),
                    promptTokens: try number("prompt_tokens"), contextTokens: try number("context_tokens"),
                    summary: json["summary"]?.string))
        default: throw fault("an entry is of the unknown type \"\(kind.printable)\"")
        }
    }

    private static func picture(_ json: JSON) throws(AIError) -> Message.Picture {
        if let address = json["address"]?.string { return .address(address) }
        guard let mediaType = json["media_type"]?.string, let bytes = json["base64"]?.string.flatMap(Base64.bytes)
        else { throw fault("a picture has no address and no bytes") }
        return .bytes(bytes, mediaType: mediaType)
    }
}
