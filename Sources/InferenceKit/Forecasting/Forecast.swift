/// What may follow a series: paths that were drawn, each a possible future.
public struct Forecast: Sendable, Hashable {
    /// The paths, all of the same length, in the order of their seeds.
    public let paths: [[Double]]

    /// A forecast.
    public init(paths: [[Double]]) { self.paths = paths }

    /// The number of values that are forecast.
    public var horizon: Int { paths.first?.count ?? 0 }

    /// For each value the one below which a share of the paths lie, 0 to 1; between two paths in proportion.
    public func quantile(_ share: Double) -> [Double] {
        (0..<horizon).map { step in
            let values = paths.map { $0[step] }.sorted()
            let place = min(max(0, share), 1) * Double(values.count - 1)
            let low = Int(place)
            let high = min(low + 1, values.count - 1)
            return values[low] + (values[high] - values[low]) * (place - Double(low))
        }
    }

    /// The middle of the paths.
    public var median: [Double] { quantile(0.5) }
}
