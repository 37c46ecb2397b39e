import HubCore
import ModelFormats
import Support
import Testing

@testable import InferenceKit

/// Decoders for which config.json says `is_causal: false`, as the models do that are made of decoders for vectors.
@Suite struct BothSidesTests {
    private func folder(_ model: String, modules: Bool = true, _ changes: [String: JSON] = [:]) throws
        -> TemporaryFolder
    {
        let folder = try TemporaryFolder(linking: "micro/\(model)", except: ["config.json", "modules.json"])
        var config = try #require(try Fixtures.json("micro/\(model)/config.json").object)
        if var text = config["text_config"]?.object {
            text["is_causal"] = false
            config["text_config"] = .object(text)
        } else {
            config["is_causal"] = false
        }
        for (key, value) in changes { config[key] = value }
        try folder.write("config.json", .object(config))
        guard modules else { return folder }
        try folder.write(
            "modules.json", #"[{"path":"","type":"a.Transformer"},{"path":"1_Pooling","type":"a.Pooling"}]"#)
        try FileSystem.createDirectories(folder("1_Pooling"))
        try folder.write("1_Pooling/config.json", #"{"pooling_mode_mean_tokens":true}"#)
        return folder
    }

    @Test(arguments: ["llama", "qwen3", "mistral", "gemma2"]) func vectorsAreThoseOfTheReference(model: String)
        async throws
    {
        let golden = try Fixtures.json("goldens/both-sides.json")
        let text = try #require(golden["text"]?.string)
        let expected = try #require(golden["models"]?[model]?["vector"]?.array).compactMap(\.double)
        let folder = try folder(model)
        let opened = try await LanguageModel.open(folder: folder.path, options: ModelOptions(isExact: true))
        let vector = try await opened.embed([text])[0].vector
        #expect(vector.count == expected.count)
        let worst = zip(vector, expected).map { abs(Double($0) - $1) }.max() ?? .infinity
        #expect(worst < 2e-4, "\(worst)")
    }

    /// A GGUF file says both in its metadata. The first row sees what follows only if attention does.
    @Test func aGGUFFileSaysSoToo() async throws {
        let key = GGUFBytes.pair("qwen3.attention.causal", 7, [0])
        let first = GGUFBytes.pair("qwen3.pooling_type", 4, GGUFBytes.little(UInt32(2)))
        let file = try Fixtures.bytes("micro-gguf/qwen3-q8_0.gguf")
        func differs(_ name: String, _ pairs: [[UInt8]]) async throws -> Bool {
            let folder = try TemporaryFolder()
            try folder.write(name, GGUFBytes.adding(pairs, to: file))
            let model = try await LanguageModel.open(
                folder: folder(name), options: ModelOptions(threads: 1, isExact: true))
            let vectors = try await model.embed(["the king of", "the king is"])
            return vectors[0].vector != vectors[1].vector
        }
        #expect(try await !differs("causal.gguf", [first]))
        #expect(try await differs("both.gguf", [first, key]))
        let error = try await thrown { _ = try await differs("text.gguf", [key]) }
        #expect(error.code == .unsupportedModel && error.message.contains("is_causal false"), "\(error.message)")
    }

    @Test func whatGeneratesIsRefused() async throws {
        let folder = try folder("qwen3", modules: false)
        let error = try await thrown { try await LanguageModel.open(folder: folder.path) }
        #expect(error.code == .unsupportedModel && error.message.contains("is_causal false"), "\(error.message)")
    }

    /// Where a part of the model sees one side by its nature, or distances count to one.
    @Test(arguments: ["bloom", "jamba", "gemma4"]) func whatCannotSeeBothSidesIsRefused(model: String) async throws
    {
        let folder = try folder(model)
        let error = try await thrown { try await LanguageModel.open(folder: folder.path) }
        #expect(error.code == .unsupportedModel && error.message.contains("is_causal false"), "\(error.message)")
    }

    @Test(arguments: ["bert-heads", "roberta", "electra", "esm2"]) func encodersThatSeeOneSideAreRefused(
        model: String
    ) async throws {
        let folder = try folder(model, modules: false, ["is_decoder": true])
        let error = try await thrown { try await LanguageModel.open(folder: folder.path) }
        #expect(error.code == .unsupportedModel && error.message.contains("is_decoder true"), "\(error.message)")
    }
}
