import HubCore
import HubTokenizers
import ModelFormats

/// What a model reads as a whole: a text, a picture.
struct EncoderInput {
    let rows: [RowInput]
    /// What the rows answer, where the model has an encoder before them.
    let source: [RowInput]
    /// Of a picture; nil for a text.
    let picture: PicturePlaces?
    /// How many of the rows are attended to, from the first on. Others attend to these, and nothing to them.
    let seen: Int

    /// - Parameter seen: nil for all.
    init(_ rows: [RowInput], answering source: [RowInput] = [], picture: PicturePlaces? = nil, seen: Int? = nil) {
        (self.rows, self.source, self.picture, self.seen) = (rows, source, picture, seen ?? rows.count)
    }

    var count: Int { rows.count }
}

/// Texts or pictures through a model: as many in a step as fit. What comes out of one does not depend on those beside it.
struct EncoderRun {
    private let computation: Computation
    private var model: Model { computation.model }
    private let workspace: Workspace
    /// Caches of earlier steps.
    private(set) var caches: [(keys: KeyValueCache, states: RecurrentStates?)] = []

    /// Rows of a text in the step just computed.
    private struct Piece {
        /// The text's place in the list.
        var text: Int
        /// The rows in the step.
        var rows: Range<Int>
        /// The position of the first of them in the text.
        var start: Int
        /// Whether the text ends with them.
        var isLast: Bool
    }

    init(_ computation: Computation, _ workspace: Workspace) {
        (self.computation, self.workspace) = (computation, workspace)
    }

    // MARK: What comes out

    /// Gives each text's rows after the last norm, `[tokens][width]`, in any order; they are valid only there.
    mutating func rows(
        _ texts: [EncoderInput], isCancelled: () -> Bool, _ give: (Int, UnsafePointer<Float>) -> Void
    ) throws(AIError) {
        let (model, workspace, width) = (model, workspace, model.description.width)
        // Of a text that takes several steps.
        var gathered: [Float] = []
        try run(texts, isCancelled) { pieces in
            let start = model.lastRows(pieces.last?.rows.upperBound ?? 0, workspace).start
            for piece in pieces {
                let rows = start + piece.rows.lowerBound * width
                guard piece.start > 0 || !piece.isLast else {
                    give(piece.text, rows)
                    continue
                }
                gathered += UnsafeBufferPointer(start: rows, count: piece.rows.count * width)
                guard piece.isLast else { continue }
                gathered.withUnsafeBufferPointer { give(piece.text, $0.baseAddress!) }
                gathered = []
            }
        }
    }

    /// What the head makes of each text: `[rows][outputs]`, with one row where the head takes a text as one.
    ///
    /// - Parameters:
    ///   - wanted: the positions of each text whose outputs are wanted, if the head takes each; nil for all.
    ///   - asVectors: whether what the outputs are made of is wanted in their place.
    /// - Throws: ``ErrorCode/generationFailed`` if they are not finite, ``ErrorCode/cancelled``.
    mutating func outputs(
        _ texts: [EncoderInput], at wanted: [[Int]]? = nil, asVectors: Bool = false, isCancelled: () -> Bool
    ) throws(AIError) -> [[Float]] {
        let (model, workspace) = (model, workspace)
        var results = [[Float]](repeating: [], count: texts.count)
        guard let rows = model.description.head?.rows else { return results }
        try run(texts, isCancelled) { pieces throws(AIError) in
            var owners: [Int] = []
            var ranges: [Range<Int>] = []
            func add(_ piece: Piece, _ range: Range<Int>) {
                owners.append(piece.text)
                ranges.append(range)
            }
            for piece in pieces {
                if rows == .each, let positions = wanted?[piece.text] {
                    for position in positions
                    where (piece.start..<piece.start + piece.rows.count).contains(position) {
                        let row = piece.rows.lowerBound + position - piece.start
                        add(piece, row..<row + 1)
                    }
                } else if rows == .each || (rows == .first ? piece.start == 0 : piece.isLast) {
                    add(piece, piece.rows)
                }
            }
            let outputs = try model.outputs(texts: ranges, asVectors: asVectors, workspace)
            for (text, outputs) in zip(owners, outputs) { results[text] += outputs }
        }
        for outputs in results { _ = try outputs.checkedFinite() }
        return results
    }

    // MARK: Steps

