import CKernels
import HubCore

/// One number per token of the vocabulary, before softmax; positions are concatenated.
typealias Logits = UnsafeBufferPointer<Float>

/// The forward pass of a described decoder: token ids in, logits out. Activations are float32 throughout.
final class Decoder: Sendable {
    let description: DecoderDescription
    let team: ComputeTeam
    private let weights: DecoderWeights
    private let rotary: RotaryTable

    /// Maximum number of positions per pass: enough to reuse each weight, little enough memory.
    static let batch = 256

    init(_ description: DecoderDescription, _ weights: DecoderWeights, _ team: ComputeTeam) {
        self.description = description
        self.weights = weights
        self.team = team
        rotary = RotaryTable(
            headSize: description.headSize, theta: description.ropeTheta, scaling: description.ropeScaling)
    }

    /// The positions for which a pass computes logits.
    enum Scope { case none, last, all }

    /// Runs ids after those that the sequence already holds, at most ``batch`` of them.
    ///
    /// - Returns: The logits, `[positions][vocabulary]`, in the sequence's own buffer; valid until the next pass.
    func run(_ ids: ArraySlice<Int>, _ sequence: DecoderSequence, logits scope: Scope) -> Logits {
        let d = description
        let batch = ids.count
        precondition(batch > 0 && batch <= sequence.batch && sequence.position + batch <= sequence.capacity)
        precondition(ids.allSatisfy { (0..<d.vocabulary).contains($0) })
        let s = sequence
        for (row, id) in ids.enumerated() {
            weights.embedding.widen(row: id, into: s.hidden.start + row * d.hiddenSize)
        }
        rotary.fill(positions: s.position..<s.position + batch, cosines: s.cosines.start, sines: s.sines.start)

        for (index, layer) in weights.layers.enumerated() {
            norm(s.hidden, layer.attentionNorm, batch, into: s.normed)
            attend(layer, index, batch, s)
            team.multiply(layer.output, s.attended, batch: batch, into: s.delta)
            hub_add(s.hidden.start, s.delta.start, batch * d.hiddenSize)

            norm(s.hidden, layer.feedForwardNorm, batch, into: s.normed)
            team.multiply(layer.gate, s.normed, batch: batch, into: s.gate)
            team.multiply(layer.up, s.normed, batch: batch, into: s.up)
            hub_silu_multiply(s.gate.start, s.up.start, batch * d.intermediateSize)
            team.multiply(layer.down, s.gate, batch: batch, into: s.delta)
            hub_add(s.hidden.start, s.delta.start, batch * d.hiddenSize)
        }
        s.position += batch
        return logits(batch, s, scope)
    }

    private func norm(_ x: FloatBuffer, _ weight: [Float], _ batch: Int, into out: FloatBuffer) {
        hub_rms_norm(x.start, weight, description.hiddenSize, batch, description.normEpsilon, out.start)
    }

    private func attend(_ layer: DecoderWeights.Layer, _ index: Int, _ batch: Int, _ s: DecoderSequence) {
        let d = description
        team.multiply(layer.query, s.normed, batch: batch, into: s.queries)
        team.multiply(layer.key, s.normed, batch: batch, into: s.keys)
        team.multiply(layer.value, s.normed, batch: batch, into: s.values)
        hub_rope_half(s.queries.start, batch, d.heads, d.headSize, s.cosines.start, s.sines.start)
        hub_rope_half(s.keys.start, batch, d.kvHeads, d.headSize, s.cosines.start, s.sines.start)
        s.remember(layer: index, batch: batch)
        var arguments = hub_attention_args(
            queries: s.queries.start, keys: s.cachedKeys(index), values: s.cachedValues(index),
            out: s.attended.start,
            scratch: s.scores.start, batch: batch, heads: d.heads, kv_heads: d.kvHeads, head_size: d.headSize,
            capacity: s.capacity, start: s.position, scale: 1 / Float(d.headSize).squareRoot())
        hub_attention(team.pool, team.kernels, &arguments)
    }

    /// The head is the largest matrix of a small model, so only the requested positions go through it.
    private func logits(_ batch: Int, _ s: DecoderSequence, _ scope: Scope) -> Logits {
        let d = description
        let rows =
            switch scope {
            case .none: 0
            case .last: 1
            case .all: batch
            }
        guard rows > 0 else { return UnsafeBufferPointer(start: nil, count: 0) }
        let out = s.logits(rows: rows)
        let from = s.hidden.start + (batch - rows) * d.hiddenSize
        hub_rms_norm(from, weights.finalNorm, d.hiddenSize, rows, d.normEpsilon, s.normed.start)
        team.multiply(weights.head, s.normed, batch: rows, into: out)
        return UnsafeBufferPointer(start: out.start, count: rows * d.vocabulary)
    }
}
