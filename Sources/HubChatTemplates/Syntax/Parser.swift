extension Jinja {
    /// Parses tokens into a program and reports the errors that Jinja reports when compiling.
    struct Parser {
        private let tokens: [Token]
        private var at = 0
        var depth = 0
        private var names = SpecialName.all
        private var numbers: [String: Int]
        /// The open tags, the innermost last.
        var openTags: [String] = []
        /// The tags that end each open body.
        var ends: [[String]] = []
        var loopDepth = 0
        /// Above 0, unknown filters and tests fail only when run, as inside `if`.
        var looseDepth = 0
        var blockNames: Set<String> = []
        /// The special names read by each open macro.
        private var specialUses: [Set<Int>] = []

        static func program(_ template: String) throws(Fault) -> Program {
            var parser = Parser(try Lexer.tokens(of: template))
            let body = UnsetNames.settled(try parser.body(until: []))
            return Program(body: body, names: parser.names, blocks: UnsetNames.blocks(of: body))
        }

        private init(_ tokens: [Token]) {
            self.tokens = tokens
            numbers = Dictionary(uniqueKeysWithValues: SpecialName.all.enumerated().map { ($1, $0) })
        }
    }
}

// MARK: - Tokens

extension Jinja.Parser {
    typealias Fault = Jinja.Fault
    typealias Token = Jinja.Token
    typealias Statement = Jinja.Statement
    typealias Expression = Jinja.Expression
    typealias Suffix = Jinja.Suffix

    var current: Token { tokens[at] }
    var line: Int { current.line }
    var upcoming: Token { tokens[min(at + 1, tokens.count - 1)] }

    @discardableResult mutating func next() -> Token {
        let token = tokens[at]
        if at + 1 < tokens.count { at += 1 }
        return token
    }

    /// Steps back by one token.
    mutating func back() { at -= 1 }

    func isName(_ name: String) -> Bool { current.kind == .name(name) }
    func isSymbol(_ symbol: Jinja.Symbol) -> Bool { current.kind == .symbol(symbol) }

    mutating func skip(name: String) -> Bool {
        guard isName(name) else { return false }
        next()
        return true
    }

    mutating func skip(_ symbol: Jinja.Symbol) -> Bool {
        guard isSymbol(symbol) else { return false }
        next()
        return true
    }

    func fail(_ message: String, line: Int? = nil) -> Fault {
        Fault(kind: .syntax, message: message, line: line ?? self.line)
    }

    func unexpected(_ expected: String) -> Fault {
        if current.kind == .end { return fail("unexpected end of template, expected '\(expected)'") }
        return fail("expected token '\(expected)', got '\(current.description)'")
    }

    mutating func expect(_ kind: Token.Kind) throws(Fault) {
        guard current.kind == kind else { throw unexpected(Token(kind: kind, line: 0).description) }
        next()
    }

    mutating func expect(_ symbol: Jinja.Symbol) throws(Fault) { try expect(.symbol(symbol)) }

    mutating func expectName() throws(Fault) -> String {
        guard case .name(let name) = current.kind else { throw unexpected("name") }
        next()
        return name
    }

    /// Enters a nesting level; the caller ends it with ``leave()``. This is the only bound on recursion.
    mutating func enter() throws(Fault) {
        depth += 1
        guard depth <= Jinja.nesting else {
            throw Fault(
                kind: .limit, message: "more than \(Jinja.nesting) levels of brackets and blocks", line: line)
        }
    }

    mutating func leave() { depth -= 1 }

    // MARK: Names

    mutating func number(_ name: String) -> Int {
        if let number = numbers[name] { return number }
        numbers[name] = names.count
        names.append(name)
        return names.count - 1
    }

    mutating func read(_ name: String) -> Expression {
        let number = number(name)
        if number < Jinja.SpecialName.all.count, !specialUses.isEmpty {
            specialUses[specialUses.count - 1].insert(number)
        }
        return .name(number)
    }

    /// Parses a body and returns the special names read in it.
    mutating func withSpecialUses<Value>(
        _ body: (inout Self) throws(Fault) -> Value
    ) throws(Fault) -> (Value, Set<Int>) {
        specialUses.append([])
        let value = try body(&self)
        let uses = specialUses.removeLast()
        if !specialUses.isEmpty { specialUses[specialUses.count - 1].formUnion(uses) }
        return (value, uses)
    }
}

// MARK: - Bodies

extension Jinja.Parser {
    /// Statements up to one of the named tags, which is not consumed; with no names, up to the template's end.
    mutating func body(until names: [String]) throws(Fault) -> [Statement] {
        var result: [Statement] = []
        ends.append(names)
        while true {
            let token = current
            switch token.kind {
            case .end:
                guard names.isEmpty else { throw endFault(tag: nil) }
                ends.removeLast()
                return result
            case .data(let text):
                next()
                result.append(Statement(line: token.line, kind: .text(text)))
            case .variableBegin:
                next()
                let value = try tuple()
                try expect(.variableEnd)
                result.append(Statement(line: token.line, kind: .output([value])))
            default:
                next()
                if case .name(let name) = current.kind, names.contains(name) {
                    ends.removeLast()
                    return result
                }
                result.append(try statement())
                try expect(.blockEnd)
            }
        }
    }

    /// The rest of an opening tag, then statements up to one of the named tags, which is consumed.
    mutating func statements(until names: String...) throws(Fault) -> (body: [Statement], end: String) {
        _ = skip(.colon)
        try expect(.blockEnd)
        let statements = try body(until: names)
        return (statements, try expectName())
    }

    /// Statements in a new scope.
    mutating func inner(until name: String) throws(Fault) -> Jinja.Body {
        Jinja.Body(statements: try statements(until: name).body)
    }

    func endFault(tag: String?) -> Fault {
        var message = tag.map { "Encountered unknown tag '\($0)'." } ?? "Unexpected end of template."
        let wanted = (ends.last ?? []).map { "'\($0)'" }.joined(separator: " or ")
        if !wanted.isEmpty {
            let isOuter = tag.map { name in ends.contains { $0.contains(name) } } ?? false
            message +=
                isOuter
                ? " You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for "
                    + "\(wanted)."
                : " Jinja was looking for the following tags: \(wanted)."
        }
        if let open = openTags.last { message += " The innermost block that needs to be closed is '\(open)'." }
        return fail(message)
    }
}
