/// The tokens of a text, or of two, as a model reads them.
public struct TokenizedText: Sendable, Hashable {
    /// The ids.
    public var ids: [Int] = []
    /// The type of each token, 0 or 1: tells the model which text of a pair it belongs to.
    public var types: [Int] = []
    /// The text each token belongs to, 0 or 1; nil for a special token that the tokenizer added.
    public var texts: [Int?] = []
    /// The range of each token in its text, in Unicode scalars, as Python counts characters; empty for an added token.
    /// nil unless asked for.
    public var offsets: [Range<Int>]?

    /// Whether each token is a special one that the tokenizer added.
    public var isSpecial: [Bool] { texts.map { $0 == nil } }

    /// No tokens.
    init() {}

    /// From tokens whose ranges are in UTF-8.
    init(_ tokens: [Encoding.Token], of texts: [String]) {
        let scalars = texts.map(ScalarOffsets.init)
        ids = tokens.map(\.id)
        types = tokens.map(\.typeID)
        self.texts = tokens.map(\.sequence)
        offsets = tokens.map { token in
            token.sequence.map { scalars[$0].scalars(token.range) } ?? 0..<0
        }
    }
}

/// How two texts are cut that are too long together; the values are those of tokenizer.json.
public enum TruncationStrategy: String, Sendable {
    /// The longer one first, until both are equally long.
    case longestFirst = "LongestFirst"
    /// Only the first.
    case onlyFirst = "OnlyFirst"
    /// Only the second.
    case onlySecond = "OnlySecond"
}

/// Places in a text, from UTF-8 to Unicode scalars.
struct ScalarOffsets {
    /// The scalars before each byte, and before the end; nil for ASCII.
    private let before: [Int]?

    init(_ text: String) {
        guard text.utf8.contains(where: { $0 >= 0x80 }) else {
            before = nil
            return
        }
        var before: [Int] = []
        before.reserveCapacity(text.utf8.count + 1)
        var count = 0
        for byte in text.utf8 {
            before.append(count)
            if byte & 0xC0 != 0x80 { count += 1 }
        }
        before.append(count)
        self.before = before
    }

    /// The scalars of a range of bytes, which begins and ends between scalars.
    func scalars(_ bytes: Range<Int>) -> Range<Int> {
        guard let before else { return bytes }
        return before[bytes.lowerBound]..<before[bytes.upperBound]
    }
}
