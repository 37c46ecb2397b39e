/// A convolutional net of pictures as a value: what is done to a plane, one after the other, then to the mean of all its
/// places, or to the planes of several blocks, and the names of the tensors. Loading, the check of tensors, the estimate of
/// memory and computing read this.
///
/// A plane is `[height][width][channels]`.
struct ConvolutionNet: Sendable, Hashable {
    enum Activation: Sendable, Hashable { case relu, relu6, silu, gelu, geluTanh, sigmoid, hardSigmoid, hardSwish }

    /// What is added around a plane.
    enum Padding: Sendable, Hashable {
        /// So many places on all sides.
        case even(Int)
        /// So many places at the left and at the top, and so many at the right and at the bottom.
        case uneven(before: Int, behind: Int)
        /// As few as give an output for each whole or begun stride; of an odd number one more at the right and at the bottom:
        /// TensorFlow's SAME. https://www.tensorflow.org/api_docs/python/tf/nn#notes_on_padding_2
        case same
    }

    /// A square that moves over a plane.
    struct Window: Sendable, Hashable {
        /// Places along a side, and from one to the next.
        var side: Int
        var stride = 1
        var padding = Padding.even(0)

        static let point = Window(side: 1)

        /// With half a side around, so that a stride of 1 keeps the size.
        static func centred(_ side: Int, stride: Int = 1) -> Window {
            Window(side: side, stride: stride, padding: .even(side / 2))
        }
    }

    /// Means and variances of channels that training kept (https://arxiv.org/abs/1502.03167).
    struct BatchNorm: Sendable, Hashable {
        /// Before `.weight`, `.bias`, `.running_mean` and `.running_var`.
        var name: String
        var epsilon: Double
    }

    struct Convolution: Sendable, Hashable {
        /// Before `.weight` and `.bias`.
        var name: String
        /// Where several tensors have equal shares of the outputs: what stands behind the name of each.
        var parts: [String] = []
        /// Channels.
        var inputs: Int
        var outputs: Int
        var window = Window.point
        /// As many groups of outputs each read their own inputs alone.
        var groups = 1
        var hasBias = false
        var norm: BatchNorm?
        /// The tensor with factors of the outputs, after the norm.
        var factors: String?
        var activation: Activation?
        /// Whether it is stored as a matrix, without sides.
        var isMatrix = false

        /// Whether each channel is convolved alone.
        var isDepthwise: Bool { groups == inputs && groups == outputs && groups > 1 }
    }

    /// Factors of channels, made of their means (https://arxiv.org/abs/1709.01507).
    struct Squeeze: Sendable, Hashable {
        var reduce: Convolution
        /// Its activation is the gate.
        var expand: Convolution
    }

    /// A norm of a place's channels (https://arxiv.org/abs/1607.06450).
    struct LayerNorm: Sendable, Hashable {
        var name: String
        var channels: Int
        var epsilon: Double
    }

    /// A norm of a channel's length over the plane by the mean of all channels' (https://arxiv.org/abs/2301.00808).
    struct ResponseNorm: Sendable, Hashable {
        /// Names of the two tensors.
        var weight: String
        var bias: String
        var channels: Int
        var epsilon: Double
        /// Whether the tensors have dimensions of one before the channels, as transformers keeps them.
        var isWide = false
    }

    /// Attention (https://arxiv.org/abs/1706.03762) among the places of ``Squares`` that have the same row and column within
    /// their squares. A place's channels are its query, its key and its value.
    struct Attention: Sendable, Hashable {
        var heads: Int
        /// Of a query, and of what is made.
        var channels: Int
        /// Places along a side of a square.
        var side: Int
    }

    /// Attention of a head's channels to each other (https://arxiv.org/abs/2106.09681): what a query and a key are is all
    /// places' numbers of a channel, of length 1. A place's channels are those of queries, of keys and of values.
    struct ChannelAttention: Sendable, Hashable {
        var heads: Int
        /// Of what is made.
        var channels: Int
        /// The tensor with a factor of scores for each head.
        var factors: String
    }

    /// Equal shares of the channels, of which the last may have fewer (https://arxiv.org/abs/2206.10589): each but the last is
    /// convolved, after what was made of the one before it is added. The last stays.
    struct Shares: Sendable, Hashable {
        /// Of all.
        var channels: Int
        /// Of each channel alone.
        var convolutions: [Convolution]

