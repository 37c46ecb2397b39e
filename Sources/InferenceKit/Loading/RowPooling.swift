/// The rows of a text as one vector.
enum RowPooling {
    /// - Parameters:
    ///   - rows: `[count][width]`
    ///   - skipped: How many of the first rows do not count.
    static func apply(
        _ poolings: [SentenceModules.Pooling], _ rows: UnsafePointer<Float>, count: Int, width: Int,
        skipped: Int = 0
    ) -> [Float] {
        let used = min(skipped, count)..<count
        return poolings.flatMap { pool($0, rows, used, width) }
    }

    private static func pool(
        _ pooling: SentenceModules.Pooling, _ rows: UnsafePointer<Float>, _ used: Range<Int>, _ width: Int
    ) -> [Float] {
        /// The sum of weighted rows, divided by `divisor`.
        func sum(_ weight: (Int) -> Double, over divisor: Double) -> [Float] {
            var sums = [Double](repeating: 0, count: width)
            for row in used {
                let weight = weight(row)
                for i in 0..<width { sums[i] += weight * Double(rows[row * width + i]) }
            }
            return sums.map { Float($0 / max(divisor, 1e-9)) }
        }
        func row(_ index: Int?) -> [Float] {
            index.map { index in (0..<width).map { rows[index * width + $0] } }
                ?? [Float](repeating: 0, count: width)
        }
        switch pooling {
        case .first: return row(used.first)
        case .last: return row(used.last)
        case .mean: return sum({ _ in 1 }, over: Double(used.count))
        case .scaledMean: return sum({ _ in 1 }, over: Double(used.count).squareRoot())
        case .weightedMean: return sum({ Double($0 + 1) }, over: used.reduce(0) { $0 + Double($1 + 1) })
        case .largest: return (0..<width).map { i in used.map { rows[$0 * width + i] }.max() ?? 0 }
        }
    }
}
