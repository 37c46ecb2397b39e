import CKernels
import ModelFormats

/// How large the scratch memory of a step is. ``Workspace`` allocates what is told here, and an estimate counts it.
struct WorkspaceSize: Sendable, Hashable {
    /// What a row has in each buffer.
    let row: RowWidths
    /// Maximum number of rows in a step.
    let rows: Int
    /// Where there are experts; nil elsewhere.
    let experts: ExpertSpace.Size?
    /// Where vectors of distances count; nil elsewhere.
    let distances: DistanceSpace.Size?
    /// Numbers of the lists of what places of squares add to scores; 0 elsewhere.
    let squareLists: Int
    let packedBytes: Int
    /// Rows of logits computed at once,
    let logitRows: Int
    /// and numbers in each.
    let outputs: Int
    /// Of the model that reads what this one answers: one, or none for a decoder alone.
    let encoders: [WorkspaceSize]

    /// A prompt is computed in pieces of this many rows: enough to reuse each weight, little enough memory.
    static let usualRows = 256
    /// The same where others may come meanwhile, who wait for one piece: of fewer rows where few threads compute them.
    static func sharedRows(threads: Int) -> Int { min(usualRows, max(96, 32 * threads)) }
    /// Bytes of the rows of a decoder.
    private static let most = 48 << 20

    /// - Parameters:
    ///   - causalRows: the most rows of a decoder.
    ///   - limit: rows that are ever computed at once, where they are fewer; nil for no limit.
    init(_ d: ModelDescription, causalRows: Int = usualRows, limit: Int? = nil) {
        row = RowWidths(d)
        encoders = d.encoders.map { WorkspaceSize($0, limit: limit) }
        // A sentence goes through an encoder at once.
        let fitting = max(32, Self.most / (4 * max(1, row.numbers)))
        let all = d.isCausal ? min(causalRows, fitting) : max(Self.usualRows, d.maxPositions)
        rows = min(all, limit ?? all)
        experts = ExpertSpace.Size(d, rows: rows)
        distances = DistanceSpace.Size(d, queryWidth: row.query)
        let heads = d.pixels?.distances == nil ? nil : d.layers.first?.attention?.heads
        squareLists = heads.map { [rows] in DistanceSpace.squares(heads: $0, rows: rows) } ?? 0
        let patched = d.embedding.patches.map { max($0.count, $0.width) } ?? d.pixels?.count ?? 0
        // Cross attention reads rows as wide as the encoder's.
        let widest = max(
            row.beside, row.query, row.inner, row.recurrence?.result ?? 0, patched, d.encoder?.width ?? 0,
            d.head?.attention?.inner ?? 0)
        packedBytes = max(
            hub_packed_bytes(rows, widest), experts?.packedBytes ?? 0, row.latent?.packedBytes(rows: rows) ?? 0)
        outputs = d.outputs
        let most = d.head?.outputs == .vocabulary ? 16 : rows
        logitRows = d.head == nil ? 0 : max(1, min(most, (2 << 20) / max(1, d.outputs)))
    }

    /// Bytes of all buffers; at most `Int64.max`.
    var bytes: Int64 {
        var numbers = Int64(rows).multipliedClamped(by: Int64(row.numbers))
        // Those of one token for each layer.
        numbers = numbers.addedClamped(Int64(row.layerInputs))
        numbers = numbers.addedClamped(Int64(logitRows).multipliedClamped(by: Int64(outputs)))
        numbers = numbers.addedClamped(Int64(squareLists))
        numbers = numbers.addedClamped(experts?.numbers ?? 0).addedClamped(distances?.numbers ?? 0)
        return encoders.reduce(numbers.multipliedClamped(by: 4).addedClamped(Int64(packedBytes))) {
            $0.addedClamped($1.bytes)
        }
    }
}

/// Numbers of a row in the buffers of a workspace.
struct RowWidths: Sendable, Hashable {
    /// Of the residual stream,
    let width: Int
    /// and of what also holds rows of the embedding and of the head, which may be of other widths.
    let beside: Int
    /// Of all heads of queries,
    let query: Int
    /// and of keys.
    let key: Int
    /// Of feed-forward blocks,
    let inner: Int
    /// and of their gates, in whose place are those of attention.
    let gate: Int
    /// Of what layers add to queries and keys; 0 elsewhere.
    let places: Int
    /// Of the narrow halves of layers; 0 elsewhere.
    let narrow: Int
    /// Of the tokens' rows for all layers; 0 elsewhere.
    let layerInputs: Int
    /// Of all residual streams; 0 where there is one.
    let streams: Int
    /// That rotate, of each kind of rotary embedding: half of them cosines, half sines.
    let rotated: [Int]
    /// Where layers are recurrent; nil elsewhere.
    let recurrence: RecurrentSpace.Size?
    /// Where attention is latent; nil elsewhere.
    let latent: LatentSpace.Size?

    init(_ d: ModelDescription) {
        let attentions = d.layers.flatMap {
            [$0.attention, $0.crossAttention, $0.groupAttention].compactMap { $0 }
        }
        width = d.width
        beside = max(
            d.head?.inputWidth(d.width) ?? d.width, d.head?.dense?.width ?? 0, 3 * (d.embedding.width ?? 0))
        query = attentions.map(\.queryWidth).max() ?? 0
        key = attentions.map(\.keyWidth).max() ?? 0
        inner = d.layers.reduce(d.layerInputs?.width ?? 0) {
            max($0, $1.feedForward?.width ?? 0, $1.experts?.shared?.width ?? 0, $1.detourRank ?? 0)
        }
        gate = max(inner, d.layers.compactMap(\.attention).filter(\.hasOutputGate).map(\.queryWidth).max() ?? 0)
        places = d.placing == nil ? 0 : d.width
        narrow = d.layers.compactMap(\.bottleneck?.width).max() ?? 0
        layerInputs = d.layerInputWidth
        streams = d.width * (d.streams?.count ?? 0)
        rotated = d.rotaries.map(\.rotated)
        recurrence = RecurrentSpace.Size(d)
        latent = LatentSpace.Size(d)
    }

    /// Those of all buffers with rows, but for experts.
    var numbers: Int {
        let plain = width + 2 * beside + 2 * query + 2 * key + inner + gate + 2 * (places + narrow)
        return plain + layerInputs + 2 * streams + rotated.reduce(0, +) + (recurrence?.numbers ?? 0)
            + (latent?.numbers ?? 0)
    }
}
