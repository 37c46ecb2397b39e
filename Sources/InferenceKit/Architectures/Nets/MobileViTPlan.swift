/// How a MobileViT is made (https://arxiv.org/abs/2110.02178): stages of MobileNetV2's blocks, the last three of which end in
/// attention among the places of squares.
struct MobileViTPlan: Sendable {
    struct Stage: Sendable {
        var channels: Int
        /// Blocks without attention.
        var depth = 1
        var stride = 2
        /// Channels and blocks of attention; nil for none.
        var attention: (channels: Int, depth: Int)?
    }

    /// What the parts are called.
    struct Names: Sendable {
        /// Behind a name, of a convolution and of the norm after it,
        var convolution: (weights: String, norm: String)
        var stem: String
        /// before the parts of a stage's block,
        var block: @Sendable (_ stage: Int, _ block: Int) -> String
        /// and of what has attention.
        var attention: @Sendable (_ stage: Int) -> String
        /// Within a block.
        var expand: String, middle: String, reduce: String
        /// Within what has attention: the convolutions before the blocks,
        var local: String, inside: String
        /// the last norm, and the convolutions after it.
        var norm: String, outside: String, fusion: String
        /// Before the number of a block of attention,
        var blocks: String
        /// and within it. Queries, keys and values may be in three tensors.
        var attend: (norm: String, queries: String, parts: [String], output: String)
        var feed: (norm: String, expand: String, reduce: String)
        var last: String

        static let timm = Names(
            convolution: (".conv", ".bn"), stem: "stem", block: { "stages.\($0).\($1)." },
            attention: { "stages.\($0).1." }, expand: "conv1_1x1", middle: "conv2_kxk", reduce: "conv3_1x1",
            local: "conv_kxk", inside: "conv_1x1", norm: "norm", outside: "conv_proj", fusion: "conv_fusion",
            blocks: "transformer.", attend: ("norm1", "attn.qkv", [], "attn.proj"),
            feed: ("norm2", "mlp.fc1", "mlp.fc2"), last: "final_conv")

        static let transformers = Names(
            convolution: (".convolution", ".normalization"), stem: "conv_stem",
            block: { "encoder.layer.\($0)." + ($0 < 2 ? "layer.\($1)." : "downsampling_layer.") },
            attention: { "encoder.layer.\($0)." }, expand: "expand_1x1", middle: "conv_3x3", reduce: "reduce_1x1",
            local: "conv_kxk", inside: "conv_1x1.convolution", norm: "layernorm", outside: "conv_projection",
            fusion: "fusion", blocks: "transformer.layer.",
            attend: (
                "layernorm_before", "attention.attention.", ["query", "key", "value"], "attention.output.dense"
            ),
            feed: ("layernorm_after", "intermediate.dense", "output.dense"), last: "conv_1x1_exp")
    }

    /// Channels of the first plane,
    var stem: Int
    var stages: [Stage]
    /// and of the last.
    var last: Int
    /// Channels inside of a block for each that it is given,
    var expansion = 4.0
    /// and between the two products after attention.
    var feed = 2.0
    var heads = 4
    /// Places along a side of a square.
    var side = 2
    /// Of the windows around attention.
    var window = 3
    var activation = ConvolutionNet.Activation.silu
    /// Of norms of places.
    var epsilon = 1e-5
    /// Whether queries, keys and values have biases.
    var hasBias = true

    /// The net without its classifier.
    func net(_ names: Names) -> ConvolutionNet {
        var blocks = [
            ConvolutionNet.Block(layers: [layer(names.stem, 3, stem, .centred(3, stride: 2), names)])
        ]
        var inputs = stem
        for (number, stage) in stages.enumerated() {
            for index in 0..<stage.depth {
                let stride = index == 0 ? stage.stride : 1
                blocks.append(block(names.block(number, index), inputs, stage.channels, stride, names))
                inputs = stage.channels
            }
            if stage.attention != nil { blocks += attention(names.attention(number), stage, names) }
        }
        blocks.append(.init(layers: [layer(names.last, inputs, last, .point, names)]))
        return ConvolutionNet(height: 256, width: 256, blocks: blocks)
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
        let inner = MobilePlan.divisible((Double(inputs) * expansion).rounded(.toNearestOrEven))
        let layers = [
            layer(name + names.expand, inputs, inner, .point, names),
            layer(name + names.middle, inner, inner, .centred(3, stride: stride), groups: inner, names),
            layer(name + names.reduce, inner, outputs, .point, isActivated: false, names),
        ]
        return .init(layers: layers, around: stride == 1 && inputs == outputs ? [] : nil)
    }

    // MARK: Attention

    private func attention(_ name: String, _ stage: Stage, _ names: Names) -> [ConvolutionNet.Block] {
        guard let (width, depth) = stage.attention else { return [] }
        let channels = stage.channels
        var blocks = (0..<depth).flatMap { blocksOfAttention("\(name)\(names.blocks)\($0).", width, names) }
        blocks.append(.init(layers: [norm(name + names.norm, width)]))
        let layers = [
            layer(name + names.local, channels, channels, .centred(window), names),
            .convolution(.init(name: name + names.inside, inputs: channels, outputs: width)),
            .squares(.init(side: side, blocks: blocks)),
            layer(name + names.outside, width, channels, .point, names),
        ]
        return [
            .init(layers: layers, around: [], isJoined: true),
            .init(layers: [layer(name + names.fusion, 2 * channels, channels, .centred(window), names)]),
        ]
    }

    private func norm(_ name: String, _ channels: Int) -> ConvolutionNet.Layer {
        .norm(.init(name: name, channels: channels, epsilon: epsilon))
    }

    private func blocksOfAttention(_ name: String, _ width: Int, _ names: Names) -> [ConvolutionNet.Block] {
        func product(
            _ name: String, _ inputs: Int, _ outputs: Int, parts: [String] = [], hasBias: Bool = true,
            _ activation: ConvolutionNet.Activation? = nil
        ) -> ConvolutionNet.Layer {
            .convolution(
                .init(
                    name: name, parts: parts, inputs: inputs, outputs: outputs, hasBias: hasBias,
                    activation: activation, isMatrix: true))
        }
        let (attend, feed) = (names.attend, names.feed)
        let inner = Int(Double(width) * self.feed)
        return [
            .init(
                layers: [
                    norm(name + attend.norm, width),
                    product(name + attend.queries, width, 3 * width, parts: attend.parts, hasBias: hasBias),
                    .attention(.init(heads: heads, channels: width, side: side)),
                    product(name + attend.output, width, width),
                ], around: []),
            .init(
                layers: [
                    norm(name + feed.norm, width), product(name + feed.expand, width, inner, activation),
                    product(name + feed.reduce, inner, width),
                ], around: []),
        ]
    }
}
