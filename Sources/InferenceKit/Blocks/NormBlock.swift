import CKernels
import HubCore

/// A norm: its weight and bias, and how to apply it.
struct NormBlock: Sendable {
    private let norm: ModelDescription.Norm
    private let weight: FloatBuffer
    private let bias: FloatBuffer?

    init(_ norm: ModelDescription.Norm, _ role: TensorRole, _ layer: Int?, _ table: TensorTable) throws(AIError) {
        self.norm = norm
        weight = try table.vector(role, layer)
        bias = try table.bias(role, layer)
    }

    /// Normalises rows of the weight's length, `stride` numbers apart; in place where `out` is `x`.
    func apply(
        _ x: UnsafeMutablePointer<Float>, rows: Int, _ team: ComputeTeam, into out: UnsafeMutablePointer<Float>
    ) {
        let width = weight.count
        switch norm.kind {
        case .rms(let offset):
            hub_rms_norm(team.team, x, width, rows, width, weight.start, offset, norm.epsilon, out, width)
        case .layer:
            hub_layer_norm(team.team, x, width, rows, width, weight.start, bias?.start, norm.epsilon, out, width)
        case .affine: hub_affine(team.team, x, rows, width, weight.start, bias?.start, out)
        }
    }
}
