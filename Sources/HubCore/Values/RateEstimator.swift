/// Bytes a second over the last few seconds, from a running total.
///
/// A stall shows, because time passes in the window without bytes.
package struct RateEstimator: Sendable {
    private struct Sample: Sendable {
        var time: Double
        var total: Int64
    }

    private let window: Double
    private let clock: @Sendable () -> Double
    private var samples: [Sample] = []
    /// Closer samples replace one another, so that a window has about fifty.
    private let spacing: Double

    /// - Parameters:
    ///   - window: the window in seconds.
    ///   - clock: monotonic time in seconds.
    package init(window: Double = 5, clock: @escaping @Sendable () -> Double = { Clock.seconds }) {
        self.window = window
        self.clock = clock
        spacing = window / 50
    }

    /// Records the bytes done so far. A smaller total than before (discarded work) restarts.
    package mutating func record(_ total: Int64) {
        let now = clock()
        if let last = samples.last, total < last.total { samples = [] }
        // The newest sample is replaced until the one before it is old enough.
        if samples.count > 1, now - samples[samples.count - 2].time < spacing { samples.removeLast() }
        samples.append(Sample(time: now, total: total))
        // One sample from before the window stays, as its left edge.
        if let inside = samples.firstIndex(where: { $0.time > now - window }), inside > 1 {
            samples.removeFirst(inside - 1)
        }
    }

    /// Bytes a second; nil before a fifth of a second of evidence.
    package var bytesPerSecond: Double? {
        guard let last = samples.last else { return nil }
        let now = clock()
        let left = samples.last { $0.time <= now - window } ?? samples[0]
        let elapsed = now - left.time
        guard elapsed >= 0.2 else { return nil }
        return Double(last.total - left.total) / elapsed
    }

    /// Seconds until `total` is reached at this rate; nil without a rate or if it is nearly zero.
    package func secondsLeft(to total: Int64) -> Double? {
        guard let rate = bytesPerSecond, rate >= 1, let last = samples.last else { return nil }
        return Double(max(0, total - last.total)) / rate
    }
}
