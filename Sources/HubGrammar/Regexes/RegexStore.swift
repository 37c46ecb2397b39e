/// Regular expressions over bytes, each kept once: equal expressions have equal ids, so that derivatives of them
/// (https://doi.org/10.1017/S0956796808007090) are the states of an automaton that is made as it is needed.
///
/// Small expressions can have more derivatives than any memory holds. So there is an allowance: when it is used up, every
/// further expression is ``nothing``, and ``isExhausted`` says so for good.
struct RegexStore: Sendable {
    typealias ID = Int32

    enum Kind: UInt8, Sendable { case nothing, empty, bytes, then, repeated, either, both, not }

    struct Node: Hashable, Sendable {
        var kind: Kind
        /// The expression, the set of bytes or the list of expressions.
        var first: Int32 = 0
        /// The expression that follows.
        var second: Int32 = 0
        var low: Int32 = 0
        /// -1 for no limit.
        var high: Int32 = 0
    }

    private struct Facts: Sendable {
        /// Whether it matches the empty text.
        var isNullable: Bool
        /// Whether it has an intersection or a complement, so that it may match nothing though it is not ``nothing``.
        var isBoolean: Bool
        /// The parts of a sequence, which whatever comes before it shares or copies.
        var length: Int32 = 1
        /// Levels of expressions within each other.
        var depth: Int32 = 1
    }

    /// Matches no text.
    static let nothing: ID = 0
    /// Matches the empty text.
    static let empty: ID = 1
    /// Matches every text.
    static let anything: ID = 2

    private var nodes: [Node] = []
    private var facts: [Facts] = []
    private var ids: [Node: ID] = [:]
    private(set) var sets: [ByteSet] = []
    private var setIDs: [ByteSet: Int32] = [:]
    private var lists: [[ID]] = []
    private var listIDs: [[ID]: Int32] = [:]
    /// Parts in ``lists``.
    private var listed = 0
    /// Expressions made or looked up, and parts looked at.
    private var work = 0
    private var mostWork = RegexStore.allowance
    /// Whether there was no room for an expression.
    private(set) var isExhausted = false

    /// Work for a grammar as a whole, or for one token; about a second.
    static let allowance = 8_000_000
    /// Expressions and parts in lists: 130 bytes and 4 bytes each.
    private static let (mostNodes, mostListed) = (500_000, 8_000_000)
    /// What was there when an automaton began with it.
    private var first = (nodes: 0, listed: 0)

    init() {
        _ = add(Node(kind: .nothing), Facts(isNullable: false, isBoolean: false))
        _ = add(Node(kind: .empty), Facts(isNullable: true, isBoolean: false))
        _ = add(Node(kind: .not, first: Self.nothing), Facts(isNullable: true, isBoolean: false))
    }

    var count: Int { nodes.count }

    /// Whether so much is kept that it is time for a new store.
    var isLarge: Bool {
        nodes.count - first.nodes > Self.mostNodes / 4 || listed - first.listed > Self.mostListed / 4
    }

    /// Counts from here on.
    mutating func begin() { first = (nodes.count, listed) }

    /// The work that is still allowed.
    var allowed: Int {
        get { mostWork - work }
        set { mostWork = work + newValue }
    }

    mutating func exhaust() { isExhausted = true }

    /// - Returns: false if the allowance is used up.
    mutating func spend(_ amount: Int) -> Bool {
        work += amount
        if work > mostWork || nodes.count - first.nodes >= Self.mostNodes
            || listed - first.listed >= Self.mostListed
        {
            isExhausted = true
        }
        return !isExhausted
    }

    subscript(id: ID) -> Node { nodes[Int(id)] }

    func isNullable(_ id: ID) -> Bool { facts[Int(id)].isNullable }

    func isBoolean(_ id: ID) -> Bool { facts[Int(id)].isBoolean }

    func length(_ id: ID) -> Int { Int(facts[Int(id)].length) }

    func depth(_ id: ID) -> Int { Int(facts[Int(id)].depth) }

    private func depth(of parts: [ID]) -> Int32 { 1 + (parts.map { facts[Int($0)].depth }.max() ?? 0) }

    /// The parts of an alternative or an intersection.
    func parts(_ node: Node) -> [ID] { lists[Int(node.first)] }

    /// Whether an expression is a sequence that begins with one byte alone.
    func beginsWith(_ byte: UInt8, _ id: ID) -> Bool {
        let node = self[id]
        let head = node.kind == .then ? self[node.first] : node
        return head.kind == .bytes && sets[Int(head.first)] == ByteSet(byte)
    }

    private mutating func add(_ node: Node, _ facts: Facts) -> ID {
        guard spend(1) else { return Self.nothing }
        if let known = ids[node] { return known }
        let id = ID(nodes.count)
        self.facts.append(facts)
        nodes.append(node)
        ids[node] = id
        return id
    }

    private mutating func list(_ parts: [ID]) -> Int32 {
        if let known = listIDs[parts] { return known }
        lists.append(parts)
        listed += parts.count
        listIDs[parts] = Int32(lists.count - 1)
        return Int32(lists.count - 1)
    }

    // MARK: Expressions

    /// One byte of a set.
    mutating func bytes(_ set: ByteSet) -> ID {
        if set.isEmpty { return Self.nothing }
        let place = setIDs[set] ?? Int32(sets.count)
        if place == sets.count {
            sets.append(set)
            setIDs[set] = place
        }
        return add(Node(kind: .bytes, first: place), Facts(isNullable: false, isBoolean: false))
    }

