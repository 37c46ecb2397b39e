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
    private var drafter: PromptLookup
    private var statistics: GenerationStatistics
    private var isEnded = false

    /// The prompt and the tokens generated so far.
    private var sequence: [Int]
    /// The ids of the current step: the first `known` of them are in the sequence, the others are guesses.
    private var asked: [Int] = []
    private var known = 0

    /// - Throws: ``ErrorCode/invalidInput`` for a configuration out of range and a prompt without tokens or longer than
    ///   the context.
    init(
        model: LoadedModel, prompt: String, addsSpecialTokens: Bool = true, config: GenerateConfig, seed: UInt64,
        mask: (any TokenMask)? = nil, job: GenerationJob
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
        self.model = model
        self.config = config
        self.seed = seed
        self.job = job
        let ends = config.ignoresEndOfSequence ? [] : model.eosIDs
        grammar = try config.constraint.map { constraint throws(AIError) in
            try model.grammars.mask(constraint, ends: ends)
        }
        sampler = Sampler(config, seed: seed, prompt: promptIDs, mask: mask ?? grammar)
        text = GeneratedText(model.tokenizer, stops: config.stopSequences)
        drafter = PromptLookup(isOn: config.speculates)
    }

    private var ids: ArraySlice<Int> { sequence[promptIDs.count...] }

    var isDecoding: Bool {
        guard let session else { return false }
        let pending = sequence.count - session.ids.count
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
        let session = self.session ?? model.sessions.take(promptIDs, answering: source)
        if self.session == nil {
            self.session = session
            session.begin(promptIDs, answering: source)
            statistics.cached = session.ids.count
        }
        session.grow(to: sequence.count)
        asked = Array(sequence[session.ids.count...].prefix(budget))
        known = asked.count
        guard session.ids.count + known == sequence.count else { return session.rows(asked, logitsFrom: .max) }
        asked += draft(session, budget - known)
        return session.rows(asked, logitsFrom: known - 1)
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
        do throws(AIError) {
            let id = try sampler.next(logits)
            sequence.append(id)
            statistics.sampled()
            accept(id, logits)
            addForced()
        } catch {
            isEnded = true
            job.end(.failure(error))
        }
    }

    /// Whether a row of the current step is the one of the last token: after a guess only if all guesses were right.
    private func isNext(_ row: Int, _ session: Session) -> Bool {
        session.ids.count + row == sequence.count - 1
            && asked[known...].prefix(row + 1 - known).elementsEqual(sequence[(session.ids.count + known)...])
    }

    /// Adds the tokens that must come now, which needs no logits, and ends a text to which nothing can be added.
    private func addForced() {
        guard let grammar, !isEnded else { return }
        // Whoever wants log probabilities gets those of every token.
        for id in config.topLogprobs == nil ? grammar.forced() : [] {
            sampler.remember(id)
            sequence.append(id)
            statistics.forced()
            accept(id, nil)
            if isEnded { return }
        }
        if grammar.isFinished { end(.stop, text.finish().text) }
    }

    func stepEnded() {
        guard let session else { return }
        let right = zip(asked, sequence[session.ids.count...]).prefix { $0 == $1 }.count
        session.keep(asked.prefix(right))
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
        let ended = model.eosIDs.contains(id) && !config.ignoresEndOfSequence
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
        let logprobs = logits.flatMap { logits in config.topLogprobs.map { (Logprobs(logits), $0) } }.map { all, count in
            return (
                chosen: all[id],
                top: all.top(count).map {
                    TokenLogprob(tokenId: $0, text: model.tokenizer.decode([$0]), logprob: all[$0])
                }
            )
        }
        job.send(
            GenerationChunk(
                text: text, tokenCount: 1, tokenId: id, logprob: logprobs?.chosen, topLogprobs: logprobs?.top ?? [],
                tokensPerSecond: statistics.tokensPerSecond))
    }

    private func end(_ reason: FinishReason, _ rest: String = "") {
        isEnded = true
        let result = GenerationResult(
            promptIDs: source.isEmpty ? promptIDs : source, ids: Array(ids), text: text.shown, finishReason: reason,
            loadSeconds: model.loadSeconds, ttftSeconds: statistics.ttft,
            promptTokensPerSecond: statistics.promptTokensPerSecond(source.count + promptIDs.count),
            tokensPerSecond: statistics.tokensPerSecond, seed: seed, peakMemoryBytes: Machine.peakResidentBytes,
            cachedTokens: statistics.cached, draftedTokens: statistics.drafted, acceptedTokens: statistics.accepted)
        job.send(
            GenerationChunk(
                text: rest, tokensPerSecond: statistics.tokensPerSecond, finishReason: reason, result: result))
        job.end(.success(()))
    }
}
