import HubCore
import ModelFormats

/// A literal text or a regular expression.
enum TextPattern: Sendable {
    case literal([UInt8])
    case expression(Pattern)

    /// Reads `{"String": …}` or `{"Regex": …}`, the setting `pattern` of a part.
    init(_ part: TokenizerComponent) throws(AIError) {
        guard let members = part["pattern"]?.object, members.count == 1, let member = members.members.first,
            let text = member.value.string
        else { throw part.malformed("has no pattern") }
        switch member.key {
        case "Regex": self = .expression(try Pattern(text, path: part.path))
        case "String" where text.isEmpty: self = .expression(try Pattern(literal: "", path: part.path))
        case "String": self = .literal(Array(text.utf8))
        default: throw part.refuse("pattern \(member.key)")
        }
    }

    /// The matches from left to right.
    ///
    /// - Throws: ``ErrorCode/generationFailed`` if a limit is reached.
    func matches(in text: UnsafeBufferPointer<UInt8>) throws(AIError) -> [Range<Int>] {
        switch self {
        case .expression(let pattern): return try pattern.matches(in: text)
        case .literal(let literal):
            var matches: [Range<Int>] = []
            var at = 0
            let first = literal[0]
            while at + literal.count <= text.count {
                if text[at] == first, text[at..<at + literal.count].elementsEqual(literal) {
                    matches.append(at..<at + literal.count)
                    at += literal.count
                } else {
                    at += 1
                }
            }
            return matches
        }
    }

    /// The matches from left to right.
    func matches(in text: [UInt8]) throws(AIError) -> [Range<Int>] {
        let result = text.withUnsafeBufferPointer { text in
            Result { () throws(AIError) in try matches(in: text) }
        }
        return try result.get()
    }
}
