import HubChatTemplates
import HubCore
import InferenceKit

/// A request for chat completions.
struct ChatRequest: GenerationRequest {
    var model: String
    var messages: [Message]
    var options: ChatOptions
    var config: GenerateConfig
    var keepAlive: KeepAlive?
    var choices: Int
    var isStream: Bool
    /// Whether a last event of a stream has the usage.
    var includesUsage: Bool
    var logprobs: Bool
    /// Whether one call is the most.
    var isOneCall: Bool

    init(_ fields: Fields) throws(APIFault) {
        model = try fields.model()
        messages = try ReadMessages.messages(try fields.required("messages", try fields.array("messages")))
        config = try fields.sampling(limit: ["max_completion_tokens", "max_tokens"])
        keepAlive = try fields.keepAlive()
        choices = try fields.choices()
        isStream = try fields.bool("stream") ?? false
        includesUsage = try fields.object("stream_options")?.bool("include_usage") ?? false
        logprobs = try fields.bool("logprobs") ?? false
        if let top = try fields.int("top_logprobs", in: GenerateConfig.Bounds.topLogprobs) {
            guard logprobs || top == 0 else {
                throw .invalid("'top_logprobs' needs 'logprobs'", param: "top_logprobs")
            }
            if logprobs { config.topLogprobs = top }
        } else if logprobs {
            config.topLogprobs = 0
        }
        isOneCall = try fields.bool("parallel_tool_calls") == false
        options = ChatOptions(
            tools: try fields.array("tools") ?? [], toolChoice: try Self.toolChoice(fields["tool_choice"]),
            responseFormat: try Self.format(fields), reasoningEffort: try Self.effort(fields))
        // A choice among no tools says nothing, as `none` and `auto` do.
        if options.tools.isEmpty, [.auto, ToolChoice.none].contains(options.toolChoice) {
            options.toolChoice = nil
        }
        try Self.refuseOthers(fields)
    }

    private static func refuseOthers(_ fields: Fields) throws(APIFault) {
        try fields.refuse("functions", unless: [.array([])], "write the functions as 'tools'")
        try fields.refuse("function_call", unless: ["none"], "write it as 'tool_choice'")
        try fields.refuse("audio", "no model here speaks")
        try fields.refuse("modalities", unless: [.array(["text"])], "models here write text only")
        try fields.refuse("web_search_options", "nothing is searched here")
        try fields.refuse("store", unless: [false], "nothing is stored here")
        try fields.refuse("mm_processor_kwargs", "no model here sees")
    }

    private static func toolChoice(_ json: JSON?) throws(APIFault) -> ToolChoice? {
        switch json?.string {
        case "auto": return .auto
        case "none": return ToolChoice.none
        case "required": return .required
        default: break
        }
        guard let json else { return nil }
        guard let name = json["function"]?["name"]?.string ?? json["name"]?.string else {
            throw .invalid(
                "'tool_choice' must be auto, none, required or a function's name", param: "tool_choice")
        }
        return .tool(name)
    }

    /// `response_format`, or what llama.cpp takes besides: `json_schema`, `grammar`.
    private static func format(_ fields: Fields) throws(APIFault) -> ResponseFormat? {
        if let grammar = try fields.string("grammar") { return .gbnf(grammar) }
        if let schema = fields["json_schema"] { return .jsonSchema(name: "answer", schema: schema) }
        guard let format = try fields.object("response_format") else { return nil }
        switch try format.string("type") {
        case "text": return nil
        case "json_object": return format["schema"].map { .jsonSchema(name: "answer", schema: $0) } ?? .jsonObject
        case "json_schema":
            let named = try format.object("json_schema") ?? format
            let schema = try named.required("schema", named["schema"])
            return .jsonSchema(
                name: try named.string("name") ?? "answer", schema: schema,
                isStrict: try named.bool("strict") ?? true)
        case let type:
            throw .invalid(
                "'response_format.type' is \"\((type ?? "").printable)\"; it can be text, json_object or json_schema",
                param: "response_format.type")
        }
    }

    /// How much the model reasons: OpenAI's word, or the switch that others put into the template's variables.
    private static func effort(_ fields: Fields) throws(APIFault) -> ReasoningEffort? {
        if let word = try fields.string("reasoning_effort") {
            guard let effort = ReasoningEffort(rawValue: word) else {
                let known = ReasoningEffort.allCases.map(\.rawValue).joined(separator: ", ")
                throw .invalid("'reasoning_effort' must be one of \(known)", param: "reasoning_effort")
            }
            return effort
        }
        guard let variables = try fields.object("chat_template_kwargs") else { return nil }
        let known = ["enable_thinking", "thinking"]
        if let other = variables.object.keys.first(where: { !known.contains($0) }) {
            throw .invalid(
                "'chat_template_kwargs.\(other.printable)' is not passed to templates here",
                param: "chat_template_kwargs")
        }
        for key in known {
            if let isOn = try variables.bool(key) { return isOn ? .medium : ReasoningEffort.none }
        }
        return nil
    }

    /// The request on a model.
    func turn(_ cached: CachedModel) -> Turn {
        Turn(cached, config, keepAlive: keepAlive, count: choices) { [messages, options] model, config in
            try await model.chat.stream(messages: messages, options: options, config: config)
        }
    }
}
