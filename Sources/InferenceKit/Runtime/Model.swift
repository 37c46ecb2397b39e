import HubCore
import ModelFormats

/// A model that computes: its description and its weights, mapped from their files. Immutable; sessions share it.
final class Model: Sendable {
    let description: ModelDescription
    /// The names of stored tensors that are not part of the model.
    let beside: [String]
    /// Bytes of the tensors that it was made of.
    let weightsBytes: Int64
    private let embedding: EmbeddingBlock?
    /// In its place, where the model sees.
    let pictures: PictureEmbeddingBlock?
    private let inputs: LayerInputsBlock?
    private let streams: StreamsBlock?
    private let layers: [LayerBlock]
    private let finalNorm: NormBlock?
    private let head: HeadBlock?
    private let pooling: PoolingBlock?
    /// How vectors of texts and pictures are compared; nil for a model of one side.
    let similarity: SimilarityBlock?
    /// nil for a model that finds no objects.
    let detection: DetectionBlock?
    private let layerPositions: LayerPositionsBlock?
    private let rotaries: [RotaryBlock]
    /// The layer of the caches that each layer reads.
    private let caches: [Int]
    /// Reads the texts that this one answers; nil for a decoder alone.
    private let encoder: Model?
    /// Where each layer's state begins among those of a text.
    private let stateStarts: [Int]
    /// The mapped files of the weights.
    private let files: [MappedFile]

    /// Finds every tensor of the description.
    ///
    /// - Parameter isTower: whether it is the one of two sides that reads pictures.
    /// - Throws: ``ErrorCode/malformedModel`` for a tensor that is missing or has another shape,
    ///   ``ErrorCode/unsupportedModel`` for one that the description does not have.
    convenience init(
        _ d: ModelDescription, _ names: TensorNames, _ source: TensorSource, _ team: ComputeTeam,
        isTower: Bool = false
    ) throws(AIError) {
        let table = TensorTable(d, names, source)
        let similarity = try d.similarity.map { similarity throws(AIError) in
            try SimilarityBlock(similarity, table)
        }
        if isTower, let tower = d.tower {
            try self.init(tower, table.tower(tower), tokens: nil, team, similarity, isWhole: true)
        } else {
            try self.init(d, table, tokens: nil, team, similarity, isWhole: true)
        }
        // Some weights were copied.
        try files.checkIntact()
    }

    /// - Parameters:
    ///   - tokens: the table of tokens, where another model has it.
    ///   - isWhole: whether the files have nothing else.
    private init(
        _ d: ModelDescription, _ table: TensorTable, tokens: WeightMatrix?, _ team: ComputeTeam,
        _ similarity: SimilarityBlock? = nil, isWhole: Bool = false
    ) throws(AIError) {
        (description, self.similarity) = (d, similarity)
        files = table.source.files
        if let pixels = d.pixels {
            (pictures, embedding) = (try PictureEmbeddingBlock(pixels, norm: d.embedding.norm, table), nil)
        } else {
            (pictures, embedding) = (nil, try EmbeddingBlock(d.embedding, tokens: tokens, table))
        }
        if let read = d.encoder {
            let tokens = read.embedding.isOwn ? nil : embedding?.tokens
            encoder = try Model(read, table.encoder(read), tokens: tokens, team)
        } else {
            encoder = nil
        }
        streams = if let streams = d.streams { try StreamsBlock(streams, table) } else { nil }
        inputs = if let inputs = d.layerInputs { try LayerInputsBlock(inputs, d, table) } else { nil }
        caches = d.caches
        stateStarts = d.stateStarts
        var rotaries: [RotaryBlock] = []
        for rotary in d.rotaries { rotaries.append(try RotaryBlock(rotary, table)) }
        self.rotaries = rotaries
        let distances: DistanceBlock? =
            if let distances = d.distances { try DistanceBlock(distances, d, table, team) } else { nil }
        var layers: [LayerBlock] = []
        for (index, layer) in d.layers.enumerated() {
            let place = d.places?[index] ?? index
            // The layers of a group are one.
            if let first = d.places?.firstIndex(of: place), first < index {
                layers.append(layers[first])
                continue
            }
            let kind = layer.attention?.rotary.flatMap { d.rotaries.firstIndex(of: $0) }
            layers.append(
                try LayerBlock(
                    layer, of: d, rotary: kind.map { (rotaries[$0], $0) }, distances: distances, place, table))
        }
        self.layers = layers
        if let norm = d.finalNorm {
            finalNorm = try NormBlock(norm, .finalNorm, nil, table)
        } else {
            finalNorm = nil
        }
        if let head = d.head {
            self.head = try HeadBlock(head, embedding: embedding?.tokens, table)
        } else {
            head = nil
        }
        detection = try d.detection.map { detection throws(AIError) in try DetectionBlock(detection, table) }
        layerPositions = if let pixels = d.pixels { try LayerPositionsBlock(pixels, table) } else { nil }
        pooling = try d.head?.attention.map { pooling throws(AIError) in try PoolingBlock(pooling, table, team) }
        weightsBytes = table.source.readBytes
        // Checked last: a missing tensor says more about a wrong description than a tensor that is left over.
        beside = isWhole ? try table.tensorsBeside() : []
    }

