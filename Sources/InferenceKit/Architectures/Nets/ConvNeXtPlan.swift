/// How a ConvNeXt is made: after a first convolution four stages of blocks, each a convolution of every channel, a norm of
/// places, and two products of places.
struct ConvNeXtPlan: Sendable {
    /// What comes before the stages, as timm calls it.
    enum Stem: String, Sendable {
        /// One convolution of windows side by side,
        case patches = "patch"
        /// two of windows that overlap,
        case overlapping = "overlap"
        /// the first with half the channels,
        case tiered = "overlap_tiered"
        /// or with an activation between.
        case activated = "overlap_act"
    }

    /// What the parts are called.
    struct Names: Sendable {
        /// The first convolution and the norm after it, where it is of windows side by side.
        var stem: (convolution: String, norm: String)
        /// Before the names of a stage's parts, with its number between the two.
        var stage: (start: String, end: String) = ("stages.", ".")
        /// Within a stage, the norm and the convolution that shrink the plane,
        var shrink: (norm: String, convolution: String)
        /// and before the numbers of blocks.
        var blocks: String
        /// Within a block.
        var depthwise: String
        var norm: String
        var expand: String
        var reduce: String
        var scale = "gamma"
        var response: String
        /// Whether the tensors of responses have dimensions of one before the channels.
        var isResponseWide = false
        /// The norm of the mean of all places, or of the last plane.
        var last: (norm: String, plane: String)

        static let timm = Names(
            stem: ("stem.0", "stem.1"), shrink: ("downsample.0", "downsample.1"), blocks: "blocks.",
            depthwise: "conv_dw", norm: "norm", expand: "mlp.fc1", reduce: "mlp.fc2", response: "mlp.grn",
            last: ("head.norm", "norm_pre"))
    }

    var depths: [Int]
    /// Of each stage.
    var channels: [Int]
    var stem = Stem.patches
    /// Places along a side of the first windows, where they are side by side.
    var patch = 4
    /// Whether the first stage shrinks the plane, too.
    var shrinksFirst = false
    var activation = ConvolutionNet.Activation.gelu
    /// Of norms,
    var epsilon = 1e-6
    /// and of the last; nil for the same.
    var lastEpsilon: Double?
    /// Whether blocks have a norm of responses, and factors of what they add.
    var hasResponses = false, hasScale = true
    /// Whether products of places are stored as matrices.
    var isMatrix = true
    /// Whether the last norm is of the plane, and not of its mean.
    var isNormedFirst = false
    /// Numbers of another product before the classifier; nil for none.
    var hidden: Int?

    /// The net without its classifier.
    func net(_ names: Names) -> ConvolutionNet {
        var blocks = [ConvolutionNet.Block(layers: first(names))]
        var inputs = channels[0]
        for (stage, (depth, outputs)) in zip(depths, channels).enumerated() {
            let name = names.stage.start + "\(stage)" + names.stage.end
            let isShrunk = stage > 0 || shrinksFirst
            if isShrunk || inputs != outputs {
                let window = isShrunk ? ConvolutionNet.Window(side: 2, stride: 2) : .point
                blocks.append(
                    .init(layers: [
                        norm(name + names.shrink.norm, inputs),
                        .convolution(
                            .init(
                                name: name + names.shrink.convolution, inputs: inputs, outputs: outputs,
                                window: window, hasBias: true)),
                    ]))
            }
            for index in 0..<depth {
                blocks.append(block("\(name)\(names.blocks)\(index).", outputs, names))
            }
            inputs = outputs
        }
        if isNormedFirst { blocks.append(.init(layers: [norm(names.last.plane, inputs)])) }
        return ConvolutionNet(blocks: blocks, pooled: pooled(names, inputs))
    }

    private func norm(_ name: String, _ channels: Int) -> ConvolutionNet.Layer {
        .norm(.init(name: name, channels: channels, epsilon: epsilon))
    }

    private func pooled(_ names: Names, _ channels: Int) -> [ConvolutionNet.Layer] {
        guard !isNormedFirst else { return [] }
        var layers: [ConvolutionNet.Layer] = [
            .norm(.init(name: names.last.norm, channels: channels, epsilon: lastEpsilon ?? epsilon))
        ]
        if let hidden {
            layers.append(
                .convolution(
                    .init(
                        name: "head.pre_logits.fc", inputs: channels, outputs: hidden, hasBias: true,
                        activation: .gelu, isMatrix: true)))
        }
        return layers
    }

    private func first(_ names: Names) -> [ConvolutionNet.Layer] {
        let outputs = channels[0]
        func convolution(
            _ name: String, _ inputs: Int, _ outputs: Int, _ window: ConvolutionNet.Window,
            _ activation: ConvolutionNet.Activation? = nil
        ) -> ConvolutionNet.Layer {
            .convolution(
                .init(
                    name: name, inputs: inputs, outputs: outputs, window: window, hasBias: true,
                    activation: activation))
        }
        guard stem != .patches else {
            let window = ConvolutionNet.Window(side: patch, stride: patch)
            return [convolution(names.stem.convolution, 3, outputs, window), norm(names.stem.norm, outputs)]
        }
        let inner = stem == .tiered ? MobilePlan.divisible(Double(outputs / 2)) : outputs
        let isActivated = stem == .activated
        return [
            convolution("stem.0", 3, inner, .centred(3, stride: 2), isActivated ? activation : nil),
            convolution("stem.\(isActivated ? 2 : 1)", inner, outputs, .centred(3, stride: 2)),
            norm("stem.\(isActivated ? 3 : 2)", outputs),
        ]
    }

    private func block(_ name: String, _ channels: Int, _ names: Names) -> ConvolutionNet.Block {
        let inner = 4 * channels
        var layers: [ConvolutionNet.Layer] = [
            .convolution(
                .init(
                    name: name + names.depthwise, inputs: channels, outputs: channels, window: .centred(7),
                    groups: channels, hasBias: true)),
            norm(name + names.norm, channels),
            .convolution(
                .init(
                    name: name + names.expand, inputs: channels, outputs: inner, hasBias: true,
                    activation: activation, isMatrix: isMatrix)),
        ]
        if hasResponses {
            let response = name + names.response
            layers.append(
                .response(
                    .init(
                        weight: response + ".weight", bias: response + ".bias", channels: inner, epsilon: 1e-6,
                        isWide: names.isResponseWide)))
        }
        layers.append(
            .convolution(
                .init(
                    name: name + names.reduce, inputs: inner, outputs: channels, hasBias: true,
                    factors: hasScale ? name + names.scale : nil, isMatrix: isMatrix)))
        return .init(layers: layers, around: [])
    }
}
