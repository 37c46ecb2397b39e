import HubCore
import Support
import Testing

@testable import InferenceKit

/// NaN and infinities in outputs are an error, whatever a model is for.
@Suite struct FiniteOutputTests {
    /// A model whose last weights are NaN: all bits are set.
    private func damaged(_ model: String, as name: String? = nil) throws -> TemporaryFolder {
        let file = "model.safetensors"
        let folder = try TemporaryFolder(linking: "micro/\(model)", except: [file, "config.json"])
        var bytes = try Fixtures.bytes("micro/\(model)/\(file)")
        let header = 8 + bytes[..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
        for at in max(header, bytes.count / 4)..<bytes.count { bytes[at] = 0xFF }
        try folder.write(file, bytes)
        var config = try #require(try Fixtures.json("micro/\(model)/config.json").object)
        if let name { config["architectures"] = .array([.string(name)]) }
        try folder.write("config.json", .object(config))
        return folder
    }

    private func check(_ folder: TemporaryFolder, _ ask: (LanguageModel) async throws -> Void) async throws {
        let model = try await LanguageModel.open(folder: folder.path)
        let error = try await thrown { try await ask(model) }
        #expect(error.code == .generationFailed && error.exitStatus == 7, "\(error.message)")
        #expect(error.message.contains("the output has NaN"), "\(error.message)")
    }

    @Test func ofVectors() async throws {
        try await check(damaged("bert")) { _ = try await $0.embed(["the king", "a"]) }
        try await check(damaged("qwen3-embedding")) { _ = try await $0.embed(["the king"]) }
    }

    @Test func ofHeads() async throws {
        try await check(damaged("bert-reranker")) { _ = try await $0.rank(["a word"], for: "the king") }
        try await check(damaged("bart-labels")) { _ = try await $0.classify([TextPair("the king")]) }
        try await check(damaged("bert-heads", as: "BertForTokenClassification")) {
            _ = try await $0.labelTokens(["the king"])
        }
        try await check(damaged("bert-heads", as: "BertForMaskedLM")) { _ = try await $0.fill("the [MASK] of") }
    }

    @Test func ofTexts() async throws {
        try await check(damaged("llama")) { _ = try await $0.logits(prompt: "the king") }
    }

    @Test func ofPictures() async throws {
        for name in ["vit", "resnet-basic"] {
            let folder = try damaged(name)
            let model = try await PictureModel.open(folder: folder.path)
            let picture = TowerGoldenTests.picture(width: 32, height: 32)
            for ask in [{ _ = try await model.embed([picture]) }, { _ = try await model.outputs([picture]) }]
                as [() async throws -> Void]
            {
                let error = try await thrown { try await ask() }
                #expect(
                    error.code == .generationFailed && error.message.contains("the output has NaN"),
                    "\(error.message)")
            }
        }
    }

    @Test func ofForecasts() async throws {
        let folder = try damaged("chronos-bolt")
        let forecaster = try await Forecaster.open(folder: folder.path)
        let error = try await thrown { try await forecaster.forecast([1, 2, 3, 4, 5, 6, 7, 8]) }
        #expect(error.code == .generationFailed && error.message.contains("the output has NaN"), "\(error.message)")
    }
}
