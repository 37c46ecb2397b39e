import HubCore
import ModelFormats
import Testing

@Suite struct ModelTensorTests {
    /// A header of these tensors put together, with a quantisation as a configuration would say it.
    private func tensors(_ stored: [(String, String, [Int])], _ quantization: String? = nil) throws -> ModelTensors
    {
        var entries: [(key: String, value: JSON)] = []
        var at = 0
        for (name, type, shape) in stored {
            let bits = try #require(TensorDataType(rawValue: type)).bits
            let end = at + shape.reduce(1, *) * bits / 8
            entries.append(
                (
                    name,
                    .object([
                        "dtype": .string(type), "shape": .array(shape.map { .int(Int64($0)) }),
                        "data_offsets": .array([.int(Int64(at)), .int(Int64(end))]),
                    ])
                ))
            at = end
        }
        let text = Array(JSON.object(JSONObject(entries)).text().utf8)
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: text.count >> (8 * $0)) } + text
        let size = Int64(bytes.count + at)
        let header = try bytes.withUnsafeBytes { buffer in
            Result { () throws(AIError) in try SafetensorsHeader(buffer, fileSize: size, path: "m") }
        }.get()
        let configuration = try ModelConfiguration(
            try JSON.parse("{\"model_type\":\"llama\"\(quantization.map { "," + $0 } ?? "")}"), path: "config.json")
        return ModelTensors(
            StoredWeights(safetensors: [.init(path: "m", fileSize: size, header: header)]),
            configuration.quantization)
    }

    @Test func mlxIsUnpackedWithLayersOfTheirOwn() throws {
        let found = try tensors(
            [
                ("a.weight", "U32", [8, 16]), ("a.scales", "F16", [8, 2]), ("a.biases", "F16", [8, 2]),
                ("b.weight", "U32", [8, 24]), ("b.scales", "F16", [8, 4]), ("b.biases", "F16", [8, 4]),
                ("n.weight", "F16", [8]),
            ], #""quantization":{"bits":4,"group_size":64,"b":{"bits":6,"group_size":32},"n":false}"#)
        #expect(found.tensors.map(\.name) == ["a.weight", "b.weight", "n.weight"])
        #expect(found.tensors.map(\.shape) == [[8, 128], [8, 128], [8]])
        #expect(found.tensors.map(\.storage) == ["MLX 4-bit", "MLX 6-bit", "F16"])
        #expect(found.parameters == 8 * 128 * 2 + 8)
        // 4 bits and two numbers of 16 for 64 weights; 6 and 32 for 32.
        let bits: Double = (8 * 128 * 4.5 + 8 * 128 * 7 + 8 * 16) / Double(8 * 128 * 2 + 8)
        #expect(abs((found.bitsPerWeight ?? 0) - bits) < 1e-9)
    }

    @Test func otherWaysOfPackingAreRecognised() throws {
        typealias Stored = [(String, String, [Int])]
        let gptq: Stored = [
            ("l.qweight", "I32", [16, 64]), ("l.qzeros", "I32", [1, 8]), ("l.scales", "F16", [1, 64]),
            ("l.g_idx", "I32", [128]),
        ]
        let awq: Stored = [
            ("l.qweight", "I32", [128, 8]), ("l.qzeros", "I32", [1, 8]), ("l.scales", "F16", [1, 64]),
        ]
        let four: Stored = [
            ("l.weight", "U8", [4096, 1]), ("l.weight.absmax", "U8", [128]), ("l.weight.quant_map", "F32", [16]),
            ("l.weight.nested_absmax", "F32", [1]), ("l.weight.nested_quant_map", "F32", [256]),
            ("l.weight.quant_state.bitsandbytes__nf4", "U8", [100]),
        ]
        let eight: Stored = [("l.weight", "I8", [64, 128]), ("l.SCB", "F32", [64])]
        let fp8: Stored = [("l.weight", "F8_E4M3", [64, 128]), ("l.weight_scale_inv", "F32", [1, 1])]
        let compressed: Stored = [
            ("l.weight_packed", "I32", [64, 16]), ("l.weight_scale", "BF16", [64, 1]),
            ("l.weight_shape", "I64", [2]),
        ]
        let mxfp4: Stored = [
            ("e.gate_up_proj_blocks", "U8", [2, 32, 4, 16]), ("e.gate_up_proj_scales", "U8", [2, 32, 4]),
        ]
        let nvfp4: Stored = [
            ("l.weight", "U8", [64, 64]), ("l.weight_scale", "F8_E4M3", [64, 8]), ("l.weight_scale_2", "F32", []),
            ("l.input_scale", "F32", []),
        ]
        let cases: [(Stored, String?, String, [Int]?)] = [
            (
                nvfp4, #""quantization_config":{"quant_method":"modelopt","quant_algo":"NVFP4"}"#, "NVFP4",
                [64, 128]
            ),
            (
                gptq, #""quantization_config":{"quant_method":"gptq","bits":4,"group_size":128}"#, "GPTQ 4-bit",
                [64, 128]
            ),
            (awq, #""quantization_config":{"quant_method":"awq","bits":4}"#, "AWQ 4-bit", [64, 128]),
            (
                four, #""quantization_config":{"quant_method":"bitsandbytes","load_in_4bit":true}"#,
                "bitsandbytes 4-bit", nil
            ),
            (
                eight, #""quantization_config":{"quant_method":"bitsandbytes","load_in_8bit":true}"#,
                "bitsandbytes 8-bit", [64, 128]
            ),
            (fp8, #""quantization_config":{"quant_method":"fp8"}"#, "F8_E4M3", [64, 128]),
            (
                compressed, #""quantization_config":{"quant_method":"compressed-tensors"}"#, "compressed-tensors",
                [64, 128]
            ),
            (mxfp4, #""quantization_config":{"quant_method":"mxfp4"}"#, "MXFP4", nil),
        ]
        for (stored, quantization, storage, shape) in cases {
            let found = try tensors(stored, quantization)
            #expect(found.tensors.count == 1, "\(storage)")
            #expect(found.tensors.first?.storage == storage && found.tensors.first?.shape == shape, "\(storage)")
            #expect(found.parameters == 64 * 128, "\(storage): \(found.parameters)")
            #expect(found.tensors.first?.members.count == stored.count)
        }
    }

    @Test(
        arguments: [
            (
                #""quantization":{"bits":4,"group_size":64}"#, ["l.weight U32 8,16", "l.biases F16 8,2"],
                ["l.scales"]
            ),
            (
                #""quantization":{"bits":4,"group_size":64}"#, ["l.weight U32 8,16", "l.scales F16 8,2"],
                ["l.biases"]
            ),
            (
                #""quantization":{"bits":4,"group_size":32,"mode":"mxfp4"}"#,
                ["l.weight U32 8,16", "l.scales U8 8,4"], []
            ),
            (
                #""quantization":{"bits":8,"group_size":64}"#,
                ["l.weight U32 8,16", "l.scales F16 8,2", "l.biases F16 8,2"], ["l.weight"]
            ),
            (
                #""quantization":{"bits":8,"group_size":64,"l":{"bits":4,"group_size":64}}"#,
                ["l.weight U32 8,16", "l.scales F16 8,2", "l.biases F16 8,2"], []
            ),
            (
                #""quantization":{"bits":8,"group_size":64,"model.l":{"bits":4,"group_size":64}}"#,
                ["l.weight U32 8,16", "l.scales F16 8,2", "l.biases F16 8,2"], []
            ),
            (
                #""quantization":{"bits":4,"group_size":64}"#,
                ["l.weight U32 8,16", "l.scales F16 4,2", "l.biases F16 4,2"], ["l.weight"]
            ),
            (#""quantization_config":{"quant_method":"fp8"}"#, ["l.weight F8_E4M3 8,8"], ["l.weight_scale_inv"]),
            (
                #""quantization_config":{"quant_method":"fp8"}"#, ["l.weight F8_E4M3 8,8", "l.weight_scale F32 1"],
                []
            ),
            (
                #""quantization_config":{"quant_method":"gptq","bits":4}"#,
                ["l.qweight I32 8,64", "l.scales F16 1,64"],
                ["l.qzeros"]
            ),
            (
                #""quantization_config":{"quant_method":"bitsandbytes","load_in_4bit":true}"#,
                ["l.weight U8 64,1", "l.weight.quant_map F32 16"], ["l.weight.absmax"]
            ),
            (#""quantization_config":{"quant_method":"bitsandbytes"}"#, ["l.weight I8 8,8"], ["l.SCB"]),
            (#""quantization_config":{"quant_method":"mxfp4"}"#, ["l_blocks U8 8,8"], ["l_scales"]),
        ] as [(String, [String], [String])])
    func whatUnpackingNeedsIsAskedFor(quantization: String, stored: [String], wrong: [String]) throws {
        let parsed = stored.map { line in
            let words = line.split(separator: " ")
            return (String(words[0]), String(words[1]), words[2].split(separator: ",").compactMap { Int($0) })
        }
        let found = try tensors(parsed, quantization)
        #expect(found.faults.map(\.tensor) == wrong, "\(found.faults)")
        // What is left of an incomplete tensor is part of it all the same.
        #expect(found.tensors.count == 1 && found.tensors.first?.members.count == stored.count)
    }

    @Test func masksAndTablesAreNoParameters() throws {
        let found = try tensors([
            ("h.0.attn.bias", "U8", [1, 1, 4, 4]), ("rotary_emb.inv_freq", "F32", [4]),
            ("x.weight", "F32", [2, 2]),
        ])
        #expect(found.parameters == 4 && found.bitsPerWeight == 32)
    }

    @Test(arguments: [
        ("model.embed_tokens.weight", TensorPart.embedding), ("model.layers.0.self_attn.q_norm.weight", .norm),
        ("model.layers.0.mlp.experts.7.up_proj.weight", .experts), ("blk.0.ffn_gate_exps.weight", .experts),
        ("model.layers.0.mlp.shared_expert.up_proj.weight", .feedForward), ("lm_head.weight", .head),
        ("output.weight", .head), ("vision_tower.blocks.0.attn.qkv.weight", .vision),
        ("h.0.attn.c_attn.bias", .attention),
        ("model.layers.0.block_sparse_moe.input_linear.weight", .experts),
        ("model.layers.0.block_sparse_moe.output_linear.weight", .experts),
        ("model.layers.0.block_sparse_moe.router.layer.weight", .feedForward),
        ("shared.weight", .embedding), ("text_encoder.shared.weight", .embedding),
        ("transformer.blocks.0.norm_attn_norm.attn.Wqkv.weight", .attention),
        ("transformer.blocks.0.norm_attn_norm.norm_1.weight", .norm),
        ("blk.3.attn_output.weight", .attention), ("wpe.weight", .embedding),
    ])
    func partsAreToldByName(name: String, part: TensorPart) { #expect(TensorPart(name) == part) }

    @Test func theCacheIsWhatEachKindOfLayerKeeps() throws {
        func cache(_ text: String) throws -> CacheConfiguration {
            try #require(try ModelConfiguration(JSON.parse(text), path: "config.json").cache)
        }
        let sizes = #""hidden_size":64,"num_attention_heads":4,"num_hidden_layers":6"#
        let full = try cache(#"{"model_type":"llama",\#(sizes)}"#)
        #expect(full.fullLayers == 6 && full.windowedLayers == 0 && full.numbersPerLayer == 2 * 64)
        let gemma = try cache(
            #"{"model_type":"gemma3_text",\#(sizes),"sliding_window":8,"sliding_window_pattern":3}"#)
        #expect(gemma.fullLayers == 2 && gemma.windowedLayers == 4 && gemma.window == 8)
        let mixed = try cache(
            #"{"model_type":"x",\#(sizes),"layer_types":["linear_attention","linear_attention","full_attention","mamba","sliding_attention","full_attention"],"sliding_window":8}"#
        )
        #expect(mixed.fullLayers == 2 && mixed.windowedLayers == 1)
        let latent = try cache(#"{"model_type":"deepseek_v3",\#(sizes),"kv_lora_rank":512,"qk_rope_head_dim":64}"#)
        #expect(latent.numbersPerLayer == 576)
        let off = try cache(#"{"model_type":"qwen2",\#(sizes),"sliding_window":8,"use_sliding_window":false}"#)
        #expect(off.fullLayers == 6)
        let configuration = try ModelConfiguration(
            try JSON.parse(#"{"model_type":"x",\#(sizes),"sliding_window":8,"sliding_window_pattern":7}"#),
            path: "config.json")
        let memory = MemoryEstimate(weightsBytes: 0, configuration: configuration)
        #expect(memory.bytes(context: 1000) == memory.bytes(context: 256))
    }

    @Test func theDecoderOfAModelWithSeveralPartsIsRead() throws {
        let c = try ModelConfiguration(
            try JSON.parse(
                #"{"model_type":"llava","text_config":{"model_type":"llama","hidden_size":64,"num_attention_heads":4,"num_hidden_layers":2,"intermediate_size":[8,8]},"auto_map":{"AutoConfig":"x.Config"}}"#
            ),
            path: "config.json")
        #expect(c.modelType == "llava" && c.hiddenSize == 64 && c.layers == 2 && c.intermediateSize == 8)
        #expect(c.customCode == ["x.Config"])
        let old = try ModelConfiguration(
            try JSON.parse(#"{"model_type":"gpt2","n_embd":32,"n_head":4,"n_layer":2,"n_positions":256}"#),
            path: "c")
        #expect(old.hiddenSize == 32 && old.headSize == 8 && old.layers == 2 && old.maxPositions == 256)
    }

    @Test(
        arguments: [
            (#"{"model":{"type":"WordPiece","vocab":{"#, "WordPiece"),
            (#"{"decoder":{"type":"ByteLevel"},"model": {"dropout": null, "type": "BPE","#, "byte-level BPE"),
            (
                #"{"added_tokens":[{"id":0,"content":"\"model\":{\"type\":"},{"id":1}],"model":{"type":"Unigram","#,
                "Unigram"
            ),
            (
                #"{"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split"},{"type":"ByteLevel"}]},"model":{"type":"BPE"}}"#,
                "byte-level BPE"
            ),
            (#"{"added_tokens":[{"type":"x"#, nil), ("", nil), ("[[[", nil), (#"{"model":{"type":"BPE""#, nil),
        ] as [(String, String?)])
    func theKindOfATokenizerStandsAtItsBeginning(text: String, kind: String?) {
        #expect(TokenizerKind.name(beginning: Array(text.utf8)) == kind)
    }

    @Test func bitsThatMLXDoesNotPackAreRefused() throws {
        let error = #expect(throws: AIError.self) { try tensors([], #""quantization":{"bits":7,"group_size":64}"#) }
        #expect(error?.message.contains("bits 7") == true)
    }
}
