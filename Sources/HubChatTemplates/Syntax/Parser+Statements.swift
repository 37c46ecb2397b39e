extension Jinja.Parser {
    typealias Target = Jinja.Target
    typealias Kind = Jinja.Statement.Kind

    /// A statement, from its tag's name up to its last tag's end, which is not consumed.
    mutating func statement() throws(Fault) -> Statement {
        try enter()
        let line = line
        guard case .name(let tag) = current.kind else { throw fail("tag name expected") }
        openTags.append(tag)
        let kind: Kind
        switch tag {
        case "for": kind = try forLoop()
        case "if": kind = try choice()
        case "set": kind = try assignment()
        case "macro": kind = try macro()
        case "call": kind = try callBlock()
        case "filter": kind = try filterBlock()
        case "with": kind = try with()
        case "print": kind = try print()
        case "block": kind = try block()
        case "generation":
            next()
            // Jinja parses it as a call block.
            kind = .generation(try macroBody(nil, [], until: "endgeneration"))
        case "break", "continue":
            next()
            guard loopDepth > 0 else { throw fail("'\(tag)' outside loop", line: line) }
            kind = .exit(tag == "break" ? .breakLoop : .continueLoop)
        case "include", "import", "extends", "from", "autoescape": kind = try refused(tag)
        default:
            openTags.removeLast()
            throw endFault(tag: tag)
        }
        openTags.removeLast()
        leave()
        return Statement(line: line, kind: kind)
    }

    // MARK: Loops and choices

    private mutating func forLoop() throws(Fault) -> Kind {
        next()
        // `loop` must not be assigned anywhere in a loop.
        loopDepth += 1
        let target = try target(allowsAttributes: false)
        guard skip(name: "in") else { throw unexpected("in") }
        loopDepth -= 1
        let sequence = try tuple(allowsCondition: false)
        loopDepth += 1
        let condition = skip(name: "if") ? try expression() : nil
        let isRecursive = skip(name: "recursive")
        let (body, end) = try statements(until: "endfor", "else")
        loopDepth -= 1
        let otherwise = end == "else" ? try inner(until: "endfor") : Jinja.Body(statements: [])
        return .loop(
            Jinja.ForLoop(
                target: target, sequence: sequence, condition: condition, isRecursive: isRecursive,
                body: Jinja.Body(statements: body),
                otherwise: otherwise))
    }

    private mutating func choice() throws(Fault) -> Kind {
        looseDepth += 1
        defer { looseDepth -= 1 }
        var branches: [(condition: Expression?, body: [Statement])] = []
        while true {
            next()
            let condition = try tuple(allowsCondition: false)
            let (body, end) = try statements(until: "elif", "else", "endif")
            branches.append((condition, body))
            switch end {
            case "elif":
                // `next()` above expects the tag's name.
                back()
            case "else":
                branches.append((nil, try statements(until: "endif").body))
                return .choice(branches)
            default: return .choice(branches)
            }
        }
    }

    // MARK: Assignments

    private mutating func assignment() throws(Fault) -> Kind {
        next()
        let target = try target(allowsAttributes: true)
        if skip(.assign) { return .set(target, try tuple()) }
        var filters: [Suffix] = []
        while isSymbol(.pipe) {
            next()
            filters.append(try filter())
        }
        return .setBlock(target, filters: filters, try inner(until: "endset"))
    }

    private mutating func with() throws(Fault) -> Kind {
        next()
        var pairs: [(target: Target, value: Expression)] = []
        while current.kind != .blockEnd {
            if !pairs.isEmpty { try expect(.comma) }
            let target = try target(allowsAttributes: false)
            try expect(.assign)
            pairs.append((target, try expression()))
        }
        return .with(pairs, try inner(until: "endwith"))
    }

    /// One target, or a comma-separated list.
    private mutating func target(allowsAttributes: Bool) throws(Fault) -> Target {
        var targets: [Target] = []
        var isTuple = false
        while true {
            if isTuple, isTargetEnd { break }
            targets.append(try singleTarget(allowsAttributes: allowsAttributes))
            guard skip(.comma) else { break }
            isTuple = true
        }
        return isTuple ? .tuple(targets) : targets[0]
    }

    // `in` does not end a target: `for a, in` is not valid.
    private var isTargetEnd: Bool {
        isSymbol(.assign) || isSymbol(.closeParenthesis) || current.kind == .blockEnd
    }

    private mutating func singleTarget(allowsAttributes: Bool) throws(Fault) -> Target {
        try enter()
        defer { leave() }
        if skip(.openParenthesis) {
            if skip(.closeParenthesis) { return .tuple([]) }
            let inner = try target(allowsAttributes: false)
            try expect(.closeParenthesis)
            return inner
        }
        guard case .name(let name) = current.kind else {
            throw fail("can't assign to '\(current.description)'")
        }
        if ["true", "false", "none", "True", "False", "None"].contains(name) {
            throw fail("can't assign to 'const'")
        }
        next()
        if allowsAttributes, skip(.dot) { return .attribute(of: number(name), Jinja.Text(try expectName())) }
        if name == "loop", loopDepth > 0 { throw fail("Can't assign to special loop variable in for-loop target") }
        return .name(number(name))
    }

    // MARK: Macros

    private mutating func signature() throws(Fault) -> [(name: Int, fallback: Expression?)] {
        var parameters: [(name: Int, fallback: Expression?)] = []
        var known: Set<Int> = []
        try expect(.openParenthesis)
        while !isSymbol(.closeParenthesis) {
            if !parameters.isEmpty { try expect(.comma) }
            let name = try expectName()
            let fallback = skip(.assign) ? try expression() : nil
            if fallback == nil, parameters.last.map({ $0.fallback != nil }) ?? false {
                throw fail("non-default argument follows default argument")
            }
            let number = number(name)
            guard known.insert(number).inserted else {
                throw fail("duplicate argument '\(name)'")
            }
            parameters.append((number, fallback))
        }
        try expect(.closeParenthesis)
        return parameters
    }

    private mutating func macroBody(
        _ name: String?, _ parameters: [(name: Int, fallback: Expression?)], until end: String
    ) throws(Fault) -> Jinja.MacroBody {
        // A macro is a separate function: `break` in it cannot leave an outer loop.
        let loops = loopDepth
        loopDepth = 0
        defer { loopDepth = loops }
        let (body, uses) = try withSpecialUses { parser throws(Fault) in try parser.inner(until: end) }
        func isUsed(_ special: Int) -> Bool {
            uses.contains(special) && !parameters.contains { $0.name == special }
        }
        if uses.contains(Jinja.SpecialName.caller),
            parameters.contains(where: { $0.name == Jinja.SpecialName.caller && $0.fallback == nil })
        {
            throw fail(
                "When defining macros or call blocks the special \"caller\" argument must be omitted or be given a "
                    + "default.")
        }
        return Jinja.MacroBody(
            name: name, parameters: parameters, body: body, usesCaller: isUsed(Jinja.SpecialName.caller),
            usesVarargs: isUsed(Jinja.SpecialName.varargs), usesKwargs: isUsed(Jinja.SpecialName.kwargs))
    }

    private mutating func macro() throws(Fault) -> Kind {
        next()
        let name = try expectName()
        let number = number(name)
        let parameters = try signature()
        return .macro(name: number, try macroBody(name, parameters, until: "endmacro"))
    }

    private mutating func callBlock() throws(Fault) -> Kind {
        next()
        let parameters = isSymbol(.openParenthesis) ? try signature() : []
        let line = line
        let call = try expression()
        guard case .chain(_, let suffixes) = call, case .call = suffixes.last?.kind else {
            throw fail("expected call", line: line)
        }
        return .callBlock(try macroBody(nil, parameters, until: "endcall"), call)
    }

    // MARK: The others

    private mutating func filterBlock() throws(Fault) -> Kind {
        next()
        var filters = [try filter()]
        while skip(.pipe) { filters.append(try filter()) }
        return .filterBlock(filters, try inner(until: "endfilter"))
    }

    private mutating func print() throws(Fault) -> Kind {
        next()
        var values: [Expression] = []
        while current.kind != .blockEnd {
            if !values.isEmpty { try expect(.comma) }
            values.append(try expression())
        }
        return .output(values)
    }

    private mutating func block() throws(Fault) -> Kind {
        let line = next().line
        let name = try expectName()
        guard blockNames.insert(name).inserted else { throw fail("block '\(name)' defined twice", line: line) }
        let isScoped = skip(name: "scoped")
        let isRequired = skip(name: "required")
        let loops = loopDepth
        loopDepth = 0
        let body = try inner(until: "endblock")
        loopDepth = loops
        _ = skip(name: name)
        let isBlank = body.statements.allSatisfy { statement in
            if case .text(let text) = statement.kind { text.scalars.allSatisfy(\.isPythonSpace) } else { false }
        }
        guard isBlank || !isRequired else {
            throw fail("Required blocks can only contain comments or whitespace", line: line)
        }
        return .block(Jinja.Block(name: name, isScoped: isScoped, isRequired: isRequired, body: body))
    }

    /// Skips a tag that no chat template can use: there are no other templates, and nothing is escaped.
    private mutating func refused(_ tag: String) throws(Fault) -> Kind {
        next()
        if tag == "autoescape" {
            _ = try expression()
            _ = try statements(until: "endautoescape")
        } else {
            while current.kind != .blockEnd {
                guard current.kind != .end else { throw unexpected("end of statement block") }
                next()
            }
        }
        return .refused(tag)
    }
}
