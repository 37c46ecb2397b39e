import HubCore
import ModelFormats
import Support
import Testing

/// The KV cache by `config.json` alone, of families with keys of their own. The configurations are those of published models, cut
/// down to what counts; the figures were reckoned by hand.
@Suite struct CacheFamilyTests {
    struct Family: CustomTestStringConvertible {
        let name: String
        /// Bytes per position as float32; 0 without a cache, nil if unknown.
        let bytes: Int64?
        let config: String
        var layers: Int?
        var heads: Int?
        var kvHeads: Int?
        var testDescription: String { name }
    }

    private static let families: [Family] = [
        Family(
            name: "falcon-7b", bytes: 16384,
            config:
                #""model_type":"falcon","hidden_size":4544,"multi_query":true,"new_decoder_architecture":false,"num_attention_heads":71,"num_hidden_layers":32"#,
            kvHeads: 1),
        Family(
            name: "falcon-40b", bytes: 245_760,
            config:
                #""model_type":"falcon","hidden_size":8192,"multi_query":true,"new_decoder_architecture":true,"num_attention_heads":128,"num_kv_heads":8,"num_hidden_layers":60"#,
            kvHeads: 8),
        Family(
            name: "starcoder", bytes: 40960,
            config:
                #""model_type":"gpt_bigcode","n_embd":6144,"n_head":48,"n_layer":40,"n_inner":24576,"multi_query":true"#,
            kvHeads: 1),
        Family(
            name: "chatglm3-6b", bytes: 57344,
            config:
                #""model_type":"chatglm","hidden_size":4096,"num_layers":28,"num_attention_heads":32,"multi_query_attention":true,"multi_query_group_num":2,"kv_channels":128,"padded_vocab_size":65024"#,
            kvHeads: 2),
        Family(
            name: "dbrx", bytes: 327_680,
            config:
                #""model_type":"dbrx","d_model":6144,"n_heads":48,"n_layers":40,"attn_config":{"kv_n_heads":8},"ffn_config":{"moe_num_experts":16,"moe_top_k":4}"#,
            kvHeads: 8),
        Family(
            name: "mamba-codestral", bytes: 0,
            config:
                #""model_type":"mamba2","hidden_size":4096,"num_heads":128,"head_dim":64,"num_hidden_layers":64"#,
            layers: 64),
        Family(
            name: "qwen3-next", bytes: 49152,
            config:
                #""model_type":"qwen3_next","hidden_size":2048,"head_dim":256,"num_attention_heads":16,"num_key_value_heads":2,"num_hidden_layers":48,"full_attention_interval":4"#
        ),
        Family(
            name: "jamba", bytes: 32768,
            config:
                #""model_type":"jamba","hidden_size":4096,"num_attention_heads":32,"num_key_value_heads":8,"num_hidden_layers":32,"attn_layer_period":8,"attn_layer_offset":4"#
        ),
        Family(
            name: "nemotron-h", bytes: 32768,
            config:
                #""model_type":"nemotron_h","hidden_size":4480,"num_attention_heads":40,"num_key_value_heads":8,"head_dim":128,"num_hidden_layers":56,"hybrid_override_pattern":"M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-""#
        ),
        Family(
            name: "recurrentgemma", bytes: 16384,
            config:
                #""model_type":"recurrent_gemma","hidden_size":2560,"num_attention_heads":10,"num_key_value_heads":1,"head_dim":256,"num_hidden_layers":26,"attention_window_size":2048,"block_types":["recurrent","recurrent","attention"]"#
        ),
        Family(
            name: "distil-whisper", bytes: 20480,
            config:
                #""model_type":"whisper","d_model":1280,"decoder_layers":2,"encoder_layers":32,"num_hidden_layers":32,"decoder_attention_heads":20,"encoder_attention_heads":20"#,
            layers: 2),
        Family(
            name: "bloom", bytes: 8_028_160,
            config: #""model_type":"bloom","n_embed":14336,"n_layer":70,"num_attention_heads":112"#),
        Family(
            name: "roformer", bytes: 0,
            config: #""model_type":"roformer","hidden_size":768,"num_attention_heads":12,"num_hidden_layers":12"#,
            heads: 12),
        Family(
            name: "an encoder as a decoder", bytes: 73728,
            config:
                #""model_type":"roformer","is_decoder":true,"hidden_size":768,"num_attention_heads":12,"num_hidden_layers":12"#
        ),
        Family(
            name: "chinese_clip", bytes: 0,
            config:
                #""model_type":"chinese_clip","text_config":{"model_type":"chinese_clip_text_model","hidden_size":512,"num_hidden_layers":12,"num_attention_heads":8},"vision_config":{}"#,
            layers: 12, heads: 8),
        Family(
            name: "gemma-3-4b", bytes: 278_528,
            config:
                #""model_type":"gemma3","text_config":{"hidden_size":2560,"intermediate_size":10240,"model_type":"gemma3_text","num_hidden_layers":34,"sliding_window":1024},"vision_config":{"hidden_size":1152}"#,
            layers: 34, heads: 8, kvHeads: 4),
        Family(
            name: "llava-1.5-7b", bytes: 1_048_576,
            config:
                #""model_type":"llava","text_config":{"model_type":"llama","max_position_embeddings":4096,"vocab_size":32064}"#,
            layers: 32, heads: 32, kvHeads: 32),
        Family(
            name: "paligemma", bytes: 36864,
            config:
                #""model_type":"paligemma","hidden_size":2048,"vocab_size":257216,"text_config":{"hidden_size":2048,"model_type":"gemma","num_attention_heads":8,"num_hidden_layers":18,"num_key_value_heads":1}"#,
            layers: 18, kvHeads: 1),
        Family(
            name: "voxtral", bytes: 245_760,
            config:
                #""model_type":"voxtral","hidden_size":3072,"vocab_size":131072,"text_config":{"hidden_size":3072,"num_hidden_layers":30,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128}"#,
            layers: 30),
        Family(
            name: "qwen-omni", bytes: 196_608,
            config:
                #""model_type":"qwen3_omni_moe","thinker_config":{"text_config":{"hidden_size":2048,"num_hidden_layers":48,"num_attention_heads":32,"num_key_value_heads":4,"head_dim":128}}"#,
            layers: 48),
        Family(
            name: "deepseek-v3", bytes: 140_544,
            config:
                #""model_type":"deepseek_v3","hidden_size":7168,"num_attention_heads":128,"num_hidden_layers":61,"kv_lora_rank":512,"qk_rope_head_dim":64"#
        ),
        Family(
            name: "heads of each layer", bytes: nil,
            config:
                #""model_type":"openelm","model_dim":1280,"head_dim":64,"num_transformer_layers":2,"num_kv_heads":[3,4],"num_query_heads":[12,16]"#
        ),
        Family(
            name: "a part without sizes", bytes: nil,
            config: #""model_type":"novel","text_config":{"num_hidden_layers":40}"#,
            layers: 40),
        Family(
            name: "kimi-linear", bytes: 7 * 576 * 4,
            config:
                #""model_type":"kimi_linear","hidden_size":2304,"num_attention_heads":32,"num_key_value_heads":32,"num_hidden_layers":27,"kv_lora_rank":512,"qk_rope_head_dim":64,"linear_attn_config":{"full_attn_layers":[4,8,12,16,20,24,27],"kda_layers":[1,2,3]}"#
        ),
        Family(
            name: "llama-3.2-vision", bytes: 32 * 2 * 8 * 128 * 4,
            config:
                #""model_type":"mllama","text_config":{"model_type":"mllama_text_model","cross_attention_layers":[3,8,13,18,23,28,33,38]}"#,
            layers: 40),
        Family(
            name: "layers beyond counting", bytes: nil,
            config:
                #""model_type":"x","hidden_size":64,"num_attention_heads":4,"num_hidden_layers":16777216,"full_attention_interval":4"#
        ),
    ]

    private func estimate(_ c: ModelConfiguration) -> MemoryEstimate {
        MemoryEstimate(weightsBytes: 0, configuration: c)
    }

    @Test(arguments: families) func theCacheIsToldRight(family: Family) throws {
        let c = try ModelConfiguration(JSON.parse("{\(family.config)}"), path: "config.json")
        #expect(estimate(c).cacheBytesPerPosition == family.bytes)
        #expect(family.layers == nil || c.layers == family.layers)
        #expect(family.heads == nil || c.heads == family.heads)
        #expect(family.kvHeads == nil || c.kvHeads == family.kvHeads)
    }

    @Test func whatAPartLeavesOutIsItsClass() throws {
        let gemma = try ModelConfiguration(
            JSON.parse(
                #"{"model_type":"gemma3","text_config":{"hidden_size":2560,"model_type":"gemma3_text","num_hidden_layers":34,"sliding_window":1024,"head_dim":null}}"#
            ), path: "c")
        #expect(gemma.vocabulary == 262_208 && gemma.maxPositions == 131_072)
        // null is a word of the file's own: the size follows from the heads.
        #expect(gemma.headSize == 320)
        // A whole configuration names what it differs in from all others; what it lacks is missing.
        #expect(try ModelConfiguration(JSON.parse(#"{"model_type":"llama"}"#), path: "c").layers == nil)
        let chat = try ModelConfiguration(
            JSON.parse(#"{"model_type":"chatglm","padded_vocab_size":65024}"#), path: "c")
        #expect(chat.vocabulary == 65024)
        let dbrx = try ModelConfiguration(
            JSON.parse(#"{"model_type":"dbrx","ffn_config":{"moe_num_experts":16,"moe_top_k":4}}"#), path: "c")
        #expect(dbrx.experts == 16 && dbrx.expertsPerToken == 4)
    }

    @Test(
        arguments: [
            // Scout names no layers, Maverick each of them.
            (
                #""model_type":"llama4","text_config":{"model_type":"llama4_text","no_rope_layers":[]}"#, 12, 36,
                8192
            ),
            (
                #""model_type":"llama4_text","hidden_size":64,"num_attention_heads":4,"num_hidden_layers":4,"attention_chunk_size":512,"no_rope_layers":[1,0,1,0]"#,
                2, 2, 512
            ),
            (
                #""model_type":"llama4_text","hidden_size":64,"num_attention_heads":4,"num_hidden_layers":4,"attention_chunk_size":null"#,
                4, 0, nil
            ),
            (
                #""model_type":"qwen2","hidden_size":64,"num_attention_heads":4,"num_hidden_layers":28,"sliding_window":4096,"use_sliding_window":true,"max_window_layers":21"#,
                21, 7, 4096
            ),
        ] as [(String, Int, Int, Int?)])
    func windowsOfSomeLayersAreToldRight(config: String, full: Int, windowed: Int, window: Int?) throws {
        let cache = try #require(try ModelConfiguration(JSON.parse("{\(config)}"), path: "c").cache)
        #expect(cache.fullLayers == full && cache.windowedLayers == windowed && cache.window == window)
    }

    @Test func countsOfAGGUFFileThatCannotBeAreFaults() throws {
        #expect(try gguf("llama", ["block_count": 0]).faults == ["llama.block_count is 0, not above 0"])
        #expect(
            try gguf("llama", ["attention.head_count": 0, "attention.head_count_kv": 0]).faults == [
                "llama.attention.head_count is 0, not above 0", "llama.attention.head_count_kv is 0, not above 0",
            ])
        #expect(
            try gguf("llama", ["attention.head_count_kv": 3]).faults == [
                "4 attention heads are not divisible by 3 key-value heads"
            ])
        let none = [
            "attention.head_count": 0, "attention.head_count_kv": 0, "feed_forward_length": 0, "expert_count": 0,
        ]
        #expect(try gguf("mamba", none).faults.isEmpty)
    }

    @Test func tokenTypesOfAGGUFFileAreThoseOfItsTokenizer() throws {
        #expect(try gguf("bert", [:]).settings["type_vocab_size"] == nil)
        let count = GGUFBytes.pair("tokenizer.ggml.token_type_count", 4, GGUFBytes.little(UInt32(1)))
        #expect(try gguf("bert", [:], others: [count]).settings["type_vocab_size"]?.int == 1)
    }

    private func gguf(
        _ architecture: String, _ counts: [String: Int], lists: [String: [Int]] = [:], others: [[UInt8]] = []
    ) throws -> ModelConfiguration {
        let sizes = ["embedding_length": 64, "block_count": 12, "attention.head_count": 4]
        var file = GGUFBytes(architecture, sizes.merging(counts) { $1 }, lists: lists)
        file.pairs += others
        return try ModelConfiguration(file.header(), path: "m.gguf")
    }

    @Test func theCacheOfAGGUFFileIsToldRight() throws {
        let latent = try gguf(
            "deepseek2", ["block_count": 1, "attention.kv_lora_rank": 512, "rope.dimension_count": 64])
        #expect(estimate(latent).cacheBytesPerPosition == 2304)
        let hybrid = try gguf(
            "lfm2", [:], lists: ["attention.head_count_kv": [0, 0, 2, 0, 0, 2, 0, 0, 2, 0, 0, 2]])
        #expect(hybrid.kvHeads == 2 && estimate(hybrid).cacheBytesPerPosition == 4 * 2 * 2 * 16 * 4)
        let uneven = try gguf(
            "openelm", [:], lists: ["attention.head_count_kv": [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4]])
        #expect(uneven.kvHeads == nil && uneven.cache == nil)
        let flags = try gguf(
            "gpt-oss", ["attention.sliding_window": 8],
            lists: ["attention.sliding_window_pattern": [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]])
        #expect(flags.cache?.windowedLayers == 6 && flags.cache?.fullLayers == 6)
    }

    @Test func expertsThatLieInOneTensorAreCountedAsActive() throws {
        let c = try ModelConfiguration(
            JSON.parse(#"{"model_type":"granitemoe","num_local_experts":8,"num_experts_per_tok":2}"#), path: "c")
        let bytes = SafetensorsBytes.file([
            ("model.layers.0.block_sparse_moe.input_linear.weight", "BF16", [8, 4, 2]),
            ("model.layers.0.block_sparse_moe.output_linear.weight", "BF16", [8, 2, 2]),
            ("model.layers.0.block_sparse_moe.router.layer.weight", "BF16", [8, 2]),
        ])
        let header = try bytes.withUnsafeBytes { buffer in
            Result { () throws(AIError) in
                try SafetensorsHeader(buffer, fileSize: Int64(bytes.count), path: "m")
            }
        }.get()
        var sources = ModelSources(name: "m")
        sources.configuration = c
        sources.weights = StoredWeights(safetensors: [
            .init(path: "m", fileSize: Int64(bytes.count), header: header)
        ])
        let summary = ModelSummary(sources)
        #expect(summary.parameters == 64 + 32 + 16 && summary.activeParameters == 16 + 96 / 4)
    }
}
