import CKernels
import HubCore

/// A decoder's attention to the rows of an encoder (https://arxiv.org/abs/1706.03762, "encoder-decoder attention").
struct CrossAttentionBlock: Sendable {
    private let description: ModelDescription.Attention
    private let query: Linear
    private let key: Linear
    private let value: Linear
    private let output: Linear

    init(_ d: ModelDescription.Attention, _ layer: Int, _ table: TensorTable) throws(AIError) {
        description = d
        query = try table.linear(.crossQuery, layer)
        key = try table.linear(.crossKey, layer)
        value = try table.linear(.crossValue, layer)
        output = try table.linear(.crossOutput, layer)
    }

    /// Keeps the keys and values of a text's rows, of which there are as many as positions.
    ///
    /// - Parameters:
    ///   - x: `[rows][width]` of the encoder, after its last norm.
    ///   - placed: what keys are made of, where that is something else.
    ///   - rows: at most as many as the workspace has.
    ///   - layer: the layer of the cache.
    func keep(
        _ x: FloatBuffer, placed: FloatBuffer?, rows: Range<Int>, layer: Int, in cache: KeyValueCache,
        _ w: Workspace
    ) {
        func multiply(_ x: FloatBuffer, _ products: [(linear: Linear, out: UnsafeMutablePointer<Float>)]) {
            w.multiply(x, from: rows.lowerBound, rows: rows.count, columns: key.columns, products)
        }
        if let placed {
            multiply(placed, [(key, w.keys.start)])
            multiply(x, [(value, w.values.start)])
        } else {
            multiply(x, [(key, w.keys.start), (value, w.values.start)])
        }
        for (index, position) in rows.enumerated() {
            cache.store(
                layer, position: position, keys: w.keys.start + index * description.keyWidth,
                values: w.values.start + index * description.keyWidth)
        }
    }

    /// - Parameters:
    ///   - x: `[rows][width]`, normalised.
    ///   - layer: the layer of the caches of what was read.
    ///   - out: `[rows][width]`.
    func apply(_ x: FloatBuffer, _ step: Step, layer: Int, _ w: Workspace, into out: FloatBuffer) {
        w.multiply(x, rows: step.count, columns: query.columns, [(query, w.queries.start)])
        description.attend(step, layer: layer, nil, w) { row in
            guard let read = row.cache.source?.kept else { preconditionFailure("the text was not read") }
            return (read, 0..<read.count)
        }
        w.multiply(w.attended, rows: step.count, columns: description.queryWidth, [(output, out.start)])
    }
}
