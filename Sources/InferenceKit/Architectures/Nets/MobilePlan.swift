/// How timm writes down the mobile nets: stages of blocks as text, and how much wider and deeper than those a net is.
/// https://github.com/huggingface/pytorch-image-models/blob/main/timm/models/_efficientnet_builder.py
struct MobilePlan: Sendable {
    /// How factors of channels are made.
    enum Squeezing: Sendable {
        /// MobileNetV3: a share of the channels that are squeezed in multiples of eight, ReLU, a hard sigmoid.
        case ofExpanded
        /// The same share as it is, and the block's activation.
        case plain
        /// EfficientNet: a share of the block's inputs, the block's activation, a sigmoid.
        case ofInputs
    }

    enum Head: Sendable {
        /// A convolution and its activation on the mean of all places.
        case afterMean(Int, hasBias: Bool)
        /// A convolution, its norm and its activation on the plane.
        case beforeMean(Int)
    }

    /// Each as a list of kinds of blocks: `ir_r2_k3_s2_e6_c24_se0.25`.
    var stages: [[String]]
    /// Channels of the first plane,
    var stem: Int
    var head: Head
    var activation: ConvolutionNet.Activation
    var squeezing = Squeezing.ofInputs
    /// Factor of all channels.
    var width = 1.0
    /// Factor of the numbers of blocks: of each stage, or one for all.
    var depths = [1.0]
    /// Channels are not made fewer than this share of what they would be.
    var roundLimit = 0.9
    /// Whether the first plane keeps its channels,
    var keepsStem = false
    /// and whether the first and the last stage keep their blocks.
    var keepsEnds = false
    /// Whether it is padded as TensorFlow pads.
    var isPaddedToSame = false
    /// Of norms.
    var epsilon = 1e-5

    /// Channels in multiples of a number, not much fewer than asked for.
    ///
    /// - Parameter least: fewer are not made; nil for the number.
    static func divisible(
        _ channels: Double, by divisor: Int = 8, least: Int? = nil, limit: Double = 0.9
    ) -> Int {
        let nearest = max(least ?? divisor, Int(channels + Double(divisor) / 2) / divisor * divisor)
        return Double(nearest) < limit * channels ? nearest + divisor : nearest
    }

    func rounded(_ channels: Int) -> Int { Self.divisible(Double(channels) * width, limit: roundLimit) }

    /// The blocks of a stage, each once.
    func blocks(_ stage: Int) -> [MobileBlock] {
        let kinds = stages[stage].map(MobileBlock.init)
        let isEnd = stage == 0 || stage == stages.count - 1
        let depth = keepsEnds && isEnd ? 1 : depths.count > 1 ? depths[stage] : depths[0]
        var left = kinds.reduce(0) { $0 + $1.repeats }
        var scaled = Int((Double(left) * depth).rounded(.up))
        var counts: [Int] = []
        // The last kinds first, so that those which change the size are least repeated.
        for kind in kinds.reversed() {
            let count = max(
                1, Int((Double(kind.repeats) / Double(left) * Double(scaled)).rounded(.toNearestOrEven)))
            counts.append(count)
            (left, scaled) = (left - kind.repeats, scaled - count)
        }
        let all = zip(kinds, counts.reversed()).flatMap { Array(repeating: $0, count: $1) }
        return all.enumerated().map { index, block in
            var block = block
            if index > 0 { block.stride = 1 }
            return block
        }
    }
}

/// A kind of blocks: `ir_r2_k3_s2_e6_c24_se0.25`.
struct MobileBlock: Sendable {
    enum Kind: String, Sendable {
        /// A convolution of each channel, then one of places.
        case separable = "ds"
        /// One of places to more channels, one of each channel, one of places to fewer.
        case inverted = "ir"
        /// One to more channels, one of places to fewer.
        case edge = "er"
        /// A convolution alone.
        case plain = "cn"
    }

    var kind: Kind
    var repeats = 1
    var side = 3
    var stride = 1
    /// Channels inside for each that it is given.
    var expansion = 1.0
    var outputs = 0
    /// The share of channels that factors are made of; 0 for none.
    var squeezed = 0.0
    /// nil for the net's.
    var activation: ConvolutionNet.Activation?
    /// Whether there is a way around, where sizes allow it.
    var hasShortcut: Bool

    /// - Precondition: it is one of this program's own texts.
    init(_ text: String) {
        let parts = text.split(separator: "_").map(String.init)
        guard let kind = parts.first.flatMap(Kind.init) else { preconditionFailure("unknown block \(text)") }
        self.kind = kind
        hasShortcut = kind == .plain ? parts.contains("skip") : !parts.contains("noskip")
        for part in parts.dropFirst() where !part.hasSuffix("skip") {
            if part == "nre" {
                activation = .relu
                continue
            }
            let name = part.prefix { $0.isLetter }
            guard let number = Double(part.dropFirst(name.count)) else {
                preconditionFailure("unknown block \(text)")
            }
            switch name {
            case "r": repeats = Int(number)
            case "k": side = Int(number)
            case "s": stride = Int(number)
            case "e": expansion = number
            case "c": outputs = Int(number)
            case "se": squeezed = number
            default: preconditionFailure("unknown block \(text)")
            }
        }
    }
}
