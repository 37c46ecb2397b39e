import HubCore
import HubTokenizers
import Support
import Testing

@testable import InferenceKit

/// Against transformers in float32, as the goldens tell.
@Suite struct GoldenTests {
    /// Goldens of models that generate: each is a fixture's path, and what it should be opened with.
    private static let decoders =
        [
            "tiny-shakespeare", "tiny-shakespeare-sharded", "micro-llama", "micro-llama-linear",
            "micro-llama-dynamic",
            "micro-llama-yarn", "micro-llama-yarn-explicit", "micro-mistral", "micro-qwen2", "micro-qwen3",
            "micro-gemma",
            "micro-gemma2", "micro-gemma3", "micro-phi3", "micro-phi3-partial", "micro-phi3-longrope-short",
            "micro-phi3-longrope-long", "micro-gpt2", "micro-opt", "micro-opt-pickle", "micro-t5", "micro-t5-gated",
            "micro-bart", "micro-pegasus", "micro-t5gemma",
            "micro-gemma3n", "micro-gemma4", "micro-gemma4-large", "micro-gemma4-unified", "micro-gemma4-mixture",
            "micro-qwen3-moe", "micro-qwen3-moe-together", "micro-qwen2-moe", "micro-mixtral", "micro-gpt-oss",
            "micro-gpt-oss-mxfp4", "micro-deepseek_v2", "micro-deepseek_v3", "micro-kimi_k2", "micro-glm4_moe_lite",
            "micro-hunyuan-moe", "micro-glm4_moe", "micro-minimax_m2", "micro-nemotron_h", "micro-mamba",
            "micro-falcon_mamba",
            "micro-mamba2", "micro-granite4-mamba", "micro-bamba", "micro-falcon_h1", "micro-falcon_h1-normed",
            "micro-falcon_h1-normed-first", "micro-jamba",
            "micro-qwen3_5-text", "micro-qwen3_5", "micro-qwen3_5-moe", "micro-qwen3-next",
        ] + DenseDecoders.goldens
    private static let quantized = [
        "tiny-shakespeare-gguf-f16", "tiny-shakespeare-gguf-q8_0", "tiny-shakespeare-gguf-q4_0",
        "tiny-shakespeare-mlx-4bit", "micro-llama-kquant-gguf-q2_k", "micro-llama-kquant-gguf-q3_k_m",
        "micro-llama-kquant-gguf-q4_k_m", "micro-llama-kquant-gguf-q5_k_m", "micro-llama-quant-gguf-bf16",
        "micro-llama-quant-gguf-q4_1", "micro-llama-quant-gguf-q5_0", "micro-llama-quant-gguf-q5_1",
        "micro-llama-quant-gguf-iq4_nl", "micro-llama-quant-gguf-iq4_xs", "micro-llama-quant-gguf-iq2_xxs",
        "micro-llama-quant-gguf-iq1_m", "micro-llama-quant-gguf-iq3_s", "micro-llama-quant-gguf-tq1_0",
        "micro-llama-quant-gguf-nvfp4",
    ]
    /// A model for each packing of safetensors, against its dequantised twin.
    private static let packed = [
        "micro-packed-fp8", "micro-packed-fp8-latent", "micro-packed-fp8-tensor", "micro-packed-fp8-channel",
        "micro-packed-awq", "micro-packed-gptq", "micro-packed-gptq-order", "micro-packed-gptq-v2",
        "micro-packed-gptq-8bit",
        "micro-packed-gptq-3bit",
        "micro-packed-nvfp4", "micro-packed-nvfp4-compressed", "micro-packed-nvfp4-experts", "micro-packed-int4",
        "micro-packed-int4-channel", "micro-packed-int4-order", "micro-packed-int8", "micro-packed-nf4",
        "micro-packed-nf4-nested",
        "micro-packed-llm-int8", "micro-packed-fused", "micro-packed-hqq", "micro-packed-hqq-8bit",
        "micro-packed-hqq-3bit", "micro-packed-hqq-2bit", "micro-packed-hqq-1bit", "micro-packed-hqq-axis0",
        "micro-packed-hqq-odd",
    ]
    /// Each family as llama.cpp's converter writes it.
    private static let converted = [
        "micro-gguf-llama", "micro-gguf-mistral", "micro-gguf-qwen2", "micro-gguf-qwen3", "micro-gguf-gemma",
        "micro-gguf-gemma2", "micro-gguf-gemma3", "micro-gguf-gemma4", "micro-gguf-gemma4-mixture",
        "micro-gguf-phi3", "micro-gguf-gpt2",
        "micro-gguf-qwen3-moe", "micro-gguf-qwen2-moe", "micro-gguf-mixtral",
        "micro-gguf-gpt-oss", "micro-gguf-deepseek-v2", "micro-gguf-deepseek-v3",
        "micro-gguf-qwen3_5", "micro-gguf-qwen3_5-moe", "micro-gguf-mamba", "micro-gguf-falcon-mamba",
        "micro-gguf-mamba2", "micro-gguf-falcon-h1", "micro-gguf-falcon-h1-normed", "micro-gguf-granite4-mamba",
        "micro-gguf-granite4-mamba-dense",
        "micro-gguf-jamba", "micro-gguf-nemotron-h", "micro-gguf-nemotron-h-moe", "micro-gguf-hunyuan-moe",
    ]

