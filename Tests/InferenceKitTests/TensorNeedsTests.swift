import HubCore
import InferenceKit
import Support
import Testing

/// Models of one small layer, as their architectures name and shape its tensors.
@Suite struct TensorNeedsTests {
    typealias Shapes = [(String, [Int])]

    private static let counts = [
        "embedding_length": 64, "block_count": 1, "attention.head_count": 4, "attention.head_count_kv": 2,
        "feed_forward_length": 128, "context_length": 256, "vocab_size": 96,
    ]
    private static let top: Shapes = [("token_embd.weight", [96, 64]), ("output_norm.weight", [64])]
    private static let attention: Shapes = [
        ("blk.0.attn_norm.weight", [64]), ("blk.0.attn_q.weight", [64, 64]), ("blk.0.attn_k.weight", [32, 64]),
        ("blk.0.attn_v.weight", [32, 64]), ("blk.0.attn_output.weight", [64, 64]), ("blk.0.ffn_norm.weight", [64]),
    ]
    private static let experts: Shapes = [
        ("blk.0.ffn_gate_inp.weight", [4, 64]), ("blk.0.ffn_gate_exps.weight", [4, 128, 64]),
        ("blk.0.ffn_up_exps.weight", [4, 128, 64]), ("blk.0.ffn_down_exps.weight", [4, 64, 128]),
    ]
    private static let phi3: Shapes = [
        ("blk.0.attn_norm.weight", [64]), ("blk.0.attn_qkv.weight", [128, 64]),
        ("blk.0.attn_output.weight", [64, 64]), ("blk.0.ffn_norm.weight", [64]),
        ("blk.0.ffn_up.weight", [256, 64]),
        ("blk.0.ffn_down.weight", [64, 128]), ("output.weight", [96, 64]),
    ]

    private static func pairs(_ shapes: Shapes) -> Shapes {
        shapes.flatMap { [($0.0 + ".weight", $0.1), ($0.0 + ".bias", [$0.1[0]])] }
    }

    private static let gpt2: Shapes =
        [("token_embd.weight", [96, 64]), ("position_embd.weight", [256, 64])]
        + pairs([
            ("output_norm", [64]), ("blk.0.attn_norm", [64]), ("blk.0.attn_qkv", [192, 64]),
            ("blk.0.attn_output", [64, 64]), ("blk.0.ffn_norm", [64]), ("blk.0.ffn_up", [128, 64]),
            ("blk.0.ffn_down", [64, 128]),
        ])
    private static let bert: Shapes =
        [("token_embd.weight", [96, 64]), ("position_embd.weight", [256, 64]), ("token_types.weight", [2, 64])]
        + pairs([
            ("token_embd_norm", [64]), ("blk.0.attn_q", [64, 64]), ("blk.0.attn_k", [64, 64]),
            ("blk.0.attn_v", [64, 64]), ("blk.0.attn_output", [64, 64]), ("blk.0.attn_output_norm", [64]),
            ("blk.0.ffn_up", [128, 64]), ("blk.0.ffn_down", [64, 128]), ("blk.0.layer_output_norm", [64]),
        ])
    private static let oldMixtral: Shapes =
        top + attention + [("blk.0.ffn_gate_inp.weight", [4, 64])]
        + (0..<4).flatMap {
            [
                ("blk.0.ffn_gate.\($0).weight", [128, 64]), ("blk.0.ffn_up.\($0).weight", [128, 64]),
                ("blk.0.ffn_down.\($0).weight", [64, 128]),
            ]
        }

    private func check(_ architecture: String, _ counts: [String: Int], _ tensors: Shapes) async throws
        -> ModelCheck
    {
        let folder = try TemporaryFolder()
        let bytes = GGUFBytes(architecture, Self.counts.merging(counts) { $1 }, tensors: tensors).bytes
        try folder.write("m.gguf", bytes)
        return try await ModelCheck.run(folder("m.gguf"), options: .init(isFull: true))
    }

