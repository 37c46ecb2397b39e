/// A word whose symbols are being merged: lowest rank first, leftmost on ties.
///
/// Its memory is reused from word to word.
struct MergingWord {
    /// Token ids, with their lengths in bytes of the word.
    private(set) var ids: [Int32] = []
    private(set) var lengths: [Int32] = []
    private var ranks: [Int32] = []
    private var results: [Int32] = []
    private var previous: [Int32] = []
    private var next: [Int32] = []
    private var starts: [Int32] = []
    private var heap: [Candidate] = []

    private struct Candidate {
        var rank: Int32
        var position: Int32
        var result: Int32

        func goesBefore(_ other: Candidate) -> Bool {
            rank != other.rank ? rank < other.rank : position < other.position
        }
    }

    private static let none: Int32 = -1
    private static let unranked = Int32.max
    /// Up to this length rescanning all pairs is faster than a heap.
    private static let shortest = 24

    mutating func removeAll() {
        ids.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
    }

    mutating func append(_ id: Int32, length: Int) {
        ids.append(id)
        lengths.append(Int32(length))
    }

    /// Merges until no pair is in the table.
    mutating func merge(_ table: borrowing MergeTable) {
        if ids.count < 2 { return }
        if ids.count <= Self.shortest { return mergeShort(table) }
        mergeLong { word, left, right in table[word.ids[left], word.ids[right]] }
    }

    /// Merges until `rule` returns nil for all neighbours; it gets their byte range in the word, and where the second
    /// begins.
    mutating func merge(_ rule: (Range<Int>, Int) -> MergeTable.Merge?) {
        if ids.count < 2 { return }
        starts.removeAll(keepingCapacity: true)
        var at: Int32 = 0
        for length in lengths {
            starts.append(at)
            at += length
        }
        mergeLong { word, left, right in
            let start = Int(word.starts[right])
            return rule(Int(word.starts[left])..<start + Int(word.lengths[right]), start)
        }
    }

    private mutating func mergeShort(_ table: borrowing MergeTable) {
        ranks.removeAll(keepingCapacity: true)
        results.removeAll(keepingCapacity: true)
        for index in 0..<ids.count - 1 {
            let merge = table[ids[index], ids[index + 1]]
            ranks.append(merge?.rank ?? Self.unranked)
            results.append(merge?.result ?? 0)
        }
        while true {
            var best = 0
            var least = Self.unranked
            for index in 0..<ranks.count where ranks[index] < least {
                least = ranks[index]
                best = index
            }
            if least == Self.unranked { return }
            ids[best] = results[best]
            lengths[best] += lengths[best + 1]
            ids.remove(at: best + 1)
            lengths.remove(at: best + 1)
            ranks.remove(at: best)
            results.remove(at: best)
            if best > 0 { rank(best - 1, table) }
            if best < ranks.count { rank(best, table) }
        }
    }

    private mutating func rank(_ index: Int, _ table: borrowing MergeTable) {
        let merge = table[ids[index], ids[index + 1]]
        ranks[index] = merge?.rank ?? Self.unranked
        results[index] = merge?.result ?? 0
    }

    /// With a linked list and a heap in O(n log n), because a word may be a megabyte of spaces.
    private mutating func mergeLong(_ rule: (borrowing MergingWord, Int, Int) -> MergeTable.Merge?) {
        let count = ids.count
        previous = (0..<count).map { Int32($0) - 1 }
        next = (0..<count).map { $0 + 1 < count ? Int32($0) + 1 : Self.none }
        heap.removeAll(keepingCapacity: true)
        for position in 0..<count { consider(position, rule) }
        while let best = pop() {
            let left = Int(best.position)
            // Stale if a neighbour has been merged since.
            guard ids[left] != Self.none, next[left] != Self.none,
                let now = rule(self, left, Int(next[left])), now.result == best.result, now.rank == best.rank
            else { continue }
            let right = Int(next[left])
            ids[left] = best.result
            lengths[left] += lengths[right]
            ids[right] = Self.none
            next[left] = next[right]
            if next[left] != Self.none { previous[Int(next[left])] = Int32(left) }
            if previous[left] != Self.none { consider(Int(previous[left]), rule) }
            consider(left, rule)
        }
        var kept = 0
        for index in 0..<count where ids[index] != Self.none {
            ids[kept] = ids[index]
            lengths[kept] = lengths[index]
            kept += 1
        }
        ids.removeSubrange(kept...)
        lengths.removeSubrange(kept...)
    }

    private mutating func consider(_ position: Int, _ rule: (borrowing MergingWord, Int, Int) -> MergeTable.Merge?)
    {
        let after = next[position]
        guard after != Self.none, let found = rule(self, position, Int(after)) else { return }
        heap.append(Candidate(rank: found.rank, position: Int32(position), result: found.result))
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
            let child = 2 * parent + 1
            if child < heap.count, heap[child].goesBefore(heap[least]) { least = child }
            if child + 1 < heap.count, heap[child + 1].goesBefore(heap[least]) { least = child + 1 }
            if least == parent { return first }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
