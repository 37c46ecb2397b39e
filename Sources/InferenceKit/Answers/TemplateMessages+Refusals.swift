import HubChatTemplates
import HubCore

/// Other forms of a conversation that a template refuses. Clients send any order of roles and expect it to work.
extension TemplateMessages {
    /// Renders a conversation. Where the template refuses its roles, system messages are merged into the next user message,
    /// and messages of one role in a row are joined. Where it needs a call's arguments by name, arguments that are not a JSON
    /// object become one argument of an object.
    ///
    /// - Throws: what ``ChatTemplate/render(json:_:)`` throws for the unchanged conversation.
    static func render(
        _ messages: [Message], _ template: ChatTemplate, _ format: AnswerFormat, _ options: ChatTemplate.Options
    ) throws(AIError) -> ChatTemplate.Rendering {
        func rendering(_ messages: [Message]) throws(AIError) -> ChatTemplate.Rendering {
            try TemplateTools.render(messages, template, format, options)
        }
        let start = Clock.seconds
        do throws(AIError) {
            let text = try rendering(messages)
            guard dropsInstructions(messages, text.text, template, format) else { return text }
            return (try? rendering(folded(messages))) ?? text
        } catch {
            // A template that takes long to refuse is not asked a dozen times.
            for other in otherForms(messages, error) where Clock.seconds - start < mostSeconds {
                guard !Task.isCancelled else { throw AIError(.cancelled, "interrupted") }
                if let text = try? rendering(other) { return text }
            }
            throw error
        }
    }

    private static let mostSeconds = 5.0

    /// The other forms to try, the least changed first.
    private static func otherForms(_ messages: [Message], _ error: AIError) -> [[Message]] {
        var forms: [[Message]] = []
        if error.code == .invalidInput {
            let folded = folded(messages)
            forms = [leading(messages), merged(messages), merged(leading(messages)), folded, merged(folded)]
        }
        if messages.contains(where: { $0.toolCalls.contains { $0.unreadArguments != nil } }) {
            forms += ([messages] + forms).map(named)
        }
        var before = messages
        return forms.filter { form in
            defer { before = form }
            return form != messages && form != before
        }
    }

    // MARK: Forms

    /// The conversation with one system message, at its beginning.
    private static func leading(_ messages: [Message]) -> [Message] {
        let system = messages.filter { $0.role == .system }
        guard !system.isEmpty else { return messages }
        return [.system(joined(system))] + messages.filter { $0.role != .system }
    }

    /// The conversation with each system message at the start of the next user message, or as one if none follows.
    private static func folded(_ messages: [Message]) -> [Message] {
        var (out, waiting): ([Message], [Message]) = ([], [])
        for var message in messages {
            if message.role == .system {
                waiting.append(message)
                continue
            }
            if message.role == .user, !waiting.isEmpty {
                message.content = joined(waiting + [message])
                waiting = []
            }
            out.append(message)
        }
        return waiting.isEmpty ? out : out + [.user(joined(waiting))]
    }

    /// The conversation with messages of one role in a row joined. Calls and results of tools stay as they are.
    private static func merged(_ messages: [Message]) -> [Message] {
        var out: [Message] = []
        for message in messages {
            guard var last = out.last, last.role == message.role, message.role != .tool,
                last.toolCalls.isEmpty, message.toolCalls.isEmpty
            else {
                out.append(message)
                continue
            }
            last.content = joined([last, message])
            last.reasoning = message.reasoning ?? last.reasoning
            last.images += message.images
            out[out.count - 1] = last
        }
        return out
    }

    /// The conversation with arguments that are not a JSON object as the text of one named `arguments`.
    private static func named(_ messages: [Message]) -> [Message] {
        messages.map { message in
            var message = message
            for (number, call) in message.toolCalls.enumerated() {
                guard let text = call.unreadArguments else { continue }
                message.toolCalls[number] = .init(
                    id: call.id, name: call.name, arguments: ["arguments": .string(text)])
            }
            return message
        }
    }

    private static func joined(_ messages: [Message]) -> String {
        messages.compactMap(\.content).filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    // MARK: Templates that leave out instructions

    /// Whether a template silently leaves out system messages. One that writes them in a form of its own does not.
    private static func dropsInstructions(
        _ messages: [Message], _ text: String, _ template: ChatTemplate, _ format: AnswerFormat
    ) -> Bool {
        let instructions = messages.filter { $0.role == .system }.compactMap { $0.content?.trimmed }
        guard instructions.contains(where: { !text.contains($0) }) else { return false }
        let mark = "q7Zx9"
        let probe = try? template.render(
            json: json([.system(mark), .user("Hi")], template, format), ChatTemplate.Options())
        return probe?.text.contains(mark) != true
    }
}
