import HubCore
import HubTokenizers

/// One generation: prompt in, chunks out. The scheduler asks it for rows and gives it logits, on its own thread.
final class GenerationRun: StepClient, @unchecked Sendable {
    private let model: LoadedModel
    private let config: GenerateConfig
    private let seed: UInt64
    private let job: GenerationJob
    /// What an encoder reads; empty for a decoder alone.
    private let source: [Int]
    /// What the decoder begins with: the prompt, or after an encoder what starts an answer.
    private let promptIDs: [Int]

    private var session: Session?
    private var sampler: Sampler
    /// What the text has to follow; nil for a free text.
    private let grammar: GrammarMask?
    private var text: GeneratedText
    /// Tells the text of an answer from reasoning and tool calls; nil for a text that is taken as it is.
    private var reader: AnswerReader?
    /// The tokens that end it.
    private let eosIDs: Set<Int>
    private var drafter: PromptLookup
    private var statistics: GenerationStatistics
    private var isEnded = false

    /// The prompt and the tokens generated so far,
    private var sequence: [Int]
    /// and the rows that they make.
    private var inputs: [RowInput]
    /// The ids of the current step: the first `known` of them are in the sequence, the others are guesses.
    private var asked: [Int] = []
    private var known = 0

    /// - Throws: ``ErrorCode/invalidInput`` for a configuration out of range and a prompt without tokens or longer than
    ///   the context.
    init(
        model: LoadedModel, prompt: String, addsSpecialTokens: Bool = true, config: GenerateConfig, seed: UInt64,
        mask: (any TokenMask)? = nil, reading: AnswerReading? = nil, job: GenerationJob
    ) throws(AIError) {
        statistics = GenerationStatistics()
        try model.checkGenerates()
        try config.validate(vocabulary: model.vocabulary)
        (source, promptIDs) =
            if let translation = config.translation { try model.start(prompt, translation) } else {
                try model.start(prompt, addsSpecialTokens)
            }
        var config = config
        for id in model.banned { config.logitBias[id] = -.infinity }
        sequence = promptIDs
        inputs = [RowInput](tokens: promptIDs)
        self.model = model
        self.config = config
        self.seed = seed
        self.job = job
        text = GeneratedText(
            model.tokenizer, stops: config.stopSequences,
            markers: try reading?.format.tokens(model.tokenizer) ?? [])
        reader = reading.map { AnswerReader($0) }
        let eosIDs = model.eosIDs.union((reading?.format.calls?.ends ?? []).compactMap(model.tokenizer.id))
        self.eosIDs = config.ignoresEndOfSequence ? [] : eosIDs
        grammar = try config.constraint.map { [eosIDs = self.eosIDs] constraint throws(AIError) in
            try model.grammars.mask(constraint, ends: eosIDs)
        }
        sampler = Sampler(config, seed: seed, prompt: promptIDs, mask: mask ?? grammar)
        drafter = PromptLookup(isOn: config.speculates)
    }

    private var ids: ArraySlice<Int> { sequence[promptIDs.count...] }

    var isDecoding: Bool {
        guard let session else { return false }
        let pending = sequence.count - session.count
        return pending == 1 || !ids.isEmpty && pending <= Self.fewForced
    }

    /// Tokens that had to come and are computed beside new tokens of others.
    private static let fewForced = 32

    func rows(budget: Int) -> [StepRow] {
        if !isEnded, job.isCancelled { end(.cancelled, text.finish().text) }
        if session == nil { addForced() }
        guard !isEnded else {
            release()
            return []
        }
        // Taken when the work begins: a session that has just ended may share the prompt's beginning.
        let read = [RowInput](tokens: source)
        let session = self.session ?? model.sessions.take(inputs, answering: read)
        if self.session == nil {
            self.session = session
            session.begin(inputs, answering: read)
            statistics.cached = session.count
        }
        session.grow(to: sequence.count)
        asked = Array(sequence[session.count...].prefix(budget))
        known = asked.count
        let rows = Array(inputs[session.count...].prefix(budget))
        guard session.count + known == sequence.count else { return session.rows(rows, logitsFrom: .max) }
        let guesses = draft(session, budget - known)
        asked += guesses
        return session.rows(rows + [RowInput](tokens: guesses), logitsFrom: known - 1)
    }

    /// Guesses that a step computes beside the last token.
    private func draft(_ session: Session, _ budget: Int) -> [Int] {
        guard !ids.isEmpty else { return [] }
        let room = min(budget, model.context - sequence.count, config.maxTokens - ids.count - 1)
        guard session.isSame(sequence.count + max(0, room)) else { return [] }
        let guesses = drafter.draft(after: sequence, atMost: room)
        return grammar.map { Array(guesses.prefix($0.allowed(guesses))) } ?? guesses
    }

    func take(_ row: Int, _ logits: Logits) {
        guard !isEnded, let session, isNext(row, session) else { return }
        guard config.maxTokens > 0 else { return end(.length) }
        do throws(AIError) {
            let id = try sampler.next(logits)
            append(id)
            statistics.sampled()
            accept(id, logits)
            addForced()
        } catch {
            end(error)
        }
    }

    func fail(_ error: AIError) {
        if !isEnded { end(error) }
        session?.keep([])
        release()
    }

