import CKernels
import HubCore

/// A norm: its weight and bias, and how to apply it.
struct NormBlock: Sendable {
    private let norm: ModelDescription.Norm
    private let width: Int
    /// nil where all weights are 1.
    private let weight: FloatBuffer?
    private let bias: FloatBuffer?
    /// Rows that come after one another with weights of their own.
    private var weights = 1

    init(_ norm: ModelDescription.Norm, _ role: TensorRole, _ layer: Int?, _ table: TensorTable) throws(AIError) {
        self.norm = norm
        guard norm.hasWeight else {
            (width, weight, bias) = (table.width, Self.ones(norm, table.width), nil)
            return
        }
        var weight = try table.vector(role, layer)
        if case .layer(_, let offset) = norm.kind, offset != 0 {
            weight = FloatBuffer(weight.array.map { $0 + offset })
        }
        (self.weight, width) = (weight, weight.count)
        bias = try table.bias(role, layer) ?? Self.zeros(norm, weight.count)
    }

    /// Without a weight.
    init(_ norm: ModelDescription.Norm, width: Int) {
        (self.norm, self.width, weight, bias) = (norm, width, Self.ones(norm, width), nil)
    }

    /// An RMS norm with this weight.
    init(weight: [Float], epsilon: Float) {
        norm = ModelDescription.Norm(epsilon: epsilon)
        (width, self.weight, bias) = (weight.count, FloatBuffer(weight), nil)
    }

    /// What stands for no weight.
    private static func ones(_ norm: ModelDescription.Norm, _ width: Int) -> FloatBuffer? {
        if case .rms = norm.kind { nil } else { FloatBuffer(Array(repeating: 1, count: width)) }
    }

    /// What stands for no bias.
    private static func zeros(_ norm: ModelDescription.Norm, _ width: Int) -> FloatBuffer? {
        if case .affine = norm.kind { FloatBuffer(Array(repeating: 0, count: width)) } else { nil }
    }

    /// One with a weight for each head, `[heads][width]`.
    init(
        heads: Int, _ norm: ModelDescription.Norm, _ role: TensorRole, _ layer: Int, _ table: TensorTable
    ) throws(AIError) {
        let weight = try table.matrix(role, layer)
        (self.norm, width, bias, weights) = (norm, weight.columns, nil, heads)
        self.weight = weight.widened()
    }

    /// One of groups of a row, whose weights follow each other.
    init(
        groups: Int, _ norm: ModelDescription.Norm, _ role: TensorRole, _ layer: Int, _ table: TensorTable
    ) throws(AIError) {
        let weight = try table.numbers(role, layer)
        (self.norm, self.weight, width, bias, weights) = (norm, weight, weight.count / groups, nil, groups)
    }

    /// Normalises rows of the norm's width, one after the other; in place where `out` is `x`.
    ///
    /// - Parameter stride: numbers from one row to the next, of both; nil for as many as they have.
    func apply(
        _ x: UnsafeMutablePointer<Float>, rows: Int, stride: Int? = nil, _ team: ComputeTeam,
        into out: UnsafeMutablePointer<Float>
    ) {
        let (rows, stride) = (rows / weights, (stride ?? width) * weights)
        for index in 0..<weights {
            let (x, out, weight) = (x + index * width, out + index * width, weight.map { $0.start + index * width })
            switch norm.kind {
            case .rms(let offset):
                hub_rms_norm(team.team, x, stride, rows, width, weight, offset, norm.epsilon, out, stride)
            case .layer:
                hub_layer_norm(team.team, x, stride, rows, width, weight, bias?.start, norm.epsilon, out, stride)
            case .affine:
                precondition(stride == width)
                hub_affine(team.team, x, rows, width, weight, bias?.start, out)
            }
        }
    }
}
