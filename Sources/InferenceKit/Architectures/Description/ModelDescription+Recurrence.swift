extension ModelDescription {
    /// A half of a layer that remembers a text in a state of fixed size.
    enum Recurrence: Sendable, Hashable {
        case gatedDelta(GatedDelta)
        /// A convolution between two gates; as transformers' `Lfm2ShortConv`. A bias of the convolution means that the
        /// matrices around it have one, too.
        case shortConvolution(Convolution)
        case space(StateSpace)
        case selective(SelectiveSpace)
    }

    /// Mamba 2's selective state space (https://arxiv.org/abs/2405.21060) after a convolution of its input and of what
    /// writes to the state and reads it; the result is gated and then normalised, group by group, as in transformers'
    /// `Mamba2Mixer`, or otherwise in `FalconH1Mixer`.
    struct StateSpace: Sendable, Hashable {
        var heads: Int
        /// Heads side by side of a group share what writes and reads.
        var groups: Int
        var headSize: Int
        /// Numbers that the state has for each number of a head.
        var stateSize: Int
        var convolution: Convolution
        /// nil where the result is gated alone.
        var norm: Norm?
        /// Whether the gate comes after the norm.
        var gatesLast = false
        /// Factors of the input matrix's parts.
        var factors = Factors()
        /// The time steps that there may be.
        var steps: ClosedRange<Float>
        /// Whether the matrices around it have biases.
        var hasBias = false
        /// Whether the file is GGUF: rates are stored as they are and not as logarithms of what is subtracted, rates and
        /// skips as matrices of one column, the norm group by group.
        var isGGUF = false

        var width: Int { heads * headSize }

        struct Factors: Sendable, Hashable {
            var gate: Float = 1
            var input: Float = 1
            var write: Float = 1
            var read: Float = 1
            var step: Float = 1
        }
    }

    /// Mamba's selective state space (https://arxiv.org/abs/2312.00752) after a convolution of its input, from which also
    /// come the time steps, by way of fewer numbers, and what writes to the state and reads it. The result is gated. As
    /// transformers' `MambaMixer`.
    struct SelectiveSpace: Sendable, Hashable {
        /// Numbers that the state has for each channel.
        var stateSize: Int
        /// Numbers that time steps are made of.
        var stepRank: Int
        var convolution: Convolution
        /// Of those numbers, of what writes and of what reads; nil for none.
        var norm: Norm?
        /// Whether the matrices around it have biases.
        var hasBias = false
        /// Whether the rates of decay are stored as they are; otherwise as logarithms of what is subtracted.
        var storesRates = false

        var channels: Int { convolution.channels }
        /// The widths of what is made of the convolution's result.
        var parts: [Int] { [stepRank, stateSize, stateSize] }
    }

    /// The gated delta rule (https://arxiv.org/abs/2412.06464) after a convolution of queries, keys and values; the result
    /// has a norm per head and is gated. As transformers' `Qwen3_5GatedDeltaNet`.
    struct GatedDelta: Sendable, Hashable {
        var keyHeads: Int
        var valueHeads: Int
        /// Numbers in a head of queries and keys,
        var keySize: Int
        /// and of values.
        var valueSize: Int
        /// Of queries, keys and values, in this order.
        var convolution: Convolution
        /// Of the result, per head.
        var norm: Norm
        /// Whether value head `h` reads key head `h % keyHeads`; otherwise neighbours read the same.
        var isTiled = false
        /// Whether the matrices of the input and the gate are stored as one, and those of beta and the step: first the rows
        /// of the first key head and its value heads, then those of the next.
        var isPackedByKeyHead = false
        /// Whether the rates of decay are stored as they are; otherwise as logarithms of what is subtracted.
        var storesRates = false

        var keyWidth: Int { keyHeads * keySize }
        var valueWidth: Int { valueHeads * valueSize }
    }

    /// A causal convolution of each channel with its last numbers.
    struct Convolution: Sendable, Hashable {
        /// How a file keeps the weights.
        enum Layout: Sendable, Hashable {
            /// PyTorch: `[channels][1][taps]`.
            case torch
            /// MLX: `[channels][taps][1]`.
            case mlx
            /// GGUF: `[channels][taps]`.
            case plain
        }
        var channels: Int
        /// Numbers of a channel that it reads.
        var taps: Int
        var hasBias = false
        var layout = Layout.torch

        var shape: [Int] {
            switch layout {
            case .torch: [channels, 1, taps]
            case .mlx: [channels, taps, 1]
            case .plain: [channels, taps]
            }
        }
        /// Numbers of its state.
        var stateSize: Int { (taps - 1) * channels }
    }
}

