/// The clock that never goes back.
enum Monotonic {
    private static let origin = ContinuousClock.now

    /// Seconds since the first call.
    @Sendable static func seconds() -> Double {
        let passed = (ContinuousClock.now - origin).components
        return Double(passed.seconds) + Double(passed.attoseconds) / 1e18
    }
}
