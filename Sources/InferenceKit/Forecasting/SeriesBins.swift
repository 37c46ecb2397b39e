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
    /// Tokens that are no bins; one more stands before the first bin.
    private let specials: Int
    private let tokens: Int
    /// What ends a series; nil if nothing does.
    private let end: Int?
    /// The most values that are read: the last ones.
    let contextLength: Int

    /// - Throws: ``ErrorCode/malformedModel`` for settings that contradict each other.
    init(
        low: Double, high: Double, tokens: Int, specials: Int, end: Int?, contextLength: Int, path: String
    ) throws(AIError) {
        let bins = tokens - specials - 1
        guard bins >= 2, low < high, abs(low) <= 1e6, abs(high) <= 1e6,
            end.map({ (0..<specials).contains($0) }) ?? true
        else { throw .malformed(path, "chronos_config's bins contradict each other") }
        let (first, last) = (Float(low), Float(high))
        let step = (last - first) / Float(bins - 1)
        // From both ends, as torch.linspace does.
        let centers = (0..<bins).map {
            $0 < bins / 2 ? first + step * Float($0) : last - step * Float(bins - 1 - $0)
        }
        self.centers = centers
        boundaries = zip(centers.dropFirst(), centers).map { ($0 + $1) / 2 }
        (self.specials, self.tokens, self.end, self.contextLength) = (specials, tokens, end, contextLength)
    }

    /// The tokens of a series' last values, and what their quotients were divided by.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for a series without values, and for one that is no finite number.
    func tokens(of series: [Double]) throws(AIError) -> (ids: [Int], scale: Float) {
        guard !series.isEmpty else { throw AIError(.invalidInput, "the series has no values") }
        if let place = series.firstIndex(where: { !Float($0).isFinite }) {
            throw AIError(.invalidInput, "value \(place + 1) of the series is no finite number")
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

    /// The value of a token; what is no bin counts as the first.
    func value(of id: Int, scale: Float) -> Double {
        Double(centers[min(max(0, id - specials - 1), centers.count - 1)] * scale)
    }
}
