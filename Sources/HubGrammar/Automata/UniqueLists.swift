/// A list with `uniqueItems`: its finished elements, and the one that is being written.
///
/// Each value has one spelling here, so that two elements are equal if their texts are.
struct UniqueList: Hashable, Sendable {
    /// The number of open brackets around an element.
    let depth: Int
    /// The finished elements, sorted.
    private var found: [[UInt8]] = []
    /// The element that is being written, in two parts. Each byte that is tried changes the second alone, so that a try costs
    /// little however long the element is.
    private var begun: [UInt8] = []
    private var current: [UInt8] = []
    private static let mostOfCurrent = 256
    /// The range of the finished elements that begin with the current one.
    private var low = 0
    private var high = 0

    init(depth: Int) { self.depth = depth }

    /// Whether the current element may still become equal to a finished one.
    var isAlike: Bool { low < high }

    /// Adds a byte to the current element, or ends the element.
    ///
    /// - Parameter endsElement: whether the byte is the comma or bracket behind the element.
    /// - Returns: false if the element ends and is equal to another.
    mutating func take(_ byte: UInt8, endsElement: Bool) -> Bool {
        guard endsElement else {
            // The optional space behind a comma is not part of the element.
            let place = begun.count + current.count
            if place == 0, byte == UInt8(ascii: " ") { return true }
            if current.count == Self.mostOfCurrent {
                begun += current
                current = []
            }
            current.append(byte)
            while low < high, found[low].count <= place || found[low][place] < byte { low += 1 }
            while low < high, found[high - 1][place] > byte { high -= 1 }
            return true
        }
        // An equal element would be the first one of the range, since it is the shortest.
        let element = begun + current
        guard !isAlike || found[low].count > element.count else { return false }
        let place = found.firstIndex { element.lexicographicallyPrecedes($0) } ?? found.count
        found.insert(element, at: place)
        (begun, current) = ([], [])
        (low, high) = (0, found.count)
        return true
    }
}

/// A state of an automaton whose grammar may have lists with `uniqueItems`: the parses outside of such lists, and those
/// within some. A parse is called a way.
struct GrammarState: Hashable, Sendable {
    /// The ways without a list; ``PushdownAutomaton/dead`` for none.
    var place: PushdownAutomaton.State
    var ways: [Way] = []

    /// A way within lists, the outermost list first.
    struct Way: Hashable, Sendable {
        var place: PushdownAutomaton.State
        var lists: [UniqueList] = []
        /// The number of brackets opened since the outermost list, whether the text is within a string, and whether a
        /// backslash came before.
        var depth = 0
        var isString = false
        var isEscaped = false
    }

    /// The place, if there is only one and no element may still become equal to another. Until the element ends, only the
    /// automaton then decides what may follow.
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
        // Outside of lists no elements are kept.
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

    /// The ways after a byte. From each of them some text leads to the end.
    private func step(_ way: GrammarState.Way, _ byte: UInt8) -> [GrammarState.Way] {
        let place = next(way.place, byte)
        guard place != Self.dead, spend(1) else { return [] }
        var after = way
        let isStructure = Self.read(byte, &after)
        let ends = isStructure && (byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]"))
        for index in way.lists.indices {
            let endsElement = ends && way.depth == way.lists[index].depth
            // The closing bracket of an empty list ends an empty element, which equals no other.
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

    /// Keeps track of strings and brackets.
    ///
    /// - Returns: whether the byte stands outside of strings.
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

    /// Whether each element that is being written can still become different from the finished ones.
    ///
    /// Once an element differs, any ending will do, and every way has one. So it is enough to follow the texts of the finished
    /// elements until a byte differs from them.
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

    /// Whether the grammar has at least so many texts. False too if the work is used up; then ``failure`` is set.
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
