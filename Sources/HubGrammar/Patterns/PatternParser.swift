import HubCore

/// Reads regular expressions of ECMA-262 without lookaround, back-references and what depends on a language
/// (https://tc39.es/ecma262/#sec-patterns).
struct PatternParser {
    private let scalars: [Unicode.Scalar]
    private let source: String
    private var at = 0
    private var depth = 0

    /// Levels of groups, and repetitions of one part.
    private static let (deepest, most) = (100, 100_000)

    private init(_ source: String) {
        self.source = source
        scalars = Array(source.unicodeScalars)
    }

    /// - Throws: ``ErrorCode/invalidInput`` that names what is wrong or not supported.
    static func parse(_ source: String) throws(AIError) -> CharacterPattern {
        var parser = PatternParser(source)
        let pattern = try parser.choice()
        guard parser.at == parser.scalars.count else { throw parser.error("a ) has no (") }
        return pattern
    }

    private func error(_ what: String) -> AIError {
        AIError(.invalidInput, "the regular expression \"\(source.printable)\": \(what), at character \(at + 1)")
    }

    private var peek: Unicode.Scalar? { at < scalars.count ? scalars[at] : nil }

    private mutating func take(_ text: String) -> Bool {
        let wanted = Array(text.unicodeScalars)
        guard scalars[at...].starts(with: wanted) else { return false }
        at += wanted.count
        return true
    }

    private mutating func choice() throws(AIError) -> CharacterPattern {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else { throw error("it has more than \(Self.deepest) levels of groups") }
        var parts = [try sequence()]
        while take("|") { parts.append(try sequence()) }
        return parts.count == 1 ? parts[0] : .choice(parts)
    }

    private mutating func sequence() throws(AIError) -> CharacterPattern {
        var parts: [CharacterPattern] = []
        while let next = peek, next != "|", next != ")" {
            parts.append(try quantified(try atom(next)))
        }
        return parts.count == 1 ? parts[0] : parts.isEmpty ? .empty : .sequence(parts)
    }

    private mutating func atom(_ next: Unicode.Scalar) throws(AIError) -> CharacterPattern {
        switch next {
        case "^":
            at += 1
            return .start
        case "$":
            at += 1
            return .end
        case ".":
            at += 1
            return .set(CharacterClasses.newlines.inverted)
        case "(": return try group()
        case "[": return .set(try bracket())
        case "\\": return .set(try escape(inBrackets: false))
        case "*", "+", "?": throw error("there is nothing to repeat before \(next)")
        case "{", "}", "]": throw error("a \(next) must be written as \\\(next)")
        default:
            at += 1
            return .set(CodePoints(next))
        }
    }

    private mutating func group() throws(AIError) -> CharacterPattern {
        at += 1
        if take("?") {
            if take(":") {
            } else if take("=") || take("!") || take("<=") || take("<!") {
                throw error("lookaround is not supported")
            } else if take("<") {
                while let next = peek, next != ">" { at += 1 }
                guard take(">") else { throw error("a group's name does not end") }
            } else {
                throw error("this kind of group is not supported")
            }
        }
        let inner = try choice()
        guard take(")") else { throw error("a ( has no )") }
        return inner
    }

    private mutating func quantified(_ part: CharacterPattern) throws(AIError) -> CharacterPattern {
        let bounds: (Int, Int?)
        if take("*") {
            bounds = (0, nil)
        } else if take("+") {
            bounds = (1, nil)
        } else if take("?") {
            bounds = (0, 1)
        } else if take("{") {
            bounds = try count()
        } else {
            return part
        }
        // Lazy or not, the texts are the same.
        _ = take("?")
        if let next = peek, next == "*" || next == "+" || next == "{" { throw error("there is nothing to repeat") }
        guard !part.isAnchored else { throw error("^ and $ cannot be repeated") }
        return .repeated(part, bounds.0, bounds.1)
    }

    private mutating func count() throws(AIError) -> (Int, Int?) {
        guard let low = try number() else { throw error("a number must follow {") }
        var high: Int? = low
        if take(",") { high = try number() }
        guard take("}") else { throw error("a { has no }") }
        if let high, high < low { throw error("the counts \(low) and \(high) are out of order") }
        return (low, high)
    }

    private mutating func number() throws(AIError) -> Int? {
        var value: Int?
        while let digit = peek?.properties.numericType == .decimal ? peek : nil, ("0"..."9").contains(digit) {
            value = (value ?? 0) * 10 + Int(digit.value - 0x30)
            at += 1
            guard value! <= Self.most else { throw error("at most \(Self.most) repetitions are supported") }
        }
        return value
    }

    // MARK: Classes

