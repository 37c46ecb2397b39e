import HubCore

/// A grammar as flat tables, without rules and alternatives that no text fits.
struct CompiledGrammar: Sendable {
    /// What stands in ``code``.
    static let end: Int32 = -1
    static let mark = Int32.min

    /// The expressions of the terminals.
    let store: RegexStore
    /// What it is the grammar of, for errors.
    let name: String
    /// The alternatives of all rules one after the other: a terminal's number, ``end``, ``mark``, or a rule as
    /// `-2 - rule`.
    private(set) var code: [Int32] = []
    /// Where the alternatives of each rule begin.
    private(set) var alternatives: [[Int32]] = []
    /// Rules before those that they may begin with.
    private(set) var ranks: [Int32] = []
    /// The rules by their ranks.
    private(set) var rules: [Int32] = []
    private(set) var isRuleNullable: [Bool] = []
    private(set) var terminals: [RegexStore.ID] = []
    let start: Int
    /// Whether there are lists whose elements must differ.
    private(set) var hasUniqueLists = false

    /// Prepares a grammar.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for a grammar that no text fits, that is too large to find that out, or that
    ///   may call a rule again before it has read anything.
    init(_ builder: GrammarBuilder, start symbol: GrammarSymbol) throws(AIError) {
        var automaton = LazyAutomaton(builder.store)
        automaton.allowMore()
        store = builder.store
        name = builder.name
        let rules = builder.rules + [[[symbol]]]
        start = rules.count - 1
        let productive = Self.productive(rules, &automaton)
        guard !automaton.isExhausted else { throw Self.tooLarge(name) }
        guard productive[start] else { throw AIError(.invalidInput, "no text fits \(name)") }
        var numbers: [RegexStore.ID: Int32] = [:]
        for alternatives in rules {
            var starts: [Int32] = []
            for alternative in alternatives
            where alternative.allSatisfy({ Self.isProductive($0, productive, &automaton) }) {
                starts.append(Int32(code.count))
                for symbol in alternative {
                    switch symbol {
                    case .rule(let rule): code.append(-2 - Int32(rule))
                    case .mark:
                        code.append(Self.mark)
                        hasUniqueLists = true
                    case .terminal(let id):
                        let number = numbers[id] ?? Int32(terminals.count)
                        if number == terminals.count {
                            terminals.append(id)
                            numbers[id] = number
                        }
                        code.append(number)
                    }
                }
                code.append(Self.end)
            }
            self.alternatives.append(starts)
        }
        findNullable()
        try rank()
    }

    static func tooLarge(_ name: String) -> AIError {
        AIError(
            .invalidInput, "\(name) is too large: its patterns and repetitions have too many states",
            advice: "use smaller limits, or fewer patterns and limits for one text")
    }

    private static func isProductive(
        _ symbol: GrammarSymbol, _ productive: [Bool], _ automaton: inout LazyAutomaton
    ) -> Bool {
        switch symbol {
        case .terminal(let id): automaton.isAlive(id)
        case .rule(let rule): productive[rule]
        case .mark: true
        }
    }

    /// Which rules some text fits.
    private static func productive(_ rules: [[[GrammarSymbol]]], _ automaton: inout LazyAutomaton) -> [Bool] {
        var productive = [Bool](repeating: false, count: rules.count)
        var isChanging = true
        var order = Array(rules.indices)
        while isChanging {
            isChanging = false
            // To and fro: what a rule needs may be made before it or after it.
            order.reverse()
            for rule in order where !productive[rule] {
                productive[rule] = rules[rule].contains { alternative in
                    alternative.allSatisfy { isProductive($0, productive, &automaton) }
                }
                if productive[rule] { isChanging = true }
            }
        }
        return productive
    }

    /// Whether a symbol of ``code`` may match the empty text.
    func isNullable(_ symbol: Int32) -> Bool {
        if symbol == Self.mark { return true }
        return symbol >= 0 ? store.isNullable(terminals[Int(symbol)]) : isRuleNullable[Int(-2 - symbol)]
    }

    private mutating func findNullable() {
        isRuleNullable = Array(repeating: false, count: alternatives.count)
        var isChanging = true
        var order = Array(alternatives.indices)
        while isChanging {
            isChanging = false
            order.reverse()
            for rule in order where !isRuleNullable[rule] {
                isRuleNullable[rule] = alternatives[rule].contains { start in
                    var at = Int(start)
                    while code[at] != Self.end, isNullable(code[at]) { at += 1 }
                    return code[at] == Self.end
                }
                if isRuleNullable[rule] { isChanging = true }
            }
        }
    }

    /// The rules that a rule may begin with.
    private func firstRules(_ rule: Int) -> [Int] {
        var found: [Int] = []
        for start in alternatives[rule] {
            var at = Int(start)
            while code[at] != Self.end {
                if code[at] < 0, code[at] != Self.mark { found.append(Int(-2 - code[at])) }
                guard isNullable(code[at]) else { break }
                at += 1
            }
        }
        return found
    }

    private mutating func rank() throws(AIError) {
        ranks = Array(repeating: 0, count: alternatives.count)
        rules = ranks
        // 1 is on the way, 2 is done.
        var marks = [UInt8](repeating: 0, count: alternatives.count)
        var next = Int32(alternatives.count)
        for root in alternatives.indices where marks[root] == 0 {
            marks[root] = 1
            var stack = [(rule: root, calls: firstRules(root))]
            while let top = stack.last {
                guard let call = top.calls.last else {
                    next -= 1
                    ranks[top.rule] = next
                    rules[Int(next)] = Int32(top.rule)
                    marks[top.rule] = 2
                    stack.removeLast()
                    continue
                }
                stack[stack.count - 1].calls.removeLast()
                guard marks[call] != 1 else {
                    throw AIError(
                        .invalidInput, "\(name) refers to itself without anything in between (left recursion)")
                }
                guard marks[call] == 0 else { continue }
                marks[call] = 1
                stack.append((call, firstRules(call)))
            }
        }
    }
}
