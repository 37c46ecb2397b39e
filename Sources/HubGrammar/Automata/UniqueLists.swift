/// A list whose elements must differ: those that are whole, and the one that is being written.
///
/// Its elements have one spelling for each value, so that texts are compared.
struct UniqueList: Hashable, Sendable {
    /// The brackets around an element.
    let depth: Int
    /// The elements, sorted.
    private var found: [[UInt8]] = []
    private var current: [UInt8] = []
    /// The elements that begin with the current one.
    private var low = 0
    private var high = 0

    init(depth: Int) { self.depth = depth }

    /// Whether the current element may still become one that is there.
    var isAlike: Bool { low < high }

    /// - Returns: false for a byte that makes two elements equal.
    mutating func take(_ byte: UInt8, endsElement: Bool) -> Bool {
        guard endsElement else {
            // The space behind a comma.
            if current.isEmpty, byte == UInt8(ascii: " ") { return true }
            let place = current.count
            current.append(byte)
            while low < high, found[low].count <= place || found[low][place] < byte { low += 1 }
            while low < high, found[high - 1][place] > byte { high -= 1 }
            return true
        }
        // What is equal is the first of those that begin so.
        guard !isAlike || found[low].count > current.count else { return false }
        let place = found.firstIndex { current.lexicographicallyPrecedes($0) } ?? found.count
        found.insert(current, at: place)
        current = []
        (low, high) = (0, found.count)
        return true
    }
}

/// A state of an automaton whose grammar may have lists of different elements: the ways without such a list, and those
/// that are within some.
struct GrammarState: Hashable, Sendable {
    /// The ways without a list; ``PushdownAutomaton/dead`` for none.
    var place: PushdownAutomaton.State
    var ways: [Way] = []

    /// Ways within lists, the outermost first.
    struct Way: Hashable, Sendable {
        var place: PushdownAutomaton.State
        var lists: [UniqueList] = []
        /// The brackets since the outermost list, and whether the text is within a string, behind a backslash.
        var depth = 0
        var isString = false
        var isEscaped = false
    }

    /// The only place, if no element may still become equal to another: then what may follow is what the automaton says,
    /// as far as the element goes.
    var onlyPlace: PushdownAutomaton.State? {
        if ways.isEmpty { return place }
        guard ways.count == 1, place == PushdownAutomaton.dead, !ways[0].lists.contains(where: \.isAlike) else {
            return nil
        }
        return ways[0].place
    }
}

extension PushdownAutomaton {
    /// The state after a byte that may follow; nil for another.
    func next(_ state: GrammarState, _ byte: UInt8) -> GrammarState? {
        var ways: [GrammarState.Way] = []
        if state.place != Self.dead { ways = step(GrammarState.Way(place: state.place), byte) }
        for way in state.ways {
            for next in step(way, byte) where !ways.contains(next) { ways.append(next) }
        }
        guard let first = ways.first else { return nil }
        guard first.lists.isEmpty else { return GrammarState(place: Self.dead, ways: ways) }
        // Outside of lists the text needs no account.
        return GrammarState(place: first.place, ways: Array(ways.dropFirst()))
    }

    func isComplete(_ state: GrammarState) -> Bool {
        state.place != Self.dead && isComplete(state.place)
            || state.ways.contains { $0.lists.isEmpty && isComplete($0.place) }
    }

    func isFinished(_ state: GrammarState) -> Bool {
        (state.place == Self.dead || isFinished(state.place))
            && state.ways.allSatisfy { $0.lists.isEmpty && isFinished($0.place) }
    }

    /// The only byte that can follow, if there is one alone and the text may not end.
    func onlyByte(_ state: GrammarState) -> UInt8? {
        guard grammar.hasUniqueLists else { return onlyByte(state.place) }
        guard !isComplete(state) else { return nil }
        var found: UInt8?
        for byte in UInt8.min...UInt8.max where next(state, byte) != nil {
            guard found == nil else { return nil }
            found = byte
        }
        return found
    }

    /// How ways go on. From each that is left some text leads to the end.
    private func step(_ way: GrammarState.Way, _ byte: UInt8) -> [GrammarState.Way] {
        let place = next(way.place, byte)
        guard place != Self.dead, spend(1) else { return [] }
        var after = way
        let isStructure = Self.read(byte, &after)
        let ends = isStructure && (byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]"))
        for index in way.lists.indices {
            let endsElement = ends && way.depth == way.lists[index].depth
            // A list without elements has none that ends.
            guard after.lists[index].take(byte, endsElement: endsElement) else { return [] }
        }
        if byte == UInt8(ascii: "]"), isStructure, way.lists.last?.depth == way.depth { after.lists.removeLast() }
        var found: [GrammarState.Way] = []
        if hasWays(place) {
            after.place = place
            if isAlive(after) { found.append(after) }
        }
        if opened(place) != Self.dead {
            after.place = opened(place)
            after.lists.append(UniqueList(depth: after.depth))
            if isAlive(after) { found.append(after) }
        }
        return found
    }

    /// Keeps account of strings and brackets.
    ///
    /// - Returns: whether a byte stands in no string.
    private static func read(_ byte: UInt8, _ way: inout GrammarState.Way) -> Bool {
        if way.isString {
            if way.isEscaped {
                way.isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                way.isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                way.isString = false
            }
            return false
        }
        switch byte {
        case UInt8(ascii: "\""): way.isString = true
        case UInt8(ascii: "["), UInt8(ascii: "{"): way.depth += 1
        case UInt8(ascii: "]"), UInt8(ascii: "}"): way.depth -= 1
        default: break
        }
        return true
    }

    /// Whether the elements that are being written can become others than those that are there.
    ///
    /// Where a byte makes an element differ, every way to its end will do, for each way leads to an end. So it is enough
    /// to follow the elements that are there.
    private func isAlive(_ way: GrammarState.Way) -> Bool {
        guard let outermost = way.lists.firstIndex(where: \.isAlike) else { return true }
        var inner = way
        inner.lists = Array(way.lists[(outermost + 1)...])
        var stack = [(way: inner, list: way.lists[outermost])]
        while let (way, list) = stack.popLast() {
            for byte in UInt8.min...UInt8.max where spend(1) {
                let ends =
                    !way.isString && way.depth == list.depth
                    && (byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]"))
                for next in step(way, byte) {
                    var after = list
                    guard after.take(byte, endsElement: ends) else { continue }
                    if ends || !after.isAlike { return true }
                    stack.append((next, after))
                }
            }
        }
        return false
    }

    /// Whether there are so many texts.
    func hasTexts(_ count: Int) -> Bool {
        var whole = 0
        var begun = [GrammarState(place: start)]
        while !begun.isEmpty, whole + begun.count < count, failure == nil {
            var next: [GrammarState] = []
            for state in begun {
                if isComplete(state) { whole += 1 }
                // Each that was begun leads to one at least.
                guard whole + next.count < count else { return true }
                for byte in UInt8.min...UInt8.max { if let after = self.next(state, byte) { next.append(after) } }
            }
            begun = next
        }
        return whole + begun.count >= count
    }
}
