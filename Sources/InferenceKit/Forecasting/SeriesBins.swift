import HubCore
import Libc
import ModelFormats

/// How Chronos writes a series in tokens: values are divided by the mean of their sizes, and a token is a bin of the
/// quotients (https://arxiv.org/abs/2403.07815, section 3.1; `MeanScaleUniformBins` of chronos-forecasting).
struct SeriesBins: Sendable, Hashable {
    /// The values that the bins stand for, rising.
    let centers: [Float]
    /// Where a bin ends and the next begins, one fewer than bins.
    private let boundaries: [Float]
    /// Tokens that are not bins; one more stands before the first bin.
    private let specials: Int
    private let tokens: Int
    /// What ends a series; nil if nothing does.
    private let end: Int?
    /// The most values that are read: the last ones.
    let contextLength: Int

    init(_ d: ForecastSettings.Paths, contextLength: Int) {
        let bins = d.tokens - d.specials - 1
        let (first, last) = (Float(d.low), Float(d.high))
        let step = (last - first) / Float(bins - 1)
        // From both ends, as torch.linspace does.
        let centers = (0..<bins).map {
            $0 < bins / 2 ? first + step * Float($0) : last - step * Float(bins - 1 - $0)
        }
        self.centers = centers
        boundaries = zip(centers.dropFirst(), centers).map { ($0 + $1) / 2 }
        (specials, tokens, self.contextLength) = (d.specials, d.tokens, contextLength)
        end = d.endsSeries ? d.end : nil
    }

    /// The tokens of a series' last values, and what their quotients were divided by.
    ///
    /// - Parameter series: finite numbers, NaN where one is missing.
    /// - Throws: ``ErrorCode/invalidInput`` if one is missing among those that are read.
    func tokens(of series: [Double]) throws(AIError) -> (ids: [Int], scale: Float) {
        if let place = series.suffix(contextLength).firstIndex(where: \.isNaN) {
            throw AIError(
                .invalidInput, "value \(place + 1) of the series is missing, and this model reads no gaps",
                advice: "fill the gap, or use Chronos-Bolt or Chronos-2")
        }
        let values = series.suffix(contextLength).map { Float($0) }
        let mean = Float(values.reduce(0.0) { $0 + Double(abs($1)) } / Double(values.count))
        let scale = mean > 0 ? mean : 1
        let ids = values.map { min(bin($0 / scale) + specials + 1, tokens - 1) }
        return (ids + [end].compactMap { $0 }, scale)
    }

    /// The bin of a quotient: the number of boundaries that are not above it.
    private func bin(_ value: Float) -> Int {
        var (low, high) = (0, boundaries.count)
        while low < high {
            let middle = (low + high) / 2
            if boundaries[middle] <= value { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The value of a token; what is not a bin counts as the first.
    func value(of id: Int, scale: Float) -> Double {
        Double(centers[min(max(0, id - specials - 1), centers.count - 1)] * scale)
    }
}
