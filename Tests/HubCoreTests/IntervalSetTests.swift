import HubCore
import Support
import Testing

@Suite struct IntervalSetTests {
    /// Against a set of single positions, over many random histories.
    @Test func behavesAsASetOfPositions() {
        var random = SeededRandom(state: 7)
        for _ in 0..<400 {
            let limit = Int64.random(in: 1...60, using: &random)
            var intervals = IntervalSet()
            var positions = Set<Int64>()
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                let start = Int64.random(in: 0...limit, using: &random)
                let end = Int64.random(in: start...limit, using: &random)
                intervals.insert(start..<end)
                positions.formUnion(start..<end)
                check(intervals, positions, limit)
            }
            let other = IntervalSet([3..<5, 9..<20])
            intervals.formUnion(other)
            positions.formUnion(Set(3..<5).union(9..<20))
            check(intervals, positions, max(limit, 20))
        }
    }

    private func check(_ intervals: IntervalSet, _ positions: Set<Int64>, _ limit: Int64) {
        #expect(Set(intervals.ranges.flatMap { Array($0) }) == positions)
        #expect(intervals.count == Int64(positions.count))
        #expect(intervals.isEmpty == positions.isEmpty)
        // Sorted, not empty, and neither overlapping nor touching.
        #expect(intervals.ranges.allSatisfy { !$0.isEmpty })
        #expect(zip(intervals.ranges, intervals.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
        #expect(intervals.front == (0...limit).first { !positions.contains($0) })
        let gap = (0..<limit).first { !positions.contains($0) }.map { start in
            start..<((start..<limit).first { positions.contains($0) } ?? limit)
        }
        #expect(intervals.firstGap(below: limit) == gap)
        for start in stride(from: Int64(0), to: limit, by: 7) {
            let range = start..<min(start + 11, limit)
            #expect(intervals.gaps(in: range).flatMap { Array($0) } == range.filter { !positions.contains($0) })
        }
    }

    @Test func holdsTheLargestPositions() {
        var set = IntervalSet([Int64.max - 10..<Int64.max])
        set.insert(0..<1)
        #expect(set.count == 11)
        #expect(set.firstGap(below: .max) == 1..<Int64.max - 10)
        set.insert(1..<Int64.max - 10)
        #expect(set.ranges == [0..<Int64.max])
        #expect(set.firstGap(below: .max) == nil)
    }

    @Test func anEmptyRangeChangesNothing() {
        var set = IntervalSet([5..<5])
        #expect(set.isEmpty)
        #expect(set.front == 0)
        set.insert(4..<6)
        set.insert(2..<2)
        #expect(set.ranges == [4..<6])
        #expect(set.firstGap(below: 0) == nil)
    }
}