    @Test(
        arguments: [
            ("llama", ["expert_count": 4, "expert_used_count": 2], top + attention + experts),
            ("llama", ["expert_count": 4, "expert_used_count": 2], oldMixtral), ("phi3", [:], top + phi3),
            ("gpt2", ["attention.head_count_kv": 4], gpt2), ("bert", ["attention.head_count_kv": 4], bert),
        ] as [(String, [String: Int], Shapes)])
    func aSoundGGUFFilePassesAndOneThatLacksATensorFails(
        architecture: String, counts: [String: Int], tensors: Shapes
    ) async throws {
        let sound = try await check(architecture, counts, tensors)
        #expect(sound.verdict == .pass && sound.findings.isEmpty, "\(sound.findings)")
        #expect(
            sound.checks.contains {
                $0.name == "tensors" && $0.detail.hasSuffix("all present with the right shapes")
            })
        let name = "blk.0.attn_output.weight"
        let broken = try await check(architecture, counts, tensors.filter { $0.0 != name })
        #expect(broken.verdict == .fail && broken.findings.first?.tensor == name, "\(broken.findings)")
        #expect(broken.findings.count == 1 && broken.findings.first?.expected == "[64, 64]")
    }

    private static func shapes(_ lines: String) -> Shapes {
        lines.split(separator: "\n").map { line in
            let words = line.split(separator: " ")
            return (String(words[0]), words.dropFirst().compactMap { Int($0) })
        }
    }
    private static let gate =
        "blk.0.ffn_gate.weight 128 64\nblk.0.ffn_up.weight 128 64\nblk.0.ffn_down.weight 64 128"
    private static let feedForward = shapes(gate)
    private static let biases = shapes("blk.0.attn_q.bias 64\nblk.0.attn_k.bias 32\nblk.0.attn_v.bias 32")
    private static let headNorms = shapes("blk.0.attn_q_norm.weight 16\nblk.0.attn_k_norm.weight 16")
    private static let afterNorms = shapes("blk.0.post_attention_norm.weight 64\nblk.0.post_ffw_norm.weight 64")
    private static let smallExperts = shapes(
        """
        blk.0.ffn_gate_inp.weight 4 64
        blk.0.ffn_gate_exps.weight 4 32 64
        blk.0.ffn_up_exps.weight 4 32 64
        blk.0.ffn_down_exps.weight 4 64 32
        """)
    private static let mixture = ["expert_count": 4, "expert_used_count": 2, "expert_feed_forward_length": 32]
    private static let mamba = shapes(
        """
        blk.0.attn_norm.weight 64
        blk.0.ssm_in.weight 256 64
        blk.0.ssm_conv1d.weight 128 4
        blk.0.ssm_conv1d.bias 128
        blk.0.ssm_x.weight 20 128
        blk.0.ssm_dt.weight 128 4
        blk.0.ssm_dt.bias 128
        blk.0.ssm_a 128 8
        blk.0.ssm_d 128
        blk.0.ssm_out.weight 64 128
        """)
    private static let latent = shapes(
        """
        blk.0.attn_norm.weight 64
        blk.0.ffn_norm.weight 64
        blk.0.attn_q_a.weight 24 64
        blk.0.attn_q_a_norm.weight 24
        blk.0.attn_q_b.weight 96 24
        blk.0.attn_kv_a_mqa.weight 40 64
        blk.0.attn_kv_a_norm.weight 32
        blk.0.attn_k_b.weight 4 32 16
        blk.0.attn_v_b.weight 4 20 32
        blk.0.attn_output.weight 64 80
        """)
    private static let latentSizes = [
        "attention.q_lora_rank": 24, "attention.kv_lora_rank": 32, "rope.dimension_count": 8,
        "attention.key_length_mla": 24, "attention.value_length_mla": 20, "attention.key_length": 40,
        "attention.head_count_kv": 1, "expert_shared_count": 2,
    ]
    private static let sharedExperts = shapes(
        """
        blk.0.ffn_gate_shexp.weight 64 64
        blk.0.ffn_up_shexp.weight 64 64
        blk.0.ffn_down_shexp.weight 64 64
        blk.0.exp_probs_b.bias 4
        """)
    private static let openMixture = shapes(
        """
        blk.0.attn_norm.weight 64
        blk.0.post_attention_norm.weight 64
        blk.0.attn_q.weight 64 64
        blk.0.attn_k.weight 32 64
        blk.0.attn_v.weight 32 64
        blk.0.attn_output.weight 64 64
        blk.0.attn_output.bias 64
        blk.0.attn_sinks.weight 4
        blk.0.ffn_gate_inp.bias 4
        blk.0.ffn_gate_exps.bias 4 32
        blk.0.ffn_up_exps.bias 4 32
        blk.0.ffn_down_exps.bias 4 64
        """)
    private static let falcon = shapes(
        """
        output_norm.bias 64
        blk.0.attn_norm.weight 64
        blk.0.attn_norm.bias 64
        blk.0.attn_qkv.weight 128 64
        blk.0.attn_output.weight 64 64
        blk.0.ffn_up.weight 128 64
        blk.0.ffn_down.weight 64 128
        """)

    struct Kind {
        let architecture: String
        var counts: [String: Int] = [:]
        let layer: Shapes
        let missing: String
    }

    private static let qwen3Moe: Shapes = attention + headNorms + smallExperts
    private static let qwen2: Shapes = attention + biases + feedForward
    private static let latentMixture: Shapes = latent + smallExperts + sharedExperts
    private static let latentDense: Shapes = latent + feedForward
    private static let openLayer: Shapes = openMixture + biases + smallExperts
    private static let granite: Shapes = attention + feedForward
    private static let gemma3: Shapes = attention + headNorms + afterNorms + feedForward
    private static let wideNorms = shapes("blk.0.attn_q_norm.weight 64\nblk.0.attn_k_norm.weight 32")
    private static let bare: Shapes = attention.filter { !$0.0.hasSuffix("_norm.weight") }
    private static let olmo2: Shapes = bare + afterNorms + wideNorms + feedForward
    private static let oneNorm: Shapes = attention.filter { !$0.0.hasSuffix("ffn_norm.weight") }
    private static let command: Shapes = oneNorm + feedForward
    private static let fused = shapes("blk.0.ffn_up.weight 256 64\nblk.0.ffn_down.weight 64 128")
    private static let glm4: Shapes = attention + afterNorms + fused
    private static let starcoderRest = shapes(
        """
        output_norm.bias 64
        blk.0.attn_norm.bias 64
        blk.0.ffn_norm.bias 64
        blk.0.ffn_up.weight 128 64
        blk.0.ffn_up.bias 128
        blk.0.ffn_down.weight 64 128
        """)
    private static let starcoder2: Shapes = attention + biases + starcoderRest
    private static let states = [
        "ssm.inner_size": 128, "ssm.conv_kernel": 4, "ssm.state_size": 8, "ssm.time_step_rank": 4,
    ]
    private static let latentCounts: [String: Int] = mixture.merging(latentSizes) { $1 }

    private static let kinds: [Kind] = [
        Kind(architecture: "qwen3moe", counts: mixture, layer: qwen3Moe, missing: "blk.0.ffn_up_exps.weight"),
        Kind(architecture: "qwen2", layer: qwen2, missing: "blk.0.attn_k.bias"),
        Kind(
            architecture: "deepseek2", counts: latentCounts, layer: latentMixture, missing: "blk.0.attn_v_b.weight"),
        Kind(architecture: "deepseek2", counts: latentSizes, layer: latentDense, missing: "blk.0.ffn_gate.weight"),
        Kind(architecture: "mamba", counts: states, layer: mamba, missing: "blk.0.ssm_a"),
        Kind(architecture: "gpt-oss", counts: mixture, layer: openLayer, missing: "blk.0.attn_sinks.weight"),
        Kind(architecture: "granite", layer: granite, missing: "blk.0.ffn_down.weight"),
        Kind(architecture: "gemma3", layer: gemma3, missing: "blk.0.post_ffw_norm.weight"),
        Kind(architecture: "olmo2", layer: olmo2, missing: "blk.0.attn_k_norm.weight"),
        Kind(architecture: "falcon", layer: falcon, missing: "blk.0.attn_qkv.weight"),
        Kind(architecture: "command-r", layer: command, missing: "blk.0.attn_norm.weight"),
        Kind(architecture: "glm4", layer: glm4, missing: "blk.0.post_attention_norm.weight"),
        Kind(architecture: "starcoder2", layer: starcoder2, missing: "blk.0.ffn_norm.bias"),
    ]

    @Test(arguments: kinds) func eachKindOfGGUFFileIsHeldAgainstItsOwnTensors(kind: Kind) async throws {
        let (architecture, counts, missing) = (kind.architecture, kind.counts, kind.missing)
        let tensors = Self.top + kind.layer
        let sound = try await check(architecture, counts, tensors)
        #expect(sound.findings.filter { $0.check == "tensors" }.isEmpty, "\(sound.findings)")
        #expect(sound.checks.contains { $0.name == "tensors" && $0.status == .pass })
        let broken = try await check(architecture, counts, tensors.filter { $0.0 != missing })
        #expect(broken.findings.filter { $0.check == "tensors" }.map(\.tensor) == [missing])
        var turned = tensors
        let at = try #require(tensors.lastIndex { $0.1.count == 2 && $0.1[0] != $0.1[1] })
        turned[at].1.reverse()
        let wrong = try await check(architecture, counts, turned)
        #expect(wrong.findings.filter { $0.check == "tensors" }.map(\.tensor) == [tensors[at].0])
    }

    @Test func aGGUFFileOfTheWrongShapeNamesItself() async throws {
        var tensors = Self.top + Self.phi3
        tensors[0].1 = [95, 64]
        let found = try #require(try await check("phi3", [:], tensors).findings.first)
        #expect(found.status == .fail && found.detail.hasSuffix("has the shape [95, 64]; m.gguf says [96, 64]"))
    }

    @Test func anotherArchitectureIsHeldAgainstItsNumberOfLayers() async throws {
        let other = try await check("unheard-of", [:], Self.top + Self.attention)
        #expect(other.verdict == .pass && other.findings.isEmpty, "\(other.findings)")
        let short = try await check("unheard-of", ["block_count": 3], Self.top + Self.attention)
        #expect(short.findings.map(\.detail) == ["the weights have 1 layer; m.gguf says 3"])
    }

    private func safetensors(_ config: String, _ tensors: [(String, String, [Int])]) async throws -> ModelCheck {
        let folder = try TemporaryFolder()
        try folder.write("config.json", Array(config.utf8))
        try folder.write("model.safetensors", SafetensorsBytes.file(tensors))
        return try await ModelCheck.run(folder.path, options: .init(isFull: true))
    }

    private static func layer(_ prefix: String) -> [(String, String, [Int])] {
        let block: Shapes = [
            ("input_layernorm", [64]), ("post_attention_layernorm", [64]), ("self_attn.q_proj", [64, 64]),
            ("self_attn.k_proj", [32, 64]), ("self_attn.v_proj", [32, 64]), ("self_attn.o_proj", [64, 64]),
            ("mlp.gate_proj", [128, 64]), ("mlp.up_proj", [128, 64]), ("mlp.down_proj", [64, 128]),
        ]
        var tensors = [(prefix + "embed_tokens.weight", "BF16", [96, 64]), (prefix + "norm.weight", "BF16", [64])]
        for (name, shape) in block { tensors.append(("\(prefix)layers.0.\(name).weight", "BF16", shape)) }
        return tensors
    }

    @Test(arguments: ["llama", "unheard-of"]) func aNumberOfALayerMayBeAnything(type: String) async throws {
        for layer in [String(Int.max), "1000000", "-1"] {
            let tensors = Self.layer("model.") + [("model.layers.\(layer).x.weight", "BF16", [64])]
            let check = try await safetensors(
                #"{"model_type":"\#(type)","hidden_size":64,"num_hidden_layers":1,"num_attention_heads":4,"num_key_value_heads":2,"intermediate_size":128,"vocab_size":96}"#,
                tensors)
            #expect(!check.findings.contains { $0.check == "tensors" && $0.status == .fail }, "\(check.findings)")
        }
    }

    @Test func everyTensorThatIsMissingIsFoundHoweverManyThereAre() async throws {
        let tensors = Self.layer("model.").filter { !$0.0.contains(".layers.") }
        let check = try await safetensors(
            #"{"model_type":"llama","hidden_size":64,"num_hidden_layers":10000,"num_attention_heads":4,"num_key_value_heads":2,"intermediate_size":128,"vocab_size":96}"#,
            tensors)
        #expect(check.findings.count { $0.check == "tensors" && $0.status == .fail } == 9 * 10_000)
    }

    @Test func eyesOfAModelAreNotCalledUnused() async throws {
        let prefix = "language_model.model."
        let norms: Shapes = ["pre_feedforward_layernorm", "post_feedforward_layernorm"].map { ($0, [64]) }
        let heads: Shapes = ["self_attn.q_norm", "self_attn.k_norm"].map { ($0, [16]) }
        var tensors = Self.layer(prefix)
        for (name, shape) in norms + heads { tensors.append(("\(prefix)layers.0.\(name).weight", "BF16", shape)) }
        tensors.append(("vision_tower.vision_model.encoder.layers.0.self_attn.q_proj.weight", "BF16", [32, 32]))
        tensors.append(("multi_modal_projector.mm_input_projection_weight", "BF16", [32, 64]))
        let check = try await safetensors(
            #"{"model_type":"gemma3","architectures":["Gemma3ForConditionalGeneration"],"text_config":{"model_type":"gemma3_text","hidden_size":64,"num_hidden_layers":1,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":16,"intermediate_size":128,"vocab_size":96}}"#,
            tensors)
        #expect(check.findings.filter { $0.check == "tensors" }.isEmpty, "\(check.findings)")
        #expect(check.checks.contains { $0.name == "tensors" && $0.status == .pass })
    }

    @Test func packedWeightsThatTheConfigurationDoesNotTellOfAreFound() async throws {
        let mlx = try TemporaryFolder(linking: "tiny-shakespeare-mlx-4bit")
        var config = try #require(Fixtures.json("tiny-shakespeare-mlx-4bit/config.json").object)
        (config["quantization"], config["quantization_config"]) = (nil, nil)
        try mlx.write("config.json", .object(config))
        let unsaid = try await ModelCheck.run(mlx.path).findings
        #expect(unsaid.map(\.status) == [.fail] && unsaid[0].file == "config.json")
        #expect(
            unsaid[0].detail
                == "29 tensors (\"model.embed_tokens.weight\" …) are packed (MLX 4-bit); config.json does not say so"
        )
        // An older file may say so.
        let gptq = try TemporaryFolder()
        try gptq.write("config.json", Array(#"{"model_type":"unheard-of","num_hidden_layers":1}"#.utf8))
        try gptq.write(
            "model.safetensors",
            SafetensorsBytes.file([
                ("model.layers.0.x.qweight", "I32", [8, 64]), ("model.layers.0.x.scales", "F16", [1, 64]),
                ("model.layers.0.x.qzeros", "I32", [1, 8]), ("model.layers.0.x.g_idx", "I32", [64]),
            ]))
        func statuses() async throws -> [CheckResult.Status] {
            try await ModelCheck.run(gptq.path).findings.filter { $0.check == "tensors" }.map(\.status)
        }
        #expect(try await statuses() == [.fail])
        try gptq.write("quantize_config.json", Array(#"{"bits":4}"#.utf8))
        #expect(try await statuses().isEmpty)
        let config8 = #"{"model_type":"unheard-of","num_hidden_layers":1}"#
        let float = try await safetensors(
            config8,
            [("model.layers.0.x.weight", "F8_E4M3", [8, 8]), ("model.layers.0.x.weight_scale", "F32", [])])
        #expect(float.findings.filter { $0.check == "tensors" }.map(\.status) == [.warn], "\(float.findings)")
    }

    @Test func floatsOfFourBitsAreHeldAgainstTheirArchitecture() async throws {
        let packed = Self.layer("model.").flatMap { tensor -> [(String, String, [Int])] in
            guard tensor.0.contains("_proj") else { return [tensor] }
            let (rows, columns) = (tensor.2[0], tensor.2[1])
            let base = tensor.0.dropLast(".weight".count)
            return [
                (tensor.0, "U8", [rows, columns / 2]), ("\(base).weight_scale", "F8_E4M3", [rows, columns / 16]),
                ("\(base).weight_scale_2", "F32", []), ("\(base).input_scale", "F32", []),
            ]
        }
        let check = try await safetensors(
            #"{"model_type":"llama","hidden_size":64,"num_hidden_layers":1,"num_attention_heads":4,"num_key_value_heads":2,"intermediate_size":128,"vocab_size":96,"quantization_config":{"quant_method":"modelopt","quant_algo":"NVFP4"}}"#,
            packed)
        #expect(check.findings.filter { $0.check == "tensors" }.isEmpty, "\(check.findings)")
        let inspection = try #require(check.inspection)
        #expect(inspection.parameters == 43_200)
        #expect(inspection.quantization == "modelopt NVFP4 quantisation")
    }
}
