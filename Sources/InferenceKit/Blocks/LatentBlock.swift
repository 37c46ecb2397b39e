import CKernels
import HubCore

/// Latent attention: what is cached is one narrow vector for all heads.
struct LatentBlock: Sendable {
    private let description: ModelDescription.Attention
    private let latent: ModelDescription.Latent
    /// Narrow vectors that queries are made of; nil where they are made of the rows.
    private let narrowing: (linear: Linear, norm: NormBlock)?
    private let query: Linear
    /// The latent, and the numbers after it that rotate.
    private let down: Linear
    private let norm: NormBlock
    // Of each head.
    /// From queries to what is multiplied with latents, `rank` by `plain`.
    private let keys: [WeightMatrix]
    /// From latents to values, `valueSize` by `rank`.
    private let values: [WeightMatrix]
    private let output: Linear
    private let rotary: (block: RotaryBlock, kind: Int)

    init(
        _ d: ModelDescription.Attention, _ latent: ModelDescription.Latent, rotary: (RotaryBlock, Int),
        _ layer: Int,
        _ table: TensorTable
    ) throws(AIError) {
        (description, self.latent, self.rotary) = (d, latent, rotary)
        if latent.queryRank != nil {
            narrowing = (
                try table.linear(.queryDown, layer), try NormBlock(latent.norm, .queryDownNorm, layer, table)
            )
            query = try table.linear(.queryUp, layer)
        } else {
            (narrowing, query) = (nil, try table.linear(.query, layer))
        }
        down = try table.linear(.latent, layer)
        self.norm = try NormBlock(latent.norm, .latentNorm, layer, table)
        if latent.isSplit {
            keys = try table.stack(.latentKeys, layer)
            values = try table.stack(.latentValues, layer)
        } else {
            let both = try table.matrix(.latentUp, layer).split(d.heads, [latent.plain, latent.valueSize])
            (keys, values) = (both[0].map { $0.turned() }, both[1])
        }
        output = try table.linear(.attentionOutput, layer)
    }

    /// - Parameters:
    ///   - x: `[rows][width]`, normalised.
    ///   - layer: the layer of the caches.
    ///   - out: `[rows][width]`.
    func apply(_ x: FloatBuffer, _ step: Step, layer: Int, _ w: Workspace, into out: FloatBuffer) {
        guard let space = w.latent else { preconditionFailure("the workspace is another model's") }
        let (d, rows) = (description, step.count)
        ask(x, rows, space, w)
        keep(step, layer, w)
        d.attend(step, layer: layer, nil, w) { ($0.cache, 0..<$0.position + 1) }
        let (rank, size) = (latent.rank, latent.valueSize)
        w.multiply(
            columns: rank,
            (0..<d.heads).map { head in
                .init(
                    values: w.attended.start + head * rank, rows: rows, stride: d.heads * rank,
                    products: [
                        .init(
                            matrix: values[head], out: space.results.start + head * size, stride: d.heads * size)
                    ])
            })
        w.multiply(space.results, rows: rows, columns: d.heads * size, [(output, out.start)])
    }

    /// Makes the latents, and queries for them.
    private func ask(_ x: FloatBuffer, _ rows: Int, _ space: LatentSpace, _ w: Workspace) {
        let (d, plain, rotated, rank) = (description, latent.plain, latent.rotated, latent.rank)
        if let narrowing {
            w.multiply(
                x, rows: rows, columns: down.columns,
                [(narrowing.linear, space.asked.start), (down, w.keys.start)])
            narrowing.norm.apply(space.asked.start, rows: rows, w.team, into: space.asked.start)
            w.multiply(space.asked, rows: rows, columns: query.columns, [(query, space.queries.start)])
        } else {
            w.multiply(x, rows: rows, columns: down.columns, [(query, space.queries.start), (down, w.keys.start)])
        }
        w.multiply(
            columns: plain,
            (0..<d.heads).map { head in
                .init(
                    values: space.queries.start + head * latent.headSize, rows: rows,
                    stride: d.heads * latent.headSize,
                    products: [
                        .init(matrix: keys[head], out: w.queries.start + head * d.headSize, stride: d.queryWidth)
                    ])
            })
        for head in 0..<rows * d.heads {
            (w.queries.start + head * d.headSize + rank).update(
                from: space.queries.start + head * latent.headSize + plain, count: rotated)
        }
        rotate(w.queries, rows, heads: d.heads, w)
    }

    private func rotate(_ x: FloatBuffer, _ rows: Int, heads: Int, _ w: Workspace) {
        rotary.block.apply(
            x, at: latent.rank, rows: rows, heads: heads, headSize: description.headSize, w.angles[rotary.kind],
            w.team)
    }

    /// Completes the latents, and puts them into the caches, as keys with the numbers that rotate, as values without.
    private func keep(_ step: Step, _ layer: Int, _ w: Workspace) {
        let width = description.headSize
        norm.apply(w.keys.start, rows: step.count, stride: width, w.team, into: w.keys.start)
        rotate(w.keys, step.count, heads: 1, w)
        for (index, row) in step.rows.enumerated() {
            let latent = w.keys.start + index * width
            row.cache.store(layer, position: row.position, keys: latent, values: latent)
        }
    }
}
