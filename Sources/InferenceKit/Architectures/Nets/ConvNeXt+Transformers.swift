import HubCore
import ModelFormats

/// transformers' ConvNeXt in both versions, and DINOv3's (https://arxiv.org/abs/2508.10104).
/// https://github.com/huggingface/transformers/tree/main/src/transformers/models/convnext
extension NetFamily {
    static let convNeXtOfTransformers = convNeXt("ConvNeXt", "convnext", "ConvNext", hasResponses: false)
    static let convNeXt2OfTransformers = convNeXt("ConvNeXt 2", "convnextv2", "ConvNextV2", hasResponses: true)

    private static func convNeXt(
        _ name: String, _ type: String, _ stem: String, hasResponses: Bool
    ) -> NetFamily {
        NetFamily(name, type: type, stem: stem) { settings throws(AIError) in
            var plan = try settings.convNeXt()
            plan.lastEpsilon = settings.positive("layer_norm_eps") ?? 1e-12
            plan.patch = try settings.patchSide("patch_size") ?? 4
            plan.hasResponses = hasResponses
            plan.hasScale = !hasResponses && (settings.number("layer_scale_init_value") ?? 1e-6) > 0
            var net = plan.net(.transformers)
            try settings.completeNet(
                &net, prefix: type + ".", classifier: "classifier", first: "embeddings.patch_embeddings.weight")
            return net
        }
    }

    static let dinov3ConvNeXt = NetFamily(
        "DINOv3 ConvNeXt", type: "dinov3_convnext", classes: [("DINOv3ConvNextModel", .imageEmbedding)]
    ) { settings throws(AIError) in
        var plan = try settings.convNeXt()
        plan.epsilon = settings.positive("layer_norm_eps") ?? 1e-6
        // Since transformers 5 the stages are in a part of their own.
        let isInside = settings.stores("model.stages.0.downsample_layers.0.weight") == true
        var net = plan.net(.dinov3(isInside ? "model.stages." : "stages."))
        try settings.completeNet(&net, prefix: "", classifier: "", first: "")
        return net
    }
}

extension ConvNeXtPlan.Names {
    fileprivate static let transformers = ConvNeXtPlan.Names(
        stem: ("embeddings.patch_embeddings", "embeddings.layernorm"), stage: ("encoder.stages.", "."),
        shrink: ("downsampling_layer.0", "downsampling_layer.1"), blocks: "layers.", depthwise: "dwconv",
        norm: "layernorm", expand: "pwconv1", reduce: "pwconv2", scale: "layer_scale_parameter", response: "grn",
        isResponseWide: true, last: ("layernorm", ""))

    fileprivate static func dinov3(_ stages: String) -> ConvNeXtPlan.Names {
        ConvNeXtPlan.Names(
            stem: (stages + "0.downsample_layers.0", stages + "0.downsample_layers.1"), stage: (stages, "."),
            shrink: ("downsample_layers.0", "downsample_layers.1"), blocks: "layers.", depthwise: "depthwise_conv",
            norm: "layer_norm", expand: "pointwise_conv1", reduce: "pointwise_conv2", response: "",
            last: ("layer_norm", ""))
    }
}

extension Settings {
    fileprivate mutating func convNeXt() throws(AIError) -> ConvNeXtPlan {
        let depths = try depths("depths", usual: [3, 3, 9, 3])
        let channels = try stages("hidden_sizes", usual: [96, 192, 384, 768], count: depths.count)
        if let count = count("num_stages"), count != depths.count {
            throw .malformed(path, "num_stages is \(count); depths are \(depths.count)")
        }
        var plan = ConvNeXtPlan(depths: depths, channels: channels)
        plan.activation = netActivation("hidden_act", usual: .gelu)
        return plan
    }

    /// The side of square windows, which may be said twice; nil if nothing is said.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for what is no side.
    fileprivate mutating func patchSide(_ key: String) throws(AIError) -> Int? {
        guard let sides = value(key)?.array else { return count(key, in: 1...256) }
        guard sides.count == 2, sides[0] == sides[1], let side = sides[0].whole(in: 1...256) else {
            throw .malformed(path, "\(key) is not the side of a square")
        }
        return side
    }
}
