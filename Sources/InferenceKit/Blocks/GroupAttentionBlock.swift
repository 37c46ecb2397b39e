import HubCore

/// Attention between the series of a group at one position (https://arxiv.org/abs/2510.15821, "group attention"), for a
/// series alone: it attends to itself with the whole weight, so that only its values count.
struct GroupAttentionBlock: Sendable {
    private let value: Linear
    private let output: Linear

    init(_ layer: Int, _ table: TensorTable) throws(AIError) {
        value = try table.linear(.groupValue, layer)
        output = try table.linear(.groupOutput, layer)
    }

    /// `[rows][width]` to `[rows][width]`.
    func apply(_ x: FloatBuffer, rows: Int, _ w: Workspace, into out: FloatBuffer) {
        w.multiply(x, rows: rows, columns: value.columns, [(value, w.values.start)])
        w.multiply(w.values, rows: rows, columns: output.columns, [(output, out.start)])
    }
}
