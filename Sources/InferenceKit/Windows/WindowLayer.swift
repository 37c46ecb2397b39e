import CKernels
import HubCore
import Libc

/// The weights of a layer.
struct WindowLayer: Sendable {
    let firstHalfNorm: RowNorm
    let secondHalfNorm: RowNorm
    let query: Linear
    let key: Linear
    let value: Linear
    let output: Linear
    let up: Linear
    let down: Linear
    /// What distances add to scores, `[distances][heads]`, and behind it the same with what other sides cost.
    let distances: FloatBuffer
    /// What queries of length 1 are multiplied with, `[channels]`, and as many zeros, which are added; nil where scores are
    /// no cosines.
    let factors: FloatBuffer?

    init(
        _ net: WindowNet, stage number: Int, layer: Int, _ source: TensorSource, _ team: ComputeTeam
    ) throws(AIError) {
        let stage = net.stages[number], width = net.stages[number].channels
        func named(_ part: WindowPart) -> String { net.name(part, stage: number, layer: layer) }
        func linear(_ part: WindowPart, _ rows: Int, _ columns: Int) throws(AIError) -> Linear {
            try source.linear(named(part), rows: rows, columns: columns, bias: named(part) + ".bias")
        }
        firstHalfNorm = try RowNorm(named(.firstNorm), width, Float(net.epsilon), source)
        secondHalfNorm = try RowNorm(named(.secondNorm), width, Float(net.epsilon), source)
        (query, key, value) = try Self.inputs(net, number, layer, source)
        output = try linear(.output, width, width)
        up = try linear(.up, stage.inner, width)
        down = try linear(.down, width, stage.inner)
        switch net.version {
        case .first:
            let table = try source.numbers(named(.distances), [stage.window.distances, stage.heads]).array
            (distances, factors) = (Self.table(table, net), nil)
        case .second:
            let made = try Self.made(stage, named(.distances), source, team)
            (distances, factors) = (Self.table(made, net), try Self.factors(stage, named(.scale), source))
        }
    }

    private static func inputs(
        _ net: WindowNet, _ stage: Int, _ layer: Int, _ source: TensorSource
    ) throws(AIError) -> (Linear, Linear, Linear) {
        let width = net.stages[stage].channels
        func bias(_ part: WindowPart) throws(AIError) -> FloatBuffer? {
            guard net.hasInputBias, net.version == .first || part != .key else { return nil }
            let name = net.biasName(part, stage: stage, layer: layer)
            guard net.isPacked, net.version == .first else { return try source.vector(name, width) }
            let place = part == .query ? 0 : part == .key ? 1 : 2
            let all = try source.vector(name, 3 * width).array
            return FloatBuffer(all[place * width..<(place + 1) * width])
        }
        func name(_ part: WindowPart) -> String { net.name(part, stage: stage, layer: layer) + ".weight" }
        var matrices: [WeightMatrix] = []
        if net.isPacked {
            matrices = try source.matrix(name(.query), rows: 3 * width, columns: width).parts(3)
        } else {
            for part in [WindowPart.query, .key, .value] {
                matrices.append(try source.matrix(name(part), rows: width, columns: width))
            }
        }
        return (
            Linear(matrix: matrices[0], bias: try bias(.query)), Linear(matrix: matrices[1], bias: try bias(.key)),
            Linear(matrix: matrices[2], bias: try bias(.value))
        )
    }

    /// A table, and behind it the same with what other sides cost.
    private static func table(_ numbers: [Float], _ net: WindowNet) -> FloatBuffer {
        FloatBuffer(numbers + numbers.map { $0 + net.otherSide })
    }

