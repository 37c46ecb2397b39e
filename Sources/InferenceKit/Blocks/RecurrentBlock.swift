import CKernels
import HubCore

/// The recurrent half of a layer.
enum RecurrentBlock: Sendable {
    case gatedDelta(GatedDeltaBlock)
    case shortConvolution(ShortConvolutionBlock)
    case space(StateSpaceBlock)
    case selective(SelectiveSpaceBlock)

    init(_ d: ModelDescription.Recurrence, _ layer: Int, _ table: TensorTable) throws(AIError) {
        switch d {
        case .gatedDelta(let d): self = .gatedDelta(try GatedDeltaBlock(d, layer, table))
        case .shortConvolution(let d): self = .shortConvolution(try ShortConvolutionBlock(d, layer, table))
        case .space(let d): self = .space(try StateSpaceBlock(d, layer, table))
        case .selective(let d): self = .selective(try SelectiveSpaceBlock(d, layer, table))
        }
    }

    /// - Parameters:
    ///   - x: `[rows][width]`, normalised.
    ///   - state: where the layer's state begins among those of a text.
    ///   - out: `[rows][width]`.
    func apply(_ x: FloatBuffer, rows: Int, state: Int, _ w: Workspace, into out: FloatBuffer) {
        guard let space = w.recurrence else {
            preconditionFailure("the workspace has no room for recurrent layers")
        }
        switch self {
        case .gatedDelta(let block): block.apply(x, rows: rows, state: state, w, space, into: out)
        case .shortConvolution(let block): block.apply(x, rows: rows, state: state, w, space, into: out)
        case .space(let block): block.apply(x, rows: rows, state: state, w, space, into: out)
        case .selective(let block): block.apply(x, rows: rows, state: state, w, space, into: out)
        }
    }
}

extension TensorTable {
    /// The parts of a recurrence's input matrix, so many outputs each, with those of its bias, if it has one.
    func recurrentInputs(_ layer: Int, _ sizes: [Int]) throws(AIError) -> [Linear] {
        let bias = try bias(.recurrentInput, layer)?.array
        var first = 0
        var parts: [Linear] = []
        for (matrix, size) in zip(try matrix(.recurrentInput, layer).split(1, sizes), sizes) {
            parts.append(Linear(matrix, bias: bias.map { FloatBuffer(Array($0[first..<first + size])) }))
            first += size
        }
        return parts
    }
}

/// A causal convolution of channels.
struct ConvolutionBlock: Sendable {
    private let description: ModelDescription.Convolution
    /// `[taps][channels]`
    private let weights: FloatBuffer
    private let bias: FloatBuffer?
    private let hasSiLU: Bool

    /// - Parameter factors: of the inputs of so many channels, one after the other; none for 1.
    init(
        _ d: ModelDescription.Convolution, hasSiLU: Bool, _ layer: Int, _ table: TensorTable,
        factors: [(factor: Float, count: Int)] = []
    ) throws(AIError) {
        (description, self.hasSiLU) = (d, hasSiLU)
        let stored = try table.numbers(.convolution, layer)
        weights = FloatBuffer(stored.count)
        let factors = factors.flatMap { Array(repeating: $0.factor, count: $0.count) }
        for channel in 0..<d.channels {
            for tap in 0..<d.taps {
                let weight = stored.start[channel * d.taps + tap]
                weights.start[tap * d.channels + channel] = factors.isEmpty ? weight : weight * factors[channel]
            }
        }
        bias = try table.bias(.convolution, layer)
    }

    /// Changes `[rows][channels]` in place.
    func apply(_ x: FloatBuffer, state: Int, _ w: Workspace, _ space: RecurrentSpace) {
        space.rows.withUnsafeBufferPointer { rows in
            var convolution = hub_convolution()
            convolution.rows = rows.baseAddress
            convolution.count = rows.count
            convolution.state = state
            convolution.channels = description.channels
            convolution.taps = description.taps
            convolution.weights = UnsafePointer(weights.start)
            convolution.bias = bias.map { UnsafePointer($0.start) }
            convolution.has_silu = hasSiLU
            convolution.x = x.start
            hub_convolve(w.team.team, &convolution)
        }
    }
}
