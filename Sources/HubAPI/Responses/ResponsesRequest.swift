import HubChatTemplates
import HubCore
import InferenceKit

/// A request of OpenAI's Responses protocol: a chat in other words.
struct ResponsesRequest: Sendable {
    /// The chat that it comes down to.
    var chat: ChatRequest
    /// The members of the request that the answer repeats.
    var repeated: JSONObject

    init(_ fields: Fields) throws(APIFault) {
        try Self.refuseState(fields)
        var members: [(key: String, value: JSON)] = []
        // What both protocols have in the same words.
        let same = [
            "model", "temperature", "top_p", "tool_choice", "parallel_tool_calls", "stream", "seed", "stop",
            "presence_penalty", "frequency_penalty", "top_k", "min_p", "ttl",
        ]
        for key in same { if let value = fields[key] { members.append((key, value)) } }
        members.append(("messages", .array(try Self.messages(fields))))
        if let most = fields["max_output_tokens"] { members.append(("max_completion_tokens", most)) }
        if let effort = try fields.object("reasoning")?["effort"] { members.append(("reasoning_effort", effort)) }
        if let format = try fields.object("text")?["format"] { members.append(("response_format", format)) }
        let tools = try Self.tools(fields)
        if !tools.isEmpty { members.append(("tools", .array(tools))) }
        chat = try ChatRequest(Fields(JSONObject(members)))
        repeated = [
            "instructions": fields["instructions"] ?? .null,
            "max_output_tokens": fields["max_output_tokens"] ?? .null,
            "metadata": fields["metadata"] ?? .object([:]),
            "parallel_tool_calls": .bool(!chat.isOneCall), "temperature": .double(chat.config.temperature),
            "top_p": .double(chat.config.topP ?? 1), "tool_choice": fields["tool_choice"] ?? "auto",
            "tools": fields["tools"] ?? .array([]), "reasoning": fields["reasoning"] ?? .object([:]),
            "text": fields["text"] ?? .object(["format": .object(["type": "text"])]), "truncation": "disabled",
            "previous_response_id": .null, "store": false,
        ]
    }

    /// Answers are not kept, so nothing can refer to one.
    private static func refuseState(_ fields: Fields) throws(APIFault) {
        let kept = "nothing is stored here; send the whole conversation as 'input'"
        try fields.refuse("previous_response_id", kept)
        try fields.refuse("conversation", kept)
        try fields.refuse("store", unless: [false], kept)
        try fields.refuse("background", unless: [false], "answers are made while the client waits")
        try fields.refuse("prompt", "prompts are not kept here")
        try fields.refuse("truncation", unless: ["disabled"], "conversations are not shortened here")
        try fields.refuse("max_tool_calls", "tools are called by the client")
    }

    // MARK: Input

    private static func messages(_ fields: Fields) throws(APIFault) -> [JSON] {
        var messages: [JSON] = []
        if let text = try fields.string("instructions") { messages.append(message("system", .string(text))) }
        let input = try fields.required("input", fields["input"])
        if input.string != nil { return messages + [message("user", input)] }
        guard let items = input.array else { throw .invalid("'input' must be a text or a list", param: "input") }
        var calls: [JSON] = []
        var reasoning = ""
        func flush() {
            guard !calls.isEmpty else { return }
            var turn: JSONObject = ["role": "assistant", "tool_calls": .array(calls)]
            if !reasoning.isEmpty { turn["reasoning_content"] = .string(reasoning) }
            messages.append(.object(turn))
            (calls, reasoning) = ([], "")
        }
        for (number, item) in items.enumerated() {
            let type = item["type"]?.string ?? "message"
            if type != "function_call" { flush() }
            switch type {
            case "message":
                guard var turn = item.object else {
                    throw .invalid("'input[\(number)]' must be an object", param: "input[\(number)]")
                }
                if turn["role"] == "assistant", !reasoning.isEmpty {
                    turn["reasoning_content"] = .string(reasoning)
                    reasoning = ""
                }
                messages.append(.object(turn))
            case "function_call":
                calls.append(
                    .object([
                        "id": item["call_id"] ?? item["id"], "type": "function",
                        "function": .object(["name": item["name"], "arguments": item["arguments"]]),
                    ]))
            case "function_call_output":
                messages.append(
                    .object(["role": "tool", "tool_call_id": item["call_id"], "content": item["output"] ?? ""]))
            case "reasoning":
                reasoning = (item["content"]?.array ?? []).compactMap { $0["text"]?.string }.joined(separator: "\n")
            default:
                throw .invalid(
                    "'input[\(number)]' is of the type \"\(type.printable)\", which is not understood here",
                    param: "input[\(number)].type")
            }
        }
        flush()
        return messages
    }

    private static func message(_ role: String, _ content: JSON) -> JSON {
        .object(["role": .string(role), "content": content])
    }

    /// The tools as chats have them: in a `function` of their own.
    private static func tools(_ fields: Fields) throws(APIFault) -> [JSON] {
        var tools: [JSON] = []
        for tool in try fields.array("tools") ?? [] {
            guard tool["type"] == "function", var function = tool.object else {
                throw .invalid(
                    "tools of the type \"\((tool["type"]?.string ?? "").printable)\" are not run here, only functions",
                    param: "tools")
            }
            function["type"] = nil
            tools.append(.object(["type": "function", "function": .object(function)]))
        }
        return tools
    }
}
