import HubChatTemplates
import HubCore
import Libc

/// The part of a smoke test in which a decoder generates.
struct DecoderTest {
    /// The checks that every decoder gets; one with a chat template gets another before them.
    static let names = ["forward pass", "generation", "repeatable", "batched"]

    private let model: LanguageModel
    private static let tokens = 24
    /// Bits below which the next word of a story is certain; many can follow. The first one behind an encoder is certain
    /// in sound models, such as BART.
    private static let leastEntropy = 0.01
    /// What a model is asked if it has a chat template, else what it continues.
    private static let prompts = [
        (
            chat: "Tell me about the sea in one sentence.",
            raw: "Once upon a time, in a small house by the sea, there"
        ),
        (chat: "Name three colors.", raw: "The quick brown fox jumps over the lazy dog, and then"),
    ]

    /// A prompt as the model gets it.
    private struct Prompt {
        var text: String
        var isRendered: Bool
    }

    init(_ model: LanguageModel) { self.model = model }

    func run(_ log: inout CheckLog) async throws(AIError) -> (generation: GenerationResult, speed: SmokeTest.Speed)
    {
        let prompts = try await prompts(&log)
        log.begin("forward pass")
        try await checkForwardPass(&log)
        log.begin("generation")
        let first = try await generate(prompts[0], guesses: false)
        check(first, &log)
        log.begin("repeatable")
        let again = try await generate(prompts[0], guesses: true)
        guard again.ids == first.ids else {
            throw AIError(.generationFailed, "a second run with the same seed gave another text: \"\(again.text)\"")
        }
        log.pass("a second run with the same seed gave the same \(first.ids.count) tokens")
        log.begin("batched")
        try await checkBatch(prompts, first, &log)
        return (first, try await speed(first, prompts[0]))
    }

    /// Both prompts, through the chat template if there is one that works.
    private func prompts(_ log: inout CheckLog) async throws(AIError) -> [Prompt] {
        let raw = Self.prompts.map { Prompt(text: $0.raw, isRendered: false) }
        guard model.inspection.hasChatTemplate else { return raw }
        log.begin("chat template")
        var rendered: [Prompt] = []
        do throws(AIError) {
            for prompt in Self.prompts {
                let options = ChatTemplate.Options(addsGenerationPrompt: true)
                let text = try await model.prompt(for: [.user(prompt.chat)], options)
                rendered.append(Prompt(text: text, isRendered: true))
            }
        } catch {
            if error.code == .cancelled { throw error }
            log.warn("the chat template does not take a message: \(error.message)")
            return raw
        }
        log.pass("a message makes \(Array(rendered[0].text.utf8).count) bytes of prompt")
        return rendered
    }

    /// The prompt is plain: what an answer begins with is certain in some templates.
    private func checkForwardPass(_ log: inout CheckLog) async throws(AIError) {
        let logits = try await model.logits(prompt: Self.prompts[0].raw)
        guard logits.allSatisfy(\.isFinite), let low = logits.min(), let high = logits.max() else {
            throw .notFinite
        }
        guard low < high else { throw AIError(.generationFailed, "the output is the same for every token") }
        let entropy = Self.entropy(logits, largest: high)
        let most = log2(Double(logits.count))
        let detail =
            "\(logits.count.grouped) logits from \(low) to \(high), entropy \(Self.rounded(entropy)) bits"
        // A model that was never trained, or whose weights are noise, knows nothing about the next token.
        if entropy > 0.97 * most {
            log.warn("any token is as likely as another, as if the model were not trained: \(detail)")
        } else if entropy < Self.leastEntropy, model.model.model.description.encoder == nil {
            log.warn("a single token has all the probability, as if weights were damaged: \(detail)")
        } else {
            log.pass("\(detail), \(model.instructionSet), \(model.threads) threads")
        }
    }

