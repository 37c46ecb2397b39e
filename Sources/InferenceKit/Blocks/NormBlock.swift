import CKernels
import HubCore

/// A norm: its weight and bias, and how to apply it.
struct NormBlock: Sendable {
    private let norm: ModelDescription.Norm
    private let width: Int
    /// nil where all weights are 1.
    private let weight: FloatBuffer?
    private let bias: FloatBuffer?

    init(_ norm: ModelDescription.Norm, _ role: TensorRole, _ layer: Int?, _ table: TensorTable) throws(AIError) {
        self.norm = norm
        let weight = try table.vector(role, layer)
        (self.weight, width) = (weight, weight.count)
        bias = try table.bias(role, layer)
    }

    /// An RMS norm without a weight.
    init(width: Int, epsilon: Float) {
        norm = ModelDescription.Norm(epsilon: epsilon)
        (self.width, weight, bias) = (width, nil, nil)
    }

    /// An RMS norm with this weight.
    init(weight: [Float], epsilon: Float) {
        norm = ModelDescription.Norm(epsilon: epsilon)
        (width, self.weight, bias) = (weight.count, FloatBuffer(weight), nil)
    }

    /// Normalises rows of the weight's length, one after the other; in place where `out` is `x`.
    ///
    /// - Parameter stride: numbers from one row to the next, of both; nil for as many as they have.
    func apply(
        _ x: UnsafeMutablePointer<Float>, rows: Int, stride: Int? = nil, _ team: ComputeTeam,
        into out: UnsafeMutablePointer<Float>
    ) {
        let stride = stride ?? width
        switch norm.kind {
        case .rms(let offset):
            hub_rms_norm(team.team, x, stride, rows, width, weight?.start, offset, norm.epsilon, out, stride)
        case .layer:
            hub_layer_norm(
                team.team, x, stride, rows, width, weight?.start, bias?.start, norm.epsilon, out, stride)
        case .affine:
            precondition(stride == width)
            hub_affine(team.team, x, rows, width, weight?.start, bias?.start, out)
        }
    }
}
