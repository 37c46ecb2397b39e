extension Jinja.Lexer {
    /// Reads a name, if one begins here.
    mutating func takeName() throws(Jinja.Fault) -> Bool {
        guard source[at] == "_" || source[at].properties.isXIDStart else { return false }
        var end = at + 1
        while end < source.count, source[end].properties.isXIDContinue { end += 1 }
        guard end - at <= Jinja.longestName else {
            throw Jinja.Fault(
                kind: .limit,
                message: "the name \(Jinja.Text(source[at..<at + 20]).string)... has more than "
                    + "\(Jinja.longestName) characters", line: line)
        }
        take(.name(Jinja.Text(source[at..<end]).string), to: end)
        return true
    }

    /// Reads a number, if one begins here.
    mutating func takeNumber() throws(Jinja.Fault) -> Bool {
        guard isDigit(at) else { return false }
        if at == 0 || source[at - 1] != ".", let end = floatEnd(at) {
            guard let value = Double(digits(at..<end)) else { throw fail("'\(digits(at..<end))' is not a number") }
            take(.float(value), to: end)
            return true
        }
        let (radix, start, end) = integerRange(at)
        guard let value = Int(digits(start..<end), radix: radix) else {
            throw Jinja.Fault(
                kind: .unsupported, message: "the number \(digits(at..<end)) is too large", line: line)
        }
        take(.integer(value), to: end)
        return true
    }

    private func isDigit(_ place: Int) -> Bool {
        place < source.count && (0x30...0x39).contains(source[place].value)
    }

    private func digits(_ range: Range<Int>) -> String { Jinja.Text(source[range].filter { $0 != "_" }).string }

    /// The end of digits, which single underscores may separate.
    private func digitsEnd(_ start: Int, where holds: (Unicode.Scalar) -> Bool) -> Int {
        var end = start
        while end < source.count {
            if holds(source[end]) {
                end += 1
            } else if source[end] == "_", end > start, end + 1 < source.count, holds(source[end + 1]) {
                end += 2
            } else {
                break
            }
        }
        return end
    }

    private func isDecimal(_ scalar: Unicode.Scalar) -> Bool { (0x30...0x39).contains(scalar.value) }

    private func floatEnd(_ start: Int) -> Int? {
        let whole = digitsEnd(start, where: isDecimal)
        var end = whole
        if whole < source.count, source[whole] == ".", isDigit(whole + 1) {
            end = digitsEnd(whole + 1, where: isDecimal)
        }
        if end < source.count, source[end] == "e" || source[end] == "E" {
            var exponent = end + 1
            if exponent < source.count, source[exponent] == "+" || source[exponent] == "-" { exponent += 1 }
            if isDigit(exponent) { return digitsEnd(exponent, where: isDecimal) }
        }
        return end > whole ? end : nil
    }

    private func integerRange(_ start: Int) -> (radix: Int, start: Int, end: Int) {
        if source[start] == "0" {
            if start + 1 < source.count {
                for (letter, radix) in [("b", 2), ("o", 8), ("x", 16)] {
                    guard String(source[start + 1]).lowercased() == letter else { continue }
                    let first = start + 2 < source.count && source[start + 2] == "_" ? start + 3 : start + 2
                    let end = digitsEnd(first) { $0.isASCII && Int(String($0), radix: radix) != nil }
                    if end > first { return (radix, first, end) }
                }
            }
            return (10, start, digitsEnd(start) { $0 == "0" })
        }
        return (10, start, digitsEnd(start, where: isDecimal))
    }

    /// Reads a string, if one begins here.
    mutating func takeString() throws(Jinja.Fault) -> Bool {
        let quote = source[at]
        guard quote == "'" || quote == "\"" else { return false }
        var end = at + 1
        while end < source.count, source[end] != quote { end += source[end] == "\\" ? 2 : 1 }
        // An unterminated string: the quote itself is the error.
        guard end < source.count else { return false }
        take(.string(try unescaped(at + 1..<end)), to: end + 1)
        return true
    }

    /// As Python's `unicode-escape`: unknown escapes stay unchanged.
    private func unescaped(_ range: Range<Int>) throws(Jinja.Fault) -> Jinja.Text {
        var result: [Unicode.Scalar] = []
        var place = range.lowerBound
        while place < range.upperBound {
            let scalar = source[place]
            place += 1
            guard scalar == "\\", place < range.upperBound else {
                result.append(scalar)
                continue
            }
            let escape = source[place]
            place += 1
            // An escaped line break is dropped.
            if escape == "\n" { continue }
            if let plain = Self.plainEscapes[escape] {
                result.append(plain)
            } else if (0x30...0x37).contains(escape.value) {
                let end = (place..<min(place + 2, range.upperBound)).first {
                    !(0x30...0x37).contains(source[$0].value)
                }
                let octal = place - 1..<(end ?? min(place + 2, range.upperBound))
                result.append(try codePoint(digits(octal), radix: 8))
                place = octal.upperBound
            } else if let width = Self.hexadecimal[escape] {
                guard place + width <= range.upperBound else { throw fail("truncated \\\(escape) escape") }
                result.append(try codePoint(Jinja.Text(source[place..<place + width]).string, radix: 16))
                place += width
            } else if escape == "N" {
                throw Jinja.Fault(
                    kind: .unsupported, message: "characters by name (\\N{...}) cannot be used", line: line)
            } else {
                // Non-ASCII characters were turned into escapes before, so this backslash escapes theirs.
                result += (escape.isASCII ? "\\\(escape)" : escape.pythonEscape).unicodeScalars
            }
        }
        return Jinja.Text(result)
    }

    private static let plainEscapes: [Unicode.Scalar: Unicode.Scalar] = [
        "\\": "\\", "'": "'", "\"": "\"", "a": "\u{7}", "b": "\u{8}", "f": "\u{C}", "n": "\n",
        "r": "\r", "t": "\t", "v": "\u{B}",
    ]
    private static let hexadecimal: [Unicode.Scalar: Int] = ["x": 2, "u": 4, "U": 8]

    private func codePoint(_ digits: String, radix: Int) throws(Jinja.Fault) -> Unicode.Scalar {
        // UInt32 would accept a sign.
        guard digits.unicodeScalars.allSatisfy(\.properties.isASCIIHexDigit),
            let value = UInt32(digits, radix: radix)
        else { throw fail("'\(digits)' is not a code point") }
        guard let scalar = Unicode.Scalar(value) else { throw fail("U+\(digits.uppercased()) is not a character") }
        return scalar
    }
}
