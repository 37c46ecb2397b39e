import HubCore
import ModelFormats

/// The tokens that are found in the text before anything else looks at it: `<|eos|>` and its like.
struct AddedTokens: Sendable {
    /// One added token.
    struct Token: Sendable {
        var id: Int
        var content: [UInt8]
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
    /// By first byte, the longest first: of two that match at one place the longer wins.
    private let byFirstByte: [Bool: [UInt8: [Token]]]

    /// Reads `added_tokens`.
    init(_ list: [JSON], path: String) throws(AIError) {
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
            tokens.append(
                Token(
                    id: Int(id), content: Array(content.utf8), isSpecial: special,
                    stripsLeft: try part.bool("lstrip", default: false),
                    stripsRight: try part.bool("rstrip", default: false),
                    isNormalized: try part.bool("normalized", default: !special)))
        }
        self.tokens = tokens
        byFirstByte = Dictionary(grouping: tokens, by: \.isNormalized).mapValues { group in
            Dictionary(grouping: group) { $0.content[0] }.mapValues {
                $0.sorted { $0.content.count > $1.content.count }
            }
        }
    }

    /// Cuts a text at its added tokens: first at those that want the text as it is, then at those that would see it
    /// normalised. (No normaliser is implemented, so both see the same text; their order still matters.)
    func split(_ text: UnsafeBufferPointer<UInt8>) -> [Segment] {
        var segments = [Segment(range: 0..<text.count, id: nil)]
        for normalized in [false, true] {
            guard let table = byFirstByte[normalized] else { continue }
            segments = segments.flatMap { $0.id == nil ? split(text, $0.range, table) : [$0] }
        }
        return segments.filter { !$0.range.isEmpty }
    }

    private func split(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, _ table: [UInt8: [Token]])
        -> [Segment]
    {
        var segments: [Segment] = []
        var done = range.lowerBound
        var at = range.lowerBound
        while at < range.upperBound {
            guard let candidates = table[text[at]],
                let token = candidates.first(where: { Self.matches($0.content, text, at, range.upperBound) })
            else {
                at += 1
                continue
            }
            var match = at..<at + token.content.count
            at = match.upperBound
            if token.stripsLeft {
                let start = Self.whiteSpaceStart(before: match.lowerBound, in: text, from: range.lowerBound)
                match = max(start, done)..<match.upperBound
            }
            if token.stripsRight {
                match =
                    match.lowerBound..<Self.whiteSpaceEnd(after: match.upperBound, in: text, to: range.upperBound)
            }
            if done < match.lowerBound { segments.append(Segment(range: done..<match.lowerBound, id: nil)) }
            segments.append(Segment(range: match, id: token.id))
            done = match.upperBound
            at = max(at, done)
        }
        if done < range.upperBound { segments.append(Segment(range: done..<range.upperBound, id: nil)) }
        return segments
    }

    private static func matches(_ content: [UInt8], _ text: UnsafeBufferPointer<UInt8>, _ at: Int, _ end: Int)
        -> Bool
    {
        guard at + content.count <= end else { return false }
        for offset in content.indices where text[at + offset] != content[offset] { return false }
        return true
    }

    private static func whiteSpaceStart(before end: Int, in text: UnsafeBufferPointer<UInt8>, from: Int) -> Int {
        let part = String(decoding: text[from..<end], as: UTF8.self).unicodeScalars
        let tail = part.reversed().prefix { $0.properties.isWhitespace }
        return end - tail.reduce(0) { $0 + UTF8.width($1) }
    }

    private static func whiteSpaceEnd(after start: Int, in text: UnsafeBufferPointer<UInt8>, to: Int) -> Int {
        let part = String(decoding: text[start..<to], as: UTF8.self).unicodeScalars
        return start + part.prefix { $0.properties.isWhitespace }.reduce(0) { $0 + UTF8.width($1) }
    }
}
