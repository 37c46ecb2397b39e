/// A set of Unicode scalar values as sorted ranges.
struct CodePoints: Hashable, Sendable {
    private(set) var ranges: [ClosedRange<UInt32>]

    /// The values of some ranges in any order; surrogates are left out.
    init(_ ranges: [ClosedRange<UInt32>]) {
        var sorted: [ClosedRange<UInt32>] = []
        for range in ranges.flatMap(Self.withoutSurrogates).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = sorted.last, range.lowerBound <= last.upperBound + 1 {
                sorted[sorted.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                sorted.append(range)
            }
        }
        self.ranges = sorted
    }

    /// One value.
    init(_ scalar: Unicode.Scalar) { ranges = [scalar.value...scalar.value] }

    static let all = CodePoints([0...0x10FFFF])

    private static func withoutSurrogates(_ range: ClosedRange<UInt32>) -> [ClosedRange<UInt32>] {
        var parts: [ClosedRange<UInt32>] = []
        if range.lowerBound < 0xD800 { parts.append(range.lowerBound...min(range.upperBound, 0xD7FF)) }
        if range.upperBound > 0xDFFF {
            parts.append(max(range.lowerBound, 0xE000)...min(range.upperBound, 0x10FFFF))
        }
        return parts
    }

    func union(_ other: CodePoints) -> CodePoints { CodePoints(ranges + other.ranges) }

    /// All values that are not in this.
    var inverted: CodePoints {
        var gaps: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        for range in ranges {
            if range.lowerBound > next { gaps.append(next...(range.lowerBound - 1)) }
            next = range.upperBound + 1
        }
        if next <= 0x10FFFF { gaps.append(next...0x10FFFF) }
        return CodePoints(gaps)
    }

    func subtracting(_ other: CodePoints) -> CodePoints { inverted.union(other).inverted }

    func contains(_ value: UInt32) -> Bool { ranges.contains { $0.contains(value) } }
}
