import HubChatTemplates
import HubCore
import InferenceKit

/// A conversation on the terminal: lines in, answers out, and commands that begin with a slash. ^C ends an answer, or
/// clears the line; ^D ends the conversation.
struct ChatSession {
    private enum Command: String, CaseIterable {
        case help, system, retry, stats, quit

        var doc: (usage: String, text: String) {
            switch self {
            case .help: ("/help", "this list")
            case .system: ("/system TEXT", "change the system message; without TEXT there is none")
            case .retry: ("/retry", "another answer to the last message")
            case .stats: ("/stats", "tokens and speed of the last answer")
            case .quit: ("/quit", "end the conversation, as Ctrl-D does")
            }
        }
    }

    private var conversation: Conversation
    /// What belongs to the first message: files.
    private var attached: Message?
    private let context: Context
    private let editor: LineEditor
    /// Ends the answer that is being made.
    private let stop = Lock<(@Sendable () -> Void)?>(nil)

    /// - Parameter attached: a text and pictures that are put before the first message.
    init(_ conversation: Conversation, attached: Message? = nil, _ context: Context) throws(AIError) {
        self.conversation = conversation
        self.attached = attached
        self.context = context
        editor = try LineEditor(prompt: "> ", suspension: context.suspension)
    }

    /// - Parameter once: the command that answers once.
    /// - Throws: ``ErrorCode/invalidInput`` where nobody sits at a terminal.
    static func checkTerminal(_ context: Context, once: String) throws(AIError) {
        guard context.isInteractive, context.output.settings.outputIsTerminal, context.mode == .human else {
            throw AIError(
                .invalidInput, "a conversation needs a terminal, and no --json or --quiet",
                advice: "with a PROMPT it answers once: \(once)")
        }
    }

    mutating func run() async throws {
        context.interruption.kept = "a conversation is not kept"
        context.interruption.divert { [stop] in stop.withLock { $0 }?() }
        defer { context.interruption.divert(nil) }
        context.output.line(
            Styled("/help lists the commands; Ctrl-C ends an answer, Ctrl-D the conversation", .faint))
        while true {
            context.output.flush()
            guard let line = try await editor.line() else {
                // The cursor stands behind the prompt.
                context.output.line()
                return
            }
            let text = String(line.drop(while: \.isWhitespace))
            if text.isEmpty { continue }
            editor.remember(line)
            guard text.hasPrefix("/") else {
                let message = self.message(text)
                try await say { conversation, each in try await conversation.answer(message, each: each) }
                // It stays attached until it was said.
                if !conversation.turns.isEmpty { attached = nil }
                continue
            }
            guard try await obey(text) else { return }
        }
    }

    /// A line that was typed, behind what is attached.
    private func message(_ text: String) -> Message {
        guard let attached else { return .user(text) }
        return .user((attached.content ?? "") + text, images: attached.images)
    }

    /// - Returns: whether the conversation continues.
    private mutating func obey(_ line: String) async throws -> Bool {
        let words = line.dropFirst().split(separator: " ", maxSplits: 1).map(String.init)
        guard let command = words.first.flatMap(Command.init) else {
            context.output.note("unknown command \(line.printable); /help lists them")
            return true
        }
        switch command {
        case .quit: return false
        case .help:
            var table = Table([.init("COMMAND"), .init("", least: 20)])
            for command in Command.allCases { table.add([Styled(command.doc.usage), Styled(command.doc.text)]) }
            context.output.table(table)
        case .system: conversation.system = words.count > 1 ? words[1] : nil
        case .stats: await showStatistics()
        case .retry:
            guard !conversation.turns.isEmpty else {
                context.output.note("there is no message to answer again")
                return true
            }
            try await say { conversation, each in try await conversation.retry(each: each) }
        }
        return true
    }

    /// Shows an answer as it comes. What fails is said, and the conversation continues.
    private mutating func say(
        _ answer:
            @escaping @Sendable (inout Conversation, (GenerationChunk) -> Void) async throws -> GenerationResult?
    ) async throws {
        let output = context.output
        let work = Task { [conversation] in
            var conversation = conversation
            var printer = AnswerPrinter(output)
            let result = try await answer(&conversation) { printer.show($0) }
            return (conversation, result)
        }
        stop.withLock { $0 = { work.cancel() } }
        defer { stop.withLock { $0 = nil } }
        do {
            let (after, result) = try await withTaskCancellationHandler {
                try await work.value
            } onCancel: {
                work.cancel()
            }
            conversation = after
            output.stream("\n")
            if result?.finishReason == .length {
                output.note("the answer was cut: --max-tokens, or the context is full")
            } else if result?.finishReason == .contentFilter {
                output.note("the provider withheld the rest of the answer")
            }
        } catch {
            output.stream("\n")
            var error = AIError.wrapping(error)
            if error.code == .invalidInput, conversation.speaker.isLocal {
                error.specificAdvice =
                    error.specificAdvice ?? "the message was not said; a longer --context has room for more"
            }
            if error.code != .cancelled { output.failure(error) }
        }
        try Task.checkCancellation()
    }

    private func showStatistics() async {
        guard let last = conversation.last else { return context.output.note("there is no answer yet") }
        func counted(_ count: Int) -> String { Humanize.plural(count, "token") }
        let output = context.output
        let reused = last.reusedTokens.map { ", \($0) of them reused" } ?? ""
        output.fact("prompt", last.promptTokens.map { counted($0) + reused })
        output.fact(
            "answer", last.answerTokens.map { "\(counted($0)), \(Int(last.tokensPerSecond.rounded())) tokens/s" })
        output.fact("first", last.ttftSeconds.map { "after \(Int(($0 * 1000).rounded())) ms" })
        output.fact("guessed", last.draftedTokens > 0 ? "\(last.draftedTokens), \(last.acceptedTokens) right" : "")
        output.fact("served by", last.servedBy)
        guard let prompt = last.promptTokens, let answer = last.answerTokens,
            let positions = await conversation.speaker.context
        else { return }
        output.fact("context", "\(Humanize.grouped(prompt + answer)) of \(Humanize.grouped(positions)) tokens")
    }
}