    /// What a small net makes of the logarithms of distances: 16 times the sigmoid, `[distances][heads]`.
    private static func made(
        _ stage: WindowNet.Stage, _ name: String, _ source: TensorSource, _ team: ComputeTeam
    ) throws(AIError) -> [Float] {
        let (inputs, inner) = (WindowNet.distanceInputs, WindowNet.distanceWidth)
        let first = try source.linear(name + ".0", rows: inner, columns: inputs, bias: name + ".0.bias")
        let second = try source.linear(name + ".2", rows: stage.heads, columns: inner, bias: nil)
        let rows = coordinates(stage), count = stage.window.distances
        let hidden = FloatBuffer(count * inner), out = FloatBuffer(count * stage.heads)
        team.multiplyExactly(rows, rows: count, first, into: hidden)
        hub_activate(team.team, HUB_RELU, hidden.start, nil, inner, count, inner, hidden.start)
        team.multiplyExactly(hidden, rows: count, second, into: out)
        return out.array.map { 16 / (1 + expf(-$0)) }
    }

    /// The logarithms of distances, down and across, `[distances][2]`.
    private static func coordinates(_ stage: WindowNet.Stage) -> FloatBuffer {
        let counted = stage.counted == .none ? stage.window : stage.counted
        func coordinate(_ distance: Int, _ side: Int) -> Float {
            let scaled = Float(distance) / Float(max(1, side - 1)) * 8
            let size = log2f(abs(scaled) + 1) / Float(log2(8.0))
            return scaled < 0 ? -size : size
        }
        var rows: [Float] = []
        for down in 1 - stage.window.height..<stage.window.height {
            for across in 1 - stage.window.width..<stage.window.width {
                rows += [coordinate(down, counted.height), coordinate(across, counted.width)]
            }
        }
        return FloatBuffer(rows)
    }

    /// The exponential of each head's logarithm, at most 100, for all of its numbers; then zeros.
    private static func factors(
        _ stage: WindowNet.Stage, _ name: String, _ source: TensorSource
    ) throws(AIError) -> FloatBuffer {
        let scales = try source.numbers(name, [stage.heads, 1, 1]).array.map { expf(min($0, logf(100))) }
        let factors = (0..<stage.channels).map { scales[$0 / stage.headSize] }
        return FloatBuffer(factors + Array(repeating: 0, count: stage.channels))
    }
}

/// A norm of rows with a weight and a bias.
struct RowNorm: Sendable {
    private let weight: FloatBuffer
    private let bias: FloatBuffer
    private let epsilon: Float

    init(_ name: String, _ width: Int, _ epsilon: Float, _ source: TensorSource) throws(AIError) {
        weight = try source.vector(name + ".weight", width)
        bias = try source.vector(name + ".bias", width)
        self.epsilon = epsilon
    }

    /// In place where `out` is `x`.
    func apply(
        _ x: UnsafePointer<Float>, rows: Int, _ team: ComputeTeam, into out: UnsafeMutablePointer<Float>
    ) {
        let width = weight.count
        hub_layer_norm(team.team, x, width, rows, width, weight.start, bias.start, epsilon, out, width)
    }
}

extension TensorSource {
    /// A matrix, and its bias if there is one.
    func linear(_ name: String, rows: Int, columns: Int, bias: String?) throws(AIError) -> Linear {
        let bias = try bias.map { bias throws(AIError) in try vector(bias, rows) }
        return Linear(matrix: try matrix(name + ".weight", rows: rows, columns: columns), bias: bias)
    }
}

extension ComputeTeam {
    /// Rows with a matrix, in float32.
    fileprivate func multiplyExactly(_ rows: FloatBuffer, rows count: Int, _ linear: Linear, into out: FloatBuffer)
    {
        let packed = UnsafeMutableRawPointer.allocate(
            byteCount: ConvolutionExtent.packedBytes(rows: count, columns: linear.columns), alignment: 64)
        defer { packed.deallocate() }
        var input = hub_input()
        input.values = UnsafePointer(rows.start)
        (input.stride, input.rows, input.columns) = (linear.columns, count, linear.columns)
        (input.exact, input.packed) = (true, packed)
        withExtendedLifetime((rows, linear)) { multiply(&input, [(linear, out.start)]) }
    }
}
