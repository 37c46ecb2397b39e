import HubChatTemplates
public import HubCore

/// A conversation with a model, on this machine or a remote one: it keeps what was said, runs the tools that the model
/// calls, and fits the conversation into the model's context.
///
///     let session = ModelSession(model: model, instructions: "Answer briefly.", tools: [Clock()])
///     let answer = try await session.respond(to: "What time is it in Rome?").text
///
/// One request at a time: a second one throws. Ending a stream, or cancelling the task that reads it, cancels the request;
/// what had come of an answer stays in the transcript, and a prompt that got no answer at all is taken back.
public final class ModelSession: Sendable {
    /// What holds for all requests of a session.
    public struct Settings: Sendable {
        /// What happens when the conversation outgrows the context.
        public var policy = ContextPolicy.none
        /// How often the model may call tools before it answers, from 0.
        public var maxToolRounds = 8
        /// Checks of prompts and answers. Where there are any, an answer is shown when they have passed it.
        public var guardrails: [any Guardrail] = []
        /// Asked before each call of a tool, one after the other; nil allows all.
        public var approve: (@Sendable (GeneratedToolCall) async throws -> ToolApproval)?

        /// No shortening, eight rounds of tools, no checks.
        public init() {}
    }

    /// An answer.
    public struct Response: Sendable {
        /// The text.
        public var text: String { result.text }
        /// What the model reasoned before; nil if it did not, or if the provider does not tell it.
        public var reasoning: String? { result.reasoning }
        /// The last generation, with its finish reason, tokens and speed.
        public var result: GenerationResult
        /// What this request added to the transcript: the prompt, calls of tools and their outputs, the answer. Empty if it
        /// was cancelled before an answer began.
        public var entries: [Transcript.Entry]

        /// The calls of tools on the way to the answer.
        public var toolCalls: [GeneratedToolCall] {
            entries.flatMap { entry -> [GeneratedToolCall] in
                if case .toolCalls(let turn) = entry { turn.calls } else { [] }
            }
        }
    }

    /// What happens during a request.
    public enum Event: Sendable {
        /// A piece of an answer: text, reasoning.
        case chunk(GenerationChunk)
        /// The model calls a tool, which is to run.
        case toolCall(GeneratedToolCall)
        /// A tool's answer.
        case toolOutput(Transcript.ToolOutput)
        /// Older turns are no longer sent.
        case shortened(Transcript.Shortening)
        /// The answer; the last event.
        case response(Response)
    }

    /// Who answers.
    public let model: any ChatModel
    /// What the model may call.
    public let tools: [any Tool]
    /// What holds for all requests.
    public let settings: Settings
    private let state: Lock<State>

    private struct State {
        var transcript: Transcript
        var request: SessionRequest?
        var meter = ContextMeter()
    }

    /// A conversation that begins.
    ///
    /// - Parameters:
    ///   - instructions: what the model is told before all else; nil for nothing.
    ///   - tools: what it may call.
    public convenience init(
        model: any ChatModel, instructions: String? = nil, tools: [any Tool] = [],
        settings: Settings = Settings()
    ) {
        self.init(
            model: model, transcript: Transcript(instructions: instructions), tools: tools, settings: settings)
    }

    /// A conversation that goes on.
    public init(
        model: any ChatModel, transcript: Transcript, tools: [any Tool] = [], settings: Settings = Settings()
    ) {
        self.model = model
        self.tools = tools
        self.settings = settings
        state = Lock(State(transcript: transcript))
    }

    /// What was said so far. During a request it grows; it is complete when the request has ended.
    public var transcript: Transcript { state.withLock { $0.transcript } }

    /// Whether a request is under way.
    public var isResponding: Bool { state.withLock { $0.request != nil } }

    /// Changes what was said, between two requests: other instructions (``Transcript/instruct(_:)``), a turn less
    /// (``Transcript/removeLastTurn()``), an earlier state.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` during a request.
    public func edit<Value: Sendable>(
        _ change: (inout Transcript) -> sending Value
    ) throws(AIError) -> Value {
        try state.withLock { state throws(AIError) in
            guard state.request == nil else { throw Self.busy }
            return change(&state.transcript)
        }
    }

    /// Prepares the model, and computes what the prompts of this conversation begin with, if it runs on this machine.
    ///
    /// - Throws: What ``ChatModel/prewarm(messages:options:)`` throws.
    public func prewarm() async throws(AIError) {
        let instructions = transcript.instructions.map { [Message.system($0)] } ?? []
        try await model.prewarm(messages: instructions, options: ChatOptions(tools: tools.map(\.definition)))
    }

