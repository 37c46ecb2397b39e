import HubCore
import ModelFormats

/// EdgeNeXt (https://arxiv.org/abs/2206.10589), as timm has it.
/// https://github.com/huggingface/pytorch-image-models/blob/main/timm/models/edgenext.py
extension NetFamily {
    static let edgeNeXt = NetFamily(
        "EdgeNeXt", timm: ["edgenext"], knows: { EdgeNeXtPlan.named[$0] != nil }
    ) { settings throws(AIError) in
        guard var plan = EdgeNeXtPlan.named[settings.timmName] else {
            throw .malformed(settings.path, "architecture is \(settings.timmName.printable)")
        }
        try plan.change(&settings)
        var net = plan.net
        try settings.completeTimm(
            &net, classifier: "head.fc", first: "stem.0.weight", arguments: EdgeNeXtPlan.arguments)
        return net
    }
}

/// How an EdgeNeXt is made: ConvNeXt's blocks, and at the end of a stage one with attention of channels to each other.
private struct EdgeNeXtPlan: Sendable {
    var depths: [Int]
    var channels: [Int]
    var heads = [8, 8, 8, 8]
    /// Whether blocks shrink the plane, and the first windows overlap, without biases of convolutions.
    var shrinksInBlocks = false

    /// Places along a side of windows, parts of the channels, of each stage.
    private static let sides = [3, 5, 7, 9], shares = [2, 2, 3, 4]
    /// Which stages end in attention, and which of them say where places are.
    private static let attends = [false, true, true, true], places = [false, true, false, false]
    private static let epsilon = 1e-6

    static let named: [String: EdgeNeXtPlan] = [
        "edgenext_xx_small": .init(depths: [2, 2, 6, 2], channels: [24, 48, 88, 168], heads: [4, 4, 4, 4]),
        "edgenext_x_small": .init(depths: [3, 3, 9, 3], channels: [32, 64, 100, 192], heads: [4, 4, 4, 4]),
        "edgenext_small": .init(depths: [3, 3, 9, 3], channels: [48, 96, 160, 304]),
        "edgenext_base": .init(depths: [3, 3, 9, 3], channels: [80, 160, 288, 584]),
        "edgenext_small_rw": .init(depths: [3, 3, 9, 3], channels: [48, 96, 192, 384], shrinksInBlocks: true),
    ]

    /// What `model_args` may change.
    static let arguments: Set<String> = ["depths", "dims", "heads"]

    /// - Throws: ``ErrorCode/malformedModel`` for lists that are not of four stages.
    mutating func change(_ settings: inout Settings) throws(AIError) {
        guard settings.has("model_args"), let members = settings.object("model_args") else { return }
        let arguments = try settings.part(members)
        depths = try arguments.depths("depths", usual: depths)
        channels = try arguments.stages("dims", usual: channels)
        heads = try arguments.stages("heads", usual: heads)
        guard [depths, channels, heads].allSatisfy({ $0.count == 4 }) else {
            throw .malformed(settings.path, "model_args: depths, dims and heads are not of 4 stages")
        }
    }

    /// The net without its classifier.
    var net: ConvolutionNet {
        let stem =
            shrinksInBlocks
            ? ConvolutionNet.Window(side: 9, stride: 4, padding: .even(4)) : .init(side: 4, stride: 4)
        var inputs = channels[0]
        var blocks: [ConvolutionNet.Block] = [
            .init(layers: [convolution("stem.0", 3, inputs, stem), norm("stem.1", inputs)])
        ]
        for (stage, (depth, outputs)) in zip(depths, channels).enumerated() {
            let name = "stages.\(stage)."
            if stage > 0, !shrinksInBlocks {
                let shrunk = convolution(name + "downsample.1", inputs, outputs, .init(side: 2, stride: 2))
                blocks.append(.init(layers: [norm(name + "downsample.0", inputs), shrunk]))
                inputs = outputs
            }
            for index in 0..<depth {
                let block = "\(name)blocks.\(index)."
                if Self.attends[stage], index == depth - 1 {
                    blocks.append(attention(block, stage))
                } else {
                    let stride = stage > 0 && index == 0 && shrinksInBlocks ? 2 : 1
                    blocks += self.block(block, inputs, outputs, Self.sides[stage], stride)
                }
                inputs = outputs
            }
        }
        return ConvolutionNet(height: 256, width: 256, blocks: blocks, pooled: [norm("head.norm", inputs)])
    }

    private func norm(_ name: String, _ channels: Int) -> ConvolutionNet.Layer {
        .norm(.init(name: name, channels: channels, epsilon: Self.epsilon))
    }

    private func convolution(
        _ name: String, _ inputs: Int, _ outputs: Int, _ window: ConvolutionNet.Window, groups: Int = 1
    ) -> ConvolutionNet.Layer {
        .convolution(
            .init(
                name: name, inputs: inputs, outputs: outputs, window: window, groups: groups,
                hasBias: !shrinksInBlocks))
    }

    private func product(
        _ name: String, _ inputs: Int, _ outputs: Int, factors: String? = nil,
        _ activation: ConvolutionNet.Activation? = nil
    ) -> ConvolutionNet.Layer {
        .convolution(
            .init(
                name: name, inputs: inputs, outputs: outputs, hasBias: true, factors: factors,
                activation: activation, isMatrix: true))
    }

    /// A norm and two products of places.
    private func feed(_ name: String, _ channels: Int) -> [ConvolutionNet.Layer] {
        [
            norm(name + "norm", channels), product(name + "mlp.fc1", channels, 4 * channels, .gelu),
            product(name + "mlp.fc2", 4 * channels, channels, factors: name + "gamma"),
        ]
    }

    private func block(
        _ name: String, _ inputs: Int, _ outputs: Int, _ side: Int, _ stride: Int
    ) -> [ConvolutionNet.Block] {
        let first = convolution(
            name + "conv_dw", inputs, outputs, .centred(side, stride: stride), groups: inputs)
        guard stride > 1 || inputs != outputs else {
            return [.init(layers: [first] + feed(name, outputs), around: [])]
        }
        // What goes around comes after the plane was made smaller.
        return [.init(layers: [first]), .init(layers: feed(name, outputs), around: [])]
    }

    private func attention(_ name: String, _ stage: Int) -> ConvolutionNet.Block {
        let (channels, parts) = (channels[stage], Self.shares[stage])
        let width = (channels + parts - 1) / parts
        let convolutions = (0..<parts - 1).map {
            ConvolutionNet.Convolution(
                name: "\(name)convs.\($0)", inputs: width, outputs: width, window: .centred(3), groups: width,
                hasBias: !shrinksInBlocks)
        }
        var blocks: [ConvolutionNet.Block] = []
        if Self.places[stage] {
            let places = ConvolutionNet.Layer.convolution(
                .init(name: name + "pos_embd.token_projection", inputs: 64, outputs: channels, hasBias: true))
            blocks.append(.init(layers: [.places(channels: 32), places], around: []))
        }
        blocks.append(
            .init(
                layers: [
                    norm(name + "norm_xca", channels), product(name + "xca.qkv", channels, 3 * channels),
                    .channelAttention(
                        .init(heads: heads[stage], channels: channels, factors: name + "xca.temperature")),
                    product(name + "xca.proj", channels, channels, factors: name + "gamma_xca"),
                ], around: []))
        let layers: [ConvolutionNet.Layer] = [
            .shares(.init(channels: channels, convolutions: convolutions)),
            .squares(.init(side: 1, blocks: blocks)),
        ]
        return .init(layers: layers + feed(name, channels), around: [])
    }
}
