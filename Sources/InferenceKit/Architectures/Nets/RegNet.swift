import HubCore
import ModelFormats

/// RegNet (https://arxiv.org/abs/2003.13678) with and without factors of channels, as timm and transformers have it.
extension NetFamily {
    /// https://github.com/huggingface/pytorch-image-models/blob/main/timm/models/regnet.py
    static let regNet = NetFamily(
        "RegNet", timm: ["regnetx", "regnety"], knows: { RegNetPlan.named[$0] != nil }
    ) { settings throws(AIError) in
        guard let plan = RegNetPlan.named[settings.timmName] else {
            throw .malformed(settings.path, "architecture is \(settings.timmName.printable)")
        }
        var net = plan.net(.timm)
        try settings.completeTimm(&net, classifier: "head.fc", first: "stem.conv.weight")
        return net
    }

    /// https://github.com/huggingface/transformers/blob/main/src/transformers/models/regnet/modeling_regnet.py
    static let regNetOfTransformers = NetFamily("RegNet", type: "regnet", stem: "RegNet") {
        settings throws(AIError) in
        var net = try settings.regNet().net(.transformers)
        try settings.completeNet(
            &net, prefix: "regnet.", classifier: "classifier.1", first: "embedder.embedder.convolution.weight")
        return net
    }
}

/// How a RegNet is made: stages of blocks of a product of places, a convolution of groups, and another product.
private struct RegNetPlan: Sendable {
    /// What the parts are called.
    struct Names: Sendable {
        var convolution: (weights: String, norm: String)
        var stem: String
        var block: @Sendable (_ stage: Int, _ block: Int) -> String
        /// A block's three convolutions; the last where there are factors, and where there are none.
        var layers: (first: String, middle: String, last: String, plainLast: String)
        var squeeze: (reduce: String, expand: String)
        var around: String

        static let timm = Names(
            convolution: (".conv", ".bn"), stem: "stem", block: { "s\($0 + 1).b\($1 + 1)." },
            layers: ("conv1", "conv2", "conv3", "conv3"), squeeze: ("se.fc1", "se.fc2"), around: "downsample")
        static let transformers = Names(
            convolution: (".convolution", ".normalization"), stem: "embedder.embedder",
            block: { "encoder.stages.\($0).layers.\($1)." },
            layers: ("layer.0", "layer.1", "layer.3", "layer.2"),
            squeeze: ("layer.2.attention.0", "layer.2.attention.2"), around: "shortcut")
    }

    var stem = 32
    var depths: [Int]
    var channels: [Int]
    /// Channels of a group, where there are as many.
    var group: Int
    /// Whether there are factors of channels.
    var isSqueezed: Bool
    var shrinksFirst = true
    var activation = ConvolutionNet.Activation.relu

    /// The net without its classifier.
    func net(_ names: Names) -> ConvolutionNet {
        var inputs = stem
        var blocks = [ConvolutionNet.Block(layers: [layer(names.stem, 3, stem, .centred(3, stride: 2), names)])]
        for (stage, (depth, outputs)) in zip(depths, channels).enumerated() {
            for index in 0..<depth {
                let stride = index == 0 && (stage > 0 || shrinksFirst) ? 2 : 1
                blocks.append(block(names.block(stage, index), inputs, outputs, stride, names))
                inputs = outputs
            }
        }
        return ConvolutionNet(blocks: blocks)
    }

    private func layer(
        _ name: String, _ inputs: Int, _ outputs: Int, _ window: ConvolutionNet.Window, groups: Int = 1,
        isActivated: Bool = true, _ names: Names
    ) -> ConvolutionNet.Layer {
        .normed(
            name + names.convolution.weights, name + names.convolution.norm, inputs, outputs, window,
            groups: groups, isActivated ? activation : nil)
    }

