import HubCore
import HubTokenizers
import ModelFormats

extension InteractionTokens {
    /// A text as a model reads it.
    struct Input {
        var text: EncoderInput
        /// Whether each row's vector counts.
        var counts: [Bool]
    }

    /// - Throws: what ``LoadedModel/tokenized(_:_:cutting:most:withOffsets:)`` throws.
    func input(_ text: String, _ side: LateInteraction.Side, _ model: LoadedModel) throws(AIError) -> Input {
        let expansion = side == .query ? settings.expansion : nil
        var most = settings.limits[side] ?? model.sentences?.maxTokens ?? model.tokenizer.maxTokens
        if let expansion {
            most = expansion.keepsLonger ? most.map { max($0, expansion.length) } : expansion.length
        }
        let id = marks[side]
        let prefix = id == nil ? settings.marks[side] ?? "" : ""
        let tokens = try model.tokenized(
            prefix + text, most: min(most ?? .max, model.context) - (id == nil ? 0 : 1))
        var rows = zip(tokens.ids, tokens.types).map { RowInput.token($0, type: $1) }
        var ids = tokens.ids
        if let id {
            rows.insert(.token(id), at: 1)
            ids.insert(id, at: 1)
        }
        let seen = rows.count
        let skips = settings.skippedSides.contains(side)
        var counts = ids.map { !skips || !skipped.contains($0) }
        if let expansion, let filler, rows.count < expansion.length {
            let added = expansion.length - rows.count
            rows += Array(repeating: .token(filler), count: added)
            counts += Array(repeating: true, count: added)
            try model.checkFits(expansion, seen: seen)
        }
        try model.checkEmbedded(ids + [filler].compactMap { $0 })
        return Input(
            text: EncoderInput(rows, seen: expansion?.isSeen == false ? seen : rows.count), counts: counts)
    }
}

extension LoadedModel {
    /// - Throws: ``ErrorCode/unsupportedModel`` where tokens that fill up a query would see none of it, or where they would
    ///   have to be hidden from each other.
    fileprivate func checkFits(_ expansion: LateInteraction.Expansion, seen: Int) throws(AIError) {
        let d = model.description
        guard !expansion.isSeen else { return }
        if d.isCausal {
            throw .unsupported(
                configuration.path,
                "the model fills up queries with tokens that are not seen, and reads to the left alone"
            )
        }
        let narrowest = d.layers.compactMap { $0.attention?.window }.min() ?? .max
        guard expansion.length - seen < narrowest else {
            throw .unsupported(
                configuration.path,
                "queries are filled up to \(expansion.length) tokens; a window of \(narrowest) leaves some that see none"
            )
        }
    }
}

/// Scores of documents for queries, by a vector of each token.
struct InteractionRun {
    private let model: LoadedModel
    private let tokens: InteractionTokens
    private let layers: SentenceLayers
    private var run: EncoderRun

    init(_ model: LoadedModel, _ tokens: InteractionTokens, _ layers: SentenceLayers, _ workspace: Workspace) {
        (self.model, self.tokens, self.layers) = (model, tokens, layers)
        run = EncoderRun(model.computation, workspace)
    }

    /// The score of each pair, a query and a document, and the tokens that were read of the document. Each query is
    /// computed once.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for a text without tokens, ``ErrorCode/generationFailed`` for scores that are
    ///   not finite, ``ErrorCode/cancelled``.
    mutating func scores(_ pairs: [TextPair], isCancelled: () -> Bool) throws(AIError) -> [TextNumbers] {
        var places: [String: Int] = [:]
        var queries: [String] = []
        for pair in pairs where places[pair.first] == nil {
            places[pair.first] = queries.count
            queries.append(pair.first)
        }
        var vectors = [[Float]](repeating: [], count: queries.count)
        _ = try each(queries, .query, isCancelled) { vectors[$0] = $1 }
        var scores = [Float](repeating: 0, count: pairs.count)
        let (width, isMean) = (layers.width, tokens.settings.isMean)
        let counts = try each(pairs.map { $0.second ?? "" }, .document, isCancelled) { index, document in
            let query = vectors[places[pairs[index].first] ?? 0]
            scores[index] = Self.score(query, document, width: width, isMean: isMean)
        }
        try layers.checkIntact()
        return zip(try scores.checkedFinite(), counts).map { TextNumbers(values: [$0], tokenCount: $1) }
    }

    /// Gives the vectors of each text that count, one behind the other, in any order.
    ///
    /// - Returns: the tokens of each text.
    private mutating func each(
        _ texts: [String], _ side: LateInteraction.Side, _ isCancelled: () -> Bool, _ give: (Int, [Float]) -> Void
    ) throws(AIError) -> [Int] {
        var inputs: [InteractionTokens.Input] = []
        for text in texts { inputs.append(try tokens.input(text, side, model)) }
        let (layers, team, width) = (layers, model.team, model.model.description.width)
        try run.rows(inputs.map(\.text), isCancelled: isCancelled) { index, rows in
            var vectors: [Float] = []
            for (place, isCounted) in inputs[index].counts.enumerated() where isCounted {
                let row = Array(UnsafeBufferPointer(start: rows + place * width, count: width))
                vectors += layers.apply(row, team)
            }
            give(index, vectors)
        }
        return inputs.map(\.text.count)
    }

    /// The sum, over a query's vectors, of the largest product with one of a document's; 0 for a document without any.
    private static func score(_ query: [Float], _ document: [Float], width: Int, isMean: Bool) -> Float {
        guard !document.isEmpty, !query.isEmpty else { return 0 }
        var sum = 0.0
        query.withUnsafeBufferPointer { query in
            document.withUnsafeBufferPointer { document in
                for q in stride(from: 0, to: query.count, by: width) {
                    var largest = -Float.infinity
                    for d in stride(from: 0, to: document.count, by: width) {
                        var product: Float = 0
                        for i in 0..<width { product += query[q + i] * document[d + i] }
                        // Not `max`, which would let a product pass by that is not a number.
                        largest = product <= largest ? largest : product
                    }
                    sum += Double(largest)
                }
            }
        }
        return Float(isMean ? sum / Double(query.count / width) : sum)
    }
}
