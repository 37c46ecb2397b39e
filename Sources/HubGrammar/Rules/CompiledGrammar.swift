import HubCore

/// A grammar as flat tables, without rules and alternatives that no text fits.
struct CompiledGrammar: Sendable {
    /// What stands in ``code``.
    static let end: Int32 = -1

    /// The expressions of the terminals.
    let store: RegexStore
    /// The alternatives of all rules one after the other: a terminal's number, ``end``, or a rule as `-2 - rule`.
    private(set) var code: [Int32] = []
    /// Where the alternatives of each rule begin.
    private(set) var alternatives: [[Int32]] = []
    /// Rules before those that they may begin with.
    private(set) var ranks: [Int32] = []
    private(set) var isRuleNullable: [Bool] = []
    private(set) var terminals: [RegexStore.ID] = []
    let start: Int

    /// Prepares a grammar.
    ///
    /// - Parameter what: for errors: `the schema`.
    /// - Throws: ``ErrorCode/invalidInput`` for a grammar that no text fits, or that may call a rule again before it has
    ///   read anything.
    init(_ builder: GrammarBuilder, start symbol: GrammarSymbol, _ what: String) throws(AIError) {
        var automaton = LazyAutomaton(builder.store)
        store = builder.store
        let rules = builder.rules + [[[symbol]]]
        start = rules.count - 1
        let productive = Self.productive(rules, &automaton)
        guard productive[start] else { throw AIError(.invalidInput, "no text fits \(what)") }
        var numbers: [RegexStore.ID: Int32] = [:]
        for alternatives in rules {
            var starts: [Int32] = []
            for alternative in alternatives
            where alternative.allSatisfy({ Self.isProductive($0, productive, &automaton) }) {
                starts.append(Int32(code.count))
                for symbol in alternative {
                    switch symbol {
                    case .rule(let rule): code.append(-2 - Int32(rule))
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
        try rank(what)
    }

    private static func isProductive(
        _ symbol: GrammarSymbol, _ productive: [Bool], _ automaton: inout LazyAutomaton
    ) -> Bool {
        switch symbol {
        case .terminal(let id): automaton.isAlive(id)
        case .rule(let rule): productive[rule]
        }
    }

    /// Which rules some text fits.
    private static func productive(_ rules: [[[GrammarSymbol]]], _ automaton: inout LazyAutomaton) -> [Bool] {
        var productive = [Bool](repeating: false, count: rules.count)
        var isChanging = true
        while isChanging {
            isChanging = false
            for (rule, alternatives) in rules.enumerated() where !productive[rule] {
                productive[rule] = alternatives.contains { alternative in
                    alternative.allSatisfy { isProductive($0, productive, &automaton) }
                }
                if productive[rule] { isChanging = true }
            }
        }
        return productive
    }

    /// Whether a symbol of ``code`` may match the empty text.
    func isNullable(_ symbol: Int32) -> Bool {
        symbol >= 0 ? store.isNullable(terminals[Int(symbol)]) : isRuleNullable[Int(-2 - symbol)]
    }

    private mutating func findNullable() {
        isRuleNullable = Array(repeating: false, count: alternatives.count)
        var isChanging = true
        while isChanging {
            isChanging = false
            for rule in alternatives.indices where !isRuleNullable[rule] {
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
                if code[at] < 0 { found.append(Int(-2 - code[at])) }
                guard isNullable(code[at]) else { break }
                at += 1
            }
        }
        return found
    }

    private mutating func rank(_ what: String) throws(AIError) {
        ranks = Array(repeating: 0, count: alternatives.count)
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
                    marks[top.rule] = 2
                    stack.removeLast()
                    continue
                }
                stack[stack.count - 1].calls.removeLast()
                guard marks[call] != 1 else {
                    throw AIError(
                        .invalidInput, "\(what) refers to itself without anything in between (left recursion)")
                }
                guard marks[call] == 0 else { continue }
                marks[call] = 1
                stack.append((call, firstRules(call)))
            }
        }
    }
}
