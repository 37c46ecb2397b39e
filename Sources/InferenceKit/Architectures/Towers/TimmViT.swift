import HubCore
import ModelFormats

/// timm's vision transformers: ViT with what others added to it, by arguments
/// (https://github.com/huggingface/pytorch-image-models/blob/main/timm/models/vision_transformer.py). `TimmConfiguration`
/// has the arguments of an architecture beside those of the file.
extension Architecture {
    static let timmViT = Architecture(
        "timm's ViT", ["timm:vit"], gguf: [],
        classes: [
            ModelClass("TimmWrapperForImageClassification", .imageClassification, inside: [.head: "head"]) {
                settings, d throws(AIError) in
                guard var head = d.head else { return nil }
                (head.hasMatrix, head.hasBias, head.takesVectors) = (true, true, true)
                head.outputs = .labels(try settings.labels())
                return head
            },
            ModelClass("TimmWrapperModel", .imageEmbedding) { settings, d throws(AIError) in d.head },
        ], names: .timmViT
    ) { settings throws(AIError) in try settings.timmViT() }
}

extension Settings {
    fileprivate mutating func timmViT() throws(AIError) -> ModelDescription {
        refuseTimmArguments()
        var pixels = try pixels(size: 224, patch: 16)
        pixels.first = flag("class_token") ?? true ? [.classToken] : []
        if let registers = countIfAny("reg_tokens") { pixels.first.append(.registers(registers)) }
        if text("pos_embed") ?? "learn" == "learn" {
            let areOfSquares = flag("no_embed_class") ?? false
            pixels.positions = .init(leading: areOfSquares ? 0 : pixels.firstCount, hasAntialias: true)
        }
        let isNormedFirst = flag("pre_norm") ?? false
        pixels.hasBias = !isNormedFirst
        var model = try vision(pixels, epsilon: 1e-6, activation: timmActivation())
        let hasBias = flag("proj_bias") ?? true
        let isScaled = number("init_values") ?? 0 != 0
        for index in model.layers.indices {
            model.layers[index].attention?.hasOutputBias = hasBias
            model.layers[index].feedForward?.hasBias = hasBias
            if flag("qk_norm") ?? false { model.layers[index].attention?.headNorm = model.finalNorm }
            if isScaled { model.layers[index].scale = .init(kind: .affine(hasBias: false), epsilon: 0) }
        }
        if isNormedFirst { model.embedding.norm = model.finalNorm }
        try poolTimmViT(&model)
        return model
    }

    /// How the rows become the vector that labels are made of: the last norm stands before or after it.
    private mutating func poolTimmViT(_ model: inout ModelDescription) throws(AIError) {
        let pooling = text("global_pool") ?? "token"
        let isMean = pooling == "avg"
        let norm = flag("final_norm") ?? true ? model.finalNorm : nil
        let isNormedLast = flag("fc_norm") ?? isMean
        model.finalNorm = isNormedLast ? nil : norm
        var head = ModelDescription.Head(
            rows: .first, norm: isNormedLast ? norm : nil, hasMatrix: false, outputs: .values(model.width))
        let hasPrefix = flag("pool_include_prefix") ?? false
        switch pooling {
        case "token":
            guard model.pixels?.first.first == .classToken else {
                throw .malformed(path, "global_pool is token, and there is no class_token")
            }
        case "avg":
            head.rows = isNormedLast ? .meanOfSquares : .meanOfNormedSquares
            if hasPrefix { refuse("pool_include_prefix") }
        case "map":
            guard let layer = model.layers.first, let heads = layer.attention?.heads, let inner = layer.feedForward
            else { throw .malformed(path, "it has no layers") }
            head.rows = .attended(
                .init(
                    heads: heads, inner: inner.width, activation: inner.activation, norm: layer.norm,
                    seesFirst: hasPrefix))
        default: refuse("global_pool", pooling)
        }
        model.head = head
    }

    /// timm's `get_act_layer`.
    private mutating func timmActivation() -> ModelDescription.Activation {
        let name = text("act_layer")
        return activation(name == "gelu_tanh" ? "gelu_pytorch_tanh" : name, default: .gelu)
    }

    /// Arguments that change what is computed, and are not known.
    private mutating func refuseTimmArguments() {
        for (key, value) in object("model_args")?.members ?? []
        where !value.isNull && !Self.timmArguments.contains(key) {
            refuse("model_args with \(key)", value.text())
        }
        for key in ["scale_attn_norm", "scale_mlp_norm", "dynamic_img_pad"] where flag(key) ?? false { refuse(key) }
        if let norm = text("norm_layer"), norm != "layernorm" { refuse("norm_layer", norm) }
        if let channels = count("in_chans"), channels != 3 { refuse("in_chans", "\(channels)") }
        if let positions = text("pos_embed"), !["learn", "none", ""].contains(positions) {
            refuse("pos_embed", positions)
        }
    }

    /// Those that are read, and those that only concern training or what is done with rows.
    private static let timmArguments: Set<String> = [
        "img_size", "patch_size", "in_chans", "num_classes", "global_pool", "embed_dim", "depth", "num_heads",
        "mlp_ratio", "qkv_bias", "qk_norm", "proj_bias", "init_values", "class_token", "pos_embed",
        "no_embed_class",
        "reg_tokens", "pre_norm", "final_norm", "fc_norm", "pool_include_prefix", "act_layer", "norm_layer",
        "scale_attn_norm", "scale_mlp_norm", "dynamic_img_pad",
        "dynamic_img_size", "strict_img_size", "drop_rate", "pos_drop_rate", "patch_drop_rate", "proj_drop_rate",
        "attn_drop_rate", "drop_path_rate", "weight_init", "fix_init", "out_indices", "pretrained_strict",
    ]
}

extension TensorNames {
    fileprivate static let timmViT: TensorNames = {
        let pooling: [TensorRole] = [.poolingKey, .poolingValue]
        var names = TensorNames(
            prefix: "", layer: "blocks.",
            stems: [
                .patchKernel: "patch_embed.proj", .classToken: "cls_token", .registers: "reg_token",
                .positions: "pos_embed", .embeddingNorm: "norm_pre", .finalNorm: "norm", .headInputNorm: "fc_norm",
                .attentionNorm: "norm1", .query: "attn.qkv", .key: "attn.qkv", .value: "attn.qkv",
                .queryNorm: "attn.q_norm", .keyNorm: "attn.k_norm", .attentionOutput: "attn.proj",
                .attentionPostNorm: "ls1.gamma", .feedForwardNorm: "norm2", .up: "mlp.fc1", .down: "mlp.fc2",
                .feedForwardPostNorm: "ls2.gamma",
                .poolingProbe: "attn_pool.latent", .poolingQuery: "attn_pool.q", .poolingKey: "attn_pool.kv",
                .poolingValue: "attn_pool.kv", .poolingOutput: "attn_pool.proj", .poolingNorm: "attn_pool.norm",
                .poolingUp: "attn_pool.mlp.fc1", .poolingDown: "attn_pool.mlp.fc2",
            ])
        names.plain = [
            .classToken, .registers, .positions, .attentionPostNorm, .feedForwardPostNorm, .poolingProbe,
        ]
        names.packed = [[.query, .key, .value], pooling]
        // timm leaves out a layer before the labels that old files have, and pooling that is not asked for.
        names.heads = ["pre_logits.", "attn_pool."]
        return names
    }()
}
