import HubChatTemplates
import HubCore
import InferenceKit

/// What was said so far between a person and a model, and the model's next answer.
struct Conversation {
    let speaker: Speaker
    /// Seconds that an answer may take, which a remote model keeps by itself; nil for no limit.
    private let timeout: Double?
    private let config: GenerateConfig
    /// The system message; nil for none.
    var system: String?
    /// The form that answers must have; nil for any.
    var format: ResponseFormat?
    /// The turns, the person's first.
    private(set) var turns: [Message] = []
    /// How the last answer was made.
    private(set) var last: GenerationResult?
    /// Answers that were asked for again: with one seed each must be another.
    private var retries: UInt64 = 0

    init(_ speaker: Speaker, _ config: GenerateConfig, system: String?, timeout: Double? = nil) {
        (self.speaker, self.config, self.system, self.timeout) = (speaker, config, system, timeout)
    }

    /// Answers a message. If that fails the message was never said; if the task is cancelled, what there is of the
    /// answer was said.
    ///
    /// - Parameter each: called with each piece of the answer.
    mutating func answer(_ message: Message, each: (GenerationChunk) -> Void) async throws -> GenerationResult {
        turns.append(message)
        do {
            let result = try await answer(each)
            if Self.isNothing(result) { turns.removeLast() }
            return result
        } catch {
            turns.removeLast()
            throw error
        }
    }

    /// Answers the last message again; nil if there is none.
    mutating func retry(each: (GenerationChunk) -> Void) async throws -> GenerationResult? {
        guard let earlier = turns.popLast() else { return nil }
        retries += 1
        do {
            let result = try await answer(each)
            if Self.isNothing(result) { turns.append(earlier) }
            return result
        } catch {
            turns.append(earlier)
            throw error
        }
    }

    private mutating func answer(_ each: (GenerationChunk) -> Void) async throws -> GenerationResult {
        let messages = (system.map { [Message.system($0)] } ?? []) + turns
        let config = self.config.seed(self.config.seed.map { $0 &+ retries })
        let result = try await collect(messages, config, each)
        last = result
        if !Self.isNothing(result) { turns.append(.assistant(result.text)) }
        return result
    }

    /// Whether an answer was interrupted before it began: a provider may refuse an empty turn.
    private static func isNothing(_ result: GenerationResult) -> Bool {
        result.finishReason == .cancelled && result.text.isEmpty
    }

    private func collect(
        _ messages: [Message], _ config: GenerateConfig, _ each: (GenerationChunk) -> Void
    ) async throws -> GenerationResult {
        let end = speaker.isLocal ? timeout.map { Clock.seconds + $0 } : nil
        var text = ""
        for try await chunk in try await speaker.stream(messages, format, config) {
            each(chunk)
            text += chunk.text
            if let result = chunk.result { return result }
            // Leaving the loop ends the generation.
            if let end, Clock.seconds > end {
                throw AIError(
                    .timedOut, "the answer was not finished within --timeout",
                    advice: "allow more time, or ask for less with --max-tokens",
                    cause: PartialAnswer(GenerationResult(text: text, finishReason: .cancelled)))
            }
        }
        throw AIError(.generationFailed, "the answer ended without a result")
    }
}
