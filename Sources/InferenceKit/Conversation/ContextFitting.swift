import HubChatTemplates
import HubCore

/// Fits a conversation into a model's context.
struct ContextFitting {
    let model: any ChatModel
    let options: ChatOptions
    let policy: ContextPolicy
    let meter: ContextMeter
    /// Tokens that an answer may have.
    let answerTokens: Int

    /// What has to be left out so that there is room for an answer; nil for nothing.
    ///
    /// A conversation is shortened to half of the context, so that the next turns need not be shortened again: each time
    /// the whole prompt is computed anew.
    ///
    /// - Throws: ``ErrorCode/contextFull`` if it does not fit, what the model throws.
    func shortening(of transcript: Transcript) async throws(AIError) -> Transcript.Shortening? {
        guard let context = await model.maxContextLength else { return nil }
        let tokens = try await count(transcript.messages)
        let reserve = min(answerTokens, max(1, context / 4))
        guard tokens + reserve > context else { return nil }
        // The turn under way stays in any case.
        let most = transcript.turnCount - transcript.firstSentTurn - 1
        guard policy != .none, most > 0 else {
            guard tokens < context else { throw FullContext(tokens, context).error() }
            return nil
        }
        let room = policy == .summarize ? Self.summaryTokens(context) : 0
        let goal = max(1, context / 2 - room)
        let dropped = try await fewest(most, transcript, atMost: goal)
        var shortening = Transcript.Shortening(
            policy: policy, droppedTurns: dropped,
            keptTurns: transcript.turnCount - transcript.firstSentTurn - dropped, promptTokens: tokens,
            contextTokens: context, summary: nil)
        if policy == .summarize { shortening.summary = try await summary(of: transcript, dropped, context) }
        let left = try await count(transcript.messages(droppingTurns: dropped, summary: shortening.summary))
        guard left < context else { throw FullContext(left, context).error() }
        return shortening
    }

    private func count(_ messages: [Message]) async throws(AIError) -> Int {
        try await meter.tokens(messages, options, model)
    }

    /// The fewest turns to drop so that the rest has at most so many tokens; all of them if that is not enough.
    private func fewest(
        _ most: Int, _ transcript: Transcript, atMost goal: Int
    ) async throws(AIError) -> Int {
        var (low, high) = (1, most)
        while low < high {
            let middle = (low + high) / 2
            if try await count(transcript.messages(droppingTurns: middle, summary: nil)) <= goal {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low
    }

    // MARK: Summaries

    /// Tokens that a summary may have.
    private static func summaryTokens(_ context: Int) -> Int { max(16, min(512, context / 8)) }

    /// What the model makes of the oldest turns, and of the summary before them. Where they do not fit at once, it sums up
    /// piece by piece.
    private func summary(
        of transcript: Transcript, _ dropped: Int, _ context: Int
    ) async throws(AIError) -> String {
        var summary = transcript.lastShortening?.summary
        let first = transcript.firstSentTurn
        var rest = (first..<first + dropped).map { transcript.text(ofTurn: $0) }[...]
        let room = context - Self.summaryTokens(context)
        while let next = rest.first {
            var taken = rest.count
            var request = Self.request(rest.joined(separator: "\n"), summary)
            while try await count([request]) > room, taken > 1 {
                taken /= 2
                request = Self.request(rest.prefix(taken).joined(separator: "\n"), summary)
            }
            var text = next
            while try await count([request]) > room, text.count > 1 {
                text = String(text.prefix(text.count / 2))
                request = Self.request(text + " [...]", summary)
            }
            summary = try await ask(request, Self.summaryTokens(context))
            rest = rest.dropFirst(taken)
        }
        return summary ?? ""
    }

    private static func request(_ text: String, _ summary: String?) -> Message {
        let before = summary.map { "What was said before, in short: \($0)\n\n" } ?? ""
        return .user(
            """
            Sum up this conversation in a few sentences, as a note for its next turn. Keep names, numbers and what was \
            decided. Write the note alone.

            \(before)\(text)
            """)
    }

    private func ask(_ request: Message, _ tokens: Int) async throws(AIError) -> String {
        let result = try await model.stream(
            messages: [request], options: ChatOptions(), config: .precise.maxTokens(tokens)
        ).collectWithMetadata()
        if result.finishReason == .cancelled { throw AIError(.cancelled, "interrupted") }
        let text = result.text.trimmed
        guard !text.isEmpty else {
            throw AIError(.generationFailed, "the model gave no summary of the conversation")
        }
        return text
    }
}