    /// The table of tokens' rows; nil of a model without texts.
    var embeddingTable: WeightMatrix? { embedding?.tokens }

    /// What the places of a picture's squares change; nil of a model without pictures.
    ///
    /// - Parameters:
    ///   - rows: squares from top to bottom,
    ///   - columns: and from left to right.
    func places(rows: Int, columns: Int) -> PicturePlaces? {
        guard let pixels = description.pixels, let pictures else {
            return encoder?.places(rows: rows, columns: columns)
        }
        return PicturePlaces(
            first: pixels.firstCount, rows: rows, columns: columns,
            positions: pictures.positions(rows: rows, columns: columns),
            angles: rotaries.first?.angles(rows: rows, columns: columns),
            distances: pixels.distances?.indices(first: pixels.firstCount, rows: rows, columns: columns) ?? [],
            sines: description.placing == .squares
                ? SquareSines.table(rows: rows, columns: columns, width: description.width) : nil)
    }

    /// Whether the positions of a text of one length are computed as in one of another.
    func isSame(length: Int, _ other: Int) -> Bool { rotaries.allSatisfy { $0.isSame(length, other) } }

    /// Whether positions that follow may be rotated otherwise than those before: so the base of dynamic scaling grows.
    /// Otherwise a text that becomes longer than the original positions is computed anew.
    var growsInPlace: Bool { rotaries.allSatisfy(\.growsInPlace) }

    /// Computes a step of at most the workspace's number of rows.
    ///
    /// - Parameters:
    ///   - logits: gets the index of each row that wants logits, in order, and them; they are valid only there.
    ///   - tap: gets the number of layers that the rows in the workspace have gone through, from 0 on.
    /// - Throws: ``ErrorCode/fileChanged`` if weights could not be read. Logits computed from them were not given.
    func run(
        _ step: Step, _ w: Workspace, logits: (Int, Logits) -> Void = { _, _ in }, tap: (Int) -> Void = { _ in }
    ) throws(AIError) {
        precondition(!step.isEmpty && step.count <= w.rows)
        precondition(step.rows.allSatisfy { $0.input.token.map((0..<description.vocabulary).contains) ?? true })
        for (index, row) in step.rows.enumerated() {
            // The last of a sequence's rows makes room for all.
            guard index + 1 == step.count || step.rows[index + 1].cache !== row.cache else { continue }
            if let source = row.cache.source, source.kept == nil { try read(source, row.cache, w) }
            row.cache.prepare(upTo: max(row.position + 1, description.isCausal ? 0 : row.length))
        }
        for (rotary, angles) in zip(rotaries, w.angles) {
            rotary.fill(step.rows, cosines: angles.cosines.start, sines: angles.sines.start)
        }
        w.recurrence?.begin(step)
        embedding?.apply(step, w)
        pictures?.apply(step, w)
        if let placing = description.placing { w.fillPlaces(placing, step, width: description.width) }
        inputs?.apply(step, w.hidden, w)
        streams?.enter(rows: step.count, w)
        tap(0)
        for (number, layer) in layers.enumerated() {
            layer.apply(
                step, number: number, layer: caches[number], state: stateStarts[number], width: description.width,
                w)
            if number + 1 < layers.count { layerPositions?.apply(step, behind: number, w) }
            tap(number + 1)
        }
        streams?.leave(rows: step.count, w)
        for row in step.rows where description.isCausal { row.cache.advance(to: row.position + 1) }
        try files.checkIntact()
        try computeLogits(step, w, logits)
    }

