/// The automaton of regular expressions by their derivatives: states are expressions, made as they are reached.
///
/// When the allowance of ``RegexStore`` is used up, it takes no further text.
struct LazyAutomaton: Sendable {
    typealias State = RegexStore.ID

    private(set) var store: RegexStore
    /// The class of each byte: bytes of one class are told apart by no expression.
    let classes: [UInt8]
    /// A byte of each class, and how many it has.
    let examples: [UInt8]
    let sizes: [Int]
    /// Derivatives of an expression, one for each class; -1 for those not made yet.
    private var rows: [Int32] = []
    private var rowOf: [Int32] = []
    /// 0 unknown, 1 matches some text, 2 matches none.
    private var lives: [UInt8] = []

    init(_ store: RegexStore) {
        self.store = store
        self.store.begin()
        var signatures: [[Bool]: UInt8] = [:]
        var classes: [UInt8] = []
        var examples: [UInt8] = []
        var sizes: [Int] = []
        for byte in UInt8.min...UInt8.max {
            let signature = store.sets.map { $0.contains(byte) }
            if let known = signatures[signature] {
                classes.append(known)
                sizes[Int(known)] += 1
            } else {
                signatures[signature] = UInt8(examples.count)
                classes.append(UInt8(examples.count))
                examples.append(byte)
                sizes.append(1)
            }
        }
        (self.classes, self.examples, self.sizes) = (classes, examples, sizes)
    }

    /// The state after a byte of a class; ``RegexStore/nothing`` where no text can follow.
    mutating func next(_ state: State, _ byteClass: Int) -> State {
        let after = derivative(state, byteClass)
        return store.isBoolean(after) && !isAlive(after) ? RegexStore.nothing : after
    }

    var isExhausted: Bool { store.isExhausted }
    /// Whether so much is kept that it is time for a new automaton.
    var isLarge: Bool { store.isLarge || rows.count > Self.mostSteps / 4 }
    /// Begins with a new allowance, for the next token.
    mutating func allowMore() { store.allowed = RegexStore.allowance }
    mutating func exhaust() { store.exhaust() }
    /// - Returns: false if the allowance is used up.
    mutating func spend(_ amount: Int) -> Bool { store.spend(amount) }
    /// Derivatives kept: 4 bytes each.
    private static let mostSteps = 16_000_000

    /// Whether an expression matches any text.
    mutating func isAlive(_ id: State) -> Bool {
        guard store.isBoolean(id) else { return id != RegexStore.nothing }
        if life(id) != 0 { return life(id) == 1 }
        // A walk in search of the shortest text; what it came through lives, and if it finds none, all is dead.
        var parents: [State: State] = [id: id]
        var queue = [id]
        var at = 0
        while at < queue.count {
            let state = queue[at]
            at += 1
            if store.isNullable(state) || life(state) == 1 || !store.isBoolean(state) && state != RegexStore.nothing
            {
                var living = state
                while true {
                    setLife(living, 1)
                    guard let parent = parents[living], parent != living else { return true }
                    living = parent
                }
            }
            if life(state) == 2 { continue }
            for byteClass in examples.indices {
                let after = derivative(state, byteClass)
                if after != RegexStore.nothing, parents[after] == nil {
                    parents[after] = state
                    queue.append(after)
                }
            }
            if store.isExhausted { return false }
        }
        for state in parents.keys { setLife(state, 2) }
        return false
    }

    private func life(_ id: State) -> UInt8 { Int(id) < lives.count ? lives[Int(id)] : 0 }

    private mutating func setLife(_ id: State, _ value: UInt8) {
        if Int(id) >= lives.count { lives += repeatElement(0, count: max(store.count, Int(id) + 1) - lives.count) }
        lives[Int(id)] = value
    }

    /// Whether a text matches.
    ///
    /// - Parameter allowed: the work that it may take, from which what it took is subtracted.
    mutating func matches(_ id: State, _ text: some Sequence<UInt8>, _ allowed: inout Int) -> Bool {
        store.allowed = allowed
        defer { allowed = store.allowed }
        var state = id
        for byte in text {
            state = derivative(state, Int(classes[Int(byte)]))
            if state == RegexStore.nothing { return false }
        }
        return store.isNullable(state)
    }

    private mutating func derivative(_ id: State, _ byteClass: Int) -> State {
        if id == RegexStore.nothing || id == RegexStore.empty { return RegexStore.nothing }
        if id == RegexStore.anything { return id }
        guard !isExhausted else { return RegexStore.nothing }
        if Int(id) >= rowOf.count { rowOf += repeatElement(-1, count: max(store.count, Int(id) + 1) - rowOf.count) }
        if rowOf[Int(id)] < 0 {
            rowOf[Int(id)] = Int32(rows.count / examples.count)
            rows += repeatElement(-1, count: examples.count)
            if rows.count > Self.mostSteps { store.exhaust() }
        }
        let place = Int(rowOf[Int(id)]) * examples.count + byteClass
        if rows[place] >= 0 { return rows[place] }
        let made = makeDerivative(id, byteClass)
        rows[place] = made
        return made
    }

    private mutating func makeDerivative(_ id: State, _ byteClass: Int) -> State {
        let node = store[id]
        switch node.kind {
        case .nothing, .empty: return RegexStore.nothing
        case .bytes:
            return store.sets[Int(node.first)].contains(examples[byteClass]) ? RegexStore.empty : RegexStore.nothing
        case .then:
            var parts: [State] = []
            var rest = node
            while true {
                parts.append(store.then(derivative(rest.first, byteClass), rest.second))
                guard store.isNullable(rest.first) else { break }
                guard store[rest.second].kind == .then else {
                    parts.append(derivative(rest.second, byteClass))
                    break
                }
                rest = store[rest.second]
            }
            return store.either(parts)
        case .repeated:
            let first = derivative(node.first, byteClass)
            if first == RegexStore.nothing { return first }
            let high = node.high < 0 ? nil : Int(node.high) - 1
            return store.then(first, store.repeated(node.first, max(0, Int(node.low) - 1), high))
        case .either: return store.either(store.parts(node).map { derivative($0, byteClass) })
        case .both:
            var parts: [State] = []
            for part in store.parts(node) {
                let after = derivative(part, byteClass)
                if after == RegexStore.nothing { return after }
                parts.append(after)
            }
            return store.both(parts)
        case .not: return store.not(derivative(node.first, byteClass))
        }
    }
}
