import HubCore
import ModelFormats

/// ResNet (https://arxiv.org/abs/1512.03385) with its stride in the middle, ResNeXt (https://arxiv.org/abs/1611.05431) and
/// wide ResNet (https://arxiv.org/abs/1605.07146).
/// https://github.com/huggingface/pytorch-image-models/blob/main/timm/models/resnet.py
extension NetFamily {
    static let resNet = NetFamily(
        "ResNet", timm: ["resnet", "resnext", "wide"], knows: { ResNetPlan.named[$0] != nil }
    ) { settings throws(AIError) in
        guard var plan = ResNetPlan.named[settings.timmName] else {
            throw .malformed(settings.path, "architecture is \(settings.timmName.printable)")
        }
        try plan.change(&settings)
        var net = plan.net
        let first = plan.isDeep ? "conv1.0.weight" : "conv1.weight"
        try settings.completeTimm(&net, classifier: "fc", first: first, arguments: ResNetPlan.arguments)
        return net
    }

    /// transformers' has the same blocks under other names, with what is narrower inside told by what comes out.
    static let resNetOfTransformers = NetFamily("ResNet", type: "resnet", stem: "ResNet") {
        settings throws(AIError) in
        var net = try settings.resNet()
        try settings.completeNet(
            &net, prefix: "resnet.", classifier: "classifier.1", first: "embedder.embedder.convolution.weight")
        return net
    }
}

/// How timm describes a ResNet.
struct ResNetPlan: Sendable {
    /// Whether blocks of stages are narrower inside; otherwise of two equal convolutions.
    var isBottleneck: [Bool]
    var depths: [Int]
    var channels = [64, 128, 256, 512]
    var groups = 1
    /// Channels of a group, of 64 in the first stage.
    var groupWidth = 64
    /// Channels of the first convolutions, where there are three.
    var stem: (first: Int, width: Int)?
    /// Whether the way around a block shrinks by means.
    var shrinksByMeans = false

    var isDeep: Bool { stem != nil }

    private static func plan(_ isBottleneck: Bool, _ depths: [Int]) -> ResNetPlan {
        ResNetPlan(isBottleneck: [isBottleneck, isBottleneck, isBottleneck, isBottleneck], depths: depths)
    }

    private func with(_ change: (inout ResNetPlan) -> Void) -> ResNetPlan {
        var plan = self
        change(&plan)
        return plan
    }

    private func grouped(_ groups: Int, _ width: Int) -> ResNetPlan {
        with { ($0.groups, $0.groupWidth) = (groups, width) }
    }

    /// By their names in timm; what stands behind a point there says which weights they are.
    static let named: [String: ResNetPlan] = {
        let depths = [
            "10": (false, [1, 1, 1, 1]), "14": (true, [1, 1, 1, 1]), "18": (false, [2, 2, 2, 2]),
            "34": (false, [3, 4, 6, 3]), "26": (true, [2, 2, 2, 2]), "50": (true, [3, 4, 6, 3]),
            "101": (true, [3, 4, 23, 3]), "152": (true, [3, 8, 36, 3]), "200": (true, [3, 24, 36, 3]),
        ]
        var named: [String: ResNetPlan] = [:]
        for (name, (isBottleneck, blocks)) in depths {
            let plain = plan(isBottleneck, blocks)
            named["resnet" + name] = plain
            named["resnet\(name)c"] = plain.with { $0.stem = (32, 32) }
            named["resnet\(name)d"] = plain.with { ($0.stem, $0.shrinksByMeans) = ((32, 32), true) }
            named["resnet\(name)s"] = plain.with { $0.stem = (64, 64) }
            named["resnet\(name)t"] = plain.with { ($0.stem, $0.shrinksByMeans) = ((24, 32), true) }
        }
        for (name, blocks) in [("50", [3, 4, 6, 3]), ("101", [3, 4, 23, 3])] {
            let plain = plan(true, blocks)
            named["wide_resnet\(name)_2"] = plain.with { $0.groupWidth = 128 }
            for (groups, width) in [(32, 4), (32, 8), (32, 16), (32, 32), (64, 4)] {
                named["resnext\(name)_\(groups)x\(width)d"] = plain.grouped(groups, width)
            }
            named["resnext\(name)d_32x4d"] =
                plain.grouped(32, 4).with { ($0.stem, $0.shrinksByMeans) = ((32, 32), true) }
        }
        named["test_resnet"] = ResNetPlan(
            isBottleneck: [false, false, true, false], depths: [1, 1, 1, 1], channels: [32, 48, 48, 96],
            stem: (16, 16), shrinksByMeans: true)
        return named
    }()

    /// What `model_args` may change.
    static let arguments: Set<String> = ["layers", "channels", "cardinality", "base_width"]

    /// - Throws: ``ErrorCode/malformedModel`` for lists of different lengths.
    fileprivate mutating func change(_ settings: inout Settings) throws(AIError) {
        guard settings.has("model_args"), let members = settings.object("model_args") else { return }
        let arguments = try settings.part(members)
        depths = try arguments.depths("layers", usual: depths)
        channels = try arguments.stages("channels", usual: channels)
        groups = arguments.count("cardinality") ?? groups
        groupWidth = arguments.count("base_width") ?? groupWidth
        guard depths.count == channels.count, depths.count == isBottleneck.count else {
            throw .malformed(
                settings.path, "model_args: layers and channels are not of \(isBottleneck.count) stages")
        }
        for channels in channels where Double(channels) * Double(groupWidth) / 64 * Double(groups) > 1e6 {
            throw .malformed(settings.path, "model_args: \(groups) groups of \(groupWidth) are too wide")
        }
    }

    // MARK: Blocks

