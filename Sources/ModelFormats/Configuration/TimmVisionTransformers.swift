import HubCore

/// The sizes of timm's vision transformers, which their files leave to the name of the architecture.
/// https://github.com/huggingface/pytorch-image-models/blob/main/timm/models/vision_transformer.py, deit.py
enum TimmVisionTransformers {
    /// The arguments of an architecture under timm's names; nil for one that is not listed.
    static func arguments(_ architecture: String) -> JSONObject? {
        named(architecture) ?? older(architecture).flatMap(named)
    }

    private static func named(_ name: String) -> JSONObject? { table[name] ?? table[withoutSize(name)] }

    /// `vit_base_patch16_224` is listed as `vit_base_patch16`: the size of pictures is told elsewhere.
    private static func withoutSize(_ name: String) -> String {
        guard let place = name.lastIndex(of: "_") else { return name }
        return name[place...].dropFirst().allSatisfy(\.isNumber) ? String(name[..<place]) : name
    }

    /// The name of today for one that timm gave up (`generate_default_cfgs`, `register_model_deprecations`).
    private static func older(_ name: String) -> String? {
        let clip = "_224_clip_laion2b"
        if name.hasSuffix(clip) { return name.dropLast(clip.count) + "_clip_224" }
        return ["_in21k", "_in21ft1k", "_dino", "_sam"].first(where: name.hasSuffix).map {
            String(name.dropLast($0.count))
        }
    }

    private static let table: [String: JSONObject] = Dictionary(
        uniqueKeysWithValues: lines.split(separator: "\n").map { line in
            let parts = line.split(separator: " ")
            var members = JSONObject()
            for (key, value) in zip(["patch_size", "embed_dim", "depth", "num_heads"], parts[1...4]) {
                members[key] = Int64(value).map { .int($0) }
            }
            for word in parts.dropFirst(5) {
                for (key, value) in meaning(word) { members[key] = value }
            }
            return (String(parts[0]), members)
        })

    /// The arguments that a word of the table stands for.
    private static func meaning(_ word: Substring) -> [(String, JSON)] {
        let parts = word.split(separator: ":")
        switch parts[0] {
        case "ratio": return [("mlp_ratio", .double(Double(parts[1]) ?? 4))]
        case "size": return [("img_size", .int(Int64(parts[1]) ?? 224))]
        case "registers": return [("reg_tokens", .int(Int64(parts[1]) ?? 0))]
        case "classless": return [("class_token", false)]
        case "mean": return [("global_pool", "avg")]
        case "attended": return [("global_pool", "map")]
        case "pools-all": return [("pool_include_prefix", true)]
        case "scaled": return [("init_values", .double(1e-5))]
        case "squares-only": return [("no_embed_class", true)]
        case "normed": return [("pre_norm", true), ("layer_norm_eps", .double(1e-5))]
        case "norm-first": return [("fc_norm", false)]
        case "unnormed": return [("final_norm", false)]
        case "unbiased": return [("qkv_bias", false)]
        case "quick-gelu": return [("act_layer", "quick_gelu")]
        case "tanh-gelu": return [("act_layer", "gelu_tanh")]
        default: preconditionFailure("the table has the word \(word)")
        }
    }

