import HubChatTemplates
import HubCore
import HubGrammar
import InferenceKit

/// A request of Ollama's for text: of a conversation or of a prompt.
struct OllamaRequest: Sendable {
    enum Subject: Sendable {
        case messages([Message])
        /// A text that is continued.
        case raw(String)
        /// Nothing: the model is opened, or closed.
        case nothing
    }

    var model: String
    var subject: Subject
    var options: ChatOptions
    var config: GenerateConfig
    var keepAlive: KeepAlive?
    var isStream: Bool
    var logprobs: Bool

    private init(_ fields: Fields, _ subject: Subject) throws(APIFault) {
        model = try fields.required("model", try fields.string("model", "name"))
        self.subject = subject
        let settings = try fields.object("options") ?? Fields([:], prefix: "options.")
        config = try settings.sampling(limit: ["num_predict"], window: 64)
        // Here 0 is no limit, too.
        if config.maxTokens == 0 { config.maxTokens = GenerateConfig.Bounds.maxTokens.upperBound }
        // Models are opened with the server's context. Clients ask for much more than they need, so only what does not fit fails.
        _ = try settings.int("num_ctx", from: 1)
        try settings.refuse("mirostat", unless: [0], "models here are not sampled so")
        keepAlive = try fields.keepAlive()
        isStream = try fields.bool("stream") ?? true
        logprobs = try fields.bool("logprobs") ?? false
        if logprobs {
            config.topLogprobs = try fields.int("top_logprobs", in: GenerateConfig.Bounds.topLogprobs) ?? 0
        }
        options = ChatOptions(
            tools: try fields.array("tools") ?? [], responseFormat: try Self.format(fields["format"]),
            reasoningEffort: try Self.effort(fields["think"]))
        try fields.refuse("template", unless: [""], "the template is the model's own")
        try fields.refuse("suffix", unless: [""], "models here insert nothing")
        try fields.refuse("context", unless: [.array([])], "send the conversation as messages")
    }

    private static func format(_ json: JSON?) throws(APIFault) -> ResponseFormat? {
        switch json {
        case nil, .string("")?: nil
        case .string("json")?: .jsonObject
        case .object?: json.map { .jsonSchema(name: "answer", schema: $0) }
        default: throw .invalid("'format' must be \"json\" or a schema", param: "format")
        }
    }

    private static func effort(_ json: JSON?) throws(APIFault) -> ReasoningEffort? {
        switch json {
        case nil: return nil
        case .bool(let isOn)?: return isOn ? .medium : ReasoningEffort.none
        case .string(let word)?:
            if let effort = ReasoningEffort(rawValue: word) { return effort }
            fallthrough
        default: throw .invalid("'think' must be true, false, low, medium or high", param: "think")
        }
    }

    // MARK: The two calls

    /// `/api/chat`
    init(chat fields: Fields) throws(APIFault) {
        let list = try fields.array("messages") ?? []
        try self.init(fields, list.isEmpty ? .nothing : .messages(try Self.messages(list)))
    }

    /// Ollama's messages are OpenAI's but for pictures, the reasoning's name and tool calls.
    private static func messages(_ list: [JSON]) throws(APIFault) -> [Message] {
        var changed: [JSON] = []
        for json in list {
            guard var object = json.object else { throw .invalid("a message must be an object", param: "messages") }
            object["reasoning_content"] = json["thinking"]
            if let name = json["tool_name"] { object["name"] = name }
            changed.append(.object(object))
        }
        var messages = try ReadMessages.messages(changed)
        for (number, json) in list.enumerated() {
            messages[number].images += try pictures(json["images"])
        }
        return messages
    }

    private static func pictures(_ json: JSON?) throws(APIFault) -> [Message.Picture] {
        var pictures: [Message.Picture] = []
        for picture in json?.array ?? [] {
            guard let bytes = picture.string.flatMap(Base64.bytes) else {
                throw .invalid("a picture must be base64", param: "images")
            }
            pictures.append(.bytes(bytes, mediaType: "image/unknown"))
        }
        return pictures
    }

    /// `/api/generate`
    ///
    /// - Parameter talks: whether the model has a chat template.
    init(generate fields: Fields, talks: Bool) throws(APIFault) {
        let prompt = try fields.string("prompt") ?? ""
        let images = try Self.pictures(fields["images"])
        let system = try fields.string("system") ?? ""
        let isRaw = try fields.bool("raw") ?? false || !talks
        let subject: Subject
        if prompt.isEmpty, images.isEmpty {
            subject = .nothing
        } else if isRaw {
            guard images.isEmpty else { throw .invalid("a raw prompt has no pictures", param: "images") }
            subject = .raw(system.isEmpty ? prompt : system + "\n\n" + prompt)
        } else {
            subject = .messages((system.isEmpty ? [] : [.system(system)]) + [.user(prompt, images: images)])
        }
        try self.init(fields, subject)
        if case .raw = subject, options.responseFormat != nil {
            do throws(AIError) {
                config.constraint = try options.responseFormat?.grammar().map { .answer($0) }
            } catch {
                throw APIFault(error)
            }
        }
    }

    /// The request on a model; nil where there is nothing to write.
    func turn(_ cached: CachedModel) -> Turn? {
        let choice: Turn.Choice
        switch subject {
        case .nothing: return nil
        case .messages(let messages):
            choice = { [options] model, config in
                try await model.chat.stream(messages: messages, options: options, config: config)
            }
        case .raw(let prompt):
            choice = { model, config in try model.language.generate(prompt: prompt, config: config) }
        }
        return Turn(cached, config, keepAlive: keepAlive, count: 1, choice)
    }
}