    /// ResNet-50.
    static let usual = plan(true, [3, 4, 6, 3])

    /// The net without its classifier.
    var net: ConvolutionNet {
        var layers: [ConvolutionNet.Layer]
        var inputs = 64
        if let (first, width) = stem {
            inputs = 2 * width
            layers = [
                .normed("conv1.0", "conv1.1", 3, first, .centred(3, stride: 2), .relu),
                .normed("conv1.3", "conv1.4", first, width, .centred(3), .relu),
                .normed("conv1.6", "bn1", width, inputs, .centred(3), .relu),
            ]
        } else {
            layers = [.normed("conv1", "bn1", 3, inputs, .centred(7, stride: 2), .relu)]
        }
        layers.append(.largest(.centred(3, stride: 2)))
        var blocks = [ConvolutionNet.Block(layers: layers)]
        for stage in depths.indices {
            for index in 0..<depths[stage] {
                let stride = index == 0 && stage > 0 ? 2 : 1
                blocks.append(
                    block("layer\(stage + 1).\(index).", stage, inputs, stride: stride, isFirst: index == 0))
                inputs = outputs(stage)
            }
        }
        return ConvolutionNet(blocks: blocks)
    }

    private func outputs(_ stage: Int) -> Int { channels[stage] * (isBottleneck[stage] ? 4 : 1) }

    private func block(
        _ name: String, _ stage: Int, _ inputs: Int, stride: Int, isFirst: Bool
    ) -> ConvolutionNet.Block {
        let (outputs, middle) = (outputs(stage), ConvolutionNet.Window.centred(3, stride: stride))
        let layers: [ConvolutionNet.Layer]
        if isBottleneck[stage] {
            let width = Int(Double(channels[stage]) * (Double(groupWidth) / 64)) * groups
            layers = [
                .normed(name + "conv1", name + "bn1", inputs, width, .point, .relu),
                .normed(name + "conv2", name + "bn2", width, width, middle, groups: groups, .relu),
                .normed(name + "conv3", name + "bn3", width, outputs),
            ]
        } else {
            layers = [
                .normed(name + "conv1", name + "bn1", inputs, outputs, middle, .relu),
                .normed(name + "conv2", name + "bn2", outputs, outputs, .centred(3)),
            ]
        }
        return .init(
            layers: layers, around: isFirst ? around(name, inputs, outputs, stride) : [], activation: .relu)
    }

    /// The way around the first block of a stage.
    private func around(_ name: String, _ inputs: Int, _ outputs: Int, _ stride: Int) -> [ConvolutionNet.Layer] {
        guard stride > 1 || inputs != outputs else { return [] }
        let name = name + "downsample."
        guard shrinksByMeans else {
            return [.normed(name + "0", name + "1", inputs, outputs, .init(side: 1, stride: stride))]
        }
        let pool: [ConvolutionNet.Layer] =
            stride > 1 ? [.mean(.init(side: 2, stride: stride, padding: .same))] : []
        return pool + [.normed(name + "1", name + "2", inputs, outputs)]
    }
}

extension Settings {
    /// https://github.com/huggingface/transformers/blob/main/src/transformers/models/resnet/modeling_resnet.py
    mutating func resNet() throws(AIError) -> ConvolutionNet {
        let depths = try depths("depths", usual: [3, 4, 6, 3])
        let sizes = try stages("hidden_sizes", usual: [256, 512, 1024, 2048], count: depths.count)
        let kind = text("layer_type") ?? "bottleneck"
        if !["bottleneck", "basic"].contains(kind) { refuse("layer_type", kind) }
        // Of the first convolution and of sums; inside of blocks it is always ReLU.
        let activation = netActivation("hidden_act", usual: .relu)
        let shrinksFirst = flag("downsample_in_first_stage") ?? false
        let shrinksEarly = flag("downsample_in_bottleneck") ?? false
        var inputs = count("embedding_size") ?? 64
        func layer(
            _ name: String, _ inputs: Int, _ outputs: Int, _ window: ConvolutionNet.Window = .point,
            _ activation: ConvolutionNet.Activation? = nil
        ) -> ConvolutionNet.Layer {
            .normed(name + "convolution", name + "normalization", inputs, outputs, window, activation)
        }
        var blocks: [ConvolutionNet.Block] = [
            .init(layers: [
                layer("embedder.embedder.", 3, inputs, .centred(7, stride: 2), activation),
                .largest(.centred(3, stride: 2)),
            ])
        ]
        for (stage, (depth, outputs)) in zip(depths, sizes).enumerated() {
            for index in 0..<depth {
                let name = "encoder.stages.\(stage).layers.\(index)."
                let stride = index == 0 && (stage > 0 || shrinksFirst) ? 2 : 1
                let inner = max(1, outputs / 4)
                let layers =
                    kind == "basic"
                    ? [
                        layer(name + "layer.0.", inputs, outputs, .centred(3, stride: stride), .relu),
                        layer(name + "layer.1.", outputs, outputs, .centred(3)),
                    ]
                    : [
                        layer(
                            name + "layer.0.", inputs, inner, .init(side: 1, stride: shrinksEarly ? stride : 1),
                            .relu),
                        layer(
                            name + "layer.1.", inner, inner, .centred(3, stride: shrinksEarly ? 1 : stride), .relu),
                        layer(name + "layer.2.", inner, outputs),
                    ]
                let changes = stride > 1 || inputs != outputs
                let around =
                    changes
                    ? [layer(name + "shortcut.", inputs, outputs, .init(side: 1, stride: stride))] : []
                blocks.append(.init(layers: layers, around: around, activation: activation))
                inputs = outputs
            }
        }
        return ConvolutionNet(blocks: blocks)
    }
}
