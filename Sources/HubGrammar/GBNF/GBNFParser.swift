import HubCore

/// Reads llama.cpp's grammars (https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md).
struct GBNFParser {
    private indirect enum Expression {
        case set(CodePoints)
        case text([Unicode.Scalar])
        case rule(String, line: Int)
        case sequence([Expression])
        case choice([Expression])
        case repeated(Expression, Int, Int?)
    }

    private let scalars: [Unicode.Scalar]
    private var at = 0
    private var line = 1
    private var depth = 0
    private var level = 0
    private var rules: [String: Expression] = [:]
    private(set) var builder = GrammarBuilder("the grammar")
    private var open: [String: Int] = [:]
    private var finished: [String: GrammarSymbol] = [:]

    /// Levels of parentheses, `*` and the like on one part, and repetitions of one part.
    private static let (deepest, mostQuantifiers, most) = (100, 10, 100_000)
    /// Levels of rules within rules and of what is in them.
    private static let deepestRule = 400

    /// Reads the rules.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` that names the line and what is wrong.
    init(_ source: String) throws(AIError) {
        scalars = Array(source.unicodeScalars)
        try skip(newlines: true)
        while peek != nil { try rule() }
        guard rules["root"] != nil else { throw AIError(.invalidInput, "the grammar has no rule \"root\"") }
    }

    private func error(_ what: String) -> AIError { AIError(.invalidInput, "the grammar, line \(line): \(what)") }

    private var peek: Unicode.Scalar? { at < scalars.count ? scalars[at] : nil }

    private mutating func advance() {
        if peek == "\n" { line += 1 }
        at += 1
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard peek == scalar else { return false }
        advance()
        return true
    }

    /// Skips white space and comments.
    private mutating func skip(newlines: Bool) throws(AIError) {
        while let next = peek {
            if next == "#" {
                while let next = peek, next != "\n" { at += 1 }
            } else if next == " " || next == "\t" || newlines && (next == "\n" || next == "\r") {
                advance()
            } else {
                return
            }
        }
    }

