import HubCore
import ModelFormats

/// MobileViT, as timm and transformers have it.
extension NetFamily {
    /// https://github.com/huggingface/pytorch-image-models/blob/main/timm/models/mobilevit.py
    static let mobileViT = NetFamily(
        "MobileViT", timm: ["mobilevit"], knows: { MobileViTPlan.named[$0] != nil }
    ) { settings throws(AIError) in
        guard let plan = MobileViTPlan.named[settings.timmName] else {
            throw .malformed(settings.path, "architecture is \(settings.timmName.printable)")
        }
        var net = plan.net(.timm)
        try settings.completeTimm(&net, classifier: "head.fc", first: "stem.conv.weight")
        return net
    }

    /// https://github.com/huggingface/transformers/blob/main/src/transformers/models/mobilevit/modeling_mobilevit.py
    static let mobileViTOfTransformers = NetFamily("MobileViT", type: "mobilevit", stem: "MobileViT") {
        settings throws(AIError) in
        var net = try settings.mobileViT().net(.transformers)
        try settings.completeNet(
            &net, prefix: "mobilevit.", classifier: "classifier", first: "conv_stem.convolution.weight")
        return net
    }
}

extension MobileViTPlan {
    /// - Parameters:
    ///   - channels: of the five stages.
    ///   - widths: channels of attention in the last three.
    private init(stem: Int, _ channels: [Int], _ widths: [Int], last: Int) {
        let depths = [2, 4, 3]
        self.init(
            stem: stem,
            stages: channels.enumerated().map { number, channels in
                Stage(
                    channels: channels, depth: number == 1 ? 3 : 1, stride: number == 0 ? 1 : 2,
                    attention: number < 2 ? nil : (widths[number - 2], depths[number - 2]))
            }, last: last)
    }

    /// By their names in timm.
    fileprivate static let named: [String: MobileViTPlan] = {
        var smallest = MobileViTPlan(stem: 16, [16, 24, 48, 64, 80], [64, 80, 96], last: 320)
        smallest.expansion = 2
        return [
            "mobilevit_xxs": smallest,
            "mobilevit_xs": MobileViTPlan(stem: 16, [32, 48, 64, 80, 96], [96, 120, 144], last: 384),
            "mobilevit_s": MobileViTPlan(stem: 16, [32, 64, 96, 128, 160], [144, 192, 240], last: 640),
        ]
    }()

    fileprivate init(neck: [Int], widths: [Int]) {
        self.init(stem: neck[0], Array(neck[1...5]), widths, last: neck[6])
    }
}

extension Settings {
    fileprivate mutating func mobileViT() throws(AIError) -> MobileViTPlan {
        let neck = try stages("neck_hidden_sizes", usual: [16, 32, 64, 96, 128, 160, 640], count: 7)
        var plan = MobileViTPlan(neck: neck, widths: try stages("hidden_sizes", usual: [144, 192, 240], count: 3))
        plan.expansion = positive("expand_ratio") ?? 4
        plan.feed = positive("mlp_ratio") ?? 2
        guard plan.expansion <= 64, plan.feed <= 64 else {
            throw .malformed(path, "expand_ratio or mlp_ratio is above 64")
        }
        plan.heads = count("num_attention_heads") ?? 4
        plan.side = count("patch_size", in: 1...64) ?? 2
        plan.window = count("conv_kernel_size", in: 1...64) ?? 3
        if plan.window % 2 == 0 { refuse("conv_kernel_size", "\(plan.window)") }
        plan.activation = netActivation("hidden_act", usual: .silu)
        plan.epsilon = positive("layer_norm_eps") ?? 1e-5
        plan.hasBias = flag("qkv_bias") ?? true
        // Other strides spread the windows of the last stages.
        if let stride = count("output_stride"), stride != 32 { refuse("output_stride", "\(stride)") }
        return plan
    }
}
