import CKernels
import HubCore
import Libc

/// The feed-forward half of a layer: plain or gated.
struct FeedForwardBlock: Sendable {
    private let activation: hub_activation
    /// Standard deviations above the mean up to which gates are cut off; nil for none.
    private let cutoff: Double?
    /// nil for a plain one.
    private let gate: Linear?
    private let up: Linear
    private let down: Linear

    /// - Parameter earlier: the number of one before the layer's last; nil for that.
    init(_ d: ModelDescription.FeedForward, _ layer: Int, earlier: Int? = nil, _ table: TensorTable) throws(AIError)
    {
        activation = d.activation.kernel
        cutoff = d.sparsity > 0 ? Self.deviations(below: d.sparsity) : nil
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
        activation = d.activation.kernel
        cutoff = nil
        gate = try table.optionalLinear(.sharedGate, layer)
        up = try table.linear(.sharedUp, layer)
        down = try table.linear(.sharedDown, layer)
    }

    /// `[rows][width]` to `[rows][width]`.
    func apply(_ x: FloatBuffer, rows: Int, _ w: Workspace, into out: FloatBuffer) {
        let (columns, inner) = (up.columns, up.rows)
        if let gate {
            w.multiply(x, rows: rows, columns: columns, [(gate, w.gate.start), (up, w.up.start)])
            if let cutoff { hub_cut(w.team.team, w.gate.start, rows, inner, cutoff) }
            hub_activate(w.team.team, activation, w.gate.start, w.up.start, inner, rows, inner, w.gate.start)
        } else {
            w.multiply(x, rows: rows, columns: columns, [(up, w.gate.start)])
            hub_activate(w.team.team, activation, w.gate.start, nil, inner, rows, inner, w.gate.start)
        }
        w.multiply(w.gate, rows: rows, columns: inner, [(down, out.start)])
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