    private mutating func bracket() throws(AIError) -> CodePoints {
        at += 1
        let isInverted = take("^")
        var ranges: [ClosedRange<UInt32>] = []
        while !take("]") {
            let low = try member()
            guard peek == "-", at + 1 < scalars.count, scalars[at + 1] != "]" else {
                ranges += low.ranges
                continue
            }
            at += 1
            let high = try member()
            guard let first = low.single, let last = high.single else {
                throw error("a range cannot begin or end with a class of characters")
            }
            guard first <= last else { throw error("a range is out of order") }
            ranges.append(first...last)
        }
        let set = CodePoints(ranges)
        return isInverted ? set.inverted : set
    }

    private mutating func member() throws(AIError) -> CodePoints {
        guard let next = peek else { throw error("a [ has no ]") }
        if next == "\\" { return try escape(inBrackets: true) }
        at += 1
        return CodePoints(next)
    }

    private mutating func escape(inBrackets: Bool) throws(AIError) -> CodePoints {
        at += 1
        guard let next = peek else { throw error("nothing follows the last \\") }
        at += 1
        if let set = CharacterClasses.escaped[next] { return set }
        switch next {
        case "x": return try hexadecimal(2)
        case "u": return try unicode()
        case "c":
            guard let letter = peek, letter.isASCII, letter.properties.isAlphabetic else {
                throw error("a letter must follow \\c")
            }
            at += 1
            return CodePoints([(letter.value & 31)...(letter.value & 31)])
        case "0":
            if let digit = peek, ("0"..."9").contains(digit) { throw error("octal escapes are not supported") }
            return CodePoints("\0")
        case "b" where inBrackets: return CodePoints("\u{8}")
        case "b", "B": throw error("word boundaries (\\\(next)) are not supported")
        case "p", "P": throw error("Unicode properties (\\\(next)) are not supported")
        case "1"..."9", "k": throw error("back-references are not supported")
        default:
            guard !next.properties.isAlphabetic else { throw error("the escape \\\(next) is not known") }
            return CodePoints(next)
        }
    }

    private mutating func hexadecimal(_ digits: Int) throws(AIError) -> CodePoints {
        let text = String(String.UnicodeScalarView(scalars[at...].prefix(digits)))
        guard text.unicodeScalars.count == digits, text.allSatisfy(\.isHexDigit),
            let value = UInt32(text, radix: 16)
        else { throw error("\(digits) hexadecimal digits must follow") }
        at += digits
        return CodePoints([value...value])
    }

    private mutating func unicode() throws(AIError) -> CodePoints {
        if take("{") {
            var digits = ""
            while let next = peek, next != "}" {
                digits.unicodeScalars.append(next)
                at += 1
            }
            guard take("}"), let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value) else {
                throw error("there is no character \\u{\(digits)}")
            }
            return CodePoints(scalar)
        }
        let begin = at
        let first = try hexadecimal(4)
        if first.single != nil { return first }
        // A surrogate: the other half must follow.
        let digits = String(String.UnicodeScalarView(scalars[begin..<(begin + 4)]))
        guard let high = UInt32(digits, radix: 16), high < 0xDC00, take("\\u") else {
            throw error("half of a surrogate pair is not a character")
        }
        let rest = String(String.UnicodeScalarView(scalars[at...].prefix(4)))
        guard let low = UInt32(rest, radix: 16), (0xDC00...0xDFFF).contains(low) else {
            throw error("half of a surrogate pair is not a character")
        }
        at += 4
        let value = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)
        return CodePoints([value...value])
    }
}

/// The classes of characters that have names.
enum CharacterClasses {
    /// `LineTerminator` of ECMA-262.
    static let newlines = CodePoints([0xA...0xA, 0xD...0xD, 0x2028...0x2029])
    private static let digits = CodePoints([0x30...0x39])
    private static let words = CodePoints([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    /// `WhiteSpace` and `LineTerminator` of ECMA-262.
    private static let spaces = CodePoints([
        9...13, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029, 0x202F...0x202F,
        0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
    ])

    static let escaped: [Unicode.Scalar: CodePoints] = [
        "d": digits, "D": digits.inverted, "w": words, "W": words.inverted, "s": spaces, "S": spaces.inverted,
        "n": CodePoints("\n"), "r": CodePoints("\r"), "t": CodePoints("\t"), "f": CodePoints("\u{C}"),
        "v": CodePoints("\u{B}"),
    ]
}

extension CodePoints {
    /// The value, if there is one alone.
    var single: UInt32? {
        guard ranges.count == 1, ranges[0].count == 1 else { return nil }
        return ranges[0].lowerBound
    }
}
