import HubCore

/// What may follow a series: for each future value, the numbers below which shares of what is likely lie.
public struct Forecast: Sendable, Hashable {
    /// The shares, rising, 0 to 1.
    public let levels: [Double]
    /// The number of each share and future value, `[levels][horizon]`.
    public let values: [[Double]]
    /// The futures that were drawn, all of the same length, in the order of their seeds; empty where the model says the
    /// numbers itself.
    public let paths: [[Double]]

    /// - Parameter paths: one or more, of the same length.
    public init(paths: [[Double]]) {
        self.paths = paths
        levels = (1...9).map { Double($0) / 10 }
        values = levels.map { Self.quantile($0, of: paths) }
    }

    /// - Parameters:
    ///   - levels: rising, 0 to 1.
    ///   - values: as many rows, of the same length.
    public init(levels: [Double], values: [[Double]]) { (self.levels, self.values, paths) = (levels, values, []) }

    /// The number of values that are forecast.
    public var horizon: Int { values.first?.count ?? 0 }

    /// For each value the one below which a share of the futures lie, 0 to 1: between two of them in proportion. Beyond
    /// the outermost of ``levels`` it is theirs.
    public func quantile(_ share: Double) -> [Double] {
        guard paths.isEmpty else { return Self.quantile(share, of: paths) }
        guard let next = levels.firstIndex(where: { $0 >= share }) else { return values.last ?? [] }
        guard next > 0, levels[next] > share else { return values[next] }
        let part = (share - levels[next - 1]) / (levels[next] - levels[next - 1])
        return zip(values[next - 1], values[next]).map { $0 + ($1 - $0) * part }
    }

    /// The middle.
    public var median: [Double] { quantile(0.5) }

    private static func quantile(_ share: Double, of paths: [[Double]]) -> [Double] {
        (0..<(paths.first?.count ?? 0)).map { step in
            let values = paths.map { $0[step] }.sorted()
            let place = min(max(0, share), 1) * Double(values.count - 1)
            let low = Int(place)
            let high = min(low + 1, values.count - 1)
            return values[low] + (values[high] - values[low]) * (place - Double(low))
        }
    }
}

extension Forecast {
    /// This forecast.
    ///
    /// - Throws: ``ErrorCode/generationFailed`` if a value is NaN or infinite.
    func checkedFinite() throws(AIError) -> Forecast {
        for row in values { _ = try row.checkedFinite() }
        return self
    }
}
