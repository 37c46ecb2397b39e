import HubCore
import ModelFormats

/// WordPiece: the longest token of each word, then the longest of the rest
/// (https://huggingface.co/docs/tokenizers/api/models).
final class WordPieceModel: Sendable {
    let vocabulary: Vocabulary
    /// The tokens that continue a word, without their prefix.
    private let continuing: Vocabulary
    private let unknown: Int32?
    private let longestWord: Int
    private let longestToken: Int

    /// Reads `model` of a tokenizer.json.
    convenience init(_ model: ModelPart) throws(AIError) {
        let settings = model.settings
        let vocabulary = try model.vocabulary()
        self.init(
            vocabulary, unknown: vocabulary.id(of: try settings.string("unk_token")),
            prefix: try settings.bytes("continuing_subword_prefix"),
            longestWord: try settings.count("max_input_chars_per_word"))
    }

    /// A model of known parts.
    init(_ vocabulary: Vocabulary, unknown: Int32?, prefix: [UInt8], longestWord: Int) {
        var continuing = Vocabulary(count: vocabulary.count)
        var longest = 0
        vocabulary.forEach { id, spelling in
            longest = max(longest, spelling.count)
            guard spelling.starts(with: prefix) else { return }
            Array(spelling.dropFirst(prefix.count)).withUnsafeBufferPointer { _ = continuing.add($0, id: id) }
        }
        self.vocabulary = vocabulary
        self.continuing = continuing
        self.unknown = unknown
        self.longestWord = longestWord
        longestToken = longest
    }

    /// Appends the tokens of one word.
    ///
    /// - Throws: ``ErrorCode/generationFailed`` for an unknown word without an unknown token.
    func encode(_ word: UnsafeBufferPointer<UInt8>, into out: inout ModelOutput) throws(AIError) {
        let count = out.ids.count
        guard word.count(where: { $0 & 0xC0 != 0x80 }) <= longestWord else {
            return try appendUnknown(word, into: &out)
        }
        var start = 0
        while start < word.count {
            let tokens = start == 0 ? vocabulary : continuing
            var end = min(word.count, start + longestToken)
            while end < word.count, end > start, word[end] & 0xC0 == 0x80 { end -= 1 }
            var found: Int32?
            while end > start {
                found = tokens.id(of: UnsafeBufferPointer(rebasing: word[start..<end]))
                if found != nil { break }
                repeat { end -= 1 } while end > start && word[end] & 0xC0 == 0x80
            }
            guard let found else {
                out.ids.removeSubrange(count...)
                if out.isTracked { out.spans.removeSubrange(count...) }
                return try appendUnknown(word, into: &out)
            }
            out.append(found, start..<end)
            start = end
        }
    }

    private func appendUnknown(_ word: UnsafeBufferPointer<UInt8>, into out: inout ModelOutput) throws(AIError) {
        guard let unknown else { throw .noUnknown(word) }
        out.append(unknown, 0..<word.count)
    }
}

/// Whole words, and an unknown token for all others.
final class WordLevelModel: Sendable {
    let vocabulary: Vocabulary
    private let unknown: Int32?

    /// Reads `model` of a tokenizer.json.
    init(_ model: ModelPart) throws(AIError) {
        vocabulary = try model.vocabulary()
        unknown = vocabulary.id(of: try model.settings.string("unk_token"))
    }

    /// A model of known parts.
    init(_ vocabulary: Vocabulary, unknown: Int32?) {
        (self.vocabulary, self.unknown) = (vocabulary, unknown)
    }

    /// Appends the token of one word.
    ///
    /// - Throws: ``ErrorCode/generationFailed`` for an unknown word without an unknown token.
    func encode(_ word: UnsafeBufferPointer<UInt8>, into out: inout ModelOutput) throws(AIError) {
        guard let id = vocabulary.id(of: word) ?? unknown else { throw .noUnknown(word) }
        out.append(id, 0..<word.count)
    }
}
