import HubChatTemplates
import HubCore
import InferenceKit
import Support

/// A chat model that says what a test writes, and remembers what it was asked.
final class ScriptedModel: ChatModel {
    /// What was asked.
    struct Request: Sendable {
        var messages: [Message]
        var options: ChatOptions
        var config: GenerateConfig
        /// Its place among all requests, from 0.
        var index: Int
        /// The text of the last message.
        var last: String { messages.last?.content ?? "" }
    }

    /// What it does.
    enum Step: Sendable {
        case say(String)
        case think(String)
        case call([GeneratedToolCall])
        /// Waits until it is cancelled.
        case hang
        /// Waits until it is cancelled, and then fails as a provider without a last chunk.
        case hangAndFail
        case fail(AIError)
        case finish(FinishReason)
    }

    let identifier = "scripted"
    let displayName = "Scripted"
    let isOnDevice = true
    let context: Int?
    private let answer: @Sendable (Request) -> [Step]
    private let asked = Monitor<[Request]>([])

    init(context: Int? = nil, _ answer: @escaping @Sendable (Request) -> [Step]) {
        (self.context, self.answer) = (context, answer)
    }

    var requests: [Request] { asked.update { $0 } }
    func wasAsked(_ count: Int) async throws {
        _ = try await asked.value("\(count) requests") { $0.count >= count ? true : nil }
    }

    var availability: ProviderAvailability { get async { .available } }
    var maxContextLength: Int? { get async { context } }
    func prepare() async throws(AIError) {}
    func cleanup() async {}

    /// A token for each byte, and four for each message.
    static func tokens(_ messages: [Message]) -> Int {
        messages.reduce(0) { $0 + 4 + ($1.content?.utf8.count ?? 0) + 8 * $1.toolCalls.count }
    }

    func promptTokens(messages: [Message], options: ChatOptions) async throws(AIError) -> Int? {
        context.map { _ in Self.tokens(messages) }
    }

    func stream(
        messages: [Message], options: ChatOptions, config: GenerateConfig
    ) async throws(AIError) -> GenerationStream {
        let request = asked.update { all in
            let request = Request(messages: messages, options: options, config: config, index: all.count)
            all.append(request)
            return request
        }
        if let context, Self.tokens(messages) >= context {
            throw AIError(
                .generationFailed, "\(Self.tokens(messages)) tokens reached a model that takes \(context)")
        }
        let steps = answer(request)
        return GenerationStream { Play(steps: steps) }
    }

    /// The steps as chunks. A cancelled reader gets the last chunk, as of every provider.
    private struct Play: AsyncSequence, AsyncIteratorProtocol, Sendable {
        var steps: [Step]
        private var (text, reasoning, calls) = ("", "", [GeneratedToolCall]())
        private var isOver = false

        init(steps: [Step]) { self.steps = steps }
        func makeAsyncIterator() -> Play { self }

        mutating func next() async throws -> GenerationChunk? {
            guard !isOver else { return nil }
            while !steps.isEmpty {
                switch steps.removeFirst() {
                case .say(let more):
                    text += more
                    return GenerationChunk(text: more)
                case .think(let more):
                    reasoning += more
                    return GenerationChunk(text: "", reasoning: more)
                case .call(let more): calls += more
                case .hang:
                    while !Task.isCancelled { await Task.yield() }
                    return end(.cancelled)
                case .hangAndFail:
                    while !Task.isCancelled { await Task.yield() }
                    throw CancellationError()
                case .fail(let error): throw error
                case .finish(let reason): return end(reason)
                }
            }
            return end(calls.isEmpty ? .stop : .toolCalls)
        }

        private mutating func end(_ reason: FinishReason) -> GenerationChunk {
            isOver = true
            let result = GenerationResult(
                text: text, finishReason: reason, reasoning: reasoning.isEmpty ? nil : reasoning, toolCalls: calls)
            return GenerationChunk(text: "", finishReason: reason, result: result)
        }
    }

    func generate(prompt: String, config: GenerateConfig) async throws(AIError) -> GenerationResult {
        try await stream(prompt: prompt, config: config).collectWithMetadata()
    }
    func stream(prompt: String, config: GenerateConfig) async throws(AIError) -> GenerationStream {
        try await stream(messages: [.user(prompt)], options: ChatOptions(), config: config)
    }
    func stream(
        messages: [Message], _ options: ChatTemplate.Options, config: GenerateConfig
    ) async throws(AIError) -> GenerationStream {
        try await stream(messages: messages, options: ChatOptions(), config: config)
    }
}

/// A tool that does what a test says.
struct TestTool: Tool {
    var name = "look"
    var description = "Looks something up."
    var body: @Sendable (JSONObject) async throws -> String

    init(_ name: String = "look", _ body: @escaping @Sendable (JSONObject) async throws -> String) {
        (self.name, self.body) = (name, body)
    }

    func call(arguments: JSONObject) async throws -> String { try await body(arguments) }
}
