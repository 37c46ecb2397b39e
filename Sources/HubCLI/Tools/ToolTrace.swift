import HubChatTemplates
import HubCore
import InferenceKit

/// What happens between the pieces of an answer.
enum ToolStep: Sendable {
    case call(GeneratedToolCall)
    case output(Transcript.ToolOutput)
}

/// The calls before an answer and what the tools answered, as messages of the conversation.
final class ToolTrace: Sendable {
    private struct Order {
        /// Pieces of the answer that were made, and those of them that were read.
        var (made, readPieces) = (0, 0)
        /// Steps that nobody has heard of, each with the pieces made before it.
        var waiting: [(after: Int, step: ToolStep)] = []
    }

    private let read = Lock<[Message]>([])
    private let order = Lock(Order())
    private let onStep: (@Sendable (ToolStep) -> Void)?

    /// - Parameter onStep: hears each step when the pieces before it were read, and at once if all were.
    init(_ onStep: (@Sendable (ToolStep) -> Void)? = nil) { self.onStep = onStep }

    /// A piece of the answer is made.
    func makes() { order.withLock { $0.made += 1 } }

    /// A piece of the answer was read.
    func reads() {
        order.withLock { order in
            order.readPieces += 1
            tell(&order)
        }
    }

    /// A step is done.
    func takes(_ step: ToolStep) {
        order.withLock { order in
            order.waiting.append((order.made, step))
            tell(&order)
        }
    }

    private func tell(_ order: inout Order) {
        while let first = order.waiting.first, first.after <= order.readPieces {
            order.waiting.removeFirst()
            onStep?(first.step)
        }
    }

    /// In the order in which they came; empty if nothing was called.
    var messages: [Message] { read.withLock { $0 } }

    /// The texts of the model before its answer.
    var texts: [String] { messages.filter { $0.role == .assistant }.compactMap(\.content) }

    /// Takes what a request has added to a transcript.
    func read(_ entries: [Transcript.Entry]) {
        let messages = entries.compactMap { entry -> Message? in
            switch entry {
            case .toolCalls(let turn):
                Message(
                    role: .assistant, content: turn.text.isEmpty ? nil : turn.text,
                    // Arguments that are not an object cannot be sent: the tool's answer says that.
                    toolCalls: turn.calls.map {
                        (try? $0.parsed()) ?? Message.ToolCall(id: $0.id, name: $0.name)
                    })
            case .toolOutput(let output): .tool(output.text, callID: output.callID, name: output.name)
            case .instructions, .prompt, .response, .shortening: nil
            }
        }
        read.withLock { $0 = messages }
    }
}

extension [Message] {
    /// This for a model without tools, whose template may know no calls: what was said around them is one answer.
    var withoutToolCalls: [Message] {
        guard contains(where: { $0.role == .tool }) else { return self }
        var out: [Message] = []
        for message in self where message.role != .tool {
            guard message.role == .assistant else {
                out.append(message)
                continue
            }
            let before = out.last?.role == .assistant ? out.removeLast().content : nil
            let texts = [before, message.content].compactMap(\.self).filter { !$0.isEmpty }
            out.append(.assistant(texts.joined(separator: "\n\n")))
        }
        // Some providers refuse an empty turn.
        return out.map { $0.role == .assistant && $0.content == "" ? .assistant("(no answer)") : $0 }
    }
}