        /// Channels of each but the last.
        var width: Int { convolutions.first?.outputs ?? 0 }
    }

    /// Blocks of a plane of whole squares of places. Another plane is resized to such a one, and back.
    struct Squares: Sendable, Hashable {
        /// Places along a side of a square.
        var side: Int
        var blocks: [Block]
    }

    enum Layer: Sendable, Hashable {
        case convolution(Convolution)
        case largest(Window)
        case mean(Window)
        case squeeze(Squeeze)
        case norm(LayerNorm)
        case response(ResponseNorm)
        case attention(Attention)
        case squares(Squares)
        case reducedAttention(ReducedAttention)
        case channelAttention(ChannelAttention)
        case shares(Shares)
        /// Instead of a plane the sines and cosines of its places, of so many channels each for rows and for columns.
        case places(channels: Int)
    }

    /// Layers whose result is added to what they were given, if there is a way around them.
    struct Block: Sendable, Hashable {
        var layers: [Layer]
        /// The way around: without layers it changes nothing; nil for none.
        var around: [Layer]?
        /// Whether the channels of the result follow those of the way around, and are not added to them.
        var isJoined = false
        /// Of the sum.
        var activation: Activation?
    }

    /// Rows and columns of the pictures that it was made for.
    var height = 224, width = 224
    var blocks: [Block]
    /// What is done to the mean of all places.
    var pooled: [Layer] = []
    /// From features to outputs; nil for a model without labels.
    var classifier: Convolution?
    var labels: LabelSettings?
    /// What makes the first planes; nil where that is the picture.
    var tower: Tower?
    /// What is made of the planes of several blocks, in the place of a mean; nil for none.
    var map: Map?
    /// Before the names of all tensors but the classifier's.
    var prefix = ""
    /// Starts of names that are not read.
    var unread: [String] = []

    /// What it is for.
    var task: ModelTask {
        switch (map, labels) {
        case (nil, nil): .imageEmbedding
        case (nil, _): .imageClassification
        case (_, nil): .depthEstimation
        case (_, _): .imageSegmentation
        }
    }

    /// Numbers of a picture's vector.
    var features: Int { Self.channels(after: pooled, of: channels) }
    /// Of the last plane.
    var channels: Int { blocks.reduce(3) { $1.channels(of: $0) } }

    static func channels(after layers: [Layer], of channels: Int) -> Int {
        layers.reduce(channels) { channels, layer in
            switch layer {
            case .convolution(let convolution): convolution.outputs
            case .attention(let attention): attention.channels
            case .squares(let squares): squares.blocks.reduce(channels) { $1.channels(of: $0) }
            case .reducedAttention(let attention): attention.output.outputs
            case .channelAttention(let attention): attention.channels
            case .places(let each): 2 * each
            case .largest, .mean, .squeeze, .norm, .response, .shares: channels
            }
        }
    }
}

extension ConvolutionNet.Block {
    /// All layers.
    var all: [ConvolutionNet.Layer] { layers + (around ?? []) }

    /// Channels of what is made of a plane with so many.
    func channels(of channels: Int) -> Int {
        let made = ConvolutionNet.channels(after: layers, of: channels)
        guard isJoined, let around else { return made }
        return made + ConvolutionNet.channels(after: around, of: channels)
    }
}

extension ConvolutionNet.Layer {
    /// A convolution, the batch norm after it and an activation.
    static func normed(
        _ name: String, _ norm: String, _ inputs: Int, _ outputs: Int, _ window: ConvolutionNet.Window = .point,
        groups: Int = 1, epsilon: Double = 1e-5, _ activation: ConvolutionNet.Activation? = nil
    ) -> ConvolutionNet.Layer {
        .convolution(
            .init(
                name: name, inputs: inputs, outputs: outputs, window: window, groups: groups,
                norm: .init(name: norm, epsilon: epsilon), activation: activation))
    }
}

extension ConvolutionNet.Convolution {
    /// From features to labels.
    static func classifier(_ name: String, _ features: Int, labels: Int) -> ConvolutionNet.Convolution {
        .init(name: name, inputs: features, outputs: labels, hasBias: true, isMatrix: true)
    }
}
