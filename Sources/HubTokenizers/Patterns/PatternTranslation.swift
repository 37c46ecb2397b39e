/// A pattern of a tokenizer.json, rewritten for PCRE2.
///
/// The reference matches with Oniguruma in Ruby's syntax (https://github.com/kkos/oniguruma/blob/master/doc/RE), where
/// much of PCRE2's syntax means something else: `\h` is a hexadecimal digit, `{2}+` repeats a repetition, `(?i:ss)`
/// matches ß. So nothing is passed on unparsed: what is known to mean the same is rewritten, everything else is
/// rejected by name.
struct PatternTranslation {
    /// A part of a pattern that cannot be used.
    struct Refusal: Error {
        /// A noun: `\h`, `a nested set`.
        let what: String
    }

    private enum Group { case plain, assertion }
    /// The element before a repetition.
    private enum Previous { case nothing, atom, assertion, repetition }
    /// One element of a set.
    enum Element {
        case scalar(Unicode.Scalar)
        case kind(String)
    }

    /// The translation, without captures.
    private(set) var text = ""

    let source: [Unicode.Scalar]
    var at = 0
    private var groups: [(kind: Group, ignoresCase: Bool)] = []
    private var previous = Previous.nothing
    /// The preceding literal, if case is ignored.
    private var foldedLiteral: Unicode.Scalar?

    private static let longest = 16384

    /// White_Space of the Unicode Standard, the meaning of Oniguruma's `\s`: PCRE2's own also matches U+180E
    /// (pcre2pattern, "Generic character types").
    static let space =
        #"\x{9}-\x{D}\x{20}\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}"#

    /// Oniguruma's `\w` in a set: Alphabetic and the general categories M, Nd and Pc. Outside a set it also matches six
    /// Latin-1 characters; both were measured over every character.
    static let word = #"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"#
    private static let wordCharacters = word + #"\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE}"#

    /// `\b`: a word boundary; `\B`: not one.
    private static let boundary =
        "(?:(?<=[\(wordCharacters)])(?![\(wordCharacters)])|(?<![\(wordCharacters)])(?=[\(wordCharacters)]))"
    private static let noBoundary = "(?!\(boundary))"

    /// General categories: the only properties with the same names and members in both.
    private static let categories: Set<String> = [
        "C", "Cc", "Cf", "Cn", "Co", "Cs", "L", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn", "N", "Nd",
        "Nl", "No", "P", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S", "Sc", "Sk", "Sm", "So", "Z", "Zl", "Zp",
        "Zs",
    ]

    /// The scripts used in models' patterns.
    private static let scripts: Set<String> = [
        "Arabic", "Cyrillic", "Devanagari", "Greek", "Han", "Hangul", "Hebrew", "Hiragana", "Katakana", "Latin",
        "Thai",
    ]

    /// Pairs that Oniguruma matches with one letter if case is ignored: ß, ﬀ, ﬁ, ﬂ, ﬅ (CaseFolding.txt, status F).
    private static let foldedPairs: Set<String> = ["ss", "ff", "fi", "fl", "st"]