    /// The entropy of the distribution in bits.
    static func entropy(_ logits: [Float], largest: Float) -> Double {
        var (sum, weighted) = (0.0, 0.0)
        for logit in logits {
            let distance = Double(logit - largest)
            let weight = exp(distance)
            sum += weight
            weighted += weight * distance
        }
        return (log(sum) - weighted / sum) / log(2)
    }

    private static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }

    private func check(_ result: GenerationResult, _ log: inout CheckLog) {
        // A model that repeats itself runs, but hardly as intended.
        if let period = Self.period(result.ids) {
            log.warn("the same \(period == 1 ? "token" : "\(period) tokens") over and over")
        } else if Self.isBroken(result.text) {
            log.warn("the text has bytes that are no characters")
        } else {
            log.pass("\(result.ids.count) tokens")
        }
    }

    /// Whether a text has replacement characters (U+FFFD), but for the end, where the limit of tokens may cut a character.
    static func isBroken(_ text: String) -> Bool { text.unicodeScalars.dropLast(3).contains("\u{FFFD}") }

    /// The length of the piece that a text consists of; nil unless it is repeated three times at least.
    static func period(_ ids: [Int]) -> Int? {
        guard ids.count >= 12 else { return nil }
        return (1...4).first { period in ids.indices.dropFirst(period).allSatisfy { ids[$0] == ids[$0 - period] } }
    }

    /// A text must not depend on what is generated beside it.
    private func checkBatch(_ prompts: [Prompt], _ first: GenerationResult, _ log: inout CheckLog)
        async throws(AIError)
    {
        let second = try await generate(prompts[1], guesses: true)
        let together: [GenerationResult]
        do {
            async let one = generate(prompts[0], guesses: true)
            async let other = generate(prompts[1], guesses: true)
            together = try await [one, other]
        } catch { throw AIError.wrapping(error) }
        guard together.map(\.ids) == [first.ids, second.ids] else {
            throw AIError(.generationFailed, "two prompts at once gave other texts than each alone")
        }
        log.pass("two prompts at once gave the same texts as each alone")
    }

    private func generate(_ prompt: Prompt, guesses: Bool) async throws(AIError) -> GenerationResult {
        let config = GenerateConfig.default.maxTokens(Self.tokens).seed(0).speculates(guesses)
        let result = try await model.generate(
            prompt: prompt.text, addsSpecialTokens: !prompt.isRendered, config: config
        ).collectWithMetadata()
        if result.finishReason == .cancelled { throw AIError(.cancelled, "interrupted") }
        return result
    }

    private func speed(_ result: GenerationResult, _ prompt: Prompt) async throws(AIError) -> SmokeTest.Speed {
        // Measured first: the rate's last step may still run after the rate is known.
        let memory = try await model.memoryBandwidth()
        let rate = try await rate(prompt) ?? result.tokensPerSecond
        return SmokeTest.Speed(
            loadSeconds: model.loadSeconds, tokensPerSecond: rate, weightsBytesPerSecond: rate * weightsPerToken,
            memoryBytesPerSecond: memory, peakMemoryBytes: result.peakMemoryBytes)
    }

    /// The rate of reading the weights, so without speculation. The end token is ignored, so that
    /// there are enough tokens.
    ///
    /// - Returns: nil if there were too few tokens.
    private func rate(_ prompt: Prompt) async throws(AIError) -> Double? {
        let config = GenerateConfig.default.maxTokens(min(DecodingRate.most, model.context)).seed(0).speculates(
            false
        )
        .ignoresEndOfSequence(true)
        let stream = model.generate(prompt: prompt.text, addsSpecialTokens: !prompt.isRendered, config: config)
        var rate = DecodingRate()
        for try await chunk in stream {
            if chunk.finishReason == .cancelled { throw AIError(.cancelled, "interrupted") }
            guard chunk.tokenId != nil else { continue }
            if rate.add(chunk.timestamp) { break }
        }
        return rate.tokensPerSecond
    }

    /// About the bytes of weights that a token is computed with.
    private var weightsPerToken: Double {
        Double(model.inspection.weightsBytes) * model.inspection.shareReadPerToken
    }
}
