import HubCore
import Libc

/// The part of a smoke test in which a model embeds.
struct EmbedderTest {
    static let names = ["embeddings", "batched"]

    private let model: LanguageModel
    private static let texts = [
        "The sea was calm that morning.", "A loan is repaid with interest over several years.", "Ja.",
    ]
    /// As large as a few pages of text.
    private static let repetitions = 8

    init(_ model: LanguageModel) { self.model = model }

    func run(_ log: inout CheckLog) async throws(AIError) -> SmokeTest.Speed {
        log.begin("embeddings")
        var alone: [EmbeddingResult] = []
        for text in Self.texts { alone += try await model.embed([text]) }
        try check(alone, &log)
        log.begin("batched")
        let together = try await model.embed(Self.texts)
        guard zip(alone, together).allSatisfy({ Self.bits($0.vector) == Self.bits($1.vector) }) else {
            throw AIError(.generationFailed, "texts together gave other vectors than each alone")
        }
        log.pass("texts together gave the same vectors as each alone, to the bit")
        return try await speed()
    }

    private func check(_ results: [EmbeddingResult], _ log: inout CheckLog) throws(AIError) {
        let vectors = results.map(\.vector)
        guard vectors.allSatisfy({ $0.allSatisfy(\.isFinite) }) else {
            throw AIError(.generationFailed, "the vectors have NaN or infinite values; the weights may be damaged")
        }
        guard Set(vectors.map(\.count)).count == 1, vectors[0].count > 0 else {
            throw AIError(.generationFailed, "texts have vectors of different lengths")
        }
        guard Set(vectors.map(Self.bits)).count == vectors.count else {
            throw AIError(.generationFailed, "different texts have the same vector")
        }
        let norms = vectors.map { vector in
            let sum = vector.reduce(0) { $0 + Double($1) * Double($1) }
            return (sum.squareRoot() * 1000).rounded() / 1000
        }
        let length = Set(norms) == [1] ? "of length 1" : "of length \(norms.min() ?? 0) to \(norms.max() ?? 0)"
        log.pass(
            "\(vectors.count) different vectors of \(vectors[0].count) numbers, \(length), \(model.instructionSet), \(model.threads) threads"
        )
    }

    private static func bits(_ vector: [Float]) -> [UInt32] { vector.map(\.bitPattern) }

    private func speed() async throws(AIError) -> SmokeTest.Speed {
        let texts = (0..<Self.repetitions).flatMap { _ in Self.texts }
        let start = Clock.seconds
        let results = try await model.embed(texts)
        let seconds = Clock.seconds - start
        let peak = Machine.peakResidentBytes
        return SmokeTest.Speed(
            loadSeconds: model.loadSeconds,
            tokensPerSecond: seconds > 0 ? Double(results.reduce(0) { $0 + $1.tokenCount }) / seconds : 0,
            weightsBytesPerSecond: nil, memoryBytesPerSecond: try await model.memoryBandwidth(),
            peakMemoryBytes: peak)
    }
}
