import HubCore
import Support
import Testing

@testable import InferenceKit
@testable import ModelFormats

/// The estimate before a download equals the kit's use, and is that of models' own configurations reckoned by hand.
@Suite struct MemoryAgreementTests {
    @Test(arguments: ["tiny-shakespeare", "tiny-shakespeare-sharded", "micro/llama", "micro/mamba2", "micro/t5"])
    func theEstimateIsTheKitsOwn(name: String) async throws {
        let folder = try Fixtures.path(name)
        let inspection = try await ModelInspection.inspect(folder: folder)
        let configuration = try #require(try ModelConfiguration.read(folder: folder))
        let need = RunnableModels.memoryRule.need(inspection.weightsBytes, configuration)
        #expect(need.bytes == inspection.memoryBytes() && need.context == inspection.usualContext)
        #expect(MemoryNeed(parameters: inspection.dataTypes)?.weightsBytes == inspection.weightsBytes)
    }

    private func use(_ config: String, context: Int = 4096) throws -> MemoryUse {
        let configuration = try ModelConfiguration(JSON.parse("{\(config)}"), path: "config.json")
        return try #require(
            ModelMemory(configuration, weightsBytes: 1000).use(context: context, format: .f16))
    }

    /// state-spaces/mamba2-2.7b: 64 layers of 80 heads with 64 numbers, each with 128 of the state, and the last 3 of
    /// 5,376 channels; as float32, four times.
    @Test func statesOfMamba2() throws {
        let use = try use(
            #""model_type":"mamba2","architectures":["Mamba2ForCausalLM"],"hidden_size":2560,"num_hidden_layers":64,"num_heads":80,"head_dim":64,"state_size":128,"n_groups":1,"conv_kernel":4,"expand":2,"vocab_size":50288"#
        )
        #expect(use.states == 64 * (80 * 64 * 128 + 3 * 5376) * 4 * 4)
        #expect(use.states == 687_603_712 && use.cache == 0)
    }

    /// google/gemma-3-4b-it: 5 layers keep 16 pages of 4 heads with 256 numbers, twice, as float16; 29 those of a window of
    /// 1,024, the one where it begins and the one that is written to.
    @Test func windowsOfGemma3() throws {
        let gemma =
            #""hidden_size":2560,"intermediate_size":10240,"model_type":"gemma3_text","num_hidden_layers":34,"sliding_window":1024,"rope_scaling":{"factor":8.0,"rope_type":"linear"}"#
        let text = #""model_type":"gemma3","text_config":{\#(gemma)},"vision_config":{"hidden_size":1152}"#
        let page: Int64 = 256 * 2 * 4 * 256 * 2
        #expect(try use(text).cache == 5 * 16 * page + 29 * 6 * page)
        #expect(try use(text, context: 1000).cache == 34 * 4 * page)
        // What is not run has the text side of what is.
        let seeing = #""model_type":"novel","text_config":{\#(gemma)},"vision_config":{"hidden_size":1152}"#
        #expect(try use(seeing).cache == use(text).cache)
    }

    /// Layers that read the keys of earlier ones have none, and those that see everything have heads of 512.
    @Test func sharedCachesOfGemma4() throws {
        let kinds = (1...15).map { $0 % 5 == 0 ? #""full_attention""# : #""sliding_attention""# }
        let use = try use(
            #""model_type":"gemma4","text_config":{"model_type":"gemma4_text","hidden_size":1536,"intermediate_size":6144,"num_attention_heads":8,"num_key_value_heads":1,"head_dim":256,"global_head_dim":512,"num_hidden_layers":15,"num_kv_shared_layers":5,"sliding_window":512,"vocab_size":262144,"layer_types":[\#(kinds.joined(separator: ","))]}"#
        )
        #expect(use.cache == 256 * (8 * 4 * 256 + 2 * 16 * 512) * 2 * 2)
    }

    /// google-t5/t5-small: the decoder's 6 layers keep 512 positions of their own and of the text, of 8 heads with 64
    /// numbers.
    @Test func bothTextsOfT5() throws {
        let use = try use(
            #""model_type":"t5","architectures":["T5ForConditionalGeneration"],"d_model":512,"d_ff":2048,"d_kv":64,"num_heads":8,"num_layers":6,"num_decoder_layers":6,"n_positions":512,"vocab_size":32128"#,
            context: 512)
        #expect(use.cache == 6 * 2 * 512 * 2 * 8 * 64 * 2)
    }

    /// No name of a family that runs is told again for its cache.
    @Test func onlyWhatDoesNotRunIsListedByName() {
        let running = Architectures.modelTypes.union(Architectures.all.flatMap(\.ggufNames))
            .union(Nets.all.flatMap(\.types))
        let told = ArchitectureTraits.encoders.union(ArchitectureTraits.windowedThroughout)
            .union(ArchitectureTraits.windowPattern.keys).union(ArchitectureTraits.chunkSize.keys)
        #expect(told.isDisjoint(with: running), "\(told.intersection(running))")
    }
}
