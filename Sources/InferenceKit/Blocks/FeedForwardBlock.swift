import CKernels
import HubCore
import Libc

/// The feed-forward half of a layer: plain or gated.
struct FeedForwardBlock: Sendable {
    private let activation: hub_activation
    /// Standard deviations above the mean up to which gates are cut off; nil for none.
    private let cutoff: Double?
    private let gateFactor: Float
    /// In place of the activation; nil for none.
    private let xielu: hub_xielu?
    /// nil for a plain one.
    private let gate: Linear?
    private let up: Linear
    private let down: Linear

    /// - Parameter earlier: the number of one before the layer's last; nil for that.
    init(_ d: ModelDescription.FeedForward, _ layer: Int, earlier: Int? = nil, _ table: TensorTable) throws(AIError)
    {
        (activation, gateFactor) = (d.activation.kernel, d.gateFactor)
        cutoff = d.sparsity > 0 ? Self.deviations(below: d.sparsity) : nil
        xielu = d.hasXIELU ? try table.xielu(layer) : nil
        gate = d.isGated ? try table.linear(.gate, layer) : nil
        up = try table.linear(earlier.map { .earlierUp($0) } ?? .up, layer)
        down = try table.linear(earlier.map { .earlierDown($0) } ?? .down, layer)
    }

    /// The place below which a share of the standard normal distribution is.
    private static func deviations(below share: Double) -> Double {
        var (low, high) = (-10.0, 10.0)
        for _ in 0..<80 {
            let middle = (low + high) / 2
            if erfc(-middle / 2.0.squareRoot()) / 2 < share { low = middle } else { high = middle }
        }
        return low
    }

    /// What every row of a mixture goes through.
    init(sharedOf d: ModelDescription.Experts, _ layer: Int, _ table: TensorTable) throws(AIError) {
        (activation, gateFactor) = (d.activation.kernel, 1)
        (cutoff, xielu) = (nil, nil)
        gate = try table.optionalLinear(.sharedGate, layer)
        up = try table.linear(.sharedUp, layer)
        down = try table.linear(.sharedDown, layer)
    }

    /// `[rows][width]` to `[rows][width]`.
    func apply(_ x: FloatBuffer, rows: Int, _ w: Workspace, into out: FloatBuffer) {
        let (columns, inner) = (up.columns, up.rows)
        if let gate {
            w.multiply(x, rows: rows, columns: columns, [(gate, w.gate.start), (up, w.up.start)])
            if gateFactor != 1 { hub_scale(w.team.team, w.gate.start, gateFactor, rows * inner) }
            if let cutoff { hub_cut(w.team.team, w.gate.start, rows, inner, cutoff) }
            hub_activate(w.team.team, activation, w.gate.start, w.up.start, inner, rows, inner, w.gate.start)
        } else {
            w.multiply(x, rows: rows, columns: columns, [(up, w.gate.start)])
            if let xielu {
                hub_apply_xielu(w.team.team, xielu, w.gate.start, rows * inner)
            } else {
                hub_activate(w.team.team, activation, w.gate.start, nil, inner, rows, inner, w.gate.start)
            }
        }
        w.multiply(w.gate, rows: rows, columns: inner, [(down, out.start)])
    }
}

extension TensorTable {
    fileprivate func xielu(_ layer: Int) throws(AIError) -> hub_xielu {
        func number(_ role: TensorRole) throws(AIError) -> Float { try numbers(role, layer).array[0] }
        func softplus(_ x: Float) -> Float { Float(max(Double(x), 0) + log1p(exp(-abs(Double(x))))) }
        let beta = try number(.commonSlope)
        return hub_xielu(
            positive: softplus(try number(.positiveSlope)), negative: beta + softplus(try number(.negativeSlope)),
            beta: beta, largest: try number(.largestExponent))
    }
}

extension ModelDescription.Activation {
    var kernel: hub_activation {
        switch self {
        case .silu: HUB_SILU
        case .gelu: HUB_GELU
        case .geluTanh: HUB_GELU_TANH
        case .quickGelu: HUB_QUICK_GELU
        case .relu: HUB_RELU
        case .squaredRelu: HUB_RELU_SQUARED
        case .tanh: HUB_TANH
        case .clamped: HUB_CLAMPED
        }
    }
}
