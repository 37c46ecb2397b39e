import HubChatTemplates
import HubCore

/// Calls in a model's own form, for templates that do not handle them.
extension AnswerFormat {
    /// Calls as the model writes them; nil for a form whose templates all write it themselves.
    func written(_ written: [Message.ToolCall]) -> String? {
        guard let calls else { return nil }
        let closing = calls.closing ?? ""
        switch calls.syntax {
        case .json(let key):
            let texts = written.map { "{\"name\": \(Self.text($0.name)), \"\(key)\": \($0.argumentText)}" }
            guard !mayBeBare else { return texts.joined(separator: "; ") }
            return texts.map { calls.opening + "\n" + $0 + "\n" + closing }.joined(separator: "\n")
        case .list(let name, let key, _):
            let texts = written.map {
                "{\"\(name)\": \(Self.text($0.name)), \"\(key)\": \($0.argumentText)}"
            }
            return calls.opening + "[" + texts.joined(separator: ", ") + "]" + closing
        case .keyed:
            let texts = written.map { "{\(Self.text($0.name)): \($0.argumentText)}" }
            return calls.opening + "[" + texts.joined(separator: ", ") + "]" + closing
        case .python:
            let texts = written.map { call in
                let arguments = call.arguments.members.map { $0.key + "=" + Self.python($0.value) }
                return "\(call.name)(\(call.unreadArguments ?? arguments.joined(separator: ", ")))"
            }
            return calls.opening + "[" + texts.joined(separator: ", ") + "]" + closing
        case .named(let separator):
            let texts = written.map { calls.opening + $0.name + separator + $0.argumentText + closing }
            return (calls.wrapping?.opening ?? "") + texts.joined() + (calls.wrapping?.closing ?? "")
        case .listOrNamed, .invocations, .parameters, .elements, .marked, .channels: return nil
        }
    }

    private static func text(_ name: String) -> String { JSON.string(name).text() }

    private static func python(_ value: JSON) -> String {
        switch value {
        case .null: "None"
        case .bool(let bool): bool ? "True" : "False"
        case .array(let elements): "[" + elements.map(python).joined(separator: ", ") + "]"
        case .object(let object):
            "{" + object.members.map { text($0.key) + ": " + python($0.value) }.joined(separator: ", ") + "}"
        default: value.text()
        }
    }

    /// A system prompt that describes the tools, where the template does not: DeepSeek 3.1's words
    /// (https://huggingface.co/deepseek-ai/DeepSeek-V3.1#toolcall). Nil for a form without such words.
    func description(of tools: [JSON]) -> String? {
        guard let calls, case .named(let separator) = calls.syntax, let wrapping = calls.wrapping else {
            return nil
        }
        var text = "## Tools\nYou have access to the following tools:\n"
        for function in tools.compactMap({ $0["function"] }) {
            text +=
                "\n### \(function["name"]?.string ?? "")\nDescription: \(function["description"]?.string ?? "")\n"
            text += "\nParameters: \((function["parameters"] ?? .object([:])).text())\n"
        }
        return text + """

            IMPORTANT: ALWAYS adhere to this exact format for tool use:
            \(wrapping.opening)\(calls.opening)tool_call_name\(separator)tool_call_arguments\(calls.closing ?? "")\
            {additional_tool_calls}\(wrapping.closing)

            Where:
            - `tool_call_name` must be an exact match to one of the available tools
            - `tool_call_arguments` must be valid JSON that strictly follows the tool's Parameters Schema
            - For multiple tool calls, chain them directly without separators or spaces
            """
    }
}
