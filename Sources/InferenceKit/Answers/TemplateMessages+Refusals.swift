import HubChatTemplates
import HubCore

/// Conversations that a template refuses as they are: other forms of the same, as clients of every server expect them to work.
extension TemplateMessages {
    /// Renders a conversation. If the template refuses its roles, system messages go before the next message of the user,
    /// and messages of one role in a row become one. If it needs the arguments of calls by name, the text of unread ones becomes
    /// one argument, `arguments`.
    ///
    /// - Throws: what ``ChatTemplate/render(json:_:)`` throws for the conversation as it is.
    static func render(
        _ messages: [Message], _ template: ChatTemplate, _ format: AnswerFormat, _ options: ChatTemplate.Options
    ) throws(AIError) -> ChatTemplate.Rendering {
        func rendering(_ messages: [Message]) throws(AIError) -> ChatTemplate.Rendering {
            try TemplateTools.render(messages, template, format, options)
        }
        do throws(AIError) {
            let text = try rendering(messages)
            guard dropsInstructions(messages, text.text, template, format) else { return text }
            return (try? rendering(folded(messages))) ?? text
        } catch {
            for other in otherForms(messages, error) {
                if let text = try? rendering(other) { return text }
            }
            throw error
        }
    }

    /// What else may be tried, the least changed first.
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

    /// The system messages as one at the beginning.
    private static func leading(_ messages: [Message]) -> [Message] {
        let system = messages.filter { $0.role == .system }
        guard !system.isEmpty else { return messages }
        return [.system(joined(system))] + messages.filter { $0.role != .system }
    }

    /// System messages before the text of the user's message that follows, or as such a message.
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

    /// Messages of one role in a row as one. Calls and results of tools stay as they are.
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

    /// Arguments that are no object as an object of one.
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

    // MARK: Templates that pass over instructions

    /// Whether a template leaves out system messages without a word. One that writes them in another form has its say.
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
