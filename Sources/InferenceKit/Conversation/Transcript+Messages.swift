public import HubChatTemplates
import HubCore

extension Transcript {
    /// A conversation that was kept as messages. Several system messages become one.
    public init(_ messages: some Collection<Message>) {
        let instructions = messages.filter { $0.role == .system }.compactMap(\.content).filter { !$0.isEmpty }
        if !instructions.isEmpty { entries = [.instructions(instructions.joined(separator: "\n\n"))] }
        for message in messages {
            let text = message.content ?? ""
            switch message.role {
            case .system: break
            case .user: entries.append(.prompt(Prompt(text, images: message.images)))
            case .tool:
                entries.append(
                    .toolOutput(
                        ToolOutput(
                            callID: message.toolCallID ?? "", name: message.name ?? "", text: text, isError: false))
                )
            case .assistant where !message.toolCalls.isEmpty:
                let calls = message.toolCalls.map {
                    GeneratedToolCall(id: $0.id, name: $0.name, arguments: $0.argumentText)
                }
                entries.append(.toolCalls(ToolCalls(calls: calls, text: text, reasoning: message.reasoning)))
            case .assistant:
                entries.append(.response(Response(text: text, reasoning: message.reasoning, finishReason: .stop)))
            }
        }
    }

    /// The conversation as a model gets it: the instructions, a summary of what was dropped, and the turns after it.
    /// Reasoning is sent only with the calls of the turn under way: models are trained without that of earlier ones.
    public var messages: [Message] {
        messages(droppingTurns: 0, summary: lastShortening?.summary)
    }

    /// - Parameters:
    ///   - dropped: further turns to leave out, the oldest first.
    ///   - summary: what is sent in place of all turns that are left out.
    func messages(droppingTurns dropped: Int, summary: String?) -> [Message] {
        let starts = starts
        let first = firstSentTurn + dropped
        var out = instructions.map { [Message.system($0)] } ?? []
        guard first < starts.count, let last = starts.last else { return out }
        // What was said before the first prompt belongs to it: a greeting.
        for place in (first == 0 ? 0 : starts[first])..<entries.count {
            guard var message = message(entries[place], isUnderWay: place > last) else { continue }
            if place == starts[first], let summary, let text = message.content {
                message.content = Self.introduced(summary) + text
            }
            out.append(message)
        }
        return out
    }

    /// A summary before a prompt: not every template takes it as a message of its own.
    static func introduced(_ summary: String) -> String {
        "(What was said before, in short: \(summary))\n\n"
    }

    private func message(_ entry: Entry, isUnderWay: Bool) -> Message? {
        switch entry {
        case .instructions, .shortening: nil
        case .prompt(let prompt): .user(prompt.text, images: prompt.images)
        case .toolCalls(let turn):
            Message(
                role: .assistant, content: turn.text.isEmpty ? nil : turn.text,
                reasoning: isUnderWay ? turn.reasoning : nil, toolCalls: turn.calls.map(Self.call))
        case .toolOutput(let output): .tool(output.text, callID: output.callID, name: output.name)
        // Some providers refuse an empty turn.
        case .response(let response): .assistant(response.text.isEmpty ? "(no answer)" : response.text)
        }
    }

    /// Arguments that are no object cannot be sent: the tool's answer says that they were not.
    private static func call(_ call: GeneratedToolCall) -> Message.ToolCall {
        (try? call.parsed()) ?? Message.ToolCall(id: call.id, name: call.name)
    }

    /// A turn as text, for a summary.
    func text(ofTurn turn: Int) -> String {
        let starts = starts
        let end = turn + 1 < starts.count ? starts[turn + 1] : entries.count
        var lines: [String] = []
        for entry in entries[starts[turn]..<end] {
            switch entry {
            case .prompt(let prompt): lines.append("User: \(prompt.text)")
            case .response(let response): lines.append("Assistant: \(response.text)")
            case .toolCalls(let turn):
                if !turn.text.isEmpty { lines.append("Assistant: \(turn.text)") }
                lines += turn.calls.map { "Assistant calls \($0.name): \($0.arguments)" }
            case .toolOutput(let output): lines.append("\(output.name) answers: \(output.text)")
            case .instructions, .shortening: break
            }
        }
        return lines.joined(separator: "\n")
    }
}
