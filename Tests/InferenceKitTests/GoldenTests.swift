import HubCore
import InferenceKit
import Support
import Testing

/// Against transformers in float32, as the goldens tell.
@Suite struct GoldenTests {
    private static let fixtures = ["tiny-shakespeare", "tiny-shakespeare-sharded", "micro/llama"]

    /// The golden of a fixture: `goldens/micro-llama.json` for `micro/llama`.
    private func golden(_ fixture: String) throws -> JSON {
        try Fixtures.json("goldens/\(fixture.split(separator: "/").joined(separator: "-")).json")
    }

    @Test(arguments: fixtures) func greedyTextIsTheSameTokenForToken(fixture: String) async throws {
        let model = try await LanguageModel.open(folder: Fixtures.path(fixture))
        let prompts = try #require(try golden(fixture)["prompts"]?.array)
        #expect(prompts.count == 3)
        for golden in prompts {
            // A golden holds 64 tokens of a trained model, 32 of a random one.
            let greedy = try #require(golden["greedy_64"] ?? golden["greedy_32"])
            let count = try #require(greedy["ids"]?.ids.count)
            let config = GenerateConfig.precise.maxTokens(count).ignoresEndOfSequence(true)
            let prompt = try #require(golden["text"]?.string)
            let result = try await model.generate(prompt: prompt, config: config).collectWithMetadata()
            #expect(result.promptIDs == golden["ids"]?.ids)
            #expect(result.ids == greedy["ids"]?.ids)
            #expect(result.text == greedy["text"]?.string)
            #expect(result.finishReason == .length)
        }
    }

    @Test(arguments: fixtures) func logitsOfTheLastPosition(fixture: String) async throws {
        let model = try await LanguageModel.open(folder: Fixtures.path(fixture))
        let golden = try golden(fixture)
        let index = try #require(golden["logits"]?["prompt_index"]?.int)
        let prompt = try #require(golden["prompts"]?.array?[Int(index)]["text"]?.string)
        let expected = try #require(golden["logits"]?["values"]?.array).compactMap(\.double)
        let logits = try await model.logits(prompt: prompt)
        #expect(logits.count == expected.count)
        let worst = zip(logits, expected).map { abs(Double($0) - $1) }.max() ?? .infinity
        #expect(worst < 5e-5, "\(worst)")
    }

    @Test func perplexityOfHeldoutText() async throws {
        let model = try await LanguageModel.open(folder: Fixtures.path("tiny-shakespeare"))
        let golden = try #require(try Fixtures.json("goldens/tiny-shakespeare.json")["perplexity"])
        let tokens = try #require(golden["token_range"]?.ids.last)
        let measured = try await model.perplexity(of: Fixtures.text("heldout.txt"), tokenLimit: tokens)
        #expect(measured.tokensScored == 2048)
        let chunks = try #require(golden["bos_chunk256"])
        #expect(abs(measured.meanNegativeLogLikelihood - (chunks["mean_nll"]?.double ?? 0)) < 2e-5)
        #expect(abs(measured.perplexity - (chunks["perplexity"]?.double ?? 0)) < 5e-4, "\(measured.perplexity)")
    }
}