    private mutating func run(
        _ texts: [EncoderInput], _ isCancelled: () -> Bool, _ give: ([Piece]) throws(AIError) -> Void
    ) throws(AIError) {
        // By length: the texts of a step are then alike, which suits caches and threads.
        var rest = texts.indices.sorted { texts[$0].count < texts[$1].count }[...]
        while let first = rest.first {
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            if texts[first].count > workspace.rows {
                try long(texts[first], first, isCancelled, give)
                rest = rest.dropFirst()
                continue
            }
            var (count, rows) = (0, 0)
            for index in rest {
                rows += texts[index].count
                guard rows <= workspace.rows, count < model.description.mostTogether else { break }
                count += 1
            }
            try give(try step(rest.prefix(count), texts))
            rest = rest.dropFirst(count)
        }
    }

    private mutating func step(_ indices: ArraySlice<Int>, _ texts: [EncoderInput]) throws(AIError) -> [Piece] {
        while caches.count < indices.count {
            let d = model.description
            caches.append(
                (
                    KeyValueCache(
                        d.cacheShapes, format: computation.cacheFormat.kernel, capacity: computation.context),
                    RecurrentStates(d, keeping: 0)
                ))
        }
        var step = Step()
        var pieces: [Piece] = []
        for (cache, index) in zip(caches, indices) {
            let (text, start) = (texts[index], step.count)
            cache.keys.truncate(to: 0, keepsPages: true)
            cache.states?.truncate(to: 0)
            // A picture that is answered is that of the source.
            let picture = text.source.isEmpty ? text.picture : nil
            cache.keys.source = text.source.isEmpty ? nil : SourceText(text.source, picture: text.picture)
            for (position, input) in text.rows.enumerated() {
                step.append(
                    StepRow(
                        cache: cache.keys, position: position, input: input, picture: picture,
                        length: text.seen,
                        states: cache.states))
            }
            pieces.append(Piece(text: index, rows: start..<step.count, start: 0, isLast: true))
        }
        try model.run(step, workspace)
        return pieces
    }

    /// A text that a decoder reads in several steps.
    private func long(
        _ text: EncoderInput, _ index: Int, _ isCancelled: () -> Bool, _ give: ([Piece]) throws(AIError) -> Void
    ) throws(AIError) {
        var start = 0
        try computation.session().run(
            anew: text.rows, answering: text.source, workspace, logitsFrom: .max, isCancelled: isCancelled
        ) { count throws(AIError) in
            try give([Piece(text: index, rows: 0..<count, start: start, isLast: start + count == text.count)])
            start += count
        } _: { _, _ in
        }
    }
}

extension LoadedModel {
    /// What a model that says something of a whole text computes: the text, or after an encoder the text behind what an
    /// answer starts with.
    func input(_ text: TokenizedText) -> EncoderInput {
        let rows = ended(zip(text.ids, text.types).map { RowInput.token($0, type: $1) })
        guard model.description.encoder != nil else { return EncoderInput(rows) }
        return EncoderInput(
            [RowInput](tokens: answerStart + text.ids.dropLast()), answering: [RowInput](tokens: text.ids))
    }

    /// The rows of a text up to the one that is read for all.
    private func ended(_ rows: [RowInput]) -> [RowInput] {
        switch model.description.ending {
        case nil: return rows
        case .token(let id):
            let end = id ?? rows.compactMap(\.token).max()
            // Like the reference, the first row of a text without the token.
            return Array(rows.prefix((rows.firstIndex { $0.token == end } ?? 0) + 1))
        case .filled(let count, let usual):
            return rows + Array(repeating: .token(tokenizer.padID ?? usual), count: max(0, count - rows.count))
        }
    }

    /// The tokens of a text, or of two, as a model reads them.
    ///
    /// - Parameters:
    ///   - strategy: how longer texts than the model takes are cut; nil if they must not be.
    ///   - most: tokens that are read, special ones included; nil for as many as the model's files say.
    /// - Throws: ``ErrorCode/invalidInput`` for texts without tokens, and for those that are too long.
    func tokenized(
        _ first: String, _ second: String? = nil, cutting strategy: TruncationStrategy? = .longestFirst,
        most: Int? = nil, withOffsets: Bool = false
    ) throws(AIError) -> TokenizedText {
        let most = min(most ?? sentences?.maxTokens ?? tokenizer.maxTokens ?? .max, context)
        let text = try tokenizer.encode(
            first, second, maxTokens: strategy == nil ? nil : most, cutting: strategy ?? .longestFirst,
            withOffsets: withOffsets)
        guard !text.ids.isEmpty else { throw AIError(.invalidInput, "a text has no tokens") }
        guard text.ids.count <= most else {
            throw AIError(
                .invalidInput, "a text has \(text.ids.count.grouped) tokens; the model takes \(most.grouped)")
        }
        try checkEmbedded(text.ids)
        return text
    }
}
