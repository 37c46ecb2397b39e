import HubCore
import ModelFormats

/// The tokens that are found in the text before anything else looks at it: `<|eos|>` and its like.
struct AddedTokens: Sendable {
    /// One added token.
    struct Token: Sendable {
        var id: Int
        var content: [UInt8]
        /// What is looked for: the content, normalised where the text is.
        var sought: [UInt8]
        var isSpecial: Bool
        /// Whether white space before it belongs to it.
        var stripsLeft: Bool
        /// Whether white space after it belongs to it.
        var stripsRight: Bool
        var isNormalized: Bool
    }

    /// A stretch of the text: a token where `id` is there, else text for the model.
    struct Segment {
        var range: Range<Int>
        var id: Int?
    }

    let tokens: [Token]
    // By first byte, the longest first: of two that match at one place the longer wins.
    private let untouched: [[Token]]
    private let normalized: [[Token]]

    /// Reads `added_tokens`.
    init(_ list: [JSON], _ normalizer: Normalizer, path: String) throws(AIError) {
        var tokens: [Token] = []
        for json in list {
            let part = try TokenizerComponent(json, place: "added_tokens", path: path)
            guard let content = part["content"]?.string, let id = part["id"]?.int,
                (0...Int64(Int32.max)).contains(id)
            else { throw .malformed(path, "an added token has no content or no valid id") }
            try part.allowOnly(["id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"])
            if try part.bool("single_word", default: false) { throw part.refuse("single_word (\"\(content)\")") }
            let special = try part.bool("special", default: false)
            // An empty token would match everywhere; the reference skips it too.
            if content.isEmpty { continue }
            let isNormalized = try part.bool("normalized", default: !special)
            let bytes = Array(content.utf8)
            tokens.append(
                Token(
                    id: Int(id), content: bytes,
                    sought: isNormalized ? try normalizer.normalize(bytes) ?? bytes : bytes, isSpecial: special,
                    stripsLeft: try part.bool("lstrip", default: false),
                    stripsRight: try part.bool("rstrip", default: false), isNormalized: isNormalized))
        }
        self.tokens = tokens
        untouched = Self.table(tokens.filter { !$0.isNormalized })
        normalized = Self.table(tokens.filter(\.isNormalized))
    }

    private static func table(_ tokens: [Token]) -> [[Token]] {
        if tokens.isEmpty { return [] }
        var table = [[Token]](repeating: [], count: 256)
        for token in tokens { table[Int(token.sought[0])].append(token) }
        return table.map { $0.sorted { $0.sought.count > $1.sought.count } }
    }

    /// Cuts a text at the added tokens that want it as it is, or, where it is normalised, at the others. No segment is
    /// empty.
    func split(_ text: UnsafeBufferPointer<UInt8>, isNormalized: Bool) -> [Segment] {
        let table = isNormalized ? normalized : untouched
        var segments: [Segment] = []
        var done = 0
        var at = table.isEmpty ? text.count : 0
        while at < text.count {
            let candidates = table[Int(text[at])]
            guard !candidates.isEmpty, let token = candidates.first(where: { Self.matches($0.sought, text, at) })
            else {
                at += 1
                continue
            }
            var match = at..<at + token.sought.count
            at = match.upperBound
            if token.stripsLeft {
                let start = Self.whiteSpaceStart(before: match.lowerBound, in: text, from: done)
                match = start..<match.upperBound
            }
            if token.stripsRight {
                match = match.lowerBound..<Self.whiteSpaceEnd(after: match.upperBound, in: text)
            }
            if done < match.lowerBound { segments.append(Segment(range: done..<match.lowerBound, id: nil)) }
            segments.append(Segment(range: match, id: token.id))
            done = match.upperBound
            at = max(at, done)
        }
        if done < text.count { segments.append(Segment(range: done..<text.count, id: nil)) }
        return segments
    }

    private static func matches(_ content: [UInt8], _ text: UnsafeBufferPointer<UInt8>, _ at: Int) -> Bool {
        guard at + content.count <= text.count else { return false }
        for offset in content.indices where text[at + offset] != content[offset] { return false }
        return true
    }

    private static func whiteSpaceStart(before end: Int, in text: UnsafeBufferPointer<UInt8>, from: Int) -> Int {
        let part = String(decoding: text[from..<end], as: UTF8.self).unicodeScalars
        let tail = part.reversed().prefix { $0.properties.isWhitespace }
        return end - tail.reduce(0) { $0 + UTF8.width($1) }
    }

    private static func whiteSpaceEnd(after start: Int, in text: UnsafeBufferPointer<UInt8>) -> Int {
        let part = String(decoding: text[start...], as: UTF8.self).unicodeScalars
        return start + part.prefix { $0.properties.isWhitespace }.reduce(0) { $0 + UTF8.width($1) }
    }
}
