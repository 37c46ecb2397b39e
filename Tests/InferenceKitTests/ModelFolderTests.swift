import HubCore
import InferenceKit
import Support
import Testing

@Suite struct ModelFolderTests {
    /// Headers, configuration and tokenizer are read once: they may be gone when the model is opened.
    @Test func openingDoesNotReadTheFolderAgain() async throws {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare")
        let read = try await ModelFolder.read(folder.path)
        #expect(read.inspection.isSupported && read.inspection.parameters == 1_115_264)
        for name in ["config.json", "tokenizer.json", "tokenizer_config.json"] {
            try FileSystem.remove(folder(name))
        }
        let model = try await read.open(ModelOptions(isExact: true))
        #expect(model.isExact && model.cacheFormat == .f32 && model.generates && !model.embeds)
        let text = try await model.generate(prompt: "ROMEO:", config: .precise.maxTokens(4)).collectWithMetadata()
        #expect(text.ids.count == 4)
    }

    @Test func anEncoderGeneratesNothingAndSaysSo() async throws {
        let model = try await LanguageModel.open(folder: Fixtures.path("micro/bert"))
        #expect(model.embeds && !model.generates)
        #expect(try await thrown { try await model.generate(prompt: "a").collect() }.code == .unsupportedModel)
        #expect(try await thrown { try await model.logits(prompt: "a") }.code == .unsupportedModel)
        #expect(try await thrown { try await model.perplexity(of: "a") }.code == .unsupportedModel)
    }

    @Test func theMemoryDependsOnHowTheCacheIsKept() async throws {
        let model = try await ModelInspection.inspect(folder: Fixtures.path("tiny-shakespeare"))
        // Two caches, 4 layers, 2 heads of 32.
        let numbers: Int64 = 2 * 4 * 2 * 32
        #expect(model.cacheBytesPerPosition(as: .f32) == numbers * 4)
        #expect(model.cacheBytesPerPosition() == numbers * 2)
        #expect(model.cacheBytesPerPosition(as: .q8) == numbers * 9 / 8)
        let (exact, usual) = (model.memoryBytes(cacheFormat: .f32), model.memoryBytes())
        #expect(exact - usual == 512 * numbers * 2)
    }
}
