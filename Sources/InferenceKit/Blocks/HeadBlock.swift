import CKernels
import HubCore

/// Rows to outputs: logits, or scores of labels.
struct HeadBlock: Sendable {
    private let description: ModelDescription.Head
    private let width: Int
    /// Before everything else.
    private let inputNorm: NormBlock?
    /// The layer before the outputs.
    private let dense: Linear?
    private let norm: NormBlock?
    /// nil where the outputs are what it takes.
    private let linear: Linear?
    /// Of the inputs for which that is too narrow.
    private let rest: Linear?
    private let residual: Linear?

    /// - Parameter embedding: the table of tokens, which a tied head is; nil for none.
    init(_ d: ModelDescription.Head, embedding: WeightMatrix?, _ table: TensorTable) throws(AIError) {
        (description, width) = (d, table.width)
        if let norm = d.norm {
            inputNorm = try NormBlock(norm, .headInputNorm, nil, table)
        } else {
            inputNorm = nil
        }
        dense = d.dense == nil ? nil : try table.linear(.headDense)
        if let norm = d.dense?.norm { self.norm = try NormBlock(norm, .headNorm, nil, table) } else { norm = nil }
        if d.hasMatrix {
            let matrix = if d.isTied, let embedding { embedding } else { try table.matrix(.head) }
            linear = Linear(matrix: matrix, bias: try table.bias(.head))
        } else {
            linear = nil
        }
        rest = d.rest > 0 ? try table.linear(.headRest) : nil
        residual = d.hasResidual ? try table.linear(.headResidual) : nil
    }

    /// Makes what the outputs are made of, in place, `[rows][width]`.
    func normalize(_ x: FloatBuffer, rows: Int, _ w: Workspace) {
        inputNorm?.apply(x.start, rows: rows, w.team, into: x.start)
    }

    /// Computes the outputs of normalised rows, `[rows][width]`, at most ``Workspace/logitRows`` of them.
    func apply(_ x: FloatBuffer, rows: Int, _ w: Workspace) {
        normalize(x, rows: rows, w)
        guard let linear else {
            w.logitsStart.update(from: x.start, count: rows * width)
            return
        }
        let (count, input) = (rows * linear.rows, prepared(x, rows, w))
        let stride = linear.columns + (rest?.columns ?? 0)
        w.multiply(input, rows: rows, columns: linear.columns, stride: stride, [(linear, w.logitsStart)])
        if let rest {
            let more = FloatBuffer(count)
            w.multiply(
                input, at: linear.columns, rows: rows, columns: rest.columns, stride: stride, [(rest, more.start)])
            hub_add(w.team.team, w.logitsStart, more.start, 1, count)
        }
        if let residual {
            let more = FloatBuffer(count)
            w.multiply(x, rows: rows, columns: residual.columns, [(residual, more.start)])
            hub_add(w.team.team, w.logitsStart, more.start, 1, count)
        }
        if description.scale != 1 { hub_scale(w.team.team, w.logitsStart, description.scale, count) }
        if description.cap != 0 { hub_soft_cap(w.team.team, w.logitsStart, description.cap, count) }
    }

    /// What the matrix of the outputs takes.
    private func prepared(_ x: FloatBuffer, _ rows: Int, _ w: Workspace) -> FloatBuffer {
        guard let dense else { return x }
        let (out, width) = (w.normed.start, dense.rows)
        w.multiply(x, rows: rows, columns: dense.columns, [(dense, out)])
        if let activation = description.dense?.activation {
            hub_activate(w.team.team, activation.kernel, out, nil, width, rows, width, out)
        }
        norm?.apply(out, rows: rows, w.team, into: out)
        return w.normed
    }
}
