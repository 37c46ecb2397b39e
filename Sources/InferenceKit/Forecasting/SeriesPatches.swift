import HubCore
import Libc

/// How Chronos-Bolt and Chronos-2 write a series in rows: values are standardised, and some of them side by side are a
/// row, with their times and with which of them there are (https://github.com/amazon-science/chronos-forecasting,
/// `InstanceNorm`, `Patch`, `_prepare_patched_context`).
struct SeriesPatches {
    /// `[rows][count]`, the last values in the last row.
    private(set) var rows: [[Float]]
    private let mean: Float
    private let deviation: Float
    private let usesArcsinh: Bool

    /// - Parameter series: finite numbers, NaN where one is missing; not all are.
    /// - Throws: ``ErrorCode/invalidInput`` if all values of a row are missing.
    init(_ d: ForecastSettings.Quantiles, _ series: ArraySlice<Double>) throws(AIError) {
        let values = series.drop(while: \.isNaN)
        let known = values.filter { !$0.isNaN }
        let mean = Float(known.reduce(0, +) / Double(known.count))
        let variance = known.reduce(0.0) { $0 + ($1 - Double(mean)) * ($1 - Double(mean)) } / Double(known.count)
        let deviation = variance > 0 ? Float(variance.squareRoot()) : 1e-5
        (self.mean, self.deviation, usesArcsinh) = (mean, deviation, d.usesArcsinh)
        let missing = (d.size - values.count % d.size) % d.size
        let padded = Array(repeating: Double.nan, count: missing) + values
        rows = []
        for first in stride(from: 0, to: padded.count, by: d.size) {
            let patch = padded[first..<first + d.size]
            guard patch.contains(where: { !$0.isNaN }) else {
                let place = values.startIndex + first - missing + 1
                throw AIError(
                    .invalidInput,
                    "values \(place) to \(place + d.size - 1) of the series are missing; the model reads \(d.size) at a time and needs one of them",
                    advice: "fill the gap, or leave out what is before it")
            }
            let standard = patch.map { value in
                let scaled = (Float(value) - mean) / deviation
                return value.isNaN ? 0 : d.usesArcsinh ? asinhf(scaled) : scaled
            }
            rows.append(
                Self.times(d, from: first - padded.count) + standard + patch.map { $0.isNaN ? 0 : 1 })
        }
    }

    /// Rows of values that are not known yet.
    static func future(_ d: ForecastSettings.Quantiles, _ count: Int) -> [[Float]] {
        (0..<count).map { times(d, from: $0 * d.size) + Array(repeating: 0, count: 2 * d.size) }
    }

    /// The times of a row's values, the first one of the future being 0; none where rows do not have them.
    private static func times(_ d: ForecastSettings.Quantiles, from first: Int) -> [Float] {
        d.timeScale.map { scale in (first..<first + d.size).map { Float($0) / Float(scale) } } ?? []
    }

    /// What a number of the model stands for.
    func value(_ number: Float) -> Double { Double((usesArcsinh ? sinhf(number) : number) * deviation + mean) }
}
