import HubCore

/// What a row of a step is made of. Two are equal where they make the same row, so that texts can share a beginning.
enum RowInput: Sendable, Hashable {
    /// A row of the table of tokens.
    ///
    /// - Parameter type: the token's type: 1 in the second text of a pair.
    case token(Int, type: Int = 0)
    /// Numbers that the embedding's patch layer makes a row of.
    case patch([Float])
    /// A row that another part of the model made.
    case encoded(EncodedRows, Int)

    /// nil where it is no token.
    var token: Int? { if case .token(let id, _) = self { id } else { nil } }
    var patch: [Float]? { if case .patch(let numbers) = self { numbers } else { nil } }
}

extension [RowInput] {
    init(tokens: some Sequence<Int>) { self = tokens.map { .token($0) } }
}

/// Rows that one part of a model made for another: of a picture, of a sound. Immutable.
final class EncodedRows: Sendable, Hashable {
    /// `[count][width]`
    let values: FloatBuffer
    let count: Int
    let width: Int
    /// Of what they were made of and how: equal digests have equal rows.
    let key: ContentDigest

    init(_ values: FloatBuffer, count: Int, width: Int, key: ContentDigest) {
        precondition(values.count >= count * width)
        (self.values, self.count, self.width, self.key) = (values, count, width, key)
    }

    /// As inputs of another part.
    var inputs: [RowInput] { (0..<count).map { .encoded(self, $0) } }

    static func == (one: EncodedRows, other: EncodedRows) -> Bool {
        one.key == other.key && one.count == other.count
    }
    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
