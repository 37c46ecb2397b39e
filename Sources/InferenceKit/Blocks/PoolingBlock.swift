import CKernels
import HubCore
import Libc

/// The rows of a picture to one row: a learned query attends to them (transformers'
/// `SiglipMultiheadAttentionPoolingHead`, timm's `AttentionPoolLatent`).
struct PoolingBlock: Sendable {
    private let description: ModelDescription.AttentionPooling
    private let width: Int
    /// The query of each head, `[width]`, scaled.
    private let query: [Float]
    private let key: Linear
    private let value: Linear
    private let output: Linear
    private let norm: NormBlock
    private let up: Linear
    private let down: Linear

    init(_ d: ModelDescription.AttentionPooling, _ table: TensorTable, _ team: ComputeTeam) throws(AIError) {
        (description, width) = (d, table.width)
        func linear(_ role: TensorRole) throws(AIError) -> Linear {
            Linear(matrix: try table.matrix(role), bias: try table.bias(role))
        }
        key = try linear(.poolingKey)
        value = try linear(.poolingValue)
        output = try linear(.poolingOutput)
        norm = try NormBlock(d.norm, .poolingNorm, nil, table)
        up = try linear(.poolingUp)
        down = try linear(.poolingDown)
        let scale = 1 / Float(width / d.heads).squareRoot()
        query = team.multiply(try table.numbers(.poolingProbe), try linear(.poolingQuery)).array.map { $0 * scale }
    }

    /// - Parameters:
    ///   - rows: normalised, `[count][width]`.
    ///   - out: `[width]`.
    func apply(_ rows: FloatBuffer, count: Int, _ w: Workspace, into out: UnsafeMutablePointer<Float>) {
        let (keys, values) = (FloatBuffer(count * width), FloatBuffer(count * width))
        w.multiply(rows, rows: count, columns: width, [(key, keys.start), (value, values.start)])
        let pooled = FloatBuffer(attended(keys, values, count))
        let result = FloatBuffer(width)
        w.multiply(pooled, rows: 1, columns: width, [(output, result.start)])
        let (normed, inner, added) = (FloatBuffer(width), FloatBuffer(up.rows), FloatBuffer(width))
        normed.start.update(from: result.start, count: width)
        norm.apply(normed.start, rows: 1, w.team, into: normed.start)
        w.multiply(normed, rows: 1, columns: width, [(up, inner.start)])
        hub_activate(
            w.team.team, description.activation.kernel, inner.start, nil, up.rows, 1, up.rows, inner.start)
        w.multiply(inner, rows: 1, columns: up.rows, [(down, added.start)])
        hub_add(w.team.team, result.start, added.start, 1, width)
        out.update(from: result.start, count: width)
    }

    /// Values by the softmax of their keys' products with the query, head by head. One query is little work.
    private func attended(_ keys: FloatBuffer, _ values: FloatBuffer, _ count: Int) -> [Float] {
        let size = width / description.heads
        var result = [Float](repeating: 0, count: width)
        for head in 0..<description.heads {
            let start = head * size
            var scores = (0..<count).map { row in
                (0..<size).reduce(Float(0)) { $0 + query[start + $1] * keys.start[row * width + start + $1] }
            }
            let largest = scores.max() ?? 0
            for row in 0..<count { scores[row] = expf(scores[row] - largest) }
            let sum = scores.reduce(0, +)
            for row in 0..<count {
                let share = scores[row] / sum
                for place in start..<start + size { result[place] += share * values.start[row * width + place] }
            }
        }
        return result
    }
}
