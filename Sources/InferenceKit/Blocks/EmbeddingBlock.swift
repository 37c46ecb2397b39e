import CKernels
import HubCore

/// Inputs to rows: the table of tokens, or rows of another part, with positions, types and a norm where a model has them.
struct EmbeddingBlock: Sendable {
    let tokens: WeightMatrix
    private let description: ModelDescription.Embedding
    private let positions: WeightMatrix?
    private let sinusoids: SinusoidBlock?
    /// `[types][width]`
    private let types: FloatBuffer?
    private let norm: NormBlock?
    private let projection: Linear?
    private let patches: PatchBlock?

    /// - Parameter tokens: the table of tokens, where another model has it.
    init(_ d: ModelDescription.Embedding, tokens: WeightMatrix? = nil, _ table: TensorTable) throws(AIError) {
        description = d
        if let tokens { self.tokens = tokens } else { self.tokens = try table.matrix(.embedding) }
        positions = d.positions == nil ? nil : try table.matrix(.positions)
        sinusoids = d.sinusoids.map(SinusoidBlock.init)
        types = d.types == nil ? nil : try table.matrix(.tokenTypes).widened()
        if let norm = d.norm { self.norm = try NormBlock(norm, .embeddingNorm, nil, table) } else { norm = nil }
        projection = d.projection == nil ? nil : try table.linear(.embeddingProjection)
        patches = if let patches = d.patches { try PatchBlock(patches, table) } else { nil }
    }

    /// Fills the rows of the residual stream.
    func apply(_ step: Step, _ w: Workspace) {
        if let projection, case .first(_, let neighbours) = description.projection {
            join(step, neighbours, into: w.normed.start)
            w.multiply(w.normed, rows: step.count, columns: projection.columns, [(projection, w.hidden.start)])
            complete(w.hidden, step, width: projection.rows, w)
            return
        }
        let width = tokens.columns
        let factors = factors(step)
        // Projected rows are made beside those of the model.
        let x = projection == nil ? w.hidden : w.normed
        for (index, row) in step.rows.enumerated() {
            let out = x.start + index * width
            switch row.input {
            case .token(let id, _): tokens.widen(row: id, into: out)
            case .patch: continue
            case .encoded(let rows, let place):
                precondition(rows.width == width)
                out.update(from: rows.values.start + place * width, count: width)
                continue
            }
            if factors[index] != 1 { hub_scale(w.team.team, out, factors[index], width) }
        }
        patches?.apply(step, w, into: x)
        complete(x, step, width: width, w)
        if let projection {
            w.multiply(x, rows: step.count, columns: width, [(projection, w.hidden.start)])
        }
    }

    /// Puts tokens in rows: alone, or between those after and before them in the text.
    private func join(_ step: Step, _ neighbours: Bool, into start: UnsafeMutablePointer<Float>) {
        var out = start
        for (index, row) in step.rows.enumerated() {
            for place in neighbours ? [1, 0, -1] : [0] {
                let other = index + place
                if step.rows.indices.contains(other), step.rows[other].cache === row.cache,
                    let id = step.rows[other].input.token
                {
                    tokens.widen(row: id, into: out)
                } else {
                    out.update(repeating: 0, count: tokens.columns)
                }
                out += tokens.columns
            }
        }
    }

    /// Adds positions and types, and normalises.
    private func complete(_ x: FloatBuffer, _ step: Step, width: Int, _ w: Workspace) {
        for (index, row) in step.rows.enumerated() {
            let out = x.start + index * width
            if let positions {
                positions.widen(row: row.position + description.positionOffset, into: w.branch.start)
                hub_add(w.team.team, out, w.branch.start, 1, width)
            }
            if let sinusoids {
                sinusoids.fill(row.position + description.positionOffset, width: width, w.branch.start)
                hub_add(w.team.team, out, w.branch.start, 1, width)
            }
            if let types, let count = description.types, case .token(_, let type) = row.input {
                // A model of one type takes pairs too.
                hub_add(w.team.team, out, types.start + min(type, count - 1) * width, 1, width)
            }
        }
        norm?.apply(x.start, rows: step.count, w.team, into: x.start)
    }

    /// The factor of each row. Those of a text stand together, and where masks count, it is there as a whole.
    private func factors(_ step: Step) -> [Float] {
        var factors = [Float](repeating: description.scale, count: step.count)
        guard let masking = description.masking else { return factors }
        let rows = step.rows
        var start = 0
        while start < rows.count {
            let end = rows[start...].firstIndex { $0.cache !== rows[start].cache } ?? rows.count
            let masks = rows[start..<end].count { $0.input.token == masking.id }
            let factor = masking.kept / (1 - Float(masks) / Float(end - start))
            for row in start..<end { factors[row] *= rows[row].input.token == masking.id ? 0 : factor }
            start = end
        }
        return factors
    }
}
