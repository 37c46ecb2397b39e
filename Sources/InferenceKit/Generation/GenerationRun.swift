import HubCore
import HubTokenizers

/// One generation, on the model's own thread: prompt in, chunks out.
struct GenerationRun {
    let model: LoadedModel
    let prompt: String
    let addsSpecialTokens: Bool
    let config: GenerateConfig
    let seed: UInt64
    let job: GenerationJob

    private var ids: [Int] = []
    private var text = ""
    private var start = 0.0
    private var promptEnd = 0.0
    private var first = 0.0
    private var last = 0.0

    init(
        model: LoadedModel, prompt: String, addsSpecialTokens: Bool = true, config: GenerateConfig, seed: UInt64,
        job: GenerationJob
    ) {
        self.model = model
        self.prompt = prompt
        self.addsSpecialTokens = addsSpecialTokens
        self.config = config
        self.seed = seed
        self.job = job
    }

    mutating func run() throws(AIError) {
        try config.validate()
        start = Clock.seconds
        promptEnd = start
        let promptIDs = try model.promptIDs(prompt, addsSpecialTokens)
        let (wanted, overflow) = promptIDs.count.addingReportingOverflow(config.maxTokens)
        let sequence = model.sequence(capacity: overflow ? model.context : min(model.context, wanted))
        guard var logits = model.prefill(promptIDs[...], sequence, cancelled: { job.isCancelled }) else {
            return finish(.cancelled, promptIDs)
        }
        promptEnd = Clock.seconds

        var sampler = Sampler(config, seed: seed, prompt: promptIDs)
        var stream = model.tokenizer.stream(skipSpecialTokens: true)
        var stops = StopMatcher(config.stopSequences)
        while true {
            if job.isCancelled { return finish(.cancelled, promptIDs, flush(&stream, &stops).text) }
            let id = try sampler.next(logits)
            ids.append(id)
            last = Clock.seconds
            if ids.count == 1 { first = last }
            let ended = model.eosIDs.contains(id) && !config.ignoresEndOfSequence
            let piece = ended ? "" : stream.add(id)
            let (safe, stopped) = stops.add(piece)
            text += safe
            send(id, safe, logits)
            if stopped { return finish(.stopSequence, promptIDs) }
            let isFull = ids.count == config.maxTokens || sequence.position == model.context
            if ended || isFull {
                let rest = flush(&stream, &stops)
                return finish(rest.stopped ? .stopSequence : ended ? .stop : .length, promptIDs, rest.text)
            }
            logits = model.decoder.run([id], sequence, logits: .last)
        }
    }

    /// Emits the held-back text. Even the replacement of half a character can complete a stop sequence.
    private func flush(_ stream: inout TokenStream, _ stops: inout StopMatcher) -> (
        text: String, stopped: Bool
    ) {
        let (text, stopped) = stops.add(stream.finish())
        return stopped ? (text, true) : (text + stops.finish(), false)
    }

    private var tokensPerSecond: Double {
        ids.count > 1 && last > first ? Double(ids.count - 1) / (last - first) : 0
    }

    private func send(_ id: Int, _ text: String, _ logits: UnsafeBufferPointer<Float>) {
        let logprobs = config.topLogprobs.map { count in
            let all = Logprobs(logits)
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
                tokensPerSecond: tokensPerSecond, finishReason: nil, timestamp: .now, result: nil))
    }

    private mutating func finish(_ reason: FinishReason, _ promptIDs: [Int], _ rest: String = "") {
        text += rest
        let result = GenerationResult(
            promptIDs: promptIDs, ids: ids, text: text, finishReason: reason, loadSeconds: model.loadSeconds,
            ttftSeconds: ids.isEmpty ? nil : first - start,
            promptTokensPerSecond: promptEnd > start ? Double(promptIDs.count) / (promptEnd - start) : 0,
            tokensPerSecond: tokensPerSecond, seed: seed, peakMemoryBytes: Machine.peakResidentBytes)
        job.send(
            GenerationChunk(
                text: rest, tokenCount: 0, tokenId: nil, logprob: nil, topLogprobs: [],
                tokensPerSecond: tokensPerSecond,
                finishReason: reason, timestamp: .now, result: result))
    }
}