    private func append(_ id: Int) {
        sequence.append(id)
        inputs.append(.token(id))
    }

    private func end(_ error: AIError) {
        isEnded = true
        job.end(.failure(error))
    }

    /// Whether a row of the current step is the one of the last token: after a guess only if all guesses were right.
    private func isNext(_ row: Int, _ session: Session) -> Bool {
        session.count + row == sequence.count - 1
            && asked[known...].prefix(row + 1 - known).elementsEqual(sequence[(session.count + known)...])
    }

    /// Adds the tokens that must come now, which needs no logits, and ends a text to which nothing can be added.
    private func addForced() {
        guard let grammar, !isEnded, config.maxTokens > 0 else { return }
        // Whoever wants log probabilities gets those of every token.
        for id in config.topLogprobs == nil ? grammar.forced() : [] {
            sampler.remember(id)
            append(id)
            statistics.forced()
            accept(id, nil)
            if isEnded { return }
        }
        if grammar.isFinished {
            let rest = text.finish()
            end(rest.stopped ? .stopSequence : .stop, rest.text)
        }
    }

    func stepEnded() {
        guard let session else { return }
        let right = zip(asked, sequence[session.count...]).prefix { $0 == $1 }.count
        session.keep(inputs[session.count...].prefix(right))
        drafter.judge(drafted: asked.count - known, accepted: right - known)
        statistics.drafted += asked.count - known
        statistics.accepted += right - known
        // The end is told by a later call, or by none: the session is free from here on.
        if isEnded { release() }
    }

    private func release() {
        if let session { model.sessions.give(session) }
        session = nil
    }

    /// Sends a token; ends the generation where something says so.
    ///
    /// - Parameter logits: nil for a token that had to come.
    private func accept(_ id: Int, _ logits: Logits?) {
        let ended = eosIDs.contains(id)
        let (safe, stopped) = ended ? ("", false) : text.add(id)
        send(id, safe, logits)
        if stopped { return end(.stopSequence) }
        if grammar?.isFinished ?? false { return }
        let isFull = ids.count == config.maxTokens || sequence.count > model.context
        if ended || isFull {
            let rest = text.finish()
            end(rest.stopped ? .stopSequence : ended ? .stop : .length, rest.text)
        }
    }

    private func send(_ id: Int, _ text: String, _ logits: Logits?) {
        let piece = read(text)
        let logprobs = logits.flatMap { self.logprobs(id, $0) }
        job.send(
            GenerationChunk(
                text: piece.text, reasoning: piece.reasoning, tokenCount: 1, tokenId: id, logprob: logprobs?.chosen,
                topLogprobs: logprobs?.top ?? [],
                tokensPerSecond: statistics.tokensPerSecond))
    }

    private func logprobs(_ id: Int, _ logits: Logits) -> (chosen: Double, top: [TokenLogprob])? {
        guard let count = config.topLogprobs else { return nil }
        let all = Logprobs(logits)
        return (
            all[id],
            all.top(count).map {
                TokenLogprob(tokenId: $0, text: model.tokenizer.decode([$0]), logprob: all[$0])
            }
        )
    }

    private func read(_ text: String) -> AnswerReader.Piece {
        reader?.add(text) ?? AnswerReader.Piece(text: text)
    }

    private func end(_ reason: FinishReason, _ rest: String = "") {
        isEnded = true
        var piece = read(rest)
        if let last = reader?.finish(isCut: reason.isCut) {
            piece.text += last.text
            piece.reasoning += last.reasoning
        }
        let calls = numbered(reader?.calls ?? [])
        let reason = reason == .stop && !calls.isEmpty ? .toolCalls : reason
        let result = GenerationResult(
            promptIDs: source.isEmpty ? promptIDs : source, ids: Array(ids), text: reader?.text ?? text.shown,
            finishReason: reason,
            loadSeconds: model.loadSeconds, ttftSeconds: statistics.ttft,
            promptTokensPerSecond: statistics.promptTokensPerSecond(source.count + promptIDs.count),
            tokensPerSecond: statistics.tokensPerSecond, seed: seed, peakMemoryBytes: Machine.peakResidentBytes,
            cachedTokens: statistics.cached, draftedTokens: statistics.drafted,
            acceptedTokens: statistics.accepted,
            reasoning: reader.flatMap { $0.reasoning.isEmpty ? nil : $0.reasoning }, toolCalls: calls)
        job.send(
            GenerationChunk(
                text: piece.text, reasoning: piece.reasoning, tokensPerSecond: statistics.tokensPerSecond,
                finishReason: reason, result: result))
        job.end(.success(()))
    }

    /// Calls with ids. Those that the model gives none get nine letters, which every template takes: Mistral's want
    /// exactly so many.
    private func numbered(_ calls: [GeneratedToolCall]) -> [GeneratedToolCall] {
        var random = Xoshiro256(seed: seed ^ UInt64(promptIDs.count))
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        return calls.map { call in
            let id = String((0..<9).map { _ in letters[Int(random.next() % UInt64(letters.count))] })
            return GeneratedToolCall(id: call.id ?? id, name: call.name, arguments: call.arguments)
        }
    }
}
