import HubCore
import ModelFormats
import Support
import Testing

/// What running a model takes, by figures that were reckoned by hand from the models' own `config.json` and parameters.
@Suite struct MemoryNeedTests {
    private func configuration(_ text: String) throws -> ModelConfiguration {
        try ModelConfiguration(JSON.parse(text), path: "config.json")
    }

    /// meta-llama/Llama-3.1-8B: 8,030,261,248 parameters in BF16; 128 KiB of keys and values a position at 16 bits.
    @Test func aLlamaOfEightBillion() throws {
        let c = try configuration(
            """
            {"model_type":"llama","hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,
             "num_key_value_heads":8,"intermediate_size":14336,"max_position_embeddings":131072}
            """)
        let need = try #require(MemoryNeed(parameters: ["BF16": 8_030_261_248], configuration: c))
        #expect(need.weightsBytes == 16_060_522_496 && need.context == 4096)
        let cache: Int64 = 4096 * 131_072
        let activations: Int64 = 256 * 4 * (4 * 4096 + 2 * 14336 + 2 * 32 * 128 + 2 * 8 * 128)
        #expect(need.bytes == 16_060_522_496 + cache + activations)
        #expect(need.bytes == 16_654_016_512)
        #expect(MemoryNeed(parameters: 8_030_261_248, configuration: c) == need)
    }

    /// Qwen/Qwen2.5-7B: 7,615,616,512 parameters in BF16.
    @Test func aQwenOfSevenBillion() throws {
        let c = try configuration(
            """
            {"model_type":"qwen2","hidden_size":3584,"num_hidden_layers":28,"num_attention_heads":28,
             "num_key_value_heads":4,"intermediate_size":18944,"max_position_embeddings":131072}
            """)
        #expect(MemoryNeed(weightsBytes: 15_231_233_024, configuration: c).bytes == 15_527_980_032)
    }

    /// sentence-transformers/all-MiniLM-L6-v2: its file has 90,868,376 bytes, 11,416 of them header.
    @Test func withoutAConfigurationTheWeightsAndAFifth() throws {
        let need = try #require(MemoryNeed(parameters: ["F32": 22_713_216, "I64": 512]))
        #expect(need.weightsBytes == 90_856_960 && need.context == nil)
        #expect(need.bytes == 109_028_352)
        #expect(MemoryNeed(weightsBytes: 90_868_376).bytes == 109_042_051)
        #expect(MemoryNeed(parameters: ["F32": 1, "Q9": 1]) == nil)
    }

    @Test func bitsOfAWeight() {
        #expect(MemoryNeed(parameters: 1000).weightsBytes == 2000)
        #expect(MemoryNeed(parameters: 1000, bitsPerWeight: 4.5).weightsBytes == 563)
        #expect(MemoryNeed(parameters: -5).bytes == 0)
    }

    /// A configuration of something else than a decoder, or of one nested in another.
    @Test func aConfigurationThatSaysTooLittleCountsAsNone() throws {
        let c = try configuration(#"{"model_type":"novel","text_config":{"num_hidden_layers":40},"vocab_size":5}"#)
        #expect(MemoryNeed(weightsBytes: 1000, configuration: c) == MemoryNeed(weightsBytes: 1000))
    }

    @Test func positionsAreThoseOfTheModelWhereTheyAreFewer() throws {
        let c = try #require(try ModelConfiguration.read(folder: Fixtures.path("tiny-shakespeare")))
        let need = MemoryNeed(weightsBytes: 0, configuration: c)
        #expect(need.context == 512)
        #expect(need.bytes == 512 * (2 * 4 * 2 * 32 * 2) + 256 * 4 * (4 * 128 + 2 * 512 + 2 * 4 * 32 + 2 * 2 * 32))
    }

    /// A server may send any number.
    @Test func nothingOverflows() throws {
        let absurd = try configuration(
            #"{"model_type":"x","hidden_size":16777216,"num_attention_heads":1,"num_hidden_layers":16777216,"intermediate_size":16777216,"max_position_embeddings":2147483647}"#
        )
        #expect(MemoryNeed(weightsBytes: .max, configuration: absurd).bytes == .max)
        #expect(MemoryNeed(weightsBytes: 1, configuration: absurd).bytes == .max)
        #expect(MemoryNeed(weightsBytes: .max).bytes == .max)
        #expect(MemoryNeed(parameters: .max).bytes == .max)
        #expect(MemoryNeed(parameters: ["F64": .max])?.bytes ?? 0 > Int64.max / 8)
    }
}
