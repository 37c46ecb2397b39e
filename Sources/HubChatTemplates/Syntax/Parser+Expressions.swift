/// Operator precedences, lowest first.
private enum Rank {
    static let or = 1
    static let and = 2
    static let not = 3
    static let compare = 4
    static let sum = 5
    static let join = 6
    static let product = 7
    static let power = 8
}

private enum Operator: Equatable {
    case or, and, join
    case compare(Jinja.Comparison)
    case arithmetic(Jinja.Arithmetic)

    var rank: Int {
        switch self {
        case .or: Rank.or
        case .and: Rank.and
        case .join: Rank.join
        case .compare: Rank.compare
        case .arithmetic(.add), .arithmetic(.subtract): Rank.sum
        case .arithmetic(.power): Rank.power
        case .arithmetic: Rank.product
        }
    }
}

extension Jinja.Parser {
    private static let symbols: [Jinja.Symbol: Operator] = [
        .tilde: .join, .equal: .compare(.equal), .notEqual: .compare(.notEqual), .less: .compare(.less),
        .lessOrEqual: .compare(.lessOrEqual), .greater: .compare(.greater),
        .greaterOrEqual: .compare(.greaterOrEqual), .plus: .arithmetic(.add), .minus: .arithmetic(.subtract),
        .times: .arithmetic(.multiply), .divide: .arithmetic(.divide), .floorDivide: .arithmetic(.floorDivide),
        .remainder: .arithmetic(.remainder), .power: .arithmetic(.power),
    ]

    /// An expression, or a tuple of comma-separated ones.
    mutating func tuple(
        allowsCondition: Bool = true, isInParentheses: Bool = false
    ) throws(Fault) -> Expression {
        var items: [Expression] = []
        var isTuple = false
        while !isTupleEnd {
            items.append(allowsCondition ? try expression() : try operation(Rank.or))
            guard skip(.comma) else { break }
            isTuple = true
        }
        if !isTuple, let only = items.first { return only }
        guard isTuple || isInParentheses else {
            throw fail("Expected an expression, got '\(current.description)'")
        }
        return .tuple(items)
    }

    private var isTupleEnd: Bool {
        switch current.kind {
        case .variableEnd, .blockEnd, .symbol(.closeParenthesis): true
        default: false
        }
    }

    /// `a if b else c`, and everything of higher precedence.
    mutating func expression() throws(Fault) -> Expression {
        try enter()
        defer { leave() }
        let line = line
        var value = try operation(Rank.or)
        var conditions = 0
        defer { depth -= conditions }
        while isName("if") {
            // Each nests in the next.
            try enter()
            conditions += 1
            looseDepth += 1
            defer { looseDepth -= 1 }
            next()
            let test = try operation(Rank.or)
            let otherwise = skip(name: "else") ? try expression() : nil
            value = .condition(test: test, then: value, otherwise: otherwise, line: line)
        }
        return value
    }

    private var upcomingOperator: Operator? {
        switch current.kind {
        case .symbol(let symbol): Self.symbols[symbol]
        case .name("or"): .or
        case .name("and"): .and
        case .name("in"): .compare(.contained)
        case .name("not") where upcoming.kind == .name("in"): .compare(.notContained)
        default: nil
        }
    }

    /// Operators of at least this precedence, by recursion.
    private mutating func operation(_ lowest: Int) throws(Fault) -> Expression {
        try enter()
        defer { leave() }
        var left: Expression
        if lowest <= Rank.not, skip(name: "not") {
            left = .not(try operation(Rank.not))
        } else {
            left = try signed(takesFilters: true)
        }
        while let first = upcomingOperator, first.rank >= lowest { left = try row(left, first.rank) }
        return left
    }

