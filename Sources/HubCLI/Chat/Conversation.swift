import HubChatTemplates
import HubCore
import HubTokenizers
import InferenceKit
import MemoryKit
import RemoteKit

/// What was said so far between a person and a model, and the model's next answer.
struct Conversation {
    typealias Turn = KeptConversation.Turn

    var speaker: Speaker
    /// `"model"` and `"provider"` of the contract, of who answers now.
    var names: (model: String, provider: String)
    /// Seconds that an answer may take, which a remote model keeps by itself; nil for no limit.
    private let timeout: Double?
    private let config: GenerateConfig
    /// The system message; nil for none.
    var system: String?
    /// The form that answers must have; nil for any.
    var format: ResponseFormat?
    /// Documents that are looked into for each message; nil for none.
    var memory: MemoryContext?
    /// Hears of the calls of tools and of their answers as they come, between the pieces of the answer.
    var onTool: (@Sendable (ToolStep) -> Void)?
    /// The turns, the person's first.
    private(set) var turns: [Turn]
    /// How the last answer was made.
    private(set) var last: GenerationResult?
    /// What the last message was answered with.
    private(set) var sources: [MemoryExcerpt] = []
    /// The last message without the files that were put before it.
    private var question: String?
    /// Answers that were asked for again: with one seed each must be another.
    private var retries: UInt64 = 0

    init(
        _ speaker: Speaker, names: (model: String, provider: String), _ config: GenerateConfig, system: String?,
        turns: [Turn] = [], memory: MemoryContext? = nil, timeout: Double? = nil
    ) {
        (self.speaker, self.names, self.config, self.system) = (speaker, names, config, system)
        (self.turns, self.memory, self.timeout) = (turns, memory, timeout)
    }

    /// Answers a message. If that fails the message was never said; if the task is cancelled, what there is of the
    /// answer was said.
    ///
    /// - Parameters:
    ///   - question: the message without files, which documents are searched for; nil for the whole.
    ///   - typed: what of it a person wrote, which may name pages; nil for the question.
    ///   - each: called with each piece of the answer.
    mutating func answer(
        _ message: Message, question: String? = nil, typed: String? = nil, each: (GenerationChunk) -> Void
    ) async throws -> GenerationResult {
        let before = self
        turns.append(Turn(message, at: Timestamp.now))
        self.question = question
        // What a document or a pipe says names no page.
        speaker.tools?.web?.hear(typed ?? question ?? message.content ?? "")
        return try await answer(orBack: before, each)
    }

    /// Answers the last message again; nil if there is none.
    mutating func retry(each: (GenerationChunk) -> Void) async throws -> GenerationResult? {
        let before = self
        dropAnswer()
        guard !turns.isEmpty else {
            self = before
            return nil
        }
        retries += 1
        return try await answer(orBack: before, each)
    }

    /// The last message; nil if there is none.
    var lastMessage: Message? { turns.last { $0.message.role == .user }?.message }

    /// Takes back the last message and all that followed it.
    mutating func dropLastMessage() {
        dropAnswer()
        if turns.last?.message.role == .user { turns.removeLast() }
    }

    /// Takes back what followed the last message.
    private mutating func dropAnswer() {
        while let last = turns.last, last.message.role != .user { turns.removeLast() }
    }

    private mutating func answer(
        orBack before: Conversation, _ each: (GenerationChunk) -> Void
    ) async throws -> GenerationResult {
        do {
            let result = try await answer(each)
            // Interrupted before it began: a provider may refuse an empty turn.
            let isNothing = result.text.isEmpty && turns.dropLast().last?.message.role != .tool
            if result.finishReason == .cancelled, isNothing { self = before }
            last = result
            return result
        } catch {
            self = before
            throw error
        }
    }

    private mutating func answer(_ each: (GenerationChunk) -> Void) async throws -> GenerationResult {
        guard var message = turns.last?.message else { throw AIError(.invalidInput, "there is no message") }
        sources = []
        if let memory {
            let found = try await memory.excerpts(for: question ?? message.content ?? "")
            sources = try await fitting(found)
            // What is kept is what the person said.
            message.content = sources.prompt(message.content ?? "")
        }
        let messages = (system.map { [Message.system($0)] } ?? []) + turns.dropLast().map(\.message) + [message]
        if memory != nil || turns.contains(where: \.hasFiles) { speaker.tools?.guardSearches() }
        let config = self.config.seed(self.config.seed.map { $0 &+ retries })
        let trace = ToolTrace(onTool)
        let result = try await collect(messages, config, trace, each)
        let provider = RemoteModel.label(names.provider, servedBy: result.servedBy)
        turns += trace.messages.map { message in
            message.role == .assistant
                ? Turn(message, at: Timestamp.now, model: names.model, provider: provider)
                : Turn(message, at: Timestamp.now)
        }
        turns.append(
            Turn(
                .assistant(result.text), at: Timestamp.now, model: names.model, provider: provider,
                sources: sources.map(\.citation)))
        // In an answer of a form, what was said before is no part of it.
        let texts = format == nil ? trace.texts : []
        return result.with(text: (texts + [result.text]).filter { !$0.isEmpty }.joined(separator: "\n\n"))
    }

    /// The best excerpts that fit into half of the context.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` if not even one does.
    private func fitting(_ found: [MemoryExcerpt]) async throws -> [MemoryExcerpt] {
        guard let context = await speaker.context, let first = found.first else { return found }
        func tokens(_ excerpt: MemoryExcerpt) throws -> Int {
            // A remote model's tokens are not known; three bytes are few for one.
            try speaker.tokenizer?.encode(excerpt.text, addSpecialTokens: false).count
                ?? excerpt.text.utf8.count / 3
        }
        var (fitting, used) = ([MemoryExcerpt](), 0)
        for excerpt in found {
            used += try tokens(excerpt)
            if used > context / 2 { break }
            fitting.append(excerpt)
        }
        guard fitting.isEmpty else { return fitting }
        throw AIError(
            .invalidInput,
            "the best excerpt has \(try tokens(first)) tokens; half of the context has room for \(context / 2)",
            advice: "allow a longer --context, or ask a model that has one")
    }

    private func collect(
        _ messages: [Message], _ config: GenerateConfig, _ trace: ToolTrace, _ each: (GenerationChunk) -> Void
    ) async throws -> GenerationResult {
        // The time in which a person thinks about a call is not the model's.
        func seconds() -> Double { Clock.seconds - (speaker.tools?.waited ?? 0) }
        let end = speaker.isLocal ? timeout.map { seconds() + $0 } : nil
        var text = ""
        for try await chunk in try await speaker.stream(messages, format, config, trace) {
            each(chunk)
            trace.reads()
            text += chunk.text
            if let result = chunk.result { return result }
            // Leaving the loop ends the generation.
            if let end, seconds() > end {
                throw AIError(
                    .timedOut, "the answer was not finished within --timeout",
                    advice: "allow more time, or ask for less with --max-tokens",
                    cause: PartialAnswer(GenerationResult(text: text, finishReason: .cancelled)))
            }
        }
        throw AIError(.generationFailed, "the answer ended without a result")
    }
}