    /// Answers a prompt.
    ///
    /// - Throws: What ``streamResponse(to:options:config:)`` throws; ``ErrorCode/cancelled`` with what had come
    ///   (``AIError/partialResult``) if the task is cancelled.
    public func respond(
        to prompt: Transcript.Prompt, options: ChatOptions = ChatOptions(), config: GenerateConfig = .default
    ) async throws(AIError) -> Response {
        let response = try await streamResponse(to: prompt, options: options, config: config).response()
        guard response.result.finishReason != .cancelled else {
            throw AIError(.cancelled, "interrupted", cause: PartialAnswer(response.result))
        }
        return response
    }

    /// Answers a text.
    public func respond(
        to prompt: String, options: ChatOptions = ChatOptions(), config: GenerateConfig = .default
    ) async throws(AIError) -> Response {
        try await respond(to: Transcript.Prompt(prompt), options: options, config: config)
    }

    /// Answers a prompt; what happens comes as a stream, and begins at once.
    ///
    /// - Parameters:
    ///   - options: the form of the answer, how much is reasoned, and whether the first turn must call a tool. Its own
    ///     tools are those of the session: it takes no others.
    ///   - config: how the answer is generated; its tokens are those of each turn of the model.
    /// - Throws: ``ErrorCode/invalidInput`` at once if another request is under way, and for tools in the options. The stream
    ///   throws ``ErrorCode/contextFull`` with the numbers, what a guardrail or the model throws, and
    ///   ``ErrorCode/generationFailed`` if the model calls tools without end.
    public func streamResponse(
        to prompt: Transcript.Prompt, options: ChatOptions = ChatOptions(), config: GenerateConfig = .default
    ) throws(AIError) -> ResponseStream {
        guard options.tools.isEmpty else {
            throw AIError(.invalidInput, "the tools of a conversation are given to its session")
        }
        var options = options
        options.tools = try definitions()
        let request = try begin()
        let task = Task { [options] in
            await request.previous?.ended()
            var turn = SessionTurn(self, request.job, options, config)
            let outcome = await turn.run(prompt)
            // Whoever gets the last event may ask again.
            self.end(request)
            if case .success(let response) = outcome { request.job.send(.response(response)) }
            request.job.end(outcome.map { _ in () })
        }
        request.job.whenCancelled {
            request.cancel()
            task.cancel()
        }
        return ResponseStream(request.job)
    }

    /// Answers a text; what happens comes as a stream, and begins at once.
    public func streamResponse(
        to prompt: String, options: ChatOptions = ChatOptions(), config: GenerateConfig = .default
    ) throws(AIError) -> ResponseStream {
        try streamResponse(to: Transcript.Prompt(prompt), options: options, config: config)
    }

    // MARK: Requests

    private static let busy = AIError(
        .invalidInput, "the session is answering another prompt", advice: "wait for that answer, or cancel it")

    private func begin() throws(AIError) -> SessionRequest {
        try state.withLock { state throws(AIError) in
            // One that was cancelled ends by itself; this one waits for it.
            if let running = state.request, !running.isCancelled { throw Self.busy }
            let request = SessionRequest(after: state.request)
            state.request = request
            return request
        }
    }

    private func end(_ request: SessionRequest) {
        state.withLock { if $0.request === request { $0.request = nil } }
        request.end()
    }

    /// What a request begins with.
    var beginning: (Transcript, ContextMeter) { state.withLock { ($0.transcript, $0.meter) } }

    /// What a request has done so far.
    func keep(_ transcript: Transcript, _ meter: ContextMeter) {
        state.withLock { ($0.transcript, $0.meter) = (transcript, meter) }
    }

    /// The tools in the protocol's form.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for a name that cannot be one, or that two tools have.
    private func definitions() throws(AIError) -> [JSON] {
        var names: Set<String> = []
        for tool in tools {
            let isName = tool.name.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
            guard isName, (1...64).contains(tool.name.utf8.count) else {
                throw AIError(
                    .invalidInput,
                    "\"\(tool.name.printable)\" cannot be the name of a tool: it takes up to 64 letters, digits, _ and -"
                )
            }
            guard names.insert(tool.name).inserted else {
                throw AIError(.invalidInput, "two tools have the name \(tool.name)")
            }
        }
        return tools.map(\.definition)
    }
}