    /// Reads a text, at most as long as the encoder's workspace has rows, in a step of its own.
    private func read(_ source: SourceText, _ cache: KeyValueCache, _ w: Workspace) throws(AIError) {
        guard let encoder, let inner = w.encoder else { preconditionFailure("there is no encoder") }
        let count = source.rows.count
        let own = KeyValueCache(encoder.description.cacheShapes, format: cache.format, capacity: count)
        try encoder.run(
            Step(
                source.rows.enumerated().map {
                    StepRow(
                        cache: own, position: $0.offset, input: $0.element, picture: source.picture, length: count)
                }), inner)
        let rows = encoder.lastRows(count, inner)
        let placed = encoder.description.placing.map { _ in inner.place(rows, rows: count) }
        let kept = KeyValueCache(description.crossShapes, format: cache.format, capacity: count)
        kept.prepare(upTo: count)
        for (number, layer) in layers.enumerated() {
            for start in stride(from: 0, to: count, by: w.rows) {
                layer.keep(
                    rows, placed: placed, rows: start..<min(count, start + w.rows), layer: number, in: kept, w)
            }
        }
        kept.advance(to: count)
        // A text that was read wrong is not kept.
        try files.checkIntact()
        source.kept = kept
    }

    /// The head is the largest matrix of a small model, so only the rows that want logits go through it.
    private func computeLogits(_ step: Step, _ w: Workspace, _ give: (Int, Logits) -> Void) throws(AIError) {
        let wanted = step.rows.indices.filter { step.rows[$0].wantsLogits }
        guard let head, !wanted.isEmpty else { return }
        let (width, outputs) = (description.width, description.outputs)
        var rest = wanted[...]
        while !rest.isEmpty {
            let piece = rest.prefix(w.logitRows)
            rest = rest.dropFirst(piece.count)
            for (place, index) in piece.enumerated() {
                (w.branch.start + place * width).update(from: w.hidden.start + index * width, count: width)
            }
            finalNorm?.apply(w.branch.start, rows: piece.count, w.team, into: w.branch.start)
            head.apply(w.branch, rows: piece.count, w)
            try files.checkIntact()
            for (place, index) in piece.enumerated() {
                give(index, Logits(start: w.logitsStart + place * outputs, count: outputs))
            }
        }
    }

    /// The last norm of rows of the residual stream, `[rows][width]`, in place.
    func normalize(_ rows: FloatBuffer, count: Int, _ team: ComputeTeam) {
        finalNorm?.apply(rows.start, rows: count, team, into: rows.start)
    }

    /// The rows of the last step after the last norm, `[rows][width]`, in place.
    func lastRows(_ count: Int, _ w: Workspace) -> FloatBuffer {
        finalNorm?.apply(w.hidden.start, rows: count, w.team, into: w.hidden.start)
        return w.hidden
    }

