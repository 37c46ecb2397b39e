/// One row of a step: an input at a position of a sequence.
struct StepRow {
    let cache: KeyValueCache
    let position: Int
    let input: RowInput
    /// Of a picture; nil for other rows.
    var picture: PicturePlaces?
    /// The length of the text, as far as it was known when this row was asked for: some rotary embeddings depend on it.
    let length: Int
    /// Whether logits are computed for it.
    var wantsLogits = false
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