    private static func isName(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_": true
        default: false
        }
    }

    private mutating func name() -> String {
        let start = at
        while let next = peek, Self.isName(next) { at += 1 }
        return String(String.UnicodeScalarView(scalars[start..<at]))
    }

    private mutating func rule() throws(AIError) {
        let name = name()
        guard !name.isEmpty else {
            throw error("a rule's name is expected, not \"\(peek.map(String.init)?.printable ?? "")\"")
        }
        try skip(newlines: false)
        for scalar in "::=".unicodeScalars {
            guard take(scalar) else { throw error("::= must follow the name \(name)") }
        }
        try skip(newlines: true)
        guard rules[name] == nil else { throw error("the rule \(name) is there twice") }
        rules[name] = try choice(isNested: false)
        guard peek == nil || take("\n") || take("\r") else {
            throw error("\"\(peek.map(String.init)?.printable ?? "")\" cannot stand here")
        }
        try skip(newlines: true)
    }

    private mutating func choice(isNested: Bool) throws(AIError) -> Expression {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else {
            throw error("there are more than \(Self.deepest) levels of parentheses")
        }
        var parts = [try sequence(isNested: isNested)]
        while take("|") {
            try skip(newlines: true)
            parts.append(try sequence(isNested: isNested))
        }
        return parts.count == 1 ? parts[0] : .choice(parts)
    }

    private mutating func sequence(isNested: Bool) throws(AIError) -> Expression {
        var parts: [Expression] = []
        while let next = peek, let part = try part(next) {
            try skip(newlines: isNested)
            parts.append(try quantified(part, isNested: isNested))
        }
        return parts.count == 1 ? parts[0] : .sequence(parts)
    }

    private mutating func part(_ next: Unicode.Scalar) throws(AIError) -> Expression? {
        switch next {
        case "\"": return try text()
        case "[": return try bracket()
        case ".":
            at += 1
            return .set(.all)
        case "(":
            at += 1
            try skip(newlines: true)
            let inner = try choice(isNested: true)
            guard take(")") else { throw error("a ( has no )") }
            return inner
        case "<", "!": throw error("tokens (<...>) are not supported")
        default:
            let line = line
            let name = name()
            return name.isEmpty ? nil : .rule(name, line: line)
        }
    }

    private mutating func quantified(_ part: Expression, isNested: Bool) throws(AIError) -> Expression {
        var part = part
        for _ in 0...Self.mostQuantifiers {
            if take("*") {
                part = .repeated(part, 0, nil)
            } else if take("+") {
                part = .repeated(part, 1, nil)
            } else if take("?") {
                part = .repeated(part, 0, 1)
            } else if take("{") {
                part = try counted(part)
            } else {
                return part
            }
            try skip(newlines: isNested)
        }
        throw error("a part has more than \(Self.mostQuantifiers) repetitions one after the other")
    }

    private mutating func counted(_ part: Expression) throws(AIError) -> Expression {
        try skip(newlines: true)
        guard let low = try number() else { throw error("a number must follow {") }
        var high: Int? = low
        try skip(newlines: true)
        if take(",") {
            try skip(newlines: true)
            high = try number()
            try skip(newlines: true)
        }
        guard take("}") else { throw error("a { has no }") }
        if let high, high < low { throw error("the counts \(low) and \(high) are out of order") }
        return .repeated(part, low, high)
    }

    private mutating func number() throws(AIError) -> Int? {
        var value: Int?
        while let digit = peek, ("0"..."9").contains(digit) {
            value = (value ?? 0) * 10 + Int(digit.value - 0x30)
            at += 1
            guard value! <= Self.most else { throw error("at most \(Self.most) repetitions are supported") }
        }
        return value
    }

    // MARK: Characters

    private mutating func text() throws(AIError) -> Expression {
        at += 1
        var text: [Unicode.Scalar] = []
        while !take("\"") { text.append(try character(end: "\"")) }
        return .text(text)
    }

    private mutating func bracket() throws(AIError) -> Expression {
        at += 1
        let isInverted = take("^")
        var ranges: [ClosedRange<UInt32>] = []
        while !take("]") {
            let low = try character(end: "]")
            guard peek == "-", at + 1 < scalars.count, scalars[at + 1] != "]" else {
                ranges.append(low.value...low.value)
                continue
            }
            at += 1
            let high = try character(end: "]")
            guard low <= high else { throw error("a range is out of order") }
            ranges.append(low.value...high.value)
        }
        let set = CodePoints(ranges)
        return .set(isInverted ? set.inverted : set)
    }

    private mutating func character(end: Unicode.Scalar) throws(AIError) -> Unicode.Scalar {
        guard let next = peek, next != "\n" || end == "]" else { throw error("the closing \(end) is missing") }
        advance()
        guard next == "\\" else { return next }
        guard let escaped = peek else { throw error("nothing follows the last \\") }
        at += 1
        switch escaped {
        case "x": return try hexadecimal(2)
        case "u": return try hexadecimal(4)
        case "U": return try hexadecimal(8)
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "\\", "\"", "[", "]", "-", "^": return escaped
        default: throw error("the escape \\\(escaped) is not known")
        }
    }

    private mutating func hexadecimal(_ digits: Int) throws(AIError) -> Unicode.Scalar {
        let text = String(String.UnicodeScalarView(scalars[at...].prefix(digits)))
        guard text.unicodeScalars.count == digits, text.allSatisfy(\.isHexDigit),
            let value = UInt32(text, radix: 16),
            let scalar = Unicode.Scalar(value)
        else { throw error("\(digits) hexadecimal digits of a character must follow") }
        at += digits
        return scalar
    }

    // MARK: Rules

    /// Turns the rules into a grammar's.
    mutating func compile() throws(AIError) -> GrammarSymbol { try symbol("root", line: 1) }

    private mutating func symbol(_ name: String, line: Int) throws(AIError) -> GrammarSymbol {
        if let known = finished[name] { return known }
        if let rule = open[name] { return builder.reference(rule) }
        guard let expression = rules[name] else {
            throw AIError(.invalidInput, "the grammar, line \(line): there is no rule \(name)")
        }
        guard level <= Self.deepestRule else {
            throw AIError(
                .invalidInput,
                "the grammar, line \(line): the rule \(name) is more than \(Self.deepestRule) levels below root")
        }
        let rule = builder.open()
        open[name] = rule
        var alternatives: [[GrammarSymbol]] = []
        if case .choice(let parts) = expression {
            for part in parts { alternatives.append(try symbols(part)) }
        } else {
            alternatives = [try symbols(expression)]
        }
        let made = try builder.finish(rule, alternatives)
        finished[name] = made
        return made
    }

    private mutating func symbols(_ expression: Expression) throws(AIError) -> [GrammarSymbol] {
        guard case .sequence(let parts) = expression else { return [try symbol(expression)] }
        var symbols: [GrammarSymbol] = []
        for part in parts { symbols.append(try symbol(part)) }
        return symbols
    }

    private mutating func symbol(_ expression: Expression) throws(AIError) -> GrammarSymbol {
        level += 1
        defer { level -= 1 }
        switch expression {
        case .set(let set): return .terminal(builder.store.character(set, .plain))
        case .text(let text):
            return .terminal(builder.store.literal(String(String.UnicodeScalarView(text))))
        case .rule(let name, let line): return try symbol(name, line: line)
        case .sequence: return try builder.choice([try symbols(expression)])
        case .choice(let parts):
            var alternatives: [[GrammarSymbol]] = []
            for part in parts { alternatives.append(try symbols(part)) }
            return try builder.choice(alternatives)
        case .repeated(let part, let low, let high): return try builder.repeated(try symbol(part), low, high)
        }
    }
}