    /// Consecutive operations of one precedence, left to right.
    private mutating func row(_ left: Expression, _ rank: Int) throws(Fault) -> Expression {
        var operands = [left]
        var comparisons: [(operation: Jinja.Comparison, operand: Expression)] = []
        var sums: [(operation: Jinja.Arithmetic, operand: Expression)] = []
        while let upcoming = upcomingOperator, upcoming.rank == rank {
            if upcoming == .compare(.notContained) { next() }
            next()
            let operand = try operation(rank + 1)
            switch upcoming {
            case .compare(let comparison): comparisons.append((comparison, operand))
            case .arithmetic(let arithmetic): sums.append((arithmetic, operand))
            case .or, .and, .join: operands.append(operand)
            }
        }
        switch rank {
        case Rank.or: return .or(operands)
        case Rank.and: return .and(operands)
        case Rank.join: return .join(operands)
        case Rank.compare: return .compare(left, comparisons)
        default: return .arithmetic(left, sums)
        }
    }

    /// `-a`, `+a` or `a` with its suffixes.
    private mutating func signed(takesFilters: Bool) throws(Fault) -> Expression {
        var value: Expression
        if isSymbol(.minus) || isSymbol(.plus) {
            try enter()
            let isNegative = next().kind == .symbol(.minus)
            value = .signed(isNegative: isNegative, try signed(takesFilters: false))
            leave()
        } else {
            value = try primary()
        }
        let suffixes = try suffixes(takesFilters: takesFilters)
        return suffixes.isEmpty ? value : .chain(value, suffixes)
    }

    private mutating func suffixes(takesFilters: Bool) throws(Fault) -> [Suffix] {
        var result: [Suffix] = []
        // After a filter or a test, a dot or a bracket no longer belongs to the value.
        var allowsAccess = true
        while true {
            let line = line
            switch current.kind {
            case .symbol(.dot) where allowsAccess: result.append(try attribute())
            case .symbol(.openBracket) where allowsAccess: result.append(try item())
            case .symbol(.openParenthesis):
                result.append(Suffix(line: line, kind: .call(try callArguments())))
            case .symbol(.pipe) where takesFilters:
                allowsAccess = false
                next()
                result.append(try filter())
            case .name("is") where takesFilters:
                allowsAccess = false
                result.append(try test())
            default: return result
            }
        }
    }

    private mutating func primary() throws(Fault) -> Expression {
        let token = current
        switch token.kind {
        case .name(let name):
            next()
            switch name {
            case "true", "True": return .constant(.bool(true))
            case "false", "False": return .constant(.bool(false))
            case "none", "None": return .constant(.none)
            default: return read(name)
            }
        case .string(var text):
            next()
            while case .string(let more) = current.kind {
                text.scalars += more.scalars
                next()
            }
            return .constant(.string(text))
        case .integer(let value):
            next()
            return .constant(.int(value))
        case .float(let value):
            next()
            return .constant(.float(value))
        case .symbol(.openParenthesis):
            next()
            let value = try tuple(isInParentheses: true)
            try expect(.closeParenthesis)
            return value
        case .symbol(.openBracket): return try list()
        case .symbol(.openBrace): return try dictionary()
        default: throw fail("unexpected '\(token.description)'")
        }
    }

    private mutating func list() throws(Fault) -> Expression {
        next()
        var items: [Expression] = []
        while !isSymbol(.closeBracket) {
            if !items.isEmpty {
                try expect(.comma)
                if isSymbol(.closeBracket) { break }
            }
            items.append(try expression())
        }
        next()
        return .list(items)
    }

    private mutating func dictionary() throws(Fault) -> Expression {
        next()
        var pairs: [(key: Expression, value: Expression)] = []
        while !isSymbol(.closeBrace) {
            if !pairs.isEmpty {
                try expect(.comma)
                if isSymbol(.closeBrace) { break }
            }
            let key = try expression()
            try expect(.colon)
            pairs.append((key, try expression()))
        }
        next()
        return .dictionary(pairs)
    }
}

// MARK: - Suffixes

extension Jinja.Parser {
    private mutating func attribute() throws(Fault) -> Suffix {
        let line = next().line
        let token = next()
        switch token.kind {
        case .name(let name): return Suffix(line: line, kind: .attribute(Jinja.Text(name)))
        case .integer(let index): return Suffix(line: line, kind: .item(.constant(.int(index))))
        default: throw fail("expected name or number", line: token.line)
        }
    }