extension ModelDescription.Recurrence {
    /// Its tensors, for a model of this width.
    func tensors(width: Int) -> [(role: TensorRole, shape: [Int], hasBias: Bool)] {
        switch self {
        case .gatedDelta(let d):
            (d.isPackedByKeyHead
                ? [
                    (.recurrentInput, [d.convolution.channels + d.valueWidth, width], false),
                    (.recurrentBeta, [2 * d.valueHeads, width], false),
                ]
                : [
                    (.recurrentInput, [d.convolution.channels, width], false),
                    (.recurrentGate, [d.valueWidth, width], false),
                    (.recurrentBeta, [d.valueHeads, width], false), (.recurrentStep, [d.valueHeads, width], false),
                ]) + [
                    (.convolution, d.convolution.shape, d.convolution.hasBias),
                    (.recurrentRate, [d.valueHeads], false),
                    (.recurrentStepBias, [d.valueHeads], false), (.recurrentNorm, [d.valueSize], false),
                    (.recurrentOutput, [width, d.valueWidth], false),
                ]
        case .shortConvolution(let d):
            [
                (.recurrentInput, [3 * d.channels, width], d.hasBias), (.convolution, d.shape, d.hasBias),
                (.recurrentOutput, [width, d.channels], d.hasBias),
            ]
        case .space(let d):
            [
                (.recurrentInput, [d.width + d.convolution.channels + d.heads, width], d.hasBias),
                (.convolution, d.convolution.shape, d.convolution.hasBias),
                (.recurrentRate, d.isGGUF ? [d.heads, 1] : [d.heads], false),
                (.recurrentStepBias, [d.heads], false),
                (.recurrentSkip, d.isGGUF ? [d.heads, 1] : [d.heads], false),
                (.recurrentOutput, [width, d.width], d.hasBias),
            ]
                + (d.norm == nil
                    ? [] : [(.recurrentNorm, d.isGGUF ? [d.groups, d.width / d.groups] : [d.width], false)])
        case .selective(let d):
            [
                (.recurrentInput, [2 * d.channels, width], d.hasBias),
                (.convolution, d.convolution.shape, d.convolution.hasBias),
                (.recurrentParts, [d.parts.reduce(0, +), d.channels], false),
                (.recurrentStep, [d.channels, d.stepRank], true),
                (.recurrentRate, [d.channels, d.stateSize], false),
                (.recurrentSkip, [d.channels], false), (.recurrentOutput, [width, d.channels], d.hasBias),
            ]
                + (d.norm?.hasWeight == true
                    ? zip([.recurrentStepNorm, .recurrentWriteNorm, .recurrentReadNorm], d.parts).map {
                        ($0, [$1], false)
                    } : [])
        }
    }

    /// Numbers that it remembers of a text: those of the convolution first.
    var stateSize: Int {
        switch self {
        case .gatedDelta(let d): d.convolution.stateSize + d.valueWidth * d.keySize
        case .shortConvolution(let d): d.stateSize
        case .space(let d): d.convolution.stateSize + d.width * d.stateSize
        case .selective(let d): d.convolution.stateSize + d.channels * d.stateSize
        }
    }

    /// Numbers of a row that are computed from its input, the convolution's first,
    var inputWidth: Int {
        switch self {
        case .gatedDelta(let d): d.convolution.channels
        case .shortConvolution(let d): d.channels
        case .space(let d): d.convolution.channels
        case .selective(let d): d.channels
        }
    }

    /// and those of its result.
    var resultWidth: Int {
        switch self {
        case .gatedDelta(let d): d.valueWidth
        case .shortConvolution(let d): d.channels
        case .space(let d): d.width
        case .selective(let d): d.channels
        }
    }

    /// Its heads, each with numbers of its own in a row; where each channel is one, at least as many as its parts.
    var heads: Int {
        switch self {
        case .gatedDelta(let d): d.valueHeads
        case .shortConvolution: 0
        case .space(let d): d.heads
        case .selective(let d): max(d.channels, d.parts.reduce(0, +))
        }
    }

    /// What is wrong with its sizes; nil if nothing is.
    var fault: String? {
        switch self {
        case .gatedDelta(let d):
            if d.valueHeads % d.keyHeads != 0 {
                return "\(d.valueHeads) value heads are not divisible by \(d.keyHeads) key heads"
            }
            return d.convolution.fault
        case .shortConvolution(let d): return d.fault
        case .space(let d):
            if d.heads % d.groups != 0 { return "\(d.heads) heads are not divisible by \(d.groups) groups" }
            return d.convolution.fault
        case .selective(let d): return d.convolution.fault
        }
    }
}

extension ModelDescription.Convolution {
    fileprivate var fault: String? {
        (1...8).contains(taps) ? nil : "a convolution of \(taps) positions is not one of 1 to 8"
    }
}

extension ModelDescription {
    /// Where the states of each layer begin among those of a text, and the end.
    var stateStarts: [Int] { layers.reduce(into: [0]) { $0.append($0.last! + ($1.recurrence?.stateSize ?? 0)) } }

    /// Numbers that recurrent layers remember of a text; 0 without any.
    var stateSize: Int { stateStarts.last ?? 0 }
}
