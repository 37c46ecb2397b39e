import HubCore
import ModelFormats

/// transformers' EfficientNet (https://arxiv.org/abs/1905.11946), whose padding is Keras's.
/// https://github.com/huggingface/transformers/blob/main/src/transformers/models/efficientnet/modeling_efficientnet.py
extension NetFamily {
    static let efficientNetOfTransformers = NetFamily("EfficientNet", type: "efficientnet", stem: "EfficientNet") {
        settings throws(AIError) in
        var net = try settings.efficientNet()
        try settings.completeNet(
            &net, prefix: "efficientnet.", classifier: "classifier", first: "embeddings.convolution.weight")
        return net
    }
}

/// A stage of the net.
private struct EfficientNetStage {
    var inputs: Int, outputs: Int
    var side: Int, stride: Int
    /// Channels inside for each that a block is given.
    var expansion: Int
    var repeats: Int
}

extension Settings {
    private func efficientNetStages() throws(AIError) -> [EfficientNetStage] {
        let sides = try stages("kernel_sizes", usual: [3, 3, 5, 3, 5, 5, 3])
        let count = sides.count
        let inputs = try stages("in_channels", usual: [32, 16, 24, 40, 80, 112, 192], count: count)
        let outputs = try stages("out_channels", usual: [16, 24, 40, 80, 112, 192, 320], count: count)
        let strides = try stages("strides", usual: [1, 2, 2, 2, 1, 2, 1], count: count)
        let repeats = try stages("num_block_repeats", usual: [1, 2, 2, 3, 3, 4, 1], count: count)
        let expansions = try stages("expand_ratios", usual: [1, 6, 6, 6, 6, 6, 6], count: count)
        let (width, depth) = (positive("width_coefficient") ?? 2, positive("depth_coefficient") ?? 3.1)
        guard width <= 64, depth <= 64, expansions.allSatisfy({ $0 <= 64 }) else {
            throw .malformed(path, "width_coefficient, depth_coefficient or expand_ratios is above 64")
        }
        let depths = repeats.map { (depth * Double($0)).rounded(.up) }
        guard depths.reduce(0, +) <= 10_000 else {
            throw .malformed(path, "num_block_repeats has more than 10000 blocks")
        }
        guard strides.allSatisfy({ $0 <= 2 }), sides.allSatisfy({ $0 <= 64 }) else {
            throw .malformed(path, "strides or kernel_sizes are too large")
        }
        return (0..<count).map { index in
            EfficientNetStage(
                inputs: rounded(inputs[index], width), outputs: rounded(outputs[index], width), side: sides[index],
                stride: strides[index], expansion: expansions[index],
                repeats: Int(depths[index]))
        }
    }

    private func rounded(_ channels: Int, _ width: Double) -> Int {
        MobilePlan.divisible(Double(channels) * width, by: count("depth_divisor") ?? 8)
    }

    fileprivate mutating func efficientNet() throws(AIError) -> ConvolutionNet {
        let stages = try efficientNetStages()
        for stage in stages where stage.side % 2 == 0 { refuse("kernel_sizes", "\(stage.side)") }
        if let pooling = text("pooling_type"), pooling != "mean" { refuse("pooling_type", pooling) }
        let activation = netActivation("hidden_act", usual: .silu)
        let epsilon = positive("batch_norm_eps") ?? 0.001
        let squeezed = positive("squeeze_expansion_ratio") ?? 0.25
        guard squeezed <= 1 else { throw .malformed(path, "squeeze_expansion_ratio is above 1") }
        let square = Set(places("depthwise_padding") ?? [])
        let width = positive("width_coefficient") ?? 2
        let first = rounded(32, width)
        var blocks: [ConvolutionNet.Block] = [
            .init(layers: [
                .normed(
                    "embeddings.convolution", "embeddings.batchnorm", 3, first,
                    .init(side: 3, stride: 2, padding: .uneven(before: 0, behind: 1)), epsilon: epsilon, activation)
            ])
        ]
        for stage in stages {
            for index in 0..<stage.repeats {
                var stage = stage
                if index > 0 { (stage.inputs, stage.stride) = (stage.outputs, 1) }
                let block = EfficientNetBlock(
                    name: "encoder.blocks.\(blocks.count - 1).", stage: stage, activation: activation,
                    epsilon: epsilon, squeezed: max(1, Int(Double(stage.inputs) * squeezed)),
                    isPaddedEvenly: square.contains(blocks.count - 1))
                blocks.append(.init(layers: block.layers, around: index > 0 ? [] : nil))
            }
        }
        let features = rounded(1280, width)
        if let told = count("hidden_dim"), told != features {
            throw .malformed(path, "hidden_dim is \(told); the last plane has \(features) channels")
        }
        let outputs = stages.last?.outputs ?? first
        blocks.append(
            .init(layers: [
                .normed("encoder.top_conv", "encoder.top_bn", outputs, features, epsilon: epsilon, activation)
            ]))
        return ConvolutionNet(blocks: blocks)
    }
}

private struct EfficientNetBlock {
    let name: String
    let stage: EfficientNetStage
    let activation: ConvolutionNet.Activation
    let epsilon: Double
    /// Channels that factors are made of.
    let squeezed: Int
    /// Whether windows that are two places apart have as much before a plane as behind it.
    let isPaddedEvenly: Bool

    private func layer(
        _ part: String, _ norm: String, _ inputs: Int, _ outputs: Int, _ window: ConvolutionNet.Window = .point,
        groups: Int = 1, _ activation: ConvolutionNet.Activation? = nil
    ) -> ConvolutionNet.Layer {
        .normed(
            name + part, name + norm, inputs, outputs, window, groups: groups, epsilon: epsilon, activation)
    }

    var layers: [ConvolutionNet.Layer] {
        let inner = stage.inputs * stage.expansion
        let half = stage.side / 2
        let window: ConvolutionNet.Window =
            stage.stride == 1 || isPaddedEvenly
            ? .centred(stage.side, stride: stage.stride)
            : .init(
                side: stage.side, stride: stage.stride, padding: .uneven(before: max(0, half - 1), behind: half))
        var layers: [ConvolutionNet.Layer] = []
        if stage.expansion != 1 {
            layers.append(
                layer("expansion.expand_conv", "expansion.expand_bn", stage.inputs, inner, .point, activation))
        }
        layers.append(
            layer(
                "depthwise_conv.depthwise_conv", "depthwise_conv.depthwise_norm", inner, inner, window,
                groups: inner, activation))
        layers.append(
            .squeeze(
                .init(
                    reduce: .init(
                        name: name + "squeeze_excite.reduce", inputs: inner, outputs: squeezed, hasBias: true,
                        activation: activation),
                    expand: .init(
                        name: name + "squeeze_excite.expand", inputs: squeezed, outputs: inner, hasBias: true,
                        activation: .sigmoid))))
        layers.append(layer("projection.project_conv", "projection.project_bn", inner, stage.outputs))
        return layers
    }
}
