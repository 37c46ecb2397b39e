import HubChatTemplates
import HubCore

/// One request of a session: a prompt, rounds of tool calls, an answer.
struct SessionTurn {
    private let session: ModelSession
    private let job: StreamJob<ModelSession.Event>
    private let options: ChatOptions
    private let config: GenerateConfig
    private var transcript: Transcript
    private var meter: ContextMeter
    /// Where this turn begins in the transcript.
    private var start = 0
    private var rounds = 0

    init(
        _ session: ModelSession, _ job: StreamJob<ModelSession.Event>, _ options: ChatOptions,
        _ config: GenerateConfig
    ) {
        (self.session, self.job, self.options, self.config) = (session, job, options, config)
        (transcript, meter) = session.beginning
    }

    private var settings: ModelSession.Settings { session.settings }

    /// Answers a prompt. If that fails, or is cancelled before there is anything, the prompt is taken back. Once tools have
    /// run the turn stays, because what they did was done: it ends with what there is of an answer.
    mutating func run(_ prompt: Transcript.Prompt) async -> Result<ModelSession.Response, AIError> {
        start = transcript.entries.count
        do throws(AIError) {
            try await check { try await $0.check(prompt: prompt.text) }
            transcript.entries.append(.prompt(prompt))
            return .success(try await answer())
        } catch {
            if rounds == 0 {
                takeBack()
            } else {
                close(error.partialResult)
            }
            session.keep(transcript, meter)
            return .failure(error)
        }
    }

    private mutating func answer() async throws(AIError) -> ModelSession.Response {
        while true {
            try await fit()
            session.keep(transcript, meter)
            let result = try await ask()
            if result.finishReason == .cancelled { return cancelled(result) }
            // A call that was cut may still be readable, and say something else.
            if result.toolCalls.isEmpty || result.finishReason.isCut {
                append(result)
                return response(result)
            }
            guard rounds < settings.maxToolRounds else {
                throw AIError(
                    .generationFailed,
                    "the model called tools \(rounds) times and gave no answer", cause: PartialAnswer(result))
            }
            try await use(result)
            if Task.isCancelled { return cancelled(GenerationResult(text: "", finishReason: .cancelled)) }
        }
    }

    // MARK: The model

    /// The model's next turn. Its pieces are passed on, but where a check has to see the whole first.
    private mutating func ask() async throws(AIError) -> GenerationResult {
        var options = options
        // After a tool has answered the model may answer, too.
        if rounds > 0, options.toolChoice == .required || options.isOneTool { options.toolChoice = .auto }
        let messages = transcript.messages
        let stream = try await session.model.stream(messages: messages, options: options, config: config)
        let holds = !settings.guardrails.isEmpty
        var held: [GenerationChunk] = []
        var text = ""
        let result: GenerationResult
        do throws(AIError) {
            result = try await stream.collectWithMetadata { chunk in
                text += chunk.text
                if holds { held.append(chunk) } else { job.send(.chunk(chunk)) }
            }
        } catch {
            // What nobody has checked is not given out.
            guard Task.isCancelled else { throw holds ? error.withoutPartialResult : error }
            // Not every provider gives a last chunk to whoever cancels.
            return GenerationResult(text: holds ? "" : text, finishReason: .cancelled)
        }
        meter.learn(messages, options, result.usage)
        guard holds else { return result }
        try await check { try await $0.check(response: result.text) }
        for chunk in held { job.send(.chunk(chunk)) }
        return result
    }

    // MARK: Tools

    /// Runs the calls of a turn of the model. The transcript has an output for each call, whatever happens.
    private mutating func use(_ result: GenerationResult) async throws(AIError) {
        let calls = result.toolCalls.enumerated().map { place, call in
            GeneratedToolCall(
                id: call.id ?? "call_\(transcript.entries.count)_\(place)", name: call.name,
                arguments: call.arguments)
        }
        for call in calls { job.send(.toolCall(call)) }
        let outputs = await ToolRun(tools: session.tools, approve: settings.approve).run(calls)
        rounds += 1
        transcript.entries.append(
            .toolCalls(.init(calls: calls, text: result.text, reasoning: result.reasoning)))
        transcript.entries += outputs.map { .toolOutput($0) }
        session.keep(transcript, meter)
        for output in outputs { job.send(.toolOutput(output)) }
    }

    // MARK: The end

    private mutating func append(_ result: GenerationResult) {
        transcript.entries.append(
            .response(
                .init(text: result.text, reasoning: result.reasoning, finishReason: result.finishReason)))
        session.keep(transcript, meter)
    }

    private func response(_ result: GenerationResult) -> ModelSession.Response {
        ModelSession.Response(result: result, entries: Array(transcript.entries[start...]))
    }

    private mutating func cancelled(_ result: GenerationResult) -> ModelSession.Response {
        guard rounds > 0 || !result.text.isEmpty else {
            // It was never asked for: some providers refuse an empty turn.
            takeBack()
            session.keep(transcript, meter)
            return ModelSession.Response(result: result, entries: [])
        }
        close(result)
        session.keep(transcript, meter)
        return response(result)
    }

    /// Takes the prompt back. A shortening before it stays: it was told, and a summary may have been paid for.
    private mutating func takeBack() { transcript.entries.removeSubrange(start...) }

    /// Ends the turn with what there is.
    private mutating func close(_ result: GenerationResult?) {
        transcript.entries.append(
            .response(
                .init(text: result?.text ?? "", reasoning: result?.reasoning, finishReason: .cancelled)))
    }

    private func check(_ body: (any Guardrail) async throws -> Void) async throws(AIError) {
        for guardrail in settings.guardrails {
            do {
                try await body(guardrail)
            } catch {
                if let known = error as? AIError { throw known }
                if error is CancellationError { throw AIError(.cancelled, "interrupted") }
                throw AIError(.requestRejected, "a check refuses it: \(error)", cause: error)
            }
        }
    }

    // MARK: The context

    /// Shortens the conversation if it has to be, as the policy says.
    private mutating func fit() async throws(AIError) {
        let fitting = ContextFitting(
            model: session.model, options: options, policy: settings.policy, meter: meter,
            answerTokens: config.maxTokens)
        guard var shortening = try await fitting.shortening(of: transcript) else { return }
        // Before the prompt, so that it stays if the prompt is taken back.
        let isFirst = rounds == 0
        if isFirst { shortening.keptTurns -= 1 }
        transcript.entries.insert(.shortening(shortening), at: isFirst ? start : transcript.entries.count)
        if isFirst { start += 1 }
        job.send(.shortened(shortening))
    }
}

extension AIError {
    /// This without what had come of an answer.
    fileprivate var withoutPartialResult: AIError {
        var error = self
        if partialResult != nil { error.cause = nil }
        return error
    }
}

extension ChatOptions {
    /// Whether one tool has to be called.
    fileprivate var isOneTool: Bool { if case .tool? = toolChoice { true } else { false } }
}