    private func block(
        _ name: String, _ inputs: Int, _ outputs: Int, _ stride: Int, _ names: Names
    ) -> ConvolutionNet.Block {
        let groups = max(1, outputs / group)
        var layers = [
            layer(name + names.layers.first, inputs, outputs, .point, names),
            layer(
                name + names.layers.middle, outputs, outputs, .centred(3, stride: stride), groups: groups, names),
        ]
        if isSqueezed {
            let inner = max(1, Int((Double(inputs) / 4).rounded(.toNearestOrEven)))
            layers.append(
                .squeeze(
                    .init(
                        reduce: .init(
                            name: name + names.squeeze.reduce, inputs: outputs, outputs: inner, hasBias: true,
                            activation: .relu),
                        expand: .init(
                            name: name + names.squeeze.expand, inputs: inner, outputs: outputs, hasBias: true,
                            activation: .sigmoid))))
        }
        let last = isSqueezed ? names.layers.last : names.layers.plainLast
        layers.append(layer(name + last, outputs, outputs, .point, isActivated: false, names))
        let around = layer(
            name + names.around, inputs, outputs, .init(side: 1, stride: stride), isActivated: false, names)
        return .init(
            layers: layers, around: stride > 1 || inputs != outputs ? [around] : [], activation: activation)
    }
}

extension RegNetPlan {
    /// Of each size: blocks of the stages, their channels, channels of a group. timm finds them by a formula.
    private static let plain = """
        002 1,1,4,7 24,56,152,368 8
        004 1,2,7,12 32,64,160,384 16
        004_tv 1,2,7,12 32,64,160,400 16
        006 1,3,5,7 48,96,240,528 24
        008 1,3,7,5 64,128,288,672 16
        016 2,4,10,2 72,168,408,912 24
        032 2,6,15,2 96,192,432,1008 48
        040 2,5,14,2 80,240,560,1360 40
        064 2,4,10,1 168,392,784,1624 56
        080 2,5,15,1 80,240,720,1920 120
        120 2,5,11,1 224,448,896,2240 112
        160 2,6,13,1 256,512,896,2048 128
        320 2,7,13,1 336,672,1344,2520 168
        """

    private static let squeezed = """
        002 1,1,4,7 24,56,152,368 8
        004 1,3,6,6 48,104,208,440 8
        006 1,3,7,4 48,112,256,608 16
        008 1,3,8,2 64,128,320,768 16
        008_tv 1,3,8,2 64,144,320,784 16
        016 2,6,17,2 48,120,336,888 24
        032 2,5,13,1 72,216,576,1512 24
        040 2,6,12,2 128,192,512,1088 64
        064 2,7,14,2 144,288,576,1296 72
        080 2,4,10,1 168,448,896,2016 56
        080_tv 2,4,10,1 224,448,896,2016 56
        120 2,5,11,1 224,448,896,2240 112
        160 2,4,11,1 224,448,1232,3024 112
        320 2,5,12,1 232,696,1392,3712 232
        640 2,5,12,1 328,984,1968,4920 328
        1280 2,7,17,1 528,1056,2904,7392 264
        2560 2,7,17,1 746,1492,4103,10444 373
        """

    /// By their names in timm.
    static let named: [String: RegNetPlan] = {
        var named: [String: RegNetPlan] = [:]
        for (start, table, isSqueezed) in [("regnetx_", plain, false), ("regnety_", squeezed, true)] {
            for line in table.split(separator: "\n") {
                let parts = line.split(separator: " ")
                func numbers(_ part: Int) -> [Int] { parts[part].split(separator: ",").compactMap { Int($0) } }
                named[start + parts[0]] = RegNetPlan(
                    depths: numbers(1), channels: numbers(2), group: numbers(3)[0], isSqueezed: isSqueezed)
            }
        }
        return named
    }()
}

extension Settings {
    fileprivate mutating func regNet() throws(AIError) -> RegNetPlan {
        let depths = try depths("depths", usual: [2, 6, 12, 2])
        let channels = try stages("hidden_sizes", usual: [128, 192, 512, 1088], count: depths.count)
        let kind = text("layer_type") ?? "y"
        if !["x", "y"].contains(kind) { refuse("layer_type", kind) }
        var plan = RegNetPlan(
            depths: depths, channels: channels, group: count("groups_width") ?? 64, isSqueezed: kind == "y")
        plan.stem = count("embedding_size") ?? 32
        plan.shrinksFirst = flag("downsample_in_first_stage") ?? true
        plan.activation = netActivation("hidden_act", usual: .relu)
        return plan
    }
}