    /// A text.
    mutating func literal(_ bytes: some BidirectionalCollection<UInt8>) -> ID {
        bytes.reversed().reduce(Self.empty) { rest, byte in then(self.bytes(ByteSet(byte)), rest) }
    }

    mutating func literal(_ text: String) -> ID { literal(Array(text.utf8)) }

    /// One after the other.
    mutating func then(_ first: ID, _ second: ID) -> ID {
        if first == Self.nothing || second == Self.nothing { return Self.nothing }
        if first == Self.empty { return second }
        if second == Self.empty { return first }
        // Nested to the right only, so that equal sequences are equal.
        var heads: [ID] = []
        var last = first
        while !isExhausted, self[last].kind == .then {
            heads.append(self[last].first)
            last = self[last].second
        }
        return heads.reversed().reduce(pair(last, second)) { pair($1, $0) }
    }

    private mutating func pair(_ first: ID, _ second: ID) -> ID {
        if isExhausted { return Self.nothing }
        return add(
            Node(kind: .then, first: first, second: second),
            Facts(
                isNullable: isNullable(first) && isNullable(second),
                isBoolean: isBoolean(first) || isBoolean(second), length: 1 + facts[Int(second)].length,
                depth: max(1 + facts[Int(first)].depth, facts[Int(second)].depth)))
    }

    mutating func sequence(_ parts: [ID]) -> ID { parts.reversed().reduce(Self.empty) { then($1, $0) } }

    /// An expression again and again.
    ///
    /// - Parameter high: nil for no limit.
    mutating func repeated(_ id: ID, _ low: Int, _ high: Int?) -> ID {
        if high == 0 || id == Self.empty { return Self.empty }
        if id == Self.nothing { return low == 0 ? Self.empty : Self.nothing }
        let low = isNullable(id) ? 0 : low
        if low == 1, high == 1 { return id }
        let node = self[id]
        if node.kind == .repeated, node.low == 0, node.high == -1 { return id }
        return add(
            Node(kind: .repeated, first: id, low: Int32(low), high: high.map { Int32($0) } ?? -1),
            Facts(isNullable: low == 0, isBoolean: isBoolean(id), depth: depth(of: [id])))
    }

    mutating func optional(_ id: ID) -> ID { either([Self.empty, id]) }

    /// One of several.
    mutating func either(_ parts: [ID]) -> ID {
        var flat: Set<ID> = []
        var set = ByteSet()
        for part in parts {
            let node = self[part]
            let inners = node.kind == .either ? self.parts(node) : [part]
            guard spend(inners.count) else { return Self.nothing }
            for inner in inners {
                let innerNode = self[inner]
                switch innerNode.kind {
                case .nothing: break
                case .bytes: set.formUnion(sets[Int(innerNode.first)])
                default: flat.insert(inner)
                }
            }
        }
        if flat.contains(Self.anything) { return Self.anything }
        if !set.isEmpty { flat.insert(bytes(set)) }
        guard flat.count > 1 else { return flat.first ?? Self.nothing }
        // Nothing new is said by the empty text beside an expression that matches it.
        if flat.contains(Self.empty), flat.contains(where: { $0 != Self.empty && isNullable($0) }) {
            flat.remove(Self.empty)
            if flat.count == 1 { return flat.first! }
        }
        let sorted = flat.sorted()
        return add(
            Node(kind: .either, first: list(sorted)),
            Facts(
                isNullable: sorted.contains(where: isNullable), isBoolean: sorted.contains(where: isBoolean),
                depth: depth(of: sorted)))
    }

    /// All of several at once.
    mutating func both(_ parts: [ID]) -> ID {
        var flat: Set<ID> = []
        for part in parts {
            let node = self[part]
            let inners = node.kind == .both ? self.parts(node) : [part]
            guard spend(inners.count) else { return Self.nothing }
            flat.formUnion(inners)
        }
        if flat.contains(Self.nothing) { return Self.nothing }
        flat.remove(Self.anything)
        guard flat.count > 1 else { return flat.first ?? Self.anything }
        let sorted = flat.sorted()
        if sorted.contains(Self.empty) { return sorted.allSatisfy(isNullable) ? Self.empty : Self.nothing }
        return add(
            Node(kind: .both, first: list(sorted)),
            Facts(isNullable: sorted.allSatisfy(isNullable), isBoolean: true, depth: depth(of: sorted)))
    }

    /// Every other text.
    mutating func not(_ id: ID) -> ID {
        let node = self[id]
        if node.kind == .not { return node.first }
        return add(
            Node(kind: .not, first: id), Facts(isNullable: !isNullable(id), isBoolean: true, depth: depth(of: [id]))
        )
    }

    /// One of several texts, as a tree of their beginnings.
    mutating func literals(_ texts: [[UInt8]]) -> ID {
        literals(texts.sorted { $0.lexicographicallyPrecedes($1) }[...], 0)
    }

    private mutating func literals(_ texts: ArraySlice<[UInt8]>, _ depth: Int) -> ID {
        var parts: [ID] = []
        var rest = texts
        while let first = rest.first {
            guard depth < first.count else {
                parts.append(Self.empty)
                rest = rest.dropFirst()
                continue
            }
            let group = rest.prefix { $0[depth] == first[depth] }
            // They are sorted, so what the first and the last begin with all do.
            var end = depth + 1
            let last = group[group.endIndex - 1]
            while end < first.count, end < last.count, first[end] == last[end] { end += 1 }
            let after = group.count == 1 ? Self.empty : literals(group, end)
            parts.append(first[depth..<end].reversed().reduce(after) { then(bytes(ByteSet($1)), $0) })
            rest = rest.dropFirst(group.count)
        }
        return either(parts)
    }
}
