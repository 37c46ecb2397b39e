import HubCore
import Libc

/// The part of a smoke test in which a model reads texts: for vectors, scores, labels or masked words.
struct EncoderTest {
    private let model: LanguageModel
    private let task: ModelTask
    private let samples: SampleTexts
    /// As large as a few pages of text.
    private static let repetitions = 8

    /// The checks for a task.
    static func names(_ task: ModelTask) -> [String] { [name(task), "batched"] }

    private static func name(_ task: ModelTask) -> String {
        switch task {
        case .embedding, .textGeneration, .forecasting, .imageClassification, .imageEmbedding, .zeroShotImages,
            .objectDetection, .depthEstimation, .imageSegmentation:
            "embeddings"
        case .ranking: "ranking"
        case .classification: "labels"
        case .tokenClassification: "token labels"
        case .fillMask: "masks"
        }
    }

    init(_ model: LanguageModel, _ task: ModelTask, _ samples: SampleTexts) {
        (self.model, self.task, self.samples) = (model, task, samples)
    }

    func run(_ log: inout CheckLog) async throws(AIError) -> (sample: SmokeTest.Sample, speed: SmokeTest.Speed) {
        log.begin(Self.name(task))
        var alone: [TextNumbers] = []
        for text in texts { alone += try await model.numbers([text], task) }
        try check(alone.map(\.values), &log)
        log.begin("batched")
        let together = try await model.numbers(texts, task)
        guard zip(alone, together).allSatisfy({ Self.bits($0.values) == Self.bits($1.values) }) else {
            throw AIError(.generationFailed, "texts together gave other \(noun) than each alone")
        }
        log.pass("texts together gave the same \(noun) as each alone, to the bit")
        return (try await sample(), try await speed())
    }

    private var texts: [TextPair] {
        switch task {
        case .ranking: samples.answers.map { TextPair(samples.query, $0) }
        case .fillMask: samples.masked.map { TextPair($0) }
        default: samples.texts.map { TextPair($0) }
        }
    }

    /// What the numbers of a text are.
    private var noun: String {
        switch task {
        case .embedding, .textGeneration, .forecasting, .imageClassification, .imageEmbedding, .zeroShotImages,
            .objectDetection, .depthEstimation, .imageSegmentation:
            "vectors"
        case .ranking: "scores"
        case .classification, .tokenClassification: "labels"
        case .fillMask: "words"
        }
    }

    // MARK: Checks

    private func check(_ results: [[Float]], _ log: inout CheckLog) throws(AIError) {
        guard results.allSatisfy({ !$0.isEmpty }) else { throw AIError(.generationFailed, "a text has no \(noun)") }
        guard Set(results.map(Self.bits)).count == results.count else {
            throw AIError(
                .generationFailed,
                task == .embedding
                    ? "different texts have the same vector" : "different texts have the same \(noun)")
        }
        let detail = "\(description(results)), \(model.instructionSet), \(model.threads) threads"
        guard task == .fillMask, isGuessing(results[0]) else { return log.pass(detail) }
        log.warn("any word is as likely as another, as if the model were not trained: \(detail)")
    }

    private func description(_ results: [[Float]]) -> String {
        let all = results.flatMap { $0 }
        let range = "from \(Self.rounded(all.min() ?? 0)) to \(Self.rounded(all.max() ?? 0))"
        switch task {
        case .embedding, .textGeneration, .forecasting, .imageClassification, .imageEmbedding, .zeroShotImages,
            .objectDetection, .depthEstimation, .imageSegmentation:
            let norms = results.map { vector in
                Self.rounded(vector.reduce(0) { $0 + Double($1) * Double($1) }.squareRoot())
            }
            let length = Set(norms) == [1] ? "of length 1" : "of length \(norms.min() ?? 0) to \(norms.max() ?? 0)"
            return "\(results.count) different vectors of \(results[0].count.grouped) numbers, \(length)"
        case .ranking: return "\(results.count) different scores, logits \(range)"
        case .classification, .tokenClassification: return "\(model.labels.count.grouped) labels, logits \(range)"
        case .fillMask: return "\(results[0].count.grouped) logits \(range)"
        }
    }

    /// Whether the words behind the first mask are drawn from all tokens alike.
    private func isGuessing(_ logits: [Float]) -> Bool {
        guard let largest = logits.max() else { return false }
        return DecoderTest.entropy(logits, largest: largest) > 0.97 * log2(Double(logits.count))
    }

    private static func rounded(_ value: some BinaryFloatingPoint) -> Double {
        (Double(value) * 1000).rounded() / 1000
    }
    private static func bits(_ values: [Float]) -> [UInt32] { values.map(\.bitPattern) }

    // MARK: What people see

    private func sample() async throws(AIError) -> SmokeTest.Sample {
        let first = samples.texts[0]
        switch task {
        case .embedding, .textGeneration, .forecasting, .imageClassification, .imageEmbedding, .zeroShotImages,
            .objectDetection, .depthEstimation, .imageSegmentation:
            let ranking = try await model.rankByCosine(Array(samples.texts.dropFirst()), for: first)
            return SmokeTest.Sample(text: first, answer: .ranking(ranking))
        case .ranking:
            let ranking = try await model.rank(samples.answers, for: samples.query)
            return SmokeTest.Sample(text: samples.query, answer: .ranking(ranking))
        case .classification:
            let labels = try await model.classify([TextPair(first)])[0]
            return SmokeTest.Sample(text: first, answer: .labels(labels))
        case .tokenClassification:
            return SmokeTest.Sample(text: first, answer: .tokens(try await model.labelTokens([first])[0]))
        case .fillMask:
            let text = samples.masked[0].replacing("[MASK]", with: model.mask ?? "[MASK]")
            return SmokeTest.Sample(text: text, answer: .masks(try await model.fill(text)))
        }
    }

    private func speed() async throws(AIError) -> SmokeTest.Speed {
        let texts = (0..<Self.repetitions).flatMap { _ in self.texts }
        let start = Clock.seconds
        let results = try await model.numbers(texts, task)
        let seconds = Clock.seconds - start
        let peak = Machine.peakResidentBytes
        return SmokeTest.Speed(
            loadSeconds: model.loadSeconds,
            tokensPerSecond: seconds > 0 ? Double(results.reduce(0) { $0 + $1.tokenCount }) / seconds : 0,
            weightsBytesPerSecond: nil, memoryBytesPerSecond: try await model.memoryBandwidth(),
            peakMemoryBytes: peak)
    }
}
