/// One row of a step: a token at a position of a sequence.
struct StepRow {
    let cache: KeyValueCache
    let position: Int
    let id: Int
    /// The length of the text, as far as it was known when this row was asked for: some rotary embeddings depend on it.
    let length: Int
    /// Whether logits are computed for it.
    var wantsLogits = false
    /// The token's type: 1 in the second text of a pair.
    var type = 0
    /// The numbers that the row is made of in the place of a token; nil for a token.
    var patch: [Float]?
    /// What recurrent layers remember of the sequence; nil for a model without any.
    var states: RecurrentStates?
}

/// Rows of any sequences, in any mixture: a piece of a prompt, one token of each of several conversations, drafted tokens
/// to verify, sentences.
///
/// The bits of a row's results depend on its sequence alone, not on the rows beside it. Rows of one sequence stand in the
/// order of their positions, and its earlier positions are in its cache.
struct Step {
    private(set) var rows: [StepRow] = []

    init() {}
    init(_ rows: [StepRow]) { self.rows = rows }

    mutating func append(_ row: StepRow) { rows.append(row) }
    var count: Int { rows.count }
    var isEmpty: Bool { rows.isEmpty }
}

/// One number for each token of the vocabulary, before softmax.
typealias Logits = UnsafeBufferPointer<Float>
