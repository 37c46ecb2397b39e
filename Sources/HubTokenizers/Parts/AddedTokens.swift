import HubCore
import ModelFormats

/// The tokens that are matched in the text before anything else: `<|eos|>` and the like.
struct AddedTokens: Sendable {
    /// One added token.
    struct Token: Sendable {
        var id: Int
        var content: [UInt8]
        var isSpecial = true
        /// Whether it matches only at word boundaries.
        var isSingleWord = false
        /// Whether white space before it belongs to it.
        var stripsLeft = false
        /// Whether white space after it belongs to it.
        var stripsRight = false
        var isNormalized = false
        /// The bytes to match and to decode as: the content, normalised if the text is.
        var sought: [UInt8]

        init(id: Int, content: [UInt8], isSpecial: Bool = true) {
            self.id = id
            self.content = content
            self.isSpecial = isSpecial
            sought = content
        }
    }

    /// A segment of the text: a token if `id` is set, else text for the model.
    struct Segment {
        var range: Range<Int>
        var id: Int?
    }

    /// The tokens of one kind, with their matcher.
    private struct Finder: Sendable {
        let tokens: [Token]
        let trie: ByteTrie
        /// Whether a token begins with each byte.
        let isFirst: [Bool]

        init(_ tokens: [Token]) {
            self.tokens = tokens
            var spellings = Vocabulary(count: tokens.count)
            var isFirst = [Bool](repeating: false, count: 256)
            for (index, token) in tokens.enumerated() {
                guard let first = token.sought.first else { continue }
                isFirst[Int(first)] = true
                token.sought.withUnsafeBufferPointer { _ = spellings.add($0, id: Int32(index)) }
            }
            trie = ByteTrie(spellings)
            self.isFirst = isFirst
        }
    }

    let tokens: [Token]
    private let untouched: Finder?
    private let normalized: Finder?

    /// From a list of tokens.
    init(_ tokens: [Token]) {
        self.tokens = tokens
        let asTheyAre = tokens.filter { !$0.isNormalized }
        // Of tokens with the same normalised text the first counts.
        var seen: Set<[UInt8]> = []
        let rewritten = tokens.filter { $0.isNormalized && seen.insert($0.sought).inserted }
        untouched = asTheyAre.isEmpty ? nil : Finder(asTheyAre)
        normalized = rewritten.isEmpty ? nil : Finder(rewritten)
    }

    /// Reads `added_tokens`. A token in the vocabulary has its id from there, as in the reference.
    init(_ list: [JSON], _ normalizer: Normalizer, _ vocabulary: Vocabulary, path: String) throws(AIError) {
        var tokens: [Token] = []
        var places: [[UInt8]: Int] = [:]
        var room = TrackedText.limit(bytes: 0)
        for json in list {
            let part = try TokenizerComponent(json, place: "added_tokens", path: path)
            guard let content = part["content"]?.string, let id = part["id"]?.int,
                (0...Int64(Int32.max)).contains(id)
            else { throw .malformed(path, "an added token has no content or no valid id") }
            // An empty token would match everywhere; the reference skips it too.
            if content.isEmpty { continue }
            let known = vocabulary.id(of: content).map(Int.init)
            room += TrackedText.limit(bytes: content.utf8.count) - TrackedText.limit(bytes: 0)
            let token = try Token(part, Array(content.utf8), id: known ?? Int(id), normalizer, &room)
            if let place = places[token.content] {
                guard tokens[place].id == token.id else {
                    throw .malformed(path, "the added token \"\(content.excerpt)\" has two ids")
                }
                tokens[place] = token
            } else {
                places[token.content] = tokens.count
                tokens.append(token)
            }
        }
        self.init(tokens)
    }

