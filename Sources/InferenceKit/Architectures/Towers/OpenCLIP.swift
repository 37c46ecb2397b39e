import HubCore
import ModelFormats

/// CLIP as open_clip writes it (https://github.com/mlfoundations/open_clip): `OpenCLIPConfiguration` has its settings in
/// transformers' names.
extension Settings {
    /// Settings of the model that change what is computed, and are not known.
    mutating func refuseOpenCLIP() {
        guard let model = outer.object("open_clip") else { return }
        let parts: [(String, JSONObject?, [String: JSON])] = [
            ("", model, Self.openCLIP), ("vision_cfg: ", model["vision_cfg"]?.object, Self.openCLIPPictures),
            ("text_cfg: ", model["text_cfg"]?.object, Self.openCLIPTexts),
        ]
        for (part, members, usual) in parts {
            for (name, value) in members?.members ?? [] where !value.isNull {
                let isKnown = usual[name].map {
                    $0.isNull || $0 == value || $0.double != nil && $0.double == value.double
                }
                if isKnown != true { refuse("model_cfg: \(part)\(name)", value.text()) }
            }
        }
        if model["vision_cfg"]?["layers"]?.array != nil { refuse("model_cfg: vision_cfg: layers") }
        if let pooling = model["text_cfg"]?["pool_type"], !["argmax", "eos"].contains(pooling.string) {
            refuse("model_cfg: text_cfg: pool_type", pooling.text())
        }
    }

    /// What each setting must be; with null, what it likes.
    private static let openCLIP: [String: JSON] = [
        "embed_dim": .null, "vision_cfg": .null, "text_cfg": .null, "quick_gelu": .null, "custom_text": .null,
        "init_logit_scale": .null,
    ]
    private static let openCLIPBoth: [String: JSON] = [
        "width": .null, "layers": .null, "mlp_ratio": .null, "output_tokens": .null, "norm_kwargs": .null,
        "act_kwargs": .object([:]), "block_type": "default", "qk_norm": false, "scaled_cosine_attn": false,
        "scale_heads": false, "scale_attn_inner": false, "scale_attn": false, "scale_fc": false,
        "final_ln_after_pool": false,
    ]
    private static let openCLIPPictures = openCLIPBoth.merging([
        "image_size": .null, "patch_size": .null, "head_width": .null, "patch_dropout": .null,
        "attentional_pool": false, "attn_pooler_queries": .null, "attn_pooler_heads": .null, "no_ln_pre": false,
        "pos_embed_type": .null, "pool_type": "tok", "timm_model_pretrained": .null, "timm_pool": .null,
        "timm_proj": .null, "timm_proj_bias": .null, "timm_drop": .null, "timm_drop_path": .null,
    ]) { $1 }
    private static let openCLIPTexts = openCLIPBoth.merging([
        "context_length": .null, "vocab_size": .null, "heads": .null, "hf_tokenizer_name": .null,
        "tokenizer_mode": .null, "tokenizer_kwargs": .null, "embed_cls": false, "pad_id": .null, "eos_id": .null,
        "pool_type": .null,
        "no_causal_mask": false, "proj_bias": false, "proj_type": "linear", "hf_model_pretrained": .null,
        "hf_proj_type": .null, "hf_pooler_type": .null,
    ]) { $1 }
}

extension TensorNames {
    /// Those of both sides; before those of texts may stand `text.`.
    static let openCLIP: TensorNames = {
        var names = openCLIPSide(
            "",
            [
                .embedding: "token_embedding", .finalNorm: "ln_final", .head: "text_projection",
                .logitScale: "logit_scale",
            ])
        names.outside = [.logitScale]
        names.plain.insert(.logitScale)
        // What OpenAI's files have beside weights.
        names.ignored = ["attn_mask", "input_resolution", "context_length", "vocab_size"]
        var pictures = openCLIPSide(
            "visual.",
            [
                .patchKernel: "conv1", .classToken: "class_embedding", .embeddingNorm: "ln_pre",
                .finalNorm: "ln_post", .head: "proj",
            ])
        pictures.outside = []
        pictures.plain.insert(.classToken)
        pictures.vectors.insert(.classToken)
        pictures.isAtRoot = true
        names.towers = [pictures]
        return names
    }()

    private static func openCLIPSide(_ prefix: String, _ stems: [TensorRole: String]) -> TensorNames {
        let inputs: [TensorRole] = [.query, .key, .value]
        var names = TensorNames(
            prefix: prefix, layer: "transformer.resblocks.",
            stems: [
                .positions: "positional_embedding", .attentionNorm: "ln_1", .attentionOutput: "attn.out_proj",
                .feedForwardNorm: "ln_2", .up: "mlp.c_fc", .down: "mlp.c_proj",
            ]
        ).with(stems).with(Dictionary(uniqueKeysWithValues: inputs.map { ($0, "attn.in_proj_") }))
        names.joined = Set(inputs)
        names.packed = [inputs]
        names.plain = [.positions, .head]
        names.turned = [.head]
        return names
    }
}
