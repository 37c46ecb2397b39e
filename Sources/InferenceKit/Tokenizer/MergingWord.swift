/// One word while its symbols are merged: a linked list, and a heap of the merges that are possible.
///
/// The lowest rank goes first, the leftmost of equals; n symbols take O(n log n), for a word may be a megabyte of spaces.
struct MergingWord {
    private struct Candidate {
        var rank: Int32
        var position: Int32
        var result: Int32

        func goesBefore(_ other: Candidate) -> Bool {
            rank != other.rank ? rank < other.rank : position < other.position
        }
    }

    private var symbols: [Int32]
    private var previous: [Int32]
    private var next: [Int32]
    private var heap: [Candidate] = []
    private static let none: Int32 = -1

    init(_ symbols: [Int32]) {
        self.symbols = symbols
        previous = (0..<symbols.count).map { Int32($0) - 1 }
        next = (0..<symbols.count).map { $0 + 1 < symbols.count ? Int32($0) + 1 : Self.none }
    }

    /// Merges until no pair has a rule. `rule` gives the rank and the merged symbol of a pair.
    mutating func merge(_ rule: (Int32, Int32) -> (rank: Int32, result: Int32)?) {
        for position in symbols.indices { consider(Int32(position), rule) }
        while let best = pop() {
            let left = Int(best.position)
            // Stale where a neighbour has been merged since: the pair is then gone or another one.
            guard symbols[left] != Self.none, next[left] != Self.none,
                let now = rule(symbols[left], symbols[Int(next[left])]), now.rank == best.rank
            else { continue }
            let right = Int(next[left])
            symbols[left] = best.result
            symbols[right] = Self.none
            next[left] = next[right]
            if next[left] != Self.none { previous[Int(next[left])] = Int32(left) }
            if previous[left] != Self.none { consider(previous[left], rule) }
            consider(Int32(left), rule)
        }
    }

    func append(to ids: inout [Int]) {
        for symbol in symbols where symbol != Self.none { ids.append(Int(symbol)) }
    }

    private mutating func consider(_ position: Int32, _ rule: (Int32, Int32) -> (rank: Int32, result: Int32)?) {
        let after = next[Int(position)]
        guard after != Self.none, let found = rule(symbols[Int(position)], symbols[Int(after)]) else { return }
        heap.append(Candidate(rank: found.rank, position: position, result: found.result))
        var child = heap.count - 1
        while child > 0, heap[child].goesBefore(heap[(child - 1) / 2]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func pop() -> Candidate? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        if heap.isEmpty { return first }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].goesBefore(heap[least]) {
                least = child
            }
            if least == parent { return first }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
