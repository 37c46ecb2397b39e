import HubCore
import ModelFormats
import Support
import Testing

@testable import InferenceKit

/// Models with an encoder that do not generate, against transformers in float32. Those that generate are among the goldens.
@Suite struct AnswerTests {
    @Test(arguments: [1e-4, 0.1]) func labelsOfATextThatIsReadTwice(most: Double) async throws {
        let golden = try Fixtures.json("goldens/micro-bart-labels.json")
        let model = try await LanguageModel.open(
            folder: Fixtures.path("micro/bart-labels"), options: ModelOptions(isExact: most < 0.01))
        #expect(model.task == .classification && !model.generates)
        let texts = try #require(golden["texts"]?.array)
        #expect(!texts.isEmpty)
        let together = try await model.outputs(texts.map { TextPair($0["text"]?.string ?? "") })
        for (text, got) in zip(texts, together) {
            let expected = try #require(text["outputs"]?.array).compactMap(\.double)
            let worst = zip(got[...], expected).map { abs(Double($0) - $1) }.max() ?? .infinity
            #expect(got.count == expected.count && worst < most, "\(worst)")
            let alone = try await model.outputs([TextPair(text["text"]?.string ?? "")])
            #expect(alone == [got])
        }
    }

    @Test func perplexityIsRefused() async throws {
        let model = try await LanguageModel.open(folder: Fixtures.path("micro/t5"))
        await #expect(throws: AIError.self) { try await model.perplexity(of: "some text") }
    }

    /// Attention's working memory has room for so many numbers of a head.
    @Test(arguments: ["micro/bart", "micro/t5", "micro/llama"]) func wideHeadsAreRefused(name: String) throws {
        var all = try #require(try Fixtures.json("\(name)/config.json").object)
        let wide: [String: Int64] =
            name == "micro/bart"
            ? ["d_model": 2048, "encoder_attention_heads": 1] : ["head_dim": 1026, "d_kv": 1026]
        for (key, value) in wide { all[key] = .int(value) }
        let configuration = try ModelConfiguration(.object(all), path: "config.json")
        let architecture = try #require(Architectures.of(configuration))
        #expect(throws: AIError.self) { try architecture.describe(configuration, stored: nil) }
        #expect(Architectures.obstacles(configuration, stored: nil).contains { $0.text.contains("more than 1024") })
    }
}
