import HubCore

/// Reads bytes by a grammar. A state is the set of all ways to read the text so far; equal sets are one state, wherever in
/// the text they come up, so that what is known of a state (its masks above all) is kept.
///
/// Used by one thread at a time.
final class PushdownAutomaton {
    typealias State = Int32

    /// The state after a byte that cannot follow.
    static let dead: State = -1
    static let unknown: State = -2
    /// A return set with the end of the text alone, and the place that stands for that end.
    private static let root: Int32 = 0
    private static let accept: Int32 = -1

    /// A way to go on: the rest of a terminal, then what stands at a place of the code, then what a return set says.
    struct Item: Hashable {
        var rest: RegexStore.ID
        var place: Int32
        var returns: Int32
    }
    /// A place to go on at when a rule has ended.
    private struct Return: Hashable {
        var place: Int32
        var returns: Int32
    }
    private struct Key: Hashable {
        var items: [Item]
        var isComplete: Bool
        /// The state of the ways on which a list with `uniqueItems` begins here; ``dead`` if none does.
        var opened: State
    }

    let grammar: CompiledGrammar
    private var lexer: LazyAutomaton
    let classCount: Int
    private var keys: [Key] = []
    private var states: [Key: State] = [:]
    private var returnSets: [[Return]] = [[Return(place: accept, returns: root)]]
    private var returnIDs: [[Return]: Int32] = [:]
    /// The state after each class of bytes, a row for each state; ``unknown`` where it was not made yet. It moves when
    /// states are made.
    private(set) var rows: UnsafeMutablePointer<State>
    private var capacity = 64
    private(set) var start: State = 0
    /// Steps, ways and returns that are kept.
    private var kept = 0
    /// The most of them, at 4 to 24 bytes each.
    private static let most = 16_000_000

    init(_ grammar: CompiledGrammar) {
        self.grammar = grammar
        lexer = LazyAutomaton(grammar.store)
        lexer.allowMore()
        classCount = lexer.examples.count
        rows = .allocate(capacity: capacity * classCount)
        returnIDs[returnSets[0]] = Self.root
        var closing = Closing()
        closing.calls[Int32(grammar.start)] = [Return(place: Self.accept, returns: Self.root)]
        closing.isComplete = grammar.isRuleNullable[grammar.start]
        start = close(&closing)
    }

    deinit { rows.deallocate() }

    /// What ended it: no further text is taken, because the grammar's states need more memory or time than there is.
    var failure: AIError? { lexer.isExhausted ? CompiledGrammar.tooLarge(grammar.name) : nil }
    /// Whether so much is kept that it is time for a new automaton.
    var isLarge: Bool { lexer.isLarge || kept > Self.most / 4 }
    /// - Returns: false if the allowance is used up.
    func spend(_ amount: Int) -> Bool { lexer.spend(amount) }
    /// Begins with a new allowance, for the next token.
    func allowMore() { lexer.allowMore() }
    /// The class of each byte.
    var classes: [UInt8] { lexer.classes }

    /// Whether the text may end here.
    func isComplete(_ state: State) -> Bool { keys[Int(state)].isComplete }
    /// Whether nothing may follow.
    func isFinished(_ state: State) -> Bool { keys[Int(state)].items.isEmpty && opened(state) == Self.dead }
    /// The state of the ways on which a list with `uniqueItems` begins here. They are not among the state's own ways.
    func opened(_ state: State) -> State { keys[Int(state)].opened }
    /// Whether the state has ways of its own.
    func hasWays(_ state: State) -> Bool { isComplete(state) || !keys[Int(state)].items.isEmpty }
    /// The ways to go on.
    func items(_ state: State) -> [Item] { keys[Int(state)].items }
    /// The expression of an item's rest.
    var store: RegexStore { lexer.store }

    /// The state after a byte, or ``dead``.
    func next(_ state: State, _ byte: UInt8) -> State { next(state, byteClass: Int(lexer.classes[Int(byte)])) }

    func next(_ state: State, byteClass: Int) -> State {
        let known = rows[Int(state) * classCount + byteClass]
        return known != Self.unknown ? known : make(state, byteClass)
    }

    /// The only byte that can follow, if there is one alone and the text may not end.
    func onlyByte(_ state: State) -> UInt8? {
        guard !isComplete(state) else { return nil }
        var found: Int?
        for byteClass in 0..<classCount where next(state, byteClass: byteClass) != Self.dead {
            guard found == nil, lexer.sizes[byteClass] == 1 else { return nil }
            found = byteClass
        }
        return found.map { lexer.examples[$0] }
    }

    private func make(_ state: State, _ byteClass: Int) -> State {
        var closing = Closing()
        var ended: [Return] = []
        for item in keys[Int(state)].items {
            let rest = lexer.next(item.rest, byteClass)
            if rest == RegexStore.nothing { continue }
            if rest != RegexStore.empty {
                closing.items.insert(Item(rest: rest, place: item.place, returns: item.returns))
            }
            if lexer.store.isNullable(rest) { ended.append(Return(place: item.place, returns: item.returns)) }
        }
        goOn(from: ended, &closing)
        let made =
            closing.items.isEmpty && closing.calls.isEmpty && closing.marked.isEmpty && !closing.isComplete
            ? Self.dead : close(&closing)
        rows[Int(state) * classCount + byteClass] = made
        return made
    }

    // MARK: Sets of ways

