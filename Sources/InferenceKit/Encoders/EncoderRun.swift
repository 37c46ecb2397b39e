import HubCore
import HubTokenizers
import ModelFormats

/// Texts through a model: as many in a step as fit. What comes out of a text does not depend on the texts beside it.
struct EncoderRun {
    private let model: LoadedModel
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

    init(_ model: LoadedModel, _ workspace: Workspace) { (self.model, self.workspace) = (model, workspace) }

    // MARK: What comes out

    /// Gives each text's rows after the last norm, `[tokens][width]`, in any order; they are valid only there.
    mutating func rows(
        _ texts: [TokenizedText], isCancelled: () -> Bool, _ give: (Int, UnsafePointer<Float>) -> Void
    ) throws(AIError) {
        let (model, workspace, width) = (model.model, workspace, model.model.description.width)
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
    /// - Parameter wanted: the positions of each text whose outputs are wanted, if the head takes each; nil for all.
    /// - Throws: ``ErrorCode/generationFailed`` if they are not finite, ``ErrorCode/cancelled``.
    mutating func outputs(
        _ texts: [TokenizedText], at wanted: [[Int]]? = nil, isCancelled: () -> Bool
    ) throws(AIError) -> [[Float]] {
        let (model, workspace) = (model.model, workspace)
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
            let outputs = try model.outputs(texts: ranges, workspace)
            for (text, outputs) in zip(owners, outputs) { results[text] += outputs }
        }
        for outputs in results { _ = try outputs.checkedFinite() }
        return results
    }

    // MARK: Steps

    private mutating func run(
        _ texts: [TokenizedText], _ isCancelled: () -> Bool, _ give: ([Piece]) throws(AIError) -> Void
    ) throws(AIError) {
        // By length: the texts of a step are then alike, which suits caches and threads.
        var rest = texts.indices.sorted { texts[$0].ids.count < texts[$1].ids.count }[...]
        while let first = rest.first {
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            if texts[first].ids.count > workspace.rows {
                try long(texts[first].ids, first, isCancelled, give)
                rest = rest.dropFirst()
                continue
            }
            var (count, rows) = (0, 0)
            for index in rest {
                rows += texts[index].ids.count
                guard rows <= workspace.rows, count < model.model.description.mostTogether else { break }
                count += 1
            }
            try give(try step(rest.prefix(count), texts))
            rest = rest.dropFirst(count)
        }
    }

    private mutating func step(_ indices: ArraySlice<Int>, _ texts: [TokenizedText]) throws(AIError) -> [Piece] {
        while caches.count < indices.count {
            let d = model.model.description
            caches.append(
                (
                    KeyValueCache(d.cacheShapes, format: model.cacheFormat.kernel, capacity: model.context),
                    RecurrentStates(d, keeping: 0)
                ))
        }
        var step = Step()
        var pieces: [Piece] = []
        for (cache, index) in zip(caches, indices) {
            let (text, start) = (texts[index], step.count)
            cache.keys.truncate(to: 0, keepsPages: true)
            cache.states?.truncate(to: 0)
            let (source, ids) = model.read(text.ids)
            cache.keys.source = source.isEmpty ? nil : SourceText([RowInput](tokens: source))
            for position in ids.indices {
                var row = StepRow(
                    cache: cache.keys, position: position,
                    input: .token(ids[position], type: text.types[position]), length: ids.count)
                row.states = cache.states
                step.append(row)
            }
            pieces.append(Piece(text: index, rows: start..<step.count, start: 0, isLast: true))
        }
        try model.model.run(step, workspace)
        return pieces
    }

    /// A text that a decoder reads in several steps.
    private func long(
        _ ids: [Int], _ index: Int, _ isCancelled: () -> Bool, _ give: ([Piece]) throws(AIError) -> Void
    ) throws(AIError) {
        var start = 0
        let (source, ids) = model.read(ids)
        try model.session().run(
            anew: [RowInput](tokens: ids), answering: [RowInput](tokens: source), workspace, logitsFrom: .max,
            isCancelled: isCancelled
        ) { count throws(AIError) in
            try give([Piece(text: index, rows: 0..<count, start: start, isLast: start + count == ids.count)])
            start += count
        } _: { _, _ in
        }
    }
}

extension LoadedModel {
    /// The tokens of a text, or of two, as a model reads them.
    ///
    /// - Parameter strategy: how longer texts than the model takes are cut; nil if they must not be.
    /// - Throws: ``ErrorCode/invalidInput`` for texts without tokens, and for those that are too long.
    func tokenized(
        _ first: String, _ second: String? = nil, cutting strategy: TruncationStrategy? = .longestFirst,
        withOffsets: Bool = false
    ) throws(AIError) -> TokenizedText {
        let most = min(sentences?.maxTokens ?? tokenizer.maxTokens ?? .max, context)
        let text = try tokenizer.encode(
            first, second, maxTokens: strategy == nil ? nil : most, cutting: strategy ?? .longestFirst,
            withOffsets: withOffsets)
        guard !text.ids.isEmpty else { throw AIError(.invalidInput, "a text has no tokens") }
        guard text.ids.count <= most else {
            throw AIError(.invalidInput, "a text has \(text.ids.count) tokens; the model takes \(most)")
        }
        try checkEmbedded(text.ids)
        return text
    }
}
