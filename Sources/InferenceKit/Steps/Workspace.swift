import CKernels

/// The scratch memory of one step. Used by one thread at a time.
final class Workspace {
    let team: ComputeTeam
    /// Whether activations stay float32 and weights are dequantised; otherwise activations are 8-bit where the weights
    /// are quantised.
    let isExact: Bool
    let size: WorkspaceSize
    /// Maximum number of rows in a step.
    var rows: Int { size.rows }

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
    /// What layers add to the rows that queries and keys are made of, and these rows; empty elsewhere.
    let places: FloatBuffer
    let placed: FloatBuffer
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
    /// Of what places of squares add to scores; empty elsewhere.
    let squareLists: FloatBuffer
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
    var logitRows: Int { size.logitRows }

    /// - Parameter isShared: whether others may come while a prompt is computed.
    convenience init(_ d: ModelDescription, team: ComputeTeam, isExact: Bool, isShared: Bool = false) {
        let most = isShared ? WorkspaceSize.sharedRows(threads: team.threads) : WorkspaceSize.usualRows
        self.init(WorkspaceSize(d, causalRows: most), team: team, isExact: isExact)
    }

    private init(_ size: WorkspaceSize, team: ComputeTeam, isExact: Bool) {
        (self.team, self.isExact, self.size) = (team, isExact, size)
        let (rows, row) = (size.rows, size.row)
        encoder = size.encoders.first.map { Workspace($0, team: team, isExact: isExact) }
        hidden = FloatBuffer(rows * row.width)
        normed = FloatBuffer(rows * row.beside)
        branch = FloatBuffer(rows * row.beside)
        queries = FloatBuffer(rows * row.query)
        keys = FloatBuffer(rows * row.key)
        values = FloatBuffer(rows * row.key)
        attended = FloatBuffer(rows * row.query)
        gate = FloatBuffer(rows * row.gate)
        up = FloatBuffer(rows * row.inner)
        (places, placed) = (FloatBuffer(rows * row.places), FloatBuffer(rows * row.places))
        (narrow, asked) = (FloatBuffer(rows * row.narrow), FloatBuffer(rows * row.narrow))
        (layerInputs, layerRow) = (FloatBuffer(rows * row.layerInputs), FloatBuffer(row.layerInputs))
        (streams, predicted) = (FloatBuffer(rows * row.streams), FloatBuffer(rows * row.streams))
        angles = row.rotated.map { (FloatBuffer(rows * $0 / 2), FloatBuffer(rows * $0 / 2)) }
        distances = size.distances.map(DistanceSpace.init)
        squareLists = FloatBuffer(size.squareLists)
        experts = size.experts.map(ExpertSpace.init)
        latent = row.latent.map { LatentSpace($0, rows: rows) }
        recurrence = row.recurrence.map { RecurrentSpace($0, rows: rows) }
        packed = .allocate(byteCount: size.packedBytes, alignment: 64)
        logits = FloatBuffer(size.logitRows * size.outputs)
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
        (input.stride, input.rows, input.columns) = (stride, rows, columns)
        (input.exact, input.packed) = (isExact || self.isExact, packed)
        team.multiply(&input, products)
    }
}

extension ComputeTeam {
    /// Multiplies rows with several matrices at once: `out[row][output] = values[row] · matrix[output] + bias[output]`.
    func multiply(_ input: inout hub_input, _ products: [(linear: Linear, out: UnsafeMutablePointer<Float>)]) {
        let columns = input.columns
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
                hub_multiply(team, &input, list.baseAddress, count)
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
