/// Bytes a second over the last few seconds, from a running total.
///
/// A stall shows: time passes in the window though no byte comes.
package struct RateEstimator: Sendable {
    private struct Sample: Sendable {
        var time: Double
        var total: Int64
    }

    private let window: Double
    private let clock: @Sendable () -> Double
    private var samples: [Sample] = []
    /// Samples closer than this replace one another, so that a window holds some fifty however often bytes come.
    private let spacing: Double

    /// - Parameters:
    ///   - window: seconds looked back at.
    ///   - clock: seconds since any moment, never going back.
    package init(window: Double = 5, clock: @escaping @Sendable () -> Double = { Clock.seconds }) {
        self.window = window
        self.clock = clock
        spacing = window / 50
    }

    /// Notes the bytes done so far. A smaller total than before (work thrown away) starts afresh.
    package mutating func record(_ total: Int64) {
        let now = clock()
        if let last = samples.last, total < last.total { samples = [] }
        // The newest sample stands for the present; only the one before it has to be old enough.
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

    /// Seconds until `total` is reached at this rate; nil where there is no rate or it is nearly none.
    package func secondsLeft(to total: Int64) -> Double? {
        guard let rate = bytesPerSecond, rate >= 1, let last = samples.last else { return nil }
        return Double(max(0, total - last.total)) / rate
    }
}