    private func golden(_ name: String) throws -> (golden: JSON, path: String) {
        let golden = try Fixtures.json("goldens/\(name).json")
        return (golden, try Fixtures.path(try #require(golden["fixture"]?.string)))
    }

    @Test(arguments: decoders + quantized + packed + converted) func greedyTextIsTheSameTokenForToken(name: String)
        async throws
    {
        let (golden, path) = try golden(name)
        let model = try await LanguageModel.open(folder: path, options: ModelOptions(isExact: true))
        let prompts = try #require(golden["prompts"]?.array)
        #expect(!prompts.isEmpty)
        for golden in prompts {
            // A golden holds 64 tokens of a trained model, 32 of a random one.
            let greedy = try #require(golden["greedy_64"] ?? golden["greedy_32"])
            let count = try #require(greedy["ids"]?.ids.count)
            let config = GenerateConfig.precise.maxTokens(count).ignoresEndOfSequence(true)
            let prompt = try #require(golden["text"]?.string)
            let result = try await model.generate(prompt: prompt, config: config).collectWithMetadata()
            #expect(result.promptIDs == golden["ids"]?.ids)
            #expect(result.ids == greedy["ids"]?.ids)
            // The golden shows special tokens.
            #expect(model.tokenizer.decode(result.ids) == greedy["text"]?.string)
            #expect(result.finishReason == .length)
        }
    }

    @Test(arguments: decoders + quantized + packed + converted) func logitsOfTheLastPosition(name: String)
        async throws
    {
        let (golden, path) = try golden(name)
        let model = try await LanguageModel.open(folder: path, options: ModelOptions(isExact: true))
        let index = try #require(golden["logits"]?["prompt_index"]?.int)
        let prompt = try #require(golden["prompts"]?.array?[Int(index)]["text"]?.string)
        let expected = try #require(golden["logits"]?["values"]?.array).compactMap(\.double)
        let logits = try await model.logits(prompt: prompt)
        #expect(logits.count == expected.count)
        let worst = zip(logits, expected).map { abs(Double($0) - $1) }.max() ?? .infinity
        #expect(worst < 2e-4, "\(worst)")
    }

    @Test(arguments: [
        "tiny-shakespeare", "tiny-shakespeare-gguf-q8_0", "tiny-shakespeare-gguf-q4_0", "tiny-shakespeare-mlx-4bit",
    ]) func perplexityOfHeldoutText(name: String) async throws {
        let (golden, path) = try golden(name)
        let told = try #require(golden["perplexity"])
        let model = try await LanguageModel.open(folder: path, options: ModelOptions(isExact: true))
        let tokens = try #require(told["token_range"]?.ids.last)
        let measured = try await model.perplexity(of: Fixtures.text("heldout.txt"), tokenLimit: tokens)
        #expect(measured.tokensScored == 2048)
        let chunks = try #require(told["bos_chunk256"])
        #expect(abs(measured.meanNegativeLogLikelihood - (chunks["mean_nll"]?.double ?? 0)) < 2e-5)
        #expect(abs(measured.perplexity - (chunks["perplexity"]?.double ?? 0)) < 1e-3, "\(measured.perplexity)")
    }

    @Test(arguments: [
        "micro-bert", "micro-bert-cls", "micro-bert-cls-plain", "micro-bert-lasttoken",
        "micro-bert-lasttoken-plain",
        "micro-bert-max", "micro-bert-mean-plain", "micro-qwen3-embedding", "micro-gguf-bert",
        "micro-bert-legacy",
        "micro-gguf-nomic-bert", "micro-gguf-jina-v3", "micro-gguf-modernbert", "micro-gguf-eurobert",
        "micro-gguf-embeddinggemma",
    ]) func embeddings(name: String) async throws {
        let (golden, path) = try golden(name)
        let sentences = try #require(golden["sentences"]?.array)
        let model = try await LanguageModel.open(folder: path, options: ModelOptions(isExact: true))
        #expect(model.embeds)
        let results = try await model.embed(sentences.compactMap { $0["text"]?.string })
        #expect(results.count == sentences.count && !results.isEmpty)
        for (result, sentence) in zip(results, sentences) {
            let expected = try #require((sentence["embedding_mean_l2"] ?? sentence["embedding"])?.array).compactMap(
                \.double)
            #expect(result.tokenCount == sentence["ids"]?.ids.count && result.dimensions == expected.count)
            let worst = zip(result.vector, expected).map { abs(Double($0) - $1) }.max() ?? .infinity
            #expect(worst < 1e-5, "\(worst)")
        }
    }

    /// Activations of 8 bits and an f16 cache: as near as llama.cpp comes on the same files.
    @Test(arguments: decoders + quantized + packed + converted) func fastLogitsAreNear(name: String) async throws {
        let (golden, path) = try golden(name)
        let model = try await LanguageModel.open(folder: path)
        let index = try #require(golden["logits"]?["prompt_index"]?.int)
        let prompt = try #require(golden["prompts"]?.array?[Int(index)]["text"]?.string)
        let expected = try #require(golden["logits"]?["values"]?.array).compactMap(\.double)
        let logits = try await model.logits(prompt: prompt)
        let worst = zip(logits, expected).map { abs(Double($0) - $1) }.max() ?? .infinity
        // Random weights make large logits, and nothing averages out.
        let largest = expected.map(abs).max() ?? 0
        #expect(worst < (name.hasPrefix("tiny") ? 0.05 : max(0.02, 0.08 * largest)), "\(worst) of \(largest)")
    }

    @Test(arguments: [
        "tiny-shakespeare", "tiny-shakespeare-gguf-q8_0", "tiny-shakespeare-gguf-q4_0", "tiny-shakespeare-mlx-4bit",
    ]) func fastPerplexityIsNear(name: String) async throws {
        let (golden, path) = try golden(name)
        let exact = try #require(golden["perplexity"]?["bos_chunk256"]?["perplexity"]?.double)
        for format in KeyValueFormat.allCases {
            let model = try await LanguageModel.open(folder: path, options: ModelOptions(cacheFormat: format))
            let fast = try await model.perplexity(of: Fixtures.text("heldout.txt"), tokenLimit: 2048).perplexity
            #expect(abs(fast / exact - 1) < (format == .q8 ? 0.01 : 0.005), "\(fast) for \(exact)")
        }
    }

    /// Each instruction set of this CPU gives the goldens.
    @Test(arguments: ["scalar", "avx2", "avx512", "neon"]) func everyInstructionSet(kernels: String) async throws {
        guard ComputeTeam.available.contains(kernels) else { return }
        for name in [
            "micro-llama", "tiny-shakespeare-gguf-q4_0", "micro-llama-kquant-gguf-q3_k_m", "micro-gpt2",
            "micro-packed-fp8", "micro-packed-awq", "micro-packed-gptq-order", "micro-packed-nvfp4",
            "micro-packed-int4", "micro-packed-nf4-nested", "micro-packed-hqq", "micro-llama-quant-gguf-iq2_xxs",
        ] {
            let (golden, path) = try golden(name)
            var options = ModelOptions(isExact: true)
            options.kernels = kernels
            let model = try await LanguageModel.open(folder: path, options: options)
            #expect(model.instructionSet == kernels)
            let index = try #require(golden["logits"]?["prompt_index"]?.int)
            let prompt = try #require(golden["prompts"]?.array?[Int(index)]["text"]?.string)
            let expected = try #require(golden["logits"]?["values"]?.array).compactMap(\.double)
            let logits = try await model.logits(prompt: prompt)
            let worst = zip(logits, expected).map { abs(Double($0) - $1) }.max() ?? .infinity
            #expect(worst < 2e-4, "\(worst)")
        }
    }
}
