import HubCore
import Libc
import ModelFormats
import Support
import Testing

@testable import InferenceKit

/// Weights that another program cuts while the model is open: an error that says so, and nothing computed from what is not
/// there. Reading them would end the process with SIGBUS.
@Suite struct CutFileTests {
    /// A copy whose weights may be cut.
    private func copy(_ fixture: String, _ weights: String) throws -> TemporaryFolder {
        let folder = try TemporaryFolder(linking: fixture, except: [weights])
        try folder.write(weights, Fixtures.bytes("\(fixture)/\(weights)"))
        return folder
    }

    private func cut(_ folder: TemporaryFolder, _ weights: String) throws {
        #expect(truncate(folder(weights), 0) == 0)
    }

    private func expectCut(_ folder: TemporaryFolder, _ work: () async throws -> Void) async throws {
        let error = try await thrown { try await work() }
        #expect(error.code == .fileChanged && error.exitStatus == 7, "\(error)")
        #expect(error.message.hasPrefix(folder.path) && error.message.contains("was cut"), "\(error)")
    }

    @Test(arguments: [("tiny-shakespeare", "model.safetensors"), ("tiny-shakespeare-gguf", "model-q8_0.gguf")])
    func textIsNotGeneratedFromThem(fixture: String, weights: String) async throws {
        let folder = try copy(fixture, weights)
        let path = weights.hasSuffix(".gguf") ? folder(weights) : folder.path
        let model = try await LanguageModel.open(folder: path)
        let whole = try await LanguageModel.open(folder: try Fixtures.path("tiny-shakespeare"))
        let config = GenerateConfig.precise.maxTokens(8)
        #expect(try await model.generate(prompt: "To be", config: config).collectWithMetadata().ids.count == 8)
        try cut(folder, weights)
        for _ in 0..<2 {
            try await expectCut(folder) {
                _ = try await model.generate(prompt: "My lord", config: config).collect()
            }
        }
        try await expectCut(folder) { _ = try await model.logits(prompt: "To be") }
        #expect(try await whole.generate(prompt: "To be", config: config).collectWithMetadata().ids.count == 8)
    }

    /// While texts are on their way: all of them end, and nobody waits.
    @Test func textsUnderWayEnd() async throws {
        let folder = try copy("tiny-shakespeare", "model.safetensors")
        let model = try await LanguageModel.open(folder: folder.path).model
        let config = GenerateConfig(maxTokens: 200, temperature: 1, ignoresEndOfSequence: true)
        let mask = Cutting(folder("model.safetensors"), after: 3)
        let jobs = [GenerationJob(), GenerationJob()]
        for (number, job) in jobs.enumerated() {
            model.scheduler.add(
                try GenerationRun(
                    model: model, prompt: "To be", config: config, seed: UInt64(number), mask: mask, job: job))
        }
        for job in jobs {
            var count = 0
            try await expectCut(folder) { while try await job.next() != nil { count += 1 } }
            #expect(count <= 3)
        }
    }

    /// Cuts a file when so many tokens were chosen.
    private final class Cutting: TokenMask {
        private let path: String
        private let left: Lock<Int>

        init(_ path: String, after count: Int) { (self.path, left) = (path, Lock(count)) }

        func ban(in logits: UnsafeMutableBufferPointer<Float>) {}

        func accept(_ id: Int) {
            let isLast = left.withLock { left in
                left -= 1
                return left == 0
            }
            if isLast { #expect(truncate(path, 0) == 0) }
        }
    }

    @Test func vectorsAndScoresAreNotMadeOfThem() async throws {
        let folder = try copy("micro/bert", "model.safetensors")
        let model = try await LanguageModel.open(folder: folder.path)
        try cut(folder, "model.safetensors")
        try await expectCut(folder) { _ = try await model.embed(["the sea"]) }
        let ranking = try copy("micro/bert-reranker", "model.safetensors")
        let ranker = try await LanguageModel.open(folder: ranking.path)
        try cut(ranking, "model.safetensors")
        try await expectCut(ranking) { _ = try await ranker.rank(["the sea"], for: "a ship") }
    }

    @Test(arguments: ["chronos", "chronos-2", "chronos-bolt"]) func seriesAreNotForecastFromThem(name: String)
        async throws
    {
        let folder = try copy("micro/\(name)", "model.safetensors")
        let model = try await Forecaster.open(folder: folder.path)
        try cut(folder, "model.safetensors")
        try await expectCut(folder) { _ = try await model.forecast([1, 2, 3, 4]) }
    }

    @Test func theyAreNotSound() async throws {
        let folder = try copy("tiny-shakespeare", "model.safetensors")
        let header = try SafetensorsHeader(file: folder("model.safetensors"))
        let weights = StoredWeights(safetensors: [
            .init(path: folder("model.safetensors"), fileSize: 1 << 40, header: header)
        ])
        let scan = try ValueScan(
            folder("model.safetensors"), tensors: weights.tensors, isWhole: true, isUnchanging: true)
        #expect(try scan.findings().allSatisfy { $0.status != .fail })
        try cut(folder, "model.safetensors")
        try await expectCut(folder) { _ = try scan.findings() }
    }
}
