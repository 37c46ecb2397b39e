/// A set of byte positions as sorted, disjoint, non-touching half-open ranges.
package struct IntervalSet: Sendable, Hashable {
    package private(set) var ranges: [Range<Int64>] = []

    package init() {}

    /// The union of these ranges.
    package init(_ ranges: [Range<Int64>]) { for range in ranges { insert(range) } }

    /// Number of positions.
    package var count: Int64 { ranges.reduce(0) { $0 + Int64($1.count) } }
    package var isEmpty: Bool { ranges.isEmpty }

    /// The end of the run that begins at 0; 0 if 0 is not in the set.
    package var front: Int64 { ranges.first.map { $0.lowerBound == 0 ? $0.upperBound : 0 } ?? 0 }

    package mutating func insert(_ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        let low = firstTouching(range.lowerBound)
        var end = low
        var merged = range
        while end < ranges.count, ranges[end].lowerBound <= merged.upperBound {
            merged = min(merged.lowerBound, ranges[end].lowerBound)..<max(merged.upperBound, ranges[end].upperBound)
            end += 1
        }
        ranges.replaceSubrange(low..<end, with: [merged])
    }

    /// The index of the first range that ends at or after a position: everything that could touch it follows.
    private func firstTouching(_ position: Int64) -> Int {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < position { low = middle + 1 } else { high = middle }
        }
        return low
    }

    package mutating func formUnion(_ other: IntervalSet) { for range in other.ranges { insert(range) } }

    /// The positions of `range` that are not in the set, in order.
    package func gaps(in range: Range<Int64>) -> [Range<Int64>] {
        var out: [Range<Int64>] = []
        var start = range.lowerBound
        for taken in ranges[firstTouching(start)...] {
            guard start < range.upperBound, taken.lowerBound < range.upperBound else { break }
            if taken.lowerBound > start { out.append(start..<taken.lowerBound) }
            start = max(start, taken.upperBound)
        }
        if start < range.upperBound { out.append(start..<range.upperBound) }
        return out
    }

    /// The first run of positions below `limit` that is not in the set.
    package func firstGap(below limit: Int64) -> Range<Int64>? {
        var start: Int64 = 0
        for range in ranges {
            if range.lowerBound > start { break }
            start = range.upperBound
        }
        guard start < limit else { return nil }
        let end = ranges.first { $0.lowerBound >= start }?.lowerBound ?? limit
        return start..<min(end, limit)
    }
}