    private mutating func item() throws(Fault) -> Suffix {
        let line = next().line
        var items: [Suffix.Kind] = []
        while !isSymbol(.closeBracket) {
            if !items.isEmpty { try expect(.comma) }
            items.append(try subscriptPart())
        }
        next()
        if items.count == 1 { return Suffix(line: line, kind: items[0]) }
        var parts: [Expression] = []
        for case .item(let part) in items { parts.append(part) }
        guard parts.count == items.count else {
            throw Fault(kind: .unsupported, message: "a slice beside other subscripts", line: line)
        }
        return Suffix(line: line, kind: .item(.tuple(parts)))
    }

    private mutating func subscriptPart() throws(Fault) -> Suffix.Kind {
        var start: Expression?
        if !isSymbol(.colon) {
            let value = try expression()
            guard isSymbol(.colon) else { return .item(value) }
            start = value
        }
        next()
        let stop = try slicePart()
        let step = skip(.colon) ? try slicePart() : nil
        return .slice(start: start, stop: stop, step: step)
    }

    private mutating func slicePart() throws(Fault) -> Expression? {
        if isSymbol(.colon) || isSymbol(.closeBracket) || isSymbol(.comma) { return nil }
        return try expression()
    }

    private mutating func callArguments() throws(Fault) -> Jinja.CallArguments {
        let line = next().line
        var result = Jinja.CallArguments()
        var known: Set<Jinja.Text> = []
        var isFirst = true
        func ensure(_ holds: Bool) throws(Fault) {
            if !holds { throw fail("invalid syntax for function call expression", line: line) }
        }
        while !isSymbol(.closeParenthesis) {
            if !isFirst {
                try expect(.comma)
                if isSymbol(.closeParenthesis) { break }
            }
            isFirst = false
            if isSymbol(.times) {
                try ensure(result.spread == nil && result.keywordSpread == nil)
                next()
                result.spread = try expression()
            } else if isSymbol(.power) {
                try ensure(result.keywordSpread == nil)
                next()
                result.keywordSpread = try expression()
            } else if case .name(let name) = current.kind, upcoming.kind == .symbol(.assign) {
                try ensure(result.keywordSpread == nil)
                next()
                next()
                guard known.insert(Jinja.Text(name)).inserted else {
                    throw fail("keyword argument repeated: \(name)", line: line)
                }
                result.keywords.append((Jinja.Text(name), try expression()))
            } else {
                try ensure(result.spread == nil && result.keywordSpread == nil && result.keywords.isEmpty)
                result.positional.append(try expression())
            }
        }
        next()
        return result
    }

    /// A filter's name with its arguments; the bar before it has been read.
    mutating func filter() throws(Fault) -> Suffix {
        let line = line
        let name = try dottedName()
        let arguments = isSymbol(.openParenthesis) ? try callArguments() : Jinja.CallArguments()
        let filter = Jinja.filters[name]
        guard filter != nil || looseDepth > 0 else { throw fail("No filter named '\(name)'.", line: line) }
        return Suffix(line: line, kind: .filter(name, filter, arguments))
    }

    private mutating func test() throws(Fault) -> Suffix {
        let line = next().line
        let isNegated = skip(name: "not")
        let name = try dottedName()
        var arguments = Jinja.CallArguments()
        if isSymbol(.openParenthesis) {
            arguments = try callArguments()
        } else if beginsTestArgument {
            if isName("is") { throw fail("You cannot chain multiple tests with is") }
            try enter()
            let value = try primary()
            let suffixes = try suffixes(takesFilters: false)
            leave()
            arguments.positional = [suffixes.isEmpty ? value : .chain(value, suffixes)]
        }
        let test = Jinja.tests[name]
        guard test != nil || looseDepth > 0 else { throw fail("No test named '\(name)'.", line: line) }
        return Suffix(line: line, kind: .test(name, test, arguments, isNegated: isNegated))
    }

    private var beginsTestArgument: Bool {
        switch current.kind {
        case .name(let name): !["else", "or", "and"].contains(name)
        case .string, .integer, .float, .symbol(.openBracket), .symbol(.openBrace): true
        default: false
        }
    }

    private mutating func dottedName() throws(Fault) -> String {
        var name = try expectName()
        while skip(.dot) { name += "." + (try expectName()) }
        return name
    }
}