    /// Splits a text at the added tokens: raw text at those matched raw, normalised text at the others.
    ///
    /// As in the reference all tokens are matched before white space is stripped: a token that is white space itself is
    /// emitted again, and the text after it is text again.
    ///
    /// - Throws: ``ErrorCode/generationFailed`` if the same white space is stripped too often.
    func split(_ text: UnsafeBufferPointer<UInt8>, isNormalized: Bool) throws(AIError) -> [Segment] {
        guard let finder = isNormalized ? normalized : untouched else {
            return text.isEmpty ? [] : [Segment(range: 0..<text.count, id: nil)]
        }
        var segments: [Segment] = []
        var done = 0
        var at = 0
        // The end of the last stripped white space, and the total stripped.
        var spaceEnd = 0
        var taken = 0
        finder.isFirst.withUnsafeBufferPointer { isFirst in
            while at < text.count {
                guard isFirst[Int(text[at])], let (token, end) = Self.longest(finder, text, at) else {
                    at += 1
                    continue
                }
                var match = at..<end
                at = end
                if token.isSingleWord, Self.isInWord(match, text) { continue }
                if token.stripsLeft {
                    let start = Self.whiteSpaceStart(before: match.lowerBound, in: text, from: done)
                    // Nothing is left of a token that is already consumed.
                    match = min(max(start, done), match.upperBound)..<match.upperBound
                }
                if token.stripsRight {
                    spaceEnd =
                        match.upperBound < spaceEnd
                        ? spaceEnd : Self.whiteSpaceEnd(after: match.upperBound, in: text)
                    match = match.lowerBound..<spaceEnd
                }
                if done < match.lowerBound { segments.append(Segment(range: done..<match.lowerBound, id: nil)) }
                if !match.isEmpty { segments.append(Segment(range: match, id: token.id)) }
                taken += match.count
                done = match.upperBound
            }
        }
        guard taken <= TrackedText.limit(bytes: text.count) else {
            throw AIError(.generationFailed, "the tokenizer's added tokens claim the same whitespace too often")
        }
        if done < text.count { segments.append(Segment(range: done..<text.count, id: nil)) }
        return segments
    }

    private static func longest(_ finder: Finder, _ text: UnsafeBufferPointer<UInt8>, _ at: Int) -> (Token, Int)? {
        var found: (Int32, Int)?
        finder.trie.forEachToken(text, at: at) { index, end in found = (index, end) }
        return found.map { (finder.tokens[Int($0.0)], $0.1) }
    }

    private static func isInWord(_ match: Range<Int>, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        if match.lowerBound > 0, CharacterClass.isWord(text.scalar(before: match.lowerBound).value) { return true }
        return match.upperBound < text.count && CharacterClass.isWord(text.scalar(at: match.upperBound).value)
    }

    private static func whiteSpaceStart(before end: Int, in text: UnsafeBufferPointer<UInt8>, from: Int) -> Int {
        var start = end
        while start > from {
            let (value, width) = text.scalar(before: start)
            guard CharacterClass.isWhiteSpace(value) else { break }
            start -= width
        }
        return start
    }

    private static func whiteSpaceEnd(after start: Int, in text: UnsafeBufferPointer<UInt8>) -> Int {
        var end = start
        while end < text.count {
            let (value, width) = text.scalar(at: end)
            guard CharacterClass.isWhiteSpace(value) else { break }
            end += width
        }
        return end
    }
}

extension AddedTokens.Token {
    /// - Parameter room: How many bytes the normalizer may still produce from tokens.
    fileprivate init(
        _ part: TokenizerComponent, _ content: [UInt8], id: Int, _ normalizer: Normalizer, _ room: inout Int
    ) throws(AIError) {
        let special = try part.bool("special", default: false)
        self.init(id: id, content: content, isSpecial: special)
        isSingleWord = try part.bool("single_word", default: false)
        stripsLeft = try part.bool("lstrip", default: false)
        stripsRight = try part.bool("rstrip", default: false)
        isNormalized = try part.bool("normalized", default: !special)
        guard isNormalized else { return }
        var text = TrackedText(untracked: content)
        text.allow(room)
        try normalizer.normalize(&text)
        room -= text.peak
        // In the reference it matches between all characters.
        if text.bytes.isEmpty {
            throw part.refuse(
                "the token \"\(String(decoding: content, as: UTF8.self))\", which the normalizer removes")
        }
        sought = text.bytes
    }
}
