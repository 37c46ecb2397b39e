import CKernels

/// The scratch memory of one step. Used by one thread at a time.
final class Workspace {
    let team: ComputeTeam
    /// Whether activations stay float32 and weights are dequantised; otherwise activations are 8-bit where the weights
    /// are quantised.
    let isExact: Bool
    /// Maximum number of rows in a step.
    let rows: Int

    // [rows][...]
    let hidden: FloatBuffer
    let normed: FloatBuffer
    let branch: FloatBuffer
    let queries: FloatBuffer
    let keys: FloatBuffer
    let values: FloatBuffer
    let attended: FloatBuffer
    let gate: FloatBuffer
    let up: FloatBuffer
    /// What the narrow halves of layers add to, and what their queries and keys are made of; empty elsewhere.
    let narrow: FloatBuffer
    let asked: FloatBuffer
    /// The tokens' rows for each layer, `[layers][rows][width]`, and those of one token; empty elsewhere.
    let layerInputs: FloatBuffer
    let layerRow: FloatBuffer
    /// Residual streams as they are, and as a layer predicts them, `[streams][rows][width]`; empty where there is one.
    let streams: FloatBuffer
    let predicted: FloatBuffer
    /// Cosines and sines of each kind of rotary embedding.
    let angles: [(cosines: FloatBuffer, sines: FloatBuffer)]
    /// Where vectors of distances count; nil elsewhere.
    let distances: DistanceSpace?
    /// Where there are experts; nil elsewhere.
    let experts: ExpertSpace?
    /// Where attention is latent; nil elsewhere.
    let latent: LatentSpace?
    /// Of the model that reads what this one answers; nil for a decoder alone.
    let encoder: Workspace?
    /// Where layers are recurrent; nil elsewhere.
    let recurrence: RecurrentSpace?
    let packed: UnsafeMutableRawPointer
    private let logits: FloatBuffer
    /// Rows of logits computed at once.
    let logitRows: Int

    /// A prompt is computed in pieces of this many rows: enough to reuse each weight, little enough memory.
    static let usualRows = 256
    /// The same where others may come meanwhile, who wait for one piece: of fewer rows where few threads compute them.
    static func sharedRows(threads: Int) -> Int { min(usualRows, max(96, 32 * threads)) }
    private static let most = 48 << 20

    /// - Parameter isShared: whether others may come while a prompt is computed.
    init(_ d: ModelDescription, team: ComputeTeam, isExact: Bool, isShared: Bool = false) {
        self.team = team
        self.isExact = isExact
        let (inner, queryWidth, keyWidth) = (d.innerWidth, d.queryWidth, d.keyWidth)
        encoder = d.encoder.map { Workspace($0, team: team, isExact: isExact) }
        let gated = d.layers.compactMap(\.attention).filter(\.hasOutputGate).map(\.queryWidth).max() ?? 0
        let result = d.layers.compactMap(\.recurrence?.resultWidth).max() ?? 0
        let rotaries = d.rotaries
        // A sentence goes through an encoder at once.
        let fitting = max(32, Self.most / (4 * max(1, d.rowWidth)))
        let causal = isShared ? Self.sharedRows(threads: team.threads) : Self.usualRows
        rows = d.isCausal ? min(causal, fitting) : max(Self.usualRows, d.maxPositions)
        hidden = FloatBuffer(rows * d.width)
        // They also hold rows of the embedding and of the head, which may be of other widths.
        let beside = max(d.width, d.head?.dense?.width ?? 0, 3 * (d.embedding.width ?? 0))
        normed = FloatBuffer(rows * beside)
        branch = FloatBuffer(rows * beside)
        queries = FloatBuffer(rows * queryWidth)
        keys = FloatBuffer(rows * keyWidth)
        values = FloatBuffer(rows * keyWidth)
        attended = FloatBuffer(rows * queryWidth)
        gate = FloatBuffer(rows * max(inner, gated))
        up = FloatBuffer(rows * inner)
        let bottleneck = rows * (d.layers.compactMap(\.bottleneck?.width).max() ?? 0)
        (narrow, asked) = (FloatBuffer(bottleneck), FloatBuffer(bottleneck))
        (layerInputs, layerRow) = (FloatBuffer(rows * d.layerInputWidth), FloatBuffer(d.layerInputWidth))
        let all = rows * d.width * (d.streams?.count ?? 0)
        (streams, predicted) = (FloatBuffer(all), FloatBuffer(all))
        let count = rows
        angles = rotaries.map { (FloatBuffer(count * $0.rotated / 2), FloatBuffer(count * $0.rotated / 2)) }
        distances = d.distances?.vectors == nil ? nil : DistanceSpace(d, queryWidth: queryWidth)
        experts = ExpertSpace(d, rows: rows)
        let patched = d.embedding.patches.map { max($0.count, $0.width) } ?? 0
        // Cross attention reads rows as wide as the encoder's.
        let widest = max(beside, queryWidth, inner, result, patched, d.encoder?.width ?? 0)
        latent = LatentSpace(d, rows: rows)
        let packedBytes = max(
            hub_packed_bytes(rows, widest), experts?.packedBytes ?? 0, latent?.packedBytes ?? 0)
        recurrence = d.stateSize == 0 ? nil : RecurrentSpace(d, rows: rows)
        packed = .allocate(byteCount: packedBytes, alignment: 64)
        let most = d.head?.outputs == .vocabulary ? 16 : rows
        logitRows = d.head == nil ? 0 : max(1, min(most, (2 << 20) / max(1, d.outputs)))
        logits = FloatBuffer(logitRows * d.outputs)
    }

