import HubCore
import ModelFormats

/// MobileNet (https://arxiv.org/abs/1704.04861) and MobileNetV2 (https://arxiv.org/abs/1801.04381), as transformers has them.
extension NetFamily {
    /// https://github.com/huggingface/transformers/blob/main/src/transformers/models/mobilenet_v1/modeling_mobilenet_v1.py
    static let mobileNet1OfTransformers = NetFamily("MobileNet", type: "mobilenet_v1", stem: "MobileNetV1") {
        settings throws(AIError) in
        var net = try MobileNetSettings(&settings).first(&settings)
        try settings.completeNet(
            &net, prefix: "mobilenet_v1.", classifier: "classifier", first: "conv_stem.convolution.weight")
        return net
    }

    /// https://github.com/huggingface/transformers/blob/main/src/transformers/models/mobilenet_v2/modeling_mobilenet_v2.py
    static let mobileNet2OfTransformers = NetFamily("MobileNetV2", type: "mobilenet_v2", stem: "MobileNetV2") {
        settings throws(AIError) in
        var net = try MobileNetSettings(&settings).second(&settings)
        try settings.completeNet(
            &net, prefix: "mobilenet_v2.", classifier: "classifier",
            first: "conv_stem.first_conv.convolution.weight")
        return net
    }
}

/// What both versions' configurations say.
private struct MobileNetSettings {
    /// Factor of all channels,
    let width: Double
    /// which are not made fewer than these.
    let least: Int
    let activation: ConvolutionNet.Activation
    let epsilon: Double
    let isPaddedToSame: Bool

    /// - Throws: ``ErrorCode/malformedModel`` for a factor that makes nets wider than any.
    init(_ settings: inout Settings) throws(AIError) {
        width = settings.positive("depth_multiplier") ?? 1
        guard width <= 64 else { throw .malformed(settings.path, "depth_multiplier is \(width)") }
        least = settings.count("min_depth") ?? 8
        activation = settings.netActivation("hidden_act", usual: .relu6)
        epsilon = settings.positive("layer_norm_eps") ?? 0.001
        isPaddedToSame = settings.flag("tf_padding") ?? true
    }

    private func layer(
        _ name: String, _ inputs: Int, _ outputs: Int, side: Int = 1, stride: Int = 1, groups: Int = 1,
        isActivated: Bool = true
    ) -> ConvolutionNet.Layer {
        let padding = isPaddedToSame ? ConvolutionNet.Padding.same : .even((side - 1) / 2)
        return .normed(
            name + ".convolution", name + ".normalization", inputs, outputs,
            .init(side: side, stride: stride, padding: padding), groups: groups, epsilon: epsilon,
            isActivated ? activation : nil)
    }

    /// Of each channel, then of places, thirteen times.
    func first(_ settings: inout Settings) throws(AIError) -> ConvolutionNet {
        func channels(_ count: Int) -> Int { max(Int(Double(count) * width), least) }
        var count = 32
        var inputs = channels(count)
        var blocks = [ConvolutionNet.Block(layers: [layer("conv_stem", 3, inputs, side: 3, stride: 2)])]
        for (index, stride) in [1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1].enumerated() {
            if stride == 2 || index == 0 { count *= 2 }
            let outputs = stride == 2 || index == 0 ? channels(count) : inputs
            blocks.append(
                .init(layers: [
                    layer("layer.\(2 * index)", inputs, inputs, side: 3, stride: stride, groups: inputs),
                    layer("layer.\(2 * index + 1)", inputs, outputs),
                ]))
            inputs = outputs
        }
        return ConvolutionNet(blocks: blocks)
    }

    func second(_ settings: inout Settings) throws(AIError) -> ConvolutionNet {
        let divisor = settings.count("depth_divisible_by") ?? 8
        let expansion = settings.positive("expand_ratio") ?? 6
        guard expansion <= 64 else { throw .malformed(settings.path, "expand_ratio is \(expansion)") }
        // Other strides spread the windows of the last stages.
        if let stride = settings.count("output_stride"), stride != 32 {
            settings.refuse("output_stride", "\(stride)")
        }
        func channels(_ count: Int, _ factor: Double) -> Int {
            let all = (Double(count) * factor).rounded(.toNearestOrEven)
            return MobilePlan.divisible(all, by: divisor, least: least)
        }
        let stem = channels(32, width)
        var inputs = channels(16, width)
        var layers = [layer("conv_stem.first_conv", 3, stem, side: 3, stride: 2)]
        if settings.flag("first_layer_is_expansion") == false {
            layers.append(layer("conv_stem.expand_1x1", stem, stem))
        }
        layers.append(layer("conv_stem.conv_3x3", stem, stem, side: 3, groups: stem))
        layers.append(layer("conv_stem.reduce_1x1", stem, inputs, isActivated: false))
        var blocks = [ConvolutionNet.Block(layers: layers)]
        let stages = [(24, 2, 2), (32, 2, 3), (64, 2, 4), (96, 1, 3), (160, 2, 3), (320, 1, 1)]
        for (count, first, depth) in stages {
            let outputs = channels(count, width)
            for index in 0..<depth {
                let (name, inner) = ("layer.\(blocks.count - 1).", channels(inputs, expansion))
                let stride = index == 0 ? first : 1
                blocks.append(
                    .init(
                        layers: [
                            layer(name + "expand_1x1", inputs, inner),
                            layer(name + "conv_3x3", inner, inner, side: 3, stride: stride, groups: inner),
                            layer(name + "reduce_1x1", inner, outputs, isActivated: false),
                        ], around: stride == 1 && inputs == outputs ? [] : nil))
                inputs = outputs
            }
        }
        let isFine = settings.flag("finegrained_output") ?? true
        let last = isFine && width < 1 ? 1280 : channels(1280, width)
        blocks.append(.init(layers: [layer("conv_1x1", inputs, last)]))
        return ConvolutionNet(blocks: blocks)
    }
}