    /// What the head makes of texts of the last step, in their order: `[rows][outputs]` of each, with one row where the
    /// head takes the text as one.
    ///
    /// - Parameters:
    ///   - texts: the rows of each text in the step; or, where the head takes each row, those that are wanted.
    ///   - asVectors: whether what the outputs are made of is wanted in their place.
    /// - Throws: ``ErrorCode/fileChanged`` if weights could not be read.
    func outputs(texts: [Range<Int>], asVectors: Bool = false, _ w: Workspace) throws(AIError) -> [[Float]] {
        guard let head, let pooling = description.head?.rows else { return texts.map { _ in [] } }
        // What the head takes at once: the means of these rows, side by side.
        let inputs: [[[Range<Int>]]] = texts.map { text in
            let first = text.lowerBound..<text.lowerBound + 1
            let squares = text.lowerBound + (description.pixels?.firstCount ?? 0)..<text.upperBound
            return switch pooling {
            case .each, .meanOfOutputs: text.map { [$0..<$0 + 1] }
            case .first: [[first]]
            case .last: [[text.upperBound - 1..<text.upperBound]]
            case .mean: [[text]]
            case .attended(let pooling): [[pooling.seesFirst ? text : squares]]
            case .meanOfSquares, .meanOfNormedSquares: [[squares]]
            case .firstAndMean: [[first, squares]]
            }
        }
        let width = description.width
        let taken = description.head?.inputWidth(width) ?? width
        let outputs = asVectors ? taken : description.outputs
        var all: [Float] = []
        var rest = inputs.flatMap { $0 }[...]
        all.reserveCapacity(rest.count * outputs)
        while !rest.isEmpty {
            let piece = rest.prefix(w.logitRows)
            rest = rest.dropFirst(piece.count)
            for (place, parts) in piece.enumerated() {
                for (part, rows) in parts.enumerated() {
                    pool(rows, w, into: w.branch.start + place * taken + part * width)
                }
            }
            let made: UnsafeMutablePointer<Float>
            if asVectors {
                head.normalize(w.branch, rows: piece.count, w)
                made = w.branch.start
            } else {
                head.apply(w.branch, rows: piece.count, w)
                made = w.logitsStart
            }
            all += UnsafeBufferPointer(start: made, count: piece.count * outputs)
        }
        try files.checkIntact()
        var start = 0
        return inputs.map { rows in
            defer { start += rows.count * outputs }
            let own = all[start..<start + rows.count * outputs]
            return pooling == .meanOfOutputs ? Self.mean(own, outputs) : Array(own)
        }
    }

    /// `[rows][outputs]` to `[outputs]`.
    private static func mean(_ values: ArraySlice<Float>, _ outputs: Int) -> [Float] {
        var sums = [Double](repeating: 0, count: outputs)
        for (place, value) in values.enumerated() { sums[place % outputs] += Double(value) }
        return sums.map { Float($0 / Double(values.count / outputs)) }
    }

    /// The mean of rows of the last step after the last norm, or what attention makes of them.
    private func pool(_ rows: Range<Int>, _ w: Workspace, into out: UnsafeMutablePointer<Float>) {
        let width = description.width
        if let pooling {
            let all = FloatBuffer(rows.count * width)
            all.start.update(from: w.hidden.start + rows.lowerBound * width, count: all.count)
            finalNorm?.apply(all.start, rows: rows.count, w.team, into: all.start)
            return pooling.apply(all, count: rows.count, w, into: out)
        }
        func copy(_ row: Int) {
            out.update(from: w.hidden.start + row * width, count: width)
            if description.head?.rows != .meanOfSquares { finalNorm?.apply(out, rows: 1, w.team, into: out) }
        }
        guard rows.count > 1 else { return copy(rows.lowerBound) }
        var sums = [Double](repeating: 0, count: width)
        for row in rows {
            copy(row)
            for i in 0..<width { sums[i] += Double(out[i]) }
        }
        for i in 0..<width { out[i] = Float(sums[i] / Double(rows.count)) }
    }
}