    /// Name, pixels of a square's side, width, layers, heads, and words for what differs from the first ViT.
    private static let lines = """
        deit3_base_patch16 16 768 12 12 scaled squares-only
        deit3_huge_patch14 14 1280 32 16 scaled squares-only
        deit3_large_patch16 16 1024 24 16 scaled squares-only
        deit3_medium_patch16 16 512 12 8 scaled squares-only
        deit3_small_patch16 16 384 12 6 scaled squares-only
        deit_base_patch16 16 768 12 12
        deit_small_patch16 16 384 12 6
        deit_tiny_patch16 16 192 12 3
        eva_large_patch14 14 1024 24 16 mean
        flexivit_base 16 768 12 12 squares-only
        flexivit_large 16 1024 24 16 squares-only
        flexivit_small 16 384 12 6 squares-only
        test_vit 16 64 6 2 ratio:3
        test_vit2 16 64 8 2 classless mean ratio:3 registers:1 scaled
        test_vit3 16 96 9 3 attended classless pools-all ratio:2 registers:1 scaled
        vit_base_patch14_dinov2 14 768 12 12 scaled
        vit_base_patch14_reg1_tipsv2 14 768 12 12 registers:1 scaled squares-only
        vit_base_patch14_reg4_dinov2 14 768 12 12 registers:4 scaled squares-only
        vit_base_patch16 16 768 12 12
        vit_base_patch16_224_miil 16 768 12 12 unbiased
        vit_base_patch16_clip 16 768 12 12 normed
        vit_base_patch16_clip_quickgelu 16 768 12 12 normed quick-gelu
        vit_base_patch16_gap 16 768 12 16 classless mean norm-first
        vit_base_patch16_plus 16 896 12 14 scaled
        vit_base_patch16_plus_clip 16 896 12 14 normed
        vit_base_patch16_radio_v3 16 768 12 12 registers:7 scaled size:512 squares-only unnormed
        vit_base_patch16_reg4_gap 16 768 12 12 classless mean registers:4 squares-only
        vit_base_patch16_siglip 16 768 12 12 attended classless
        vit_base_patch16_siglip_gap 16 768 12 12 classless mean norm-first
        vit_base_patch32 32 768 12 12
        vit_base_patch32_clip 32 768 12 12 normed
        vit_base_patch32_clip_quickgelu 32 768 12 12 normed quick-gelu
        vit_base_patch32_plus 32 896 12 14 scaled
        vit_base_patch32_siglip 32 768 12 12 attended classless tanh-gelu
        vit_base_patch32_siglip_gap 32 768 12 12 classless mean norm-first tanh-gelu
        vit_base_patch8 8 768 12 12
        vit_betwixt_patch16_gap 16 640 12 10 classless mean norm-first scaled unbiased
        vit_betwixt_patch16_reg1_gap 16 640 12 10 classless mean registers:1 scaled squares-only
        vit_betwixt_patch16_reg4_gap 16 640 12 10 classless mean registers:4 scaled squares-only
        vit_betwixt_patch32_clip 32 640 12 10 normed
        vit_giant_patch14 14 1408 40 16 ratio:4.363636363636363
        vit_giant_patch14_clip 14 1408 40 16 normed ratio:4.363636363636363
        vit_giant_patch16_gap 16 1408 40 16 classless mean norm-first ratio:4.363636363636363
        vit_giant_patch16_radio_v3 16 1536 40 24 registers:7 size:512 squares-only unnormed
        vit_giantopt_patch16_siglip 16 1536 40 16 attended classless tanh-gelu
        vit_giantopt_patch16_siglip_gap 16 1536 40 16 classless mean norm-first tanh-gelu
        vit_gigantic_patch14 14 1664 48 16 ratio:4.923076923076923
        vit_gigantic_patch14_clip 14 1664 48 16 normed ratio:4.923076923076923
        vit_gigantic_patch14_clip_quickgelu 14 1664 48 16 normed quick-gelu ratio:4.923076923076923
        vit_huge_patch14 14 1280 32 16
        vit_huge_patch14_clip 14 1280 32 16 normed
        vit_huge_patch14_clip_quickgelu 14 1280 32 16 normed quick-gelu
        vit_huge_patch14_gap 14 1280 32 16 classless mean norm-first
        vit_huge_patch16_gap 16 1280 32 16 classless mean norm-first
        vit_huge_patch16_radio_v3 16 1280 32 16 registers:7 size:512 squares-only unnormed
        vit_huge_patch16_radio_v4 16 1280 32 16 registers:9 size:512 squares-only unnormed
        vit_intern300m_patch14 14 1024 24 16 scaled unnormed
        vit_large_patch14 14 1024 24 16
        vit_large_patch14_clip 14 1024 24 16 normed
        vit_large_patch14_clip_quickgelu 14 1024 24 16 normed quick-gelu
        vit_large_patch14_dinov2 14 1024 24 16 scaled
        vit_large_patch14_reg1_tipsv2 14 1024 24 16 registers:1 scaled squares-only
        vit_large_patch14_reg4_dinov2 14 1024 24 16 registers:4 scaled squares-only
        vit_large_patch16 16 1024 24 16
        vit_large_patch16_radio_v3 16 1024 24 16 registers:7 scaled size:512 squares-only unnormed
        vit_large_patch16_siglip_256 16 1024 24 16 attended classless
        vit_large_patch16_siglip_384 16 1024 24 16 attended classless
        vit_large_patch16_siglip_512 16 1024 24 16 attended classless tanh-gelu
        vit_large_patch16_siglip_gap_256 16 1024 24 16 classless mean norm-first
        vit_large_patch16_siglip_gap_384 16 1024 24 16 classless mean norm-first
        vit_large_patch16_siglip_gap_512 16 1024 24 16 classless mean norm-first tanh-gelu
        vit_large_patch32 32 1024 24 16
        vit_little_patch16_reg1_gap 16 320 14 5 classless mean ratio:5.6 registers:1 scaled squares-only
        vit_little_patch16_reg4_gap 16 320 14 5 classless mean ratio:5.6 registers:4 scaled squares-only
        vit_medium_patch16_clip 16 512 12 8 normed
        vit_medium_patch16_gap 16 512 12 8 classless mean norm-first scaled unbiased
        vit_medium_patch16_reg1_gap 16 512 12 8 classless mean registers:1 scaled squares-only
        vit_medium_patch16_reg4_gap 16 512 12 8 classless mean registers:4 scaled squares-only
        vit_medium_patch32_clip 32 512 12 8 normed
        vit_mediumd_patch16_reg4_gap 16 512 20 8 classless mean registers:4 scaled squares-only
        vit_small_patch14_dinov2 14 384 12 6 scaled
        vit_small_patch14_reg4_dinov2 14 384 12 6 registers:4 scaled squares-only
        vit_small_patch16 16 384 12 6
        vit_small_patch16_36x1 16 384 36 6 scaled
        vit_small_patch32 32 384 12 6
        vit_small_patch8 8 384 12 6
        vit_so150m2_patch16_reg1_gap 16 832 21 13 classless mean ratio:2.6153846153846154 registers:1 scaled unbiased
        vit_so150m_patch16_reg4_gap 16 896 18 14 classless mean norm-first ratio:2.572 registers:4
        vit_so150m_patch16_reg4_map 16 896 18 14 attended classless ratio:2.572 registers:4
        vit_so400m_patch14_reg1_tipsv2 14 1152 27 16 ratio:3.736111111111111 registers:1 scaled squares-only
        vit_so400m_patch14_siglip 14 1152 27 16 attended classless ratio:3.7362
        vit_so400m_patch14_siglip_gap 14 1152 27 16 classless mean norm-first ratio:3.7362
        vit_so400m_patch16_radio_v4 16 1152 27 16 ratio:3.736111111111111 registers:9 size:512 squares-only unnormed
        vit_so400m_patch16_siglip 16 1152 27 16 attended classless ratio:3.7362 tanh-gelu
        vit_so400m_patch16_siglip_gap 16 1152 27 16 classless mean norm-first ratio:3.7362 tanh-gelu
        vit_tiny_patch16 16 192 12 3
        vit_wee_patch16_reg1_gap 16 256 14 4 classless mean ratio:5 registers:1 scaled squares-only
        vit_xsmall_patch16_clip 16 256 10 4 normed
        """
}
