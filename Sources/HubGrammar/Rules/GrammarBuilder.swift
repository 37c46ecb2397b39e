import HubCore

/// A part of a rule: a regular expression over bytes, or another rule.
enum GrammarSymbol: Hashable, Sendable {
    case terminal(RegexStore.ID)
    case rule(Int)
    /// The beginning of the elements of a list with `uniqueItems`.
    case mark

    static let empty = GrammarSymbol.terminal(RegexStore.empty)
    static let nothing = GrammarSymbol.terminal(RegexStore.nothing)
}

/// Collects the rules of a grammar. What refers to no rule becomes a regular expression, whatever its form.
struct GrammarBuilder {
    /// What it is the grammar of, for errors: `the schema`.
    let name: String
    var store = RegexStore()
    private(set) var rules: [[[GrammarSymbol]]] = []
    /// Rules that others refer to while they are made.
    private var referred: Set<Int> = []

    /// Symbols of all rules: more are refused.
    private static let most = 200_000
    private var size = 0
    /// Longer sequences are not copied in front of others, and deeper expressions stay rules.
    private static let (longest, deepest) = (256, 64)

    init(_ name: String) { self.name = name }

    /// A rule that is made later, by ``finish(_:_:)``.
    mutating func open() -> Int {
        rules.append([])
        return rules.count - 1
    }

    /// A reference to a rule that may not be finished.
    mutating func reference(_ rule: Int) -> GrammarSymbol {
        referred.insert(rule)
        return .rule(rule)
    }

    /// Gives an open rule its alternatives.
    ///
    /// - Returns: what to use for it: an expression if it is one and nothing refers to the rule.
    /// - Throws: ``ErrorCode/invalidInput`` if the grammar gets too large.
    mutating func finish(_ rule: Int, _ alternatives: [[GrammarSymbol]]) throws(AIError) -> GrammarSymbol {
        let alternatives = alternatives.map { merged($0) }.filter { !$0.contains(.nothing) }
        let expression = referred.contains(rule) ? nil : expression(alternatives)
        size += alternatives.reduce(1) { $0 + $1.count + 1 }
        guard size <= Self.most, !store.isExhausted else {
            throw AIError(.invalidInput, "\(name) is too large: it has more than \(Self.most) parts")
        }
        if let expression { return .terminal(expression) }
        rules[rule] = alternatives
        return .rule(rule)
    }

    /// One of several sequences.
    mutating func choice(_ alternatives: [[GrammarSymbol]]) throws(AIError) -> GrammarSymbol {
        try finish(open(), alternatives)
    }

    /// A symbol again and again.
    ///
    /// - Parameter high: nil for no limit.
    mutating func repeated(_ symbol: GrammarSymbol, _ low: Int, _ high: Int?) throws(AIError) -> GrammarSymbol {
        if case .terminal(let id) = symbol, !store.isBoolean(id), store.depth(id) <= Self.deepest {
            return .terminal(store.repeated(id, low, high))
        }
        guard low <= Self.most, high ?? 0 <= Self.most else {
            throw AIError(
                .invalidInput, "\(name) is too large: at most \(Self.most) repetitions are supported")
        }
        var rest: GrammarSymbol
        if let high {
            rest = .empty
            for _ in 0..<max(0, high - low) { rest = try choice([[], [symbol, rest]]) }
        } else {
            let rule = open()
            rest = try finish(rule, [[], [symbol, reference(rule)]])
        }
        for _ in 0..<low { rest = try choice([[symbol, rest]]) }
        return rest
    }

    /// An expression for alternatives of expressions. Those with intersections stay apart from others: whether they match
    /// anything is a question that grows with them.
    private mutating func expression(_ alternatives: [[GrammarSymbol]]) -> RegexStore.ID? {
        var parts: [RegexStore.ID] = []
        for alternative in alternatives {
            switch alternative.count {
            case 0: parts.append(RegexStore.empty)
            case 1:
                guard case .terminal(let id) = alternative[0] else { return nil }
                guard !store.isBoolean(id) || alternatives.count == 1 else { return nil }
                parts.append(id)
            default: return nil
            }
        }
        let expression = store.either(parts)
        return store.depth(expression) <= Self.deepest ? expression : nil
    }

    /// Neighbouring expressions as one.
    private mutating func merged(_ symbols: [GrammarSymbol]) -> [GrammarSymbol] {
        var result: [GrammarSymbol] = []
        // From the end: sequences are nested to the right.
        for symbol in symbols.reversed() where symbol != .empty {
            if case .terminal(let id) = symbol, case .terminal(let next)? = result.last, !store.isBoolean(id),
                !store.isBoolean(next), store.length(id) <= Self.longest
            {
                result[result.count - 1] = .terminal(store.then(id, next))
            } else {
                result.append(symbol)
            }
        }
        return result.reversed()
    }
}