    private struct Closing {
        var items: Set<Item> = []
        var calls: [Int32: Set<Return>] = [:]
        /// Places behind marks.
        var marked: Set<Return> = []
        var isComplete = false
    }

    /// Goes on at places where something was read before: ends rules, and finds what they call.
    private func goOn(from ended: [Return], _ closing: inout Closing) {
        var stack = ended
        var seen = Set(ended)
        func push(_ place: Return) { if seen.insert(place).inserted { stack.append(place) } }
        while let at = stack.popLast(), lexer.spend(1) {
            if at.place == Self.accept {
                closing.isComplete = true
                continue
            }
            let symbol = grammar.code[Int(at.place)]
            guard symbol != CompiledGrammar.end else {
                for place in returnSets[Int(at.returns)] { push(place) }
                continue
            }
            let after = Return(place: at.place + 1, returns: at.returns)
            if symbol == CompiledGrammar.mark {
                closing.marked.insert(after)
                continue
            }
            if grammar.isNullable(symbol) { push(after) }
            begin(symbol, then: after, &closing)
        }
    }

    private func begin(_ symbol: Int32, then after: Return, _ closing: inout Closing) {
        if symbol < 0 {
            closing.calls[-2 - symbol, default: []].insert(after)
        } else {
            let rest = grammar.terminals[Int(symbol)]
            if rest != RegexStore.empty {
                closing.items.insert(Item(rest: rest, place: after.place, returns: after.returns))
            }
        }
    }

    /// Expands the calls, each rule once all of its callers are known.
    private func close(_ closing: inout Closing) -> State {
        var waiting = RankQueue()
        for rule in closing.calls.keys { waiting.insert(grammar.ranks[Int(rule)]) }
        while let rank = waiting.removeFirst(), lexer.spend(1) {
            let rule = grammar.rules[Int(rank)]
            guard let callers = closing.calls.removeValue(forKey: rule) else { continue }
            let returns = returnSet(callers)
            for start in grammar.alternatives[Int(rule)] {
                var at = start
                while true {
                    let symbol = grammar.code[Int(at)]
                    if symbol == CompiledGrammar.end || !lexer.spend(1) { break }
                    if symbol == CompiledGrammar.mark {
                        closing.marked.insert(Return(place: at + 1, returns: returns))
                        break
                    }
                    if symbol < 0, closing.calls[-2 - symbol] == nil {
                        waiting.insert(grammar.ranks[Int(-2 - symbol)])
                    }
                    begin(symbol, then: Return(place: at + 1, returns: returns), &closing)
                    if !grammar.isNullable(symbol) { break }
                    at += 1
                }
            }
        }
        let items = closing.items.sorted {
            ($0.rest, $0.place, $0.returns) < ($1.rest, $1.place, $1.returns)
        }
        var opened = Self.dead
        if !closing.marked.isEmpty {
            var inner = Closing()
            goOn(from: Array(closing.marked), &inner)
            opened = close(&inner)
        }
        let key = Key(items: items, isComplete: closing.isComplete, opened: opened)
        if let known = states[key] { return known }
        let state = State(keys.count)
        keys.append(key)
        states[key] = state
        keep(items.count + classCount)
        addRow()
        return state
    }

    private func keep(_ amount: Int) {
        kept += amount
        if kept > Self.most { lexer.exhaust() }
    }

    private func addRow() {
        if keys.count > capacity {
            let larger = UnsafeMutablePointer<State>.allocate(capacity: 2 * capacity * classCount)
            larger.moveInitialize(from: rows, count: capacity * classCount)
            rows.deallocate()
            rows = larger
            capacity *= 2
        }
        (rows + (keys.count - 1) * classCount).initialize(repeating: Self.unknown, count: classCount)
    }

    /// A call that is the last of its rule returns to where that rule returns, so that lists do not grow the set.
    private func returnSet(_ callers: Set<Return>) -> Int32 {
        var places: Set<Return> = []
        for caller in callers where lexer.spend(1) {
            if caller.place != Self.accept, grammar.code[Int(caller.place)] == CompiledGrammar.end {
                let returns = returnSets[Int(caller.returns)]
                if lexer.spend(returns.count) { places.formUnion(returns) }
            } else {
                places.insert(caller)
            }
        }
        let sorted = places.sorted { ($0.place, $0.returns) < ($1.place, $1.returns) }
        if let known = returnIDs[sorted] { return known }
        returnSets.append(sorted)
        keep(sorted.count)
        returnIDs[sorted] = Int32(returnSets.count - 1)
        return Int32(returnSets.count - 1)
    }
}

/// Numbers of which the smallest is taken first (a binary heap).
private struct RankQueue {
    private var ranks: [Int32] = []

    mutating func insert(_ rank: Int32) {
        ranks.append(rank)
        var at = ranks.count - 1
        while at > 0, ranks[at] < ranks[(at - 1) / 2] {
            ranks.swapAt(at, (at - 1) / 2)
            at = (at - 1) / 2
        }
    }

    mutating func removeFirst() -> Int32? {
        guard let first = ranks.first, let last = ranks.popLast() else { return nil }
        guard !ranks.isEmpty else { return first }
        ranks[0] = last
        var at = 0
        while 2 * at + 1 < ranks.count {
            var child = 2 * at + 1
            if child + 1 < ranks.count, ranks[child + 1] < ranks[child] { child += 1 }
            guard ranks[child] < ranks[at] else { break }
            ranks.swapAt(at, child)
            at = child
        }
        return first
    }
}
