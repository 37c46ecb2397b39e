import HubCore

/// SentencePiece's models without merging: each character, or each word, is a piece
/// (https://github.com/google/sentencepiece/blob/master/src/char_model.cc, word_model.cc).
final class WholePieceModel: Sendable {
    let vocabulary: Vocabulary
    private let areWords: Bool
    private let types: [ScoredPieces.PieceType]
    /// The pieces longer than a character.
    private let whole: ByteTrie?
    private let unknown: UnknownPieces

    init(_ pieces: ScoredPieces, areWords: Bool) {
        vocabulary = pieces.vocabulary
        types = pieces.types
        self.areWords = areWords
        whole = areWords ? nil : pieces.userDefined
        unknown = UnknownPieces(pieces)
    }

    /// Appends the tokens of a text.
    func encode(_ text: UnsafeBufferPointer<UInt8>, into out: inout ModelOutput) {
        var isAfterUnknown = false
        var start = 0
        while start < text.count {
            let end = areWords ? Self.wordEnd(text, start) : characterEnd(text, start)
            let id = vocabulary.id(of: UnsafeBufferPointer(rebasing: text[start..<end]))
            // Text spelled like a byte piece is not that byte.
            if let id, types[Int(id)] != .unknown, types[Int(id)] != .byte {
                isAfterUnknown = false
                out.append(id, start..<end)
            } else {
                unknown.append(text, start..<end, &isAfterUnknown, into: &out)
            }
            start = end
        }
    }

    private func characterEnd(_ text: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int {
        var end = start + text.scalar(at: start).width
        whole?.forEachToken(text, at: start) { _, last in end = last }
        return end
    }

    /// Each `▁` begins a word.
    private static func wordEnd(_ text: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int {
        var end = start + 1
        while end < text.count, !text[end...].starts(with: SentencePieceSpace.bytes) { end += 1 }
        return end
    }
}

/// SentencePiece's handling of text without a piece: byte tokens, or one unknown token for an adjacent run.
struct UnknownPieces: Sendable {
    private let id: Int32?
    private let fallback: [Int32?]?

    init(_ pieces: ScoredPieces) {
        id = pieces.unknown
        fallback = pieces.hasFallback ? BytePairModel.byteTokens(pieces.vocabulary) : nil
    }

    func append(
        _ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, _ isAfterUnknown: inout Bool,
        into out: inout ModelOutput
    ) {
        if let fallback, text[range].allSatisfy({ fallback[Int($0)] != nil }) {
            for byte in text[range] { if let id = fallback[Int(byte)] { out.append(id, range) } }
        } else if let id {
            if !isAfterUnknown { out.append(id, range) } else { out.extendLast(to: range.upperBound) }
            isAfterUnknown = true
        }
    }
}
