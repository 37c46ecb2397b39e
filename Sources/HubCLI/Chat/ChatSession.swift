import HubChatTemplates
import HubCore
import InferenceKit
import MemoryKit

/// A conversation on the terminal: messages in, answers out, and commands that begin with a slash. ^C ends an answer, or
/// clears the line; ^D ends the conversation.
struct ChatSession {
    /// Finds another model for `/model`.
    typealias ModelChange = @Sendable (String) async throws -> ModelChanged

    /// Who is asked from then on.
    struct ModelChanged: Sendable {
        var speaker: Speaker
        /// What to call them.
        var names: (model: String, provider: String)
        /// As they can be asked for again.
        var asked: (model: String, provider: String)
    }

    var conversation: Conversation
    /// nil if the conversation is not kept.
    var keeper: ConversationKeeper?
    /// nil where the model is what it is.
    var changeModel: ModelChange?
    let consent: SendingConsent
    let context: Context
    /// Files that belong to the next message.
    private(set) var attached: Attachments?
    /// The message that is edited, for the next line.
    var edited: String?
    /// Whether reasoning is shown as it comes.
    var showsReasoning = false
    private let reader: MessageReader
    /// Ends the answer that is being made.
    private let stop = Lock<(@Sendable () -> Void)?>(nil)

    /// - Parameter attached: files that are put before the first message.
    init(
        _ conversation: Conversation, keeper: ConversationKeeper? = nil, attached: Attachments? = nil,
        consent: SendingConsent = SendingConsent(isGiven: false), changeModel: ModelChange? = nil,
        _ context: Context
    ) throws(AIError) {
        self.conversation = conversation
        self.keeper = keeper
        self.attached = attached
        self.consent = consent
        self.changeModel = changeModel
        self.context = context
        reader = try MessageReader(context.suspension)
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
        context.interruption.kept =
            keeper == nil ? "a conversation is not kept" : "hub chat --continue continues it"
        context.interruption.divert { [stop] in stop.withLock { $0 }?() }
        defer { context.interruption.divert(nil) }
        let (model, provider) = conversation.names
        context.output.line(
            Styled(model, .name)
                + Styled(conversation.speaker.isLocal ? " answers on this machine" : " answers at \(provider)"))
        reader.remember(conversation.turns.filter { $0.message.role == .user }.compactMap(\.message.content))
        context.output.line(
            Styled("/help lists the commands; Ctrl-C ends an answer, Ctrl-D the conversation", .faint))
        while true {
            context.output.flush()
            let prefilled = edited
            guard let message = try await reader.message(prefilled: prefilled) else {
                // The cursor stands behind the prompt.
                context.output.line()
                break
            }
            let text = String(message.drop(while: \.isWhitespace))
            guard !text.isEmpty else {
                edited = nil
                continue
            }
            if text.hasPrefix("/"), !text.dropFirst().prefix(while: { !$0.isWhitespace }).contains("/") {
                guard try await obey(text) else { break }
            } else {
                try await say(text)
            }
        }
        if keeper?.isBehind == true {
            context.output.warning("what was said last is not kept")
        } else if let id = keeper?.id {
            context.output.line(Styled("kept as \(id); hub chat --continue=\(id) continues it", .faint))
        }
    }

    /// Says a message that was typed.
    private mutating func say(_ text: String) async throws {
        var before: Conversation?
        if edited != nil {
            before = conversation
            conversation.dropLastMessage()
            edited = nil
        }
        let count = conversation.turns.count
        do {
            let message = try await message(text)
            try await answer { conversation, each in
                try await conversation.answer(message, question: text, each: each)
            }
        } catch let error as AIError where error.code != .cancelled {
            context.output.failure(error)
        }
        if conversation.turns.count > count {
            // It stays attached until it was said.
            attached = nil
        } else if let before {
            conversation = before
        }
    }

    /// Asks before something leaves this machine.
    func askToSend(_ what: String, to provider: String?) async throws {
        try await asking(otherwise: "nothing was sent") { [consent, context] in
            try await consent.ask(what, to: provider, context)
        }
    }

    /// Runs what may ask a question; ^C is a no.
    ///
    /// - Parameter sentence: what is said after a no.
    func asking<Value: Sendable>(
        otherwise sentence: String, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let work = Task { try await body() }
        stop.withLock { $0 = { work.cancel() } }
        defer { stop.withLock { $0 = nil } }
        do {
            return try await withTaskCancellationHandler {
                try await work.value
            } onCancel: {
                work.cancel()
            }
        } catch {
            try Task.checkCancellation()
            guard AIError.wrapping(error).code == .cancelled else { throw error }
            throw AIError(.confirmationRequired, sentence)
        }
    }

    /// A message behind what is attached to it, files that it names among that.
    private func message(_ text: String) async throws -> Message {
        let (files, unknown) = FileMentions.read(text, context.environment)
        for name in unknown { context.output.note("@\(name.printable) is not a file; it stays a word") }
        var message = attached?.message("") ?? .user("")
        if !files.isEmpty {
            let attachments = try await Attachments.read(files, context)
            if conversation.speaker.isLocal { try attachments.checkText() }
            try await askToSend(
                attachments.names, to: conversation.speaker.isLocal ? nil : conversation.names.provider)
            let more = attachments.message("")
            message.content = (message.content ?? "") + (more.content ?? "")
            message.images += more.images
        }
        message.content = (message.content ?? "") + text
        return message
    }

    /// Keeps what was said so far.
    mutating func keep() async {
        guard var keeper else { return }
        await keeper.keep(conversation, context.output)
        self.keeper = keeper
    }

    /// Shows an answer as it comes, and keeps it. What fails is said, and the conversation continues.
    mutating func answer(
        _ answer:
            @escaping @Sendable (inout Conversation, (GenerationChunk) -> Void) async throws -> GenerationResult?
    ) async throws {
        let (output, context, showsReasoning) = (context.output, context, showsReasoning)
        let work = Task { [conversation] in
            var conversation = conversation
            var printer = AnswerPrinter(context, showsReasoning: showsReasoning)
            // What came before a fault stays on the screen.
            defer { printer.end() }
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
            let isSaid = after.turns.count > conversation.turns.count || after.turns.last != conversation.turns.last
            conversation = after
            if isSaid {
                SourceList.show(conversation.sources, in: result?.text ?? "", context)
                await keep()
            }
            if let result, result.finishReason == .length {
                output.note(AnswerEnding.cut(result, context: await conversation.speaker.context))
            } else if result?.finishReason == .contentFilter {
                output.note("the provider withheld the rest of the answer")
            }
        } catch {
            var error = AIError.wrapping(error)
            if error.code == .contextFull, conversation.speaker.isLocal {
                error.specificAdvice =
                    error.specificAdvice ?? "the message was not said; a longer --context has room for more"
            }
            if error.code != .cancelled { output.failure(error) }
        }
        try Task.checkCancellation()
    }
}