    init(_ pattern: String) throws(Refusal) {
        source = Array(pattern.unicodeScalars)
        guard source.count <= Self.longest else { throw Refusal(what: "more than \(Self.longest) characters") }
        while let scalar = take() {
            switch scalar {
            case "\\": try escape()
            case "[": add(try set().expression, .atom)
            case "(": try open()
            case ")": close()
            case "|": add("|", .nothing)
            case "*", "+", "?": try quantify(String(scalar))
            case "{": try interval()
            case ".": add(#"[^\x{A}]"#, .atom)
            // At every line start, but not after a final line feed.
            case "^": add(#"(?:\A|(?<=\x{A})(?!\z))"#, .assertion)
            case "$": add(#"(?![^\x{A}])"#, .assertion)
            default: try literal(scalar)
            }
        }
    }

    /// A literal text.
    static func literal(_ text: String) -> String { text.unicodeScalars.map(spelled).joined() }

    static func spelled(_ scalar: Unicode.Scalar) -> String {
        #"\x{"# + String(scalar.value, radix: 16, uppercase: true) + "}"
    }

    var ignoresCase: Bool { groups.last?.ignoresCase ?? false }
    var next: Unicode.Scalar? { at < source.count ? source[at] : nil }

    mutating func take() -> Unicode.Scalar? {
        guard let next else { return nil }
        at += 1
        return next
    }

    mutating func take(_ expected: String) -> Bool {
        guard source[at...].starts(with: expected.unicodeScalars) else { return false }
        at += expected.unicodeScalars.count
        return true
    }

    private mutating func add(_ part: String, _ kind: Previous) {
        text += part
        previous = kind
        foldedLiteral = nil
    }

    private mutating func literal(_ scalar: Unicode.Scalar) throws(Refusal) {
        let before = foldedLiteral
        add(Self.spelled(scalar), .atom)
        guard ignoresCase else { return }
        try checkFolding(scalar)
        if let before, Self.foldedPairs.contains(String([before, scalar].map(Character.init)).lowercased()) {
            throw Refusal(what: "\"\(before)\(scalar)\" where case is ignored")
        }
        foldedLiteral = scalar
    }

    func checkFolding(_ scalar: Unicode.Scalar) throws(Refusal) {
        if !scalar.isASCII { throw Refusal(what: "\"\(scalar)\" where case is ignored") }
    }

    // MARK: Groups

    private mutating func open() throws(Refusal) {
        var group = (kind: Group.plain, ignoresCase: ignoresCase)
        // Captures are useless without back references, which are rejected.
        var opening = "(?:"
        if next == "*" { throw Refusal(what: "(*") }
        if take("?") {
            let start = at
            if let sign = ["=", "!", "<=", "<!"].first(where: { take($0) }) {
                opening = "(?" + sign
                group.kind = .assertion
            } else if take(">") {
                opening = "(?>"
            } else if take("i:") {
                opening = "(?i:"
                group.ignoresCase = true
            } else if !take(":") {
                throw Refusal(what: "(?" + String(String.UnicodeScalarView(source[start...].prefix(1))))
            }
        }
        add(opening, .nothing)
        groups.append(group)
    }

    private mutating func close() {
        // PCRE2 reports an unmatched closing parenthesis.
        let group = groups.popLast()
        add(")", group?.kind == .assertion ? .assertion : .atom)
    }

    // MARK: Repetitions

    private mutating func quantify(_ sign: String) throws(Refusal) {
        switch previous {
        case .atom: break
        case .nothing: throw Refusal(what: "a repetition of nothing")
        case .assertion: throw Refusal(what: "a repeated assertion")
        case .repetition: throw Refusal(what: "a repeated repetition")
        }
        let suffix = ["?", "+"].first { take($0) } ?? ""
        add(sign + suffix, .repetition)
    }

    private mutating func interval() throws(Refusal) {
        let least = digits()
        let comma = take(",")
        let most = comma ? digits() : least
        guard take("}"), !(least.isEmpty && most.isEmpty), max(least.count, most.count) <= 5 else {
            throw Refusal(what: "{ that does not begin a repetition")
        }
        if ignoresCase { throw Refusal(what: "{ where case is ignored") }
        // `{2}?` is an optional `{2}`, and `{1,2}+` a repeated `{1,2}`.
        if next == "+" || (next == "?" && !comma) { throw Refusal(what: "a repeated repetition") }
        try quantify("{" + (least.isEmpty ? "0" : least) + (comma ? "," + most : "") + "}")
    }

    private mutating func digits() -> String {
        var digits = ""
        while let next, ("0"..."9").contains(next) {
            digits.unicodeScalars.append(next)
            at += 1
        }
        return digits
    }

    // MARK: Escapes

    private mutating func escape() throws(Refusal) {
        if take("b") { return add(Self.boundary, .assertion) }
        if take("B") { return add(Self.noBoundary, .assertion) }
        switch try element(inSet: false) {
        case .scalar(let scalar): try literal(scalar)
        case .kind(let kind): add(kind, .atom)
        }
    }

    /// The element after a backslash.
    mutating func element(inSet: Bool) throws(Refusal) -> Element {
        guard let scalar = take() else { throw Refusal(what: "a backslash at its end") }
        switch scalar {
        case "r": return .scalar("\r")
        case "n": return .scalar("\n")
        case "t": return .scalar("\t")
        case "f": return .scalar("\u{C}")
        case "v": return .scalar("\u{B}")
        case "a": return .scalar("\u{7}")
        case "e": return .scalar("\u{1B}")
        case "x": return .scalar(try hexadecimal())
        case "u": return .scalar(try character(number(4)))
        case "s": return .kind(inSet ? Self.space : "[\(Self.space)]")
        case "S" where !inSet: return .kind("[^\(Self.space)]")
        // If case is ignored, Oniguruma lets a set match two letters as one.
        case "w" where !(inSet && ignoresCase): return .kind(inSet ? Self.word : "[\(Self.wordCharacters)]")
        case "W" where !inSet: return .kind("[^\(Self.wordCharacters)]")
        case "d": return .kind(#"\p{Nd}"#)
        case "D": return .kind(#"\P{Nd}"#)
        case "p", "P": return .kind(try property(scalar))
        case "0"..."9", "A"..."Z", "a"..."z":
            throw Refusal(what: "\\\(scalar)" + (inSet ? " in a set" : ""))
        default: return .scalar(scalar)
        }
    }

    private mutating func hexadecimal() throws(Refusal) -> Unicode.Scalar {
        if take("{") {
            let value = number(8)
            guard take("}") else { throw Refusal(what: "\\x{ that does not end") }
            return try character(value)
        }
        let value = number(2)
        // One byte of a character, not a character.
        if let value, value >= 0x80 { throw Refusal(what: "\\x\(String(value, radix: 16))") }
        return try character(value)
    }

    private mutating func number(_ most: Int) -> UInt32? {
        var digits = ""
        while digits.count < most, let next, next.properties.isASCIIHexDigit {
            digits.unicodeScalars.append(next)
            at += 1
        }
        return UInt32(digits, radix: 16)
    }

    private func character(_ value: UInt32?) throws(Refusal) -> Unicode.Scalar {
        guard let value, let scalar = Unicode.Scalar(value) else {
            throw Refusal(what: "a number that is not a character")
        }
        return scalar
    }

    private mutating func property(_ letter: Unicode.Scalar) throws(Refusal) -> String {
        let start = at
        guard take("{") else { throw Refusal(what: "\\\(letter) without a name") }
        let not = take("^") ? "^" : ""
        var name = ""
        while let scalar = take(), scalar != "}" { name.unicodeScalars.append(scalar) }
        guard Self.categories.contains(name) || Self.scripts.contains(name) else {
            throw Refusal(what: "\\\(letter)" + String(String.UnicodeScalarView(source[start..<at])))
        }
        if ignoresCase { throw Refusal(what: "\\\(letter){\(name)} where case is ignored") }
        // PCRE2 defaults to script extensions, the reference to scripts.
        return "\\\(letter){\(not)\(Self.scripts.contains(name) ? "sc:" : "")\(name)}"
    }
}
