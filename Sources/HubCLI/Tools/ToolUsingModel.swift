import HubChatTemplates
import HubCore
import InferenceKit
import RemoteKit

/// A model with tools as a model without: its answer comes when the tools that it calls have answered.
struct ToolUsingModel: ChatModel {
    private let model: any ChatModel
    private let tools: ChatTools
    private let trace: ToolTrace

    /// - Parameter trace: what was called before the answer, once that has come.
    init(_ model: any ChatModel, _ tools: ChatTools, _ trace: ToolTrace) {
        (self.model, self.tools, self.trace) = (model, tools, trace)
    }

    var identifier: String { model.identifier }
    var displayName: String { model.displayName }
    var isOnDevice: Bool { model.isOnDevice }
    var availability: ProviderAvailability { get async { await model.availability } }
    var maxContextLength: Int? { get async { await model.maxContextLength } }
    func prepare() async throws(AIError) { try await model.prepare() }
    func cleanup() async { await model.cleanup() }

    /// The next turn, with the turns of tools before it. The calls are in the result.
    func stream(
        messages: [Message], options: ChatOptions, config: GenerateConfig
    ) async throws(AIError) -> GenerationStream {
        guard let last = messages.last, last.role == .user else {
            throw AIError(.invalidInput, "the conversation does not end with a user's message")
        }
        let session = ModelSession(
            model: model, transcript: Transcript(messages.dropLast()), tools: tools.tools, settings: tools.settings)
        let prompt = Transcript.Prompt(last.content ?? "", images: last.images)
        return GenerationStream {
            Chunks(events: try session.streamResponse(to: prompt, options: options, config: config), trace: trace)
        }
    }

    /// The events of a request as the chunks of one answer.
    private struct Chunks: AsyncSequence, Sendable {
        let events: ResponseStream
        let trace: ToolTrace

        func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator(), trace: trace) }

        struct Iterator: AsyncIteratorProtocol {
            var events: ResponseStream.Iterator
            let trace: ToolTrace
            private var hasText = false
            /// Whether a tool has answered since the last text.
            private var isApart = false

            init(events: ResponseStream.Iterator, trace: ToolTrace) { (self.events, self.trace) = (events, trace) }

            mutating func next() async throws -> GenerationChunk? {
                while let event = try await events.next() {
                    switch event {
                    case .chunk(let chunk):
                        // The last one of a turn; the answer's own comes with the result.
                        if chunk.isComplete, chunk.text.isEmpty, chunk.reasoning.isEmpty { continue }
                        trace.makes()
                        guard !chunk.text.isEmpty else { return chunk.withoutEnd }
                        defer { (hasText, isApart) = (true, false) }
                        return hasText && isApart
                            ? chunk.withoutEnd(text: "\n\n" + chunk.text) : chunk.withoutEnd
                    case .shortened: continue
                    case .toolCall(let call): trace.takes(.call(call))
                    case .toolOutput(let output):
                        trace.takes(.output(output))
                        isApart = true
                    case .response(let response):
                        trace.read(response.entries)
                        return Self.last(response)
                    }
                }
                return nil
            }

            private static func last(_ response: ModelSession.Response) -> GenerationChunk {
                let result = response.result.with(toolCalls: response.toolCalls)
                return GenerationChunk(
                    text: "", tokensPerSecond: result.tokensPerSecond, finishReason: result.finishReason,
                    result: result)
            }
        }
    }
}

extension GenerationChunk {
    /// This as a chunk that is not the last.
    fileprivate var withoutEnd: GenerationChunk { isComplete ? withoutEnd(text: text) : self }

    fileprivate func withoutEnd(text: String) -> GenerationChunk {
        GenerationChunk(
            text: text, reasoning: reasoning, tokenCount: tokenCount, tokenId: tokenId, logprob: logprob,
            topLogprobs: topLogprobs, tokensPerSecond: tokensPerSecond)
    }
}

extension GenerationResult {
    /// This with another text, or with the calls that were made on the way.
    func with(text other: String? = nil, toolCalls calls: [GeneratedToolCall]? = nil) -> GenerationResult {
        GenerationResult(
            promptIDs: promptIDs, ids: ids, text: other ?? text, finishReason: finishReason,
            loadSeconds: loadSeconds,
            ttftSeconds: ttftSeconds, promptTokensPerSecond: promptTokensPerSecond,
            tokensPerSecond: tokensPerSecond,
            seed: seed, peakMemoryBytes: peakMemoryBytes, cachedTokens: cachedTokens, draftedTokens: draftedTokens,
            acceptedTokens: acceptedTokens, reasoning: reasoning, toolCalls: calls ?? toolCalls, usage: usage,
            servedBy: servedBy
        )
    }
}