    deinit { packed.deallocate() }

    var logitsStart: UnsafeMutablePointer<Float> { logits.start }

    /// Multiplies rows with several matrices at once: `out[row][output] = values[row] · matrix[output] + bias[output]`.
    ///
    /// - Parameters:
    ///   - first: the place of the first row,
    ///   - place: and where in each row it begins.
    ///   - stride: numbers from one row to the next; nil for as many as they have.
    ///   - isExact: whether it is so in either mode.
    func multiply(
        _ values: FloatBuffer, from first: Int = 0, at place: Int = 0, rows: Int, columns: Int, stride: Int? = nil,
        isExact: Bool = false, _ products: [(linear: Linear, out: UnsafeMutablePointer<Float>)]
    ) {
        var input = hub_input()
        let stride = stride ?? columns
        input.values = UnsafePointer(values.start + first * stride + place)
        input.stride = stride
        input.rows = rows
        input.columns = columns
        input.exact = isExact || self.isExact
        input.packed = packed
        let count = products.reduce(0) { $0 + $1.linear.parts.count }
        withUnsafeTemporaryAllocation(of: hub_matrix.self, capacity: count) { matrices in
            withUnsafeTemporaryAllocation(of: hub_product.self, capacity: count) { list in
                var index = 0
                for (linear, out) in products {
                    precondition(linear.columns == columns)
                    var start = 0
                    for part in linear.parts {
                        matrices.initializeElement(at: index, to: part.layout)
                        list.initializeElement(
                            at: index,
                            to: hub_product(
                                matrix: matrices.baseAddress! + index,
                                bias: linear.bias.map { UnsafePointer($0.start + start) }, out: out + start,
                                stride: linear.rows))
                        start += part.rows
                        index += 1
                    }
                }
                hub_multiply(team.team, &input, list.baseAddress, count)
            }
        }
    }
}

/// A matrix and its bias.
struct Linear: Sendable {
    /// One above the other: several where the file has other rows between them.
    let parts: [WeightMatrix]
    let bias: FloatBuffer?
    let rows: Int

    init(_ parts: [WeightMatrix], bias: FloatBuffer?) {
        (self.parts, self.bias) = (parts, bias)
        rows = parts.reduce(0) { $0 + $1.rows }
    }

    init(matrix: WeightMatrix, bias: FloatBuffer?) { self.init([matrix], bias: bias) }

    var columns: Int { parts[0].columns }
}

extension ModelDescription {
    /// The kinds of rotary embeddings, each once.
    var rotaries: [Rotary] {
        var found: [Rotary] = []
        for case let rotary? in layers.map(\.attention?.rotary) where !found.contains(rotary) {
            found.append(rotary)
        }
        return found
    }
}
