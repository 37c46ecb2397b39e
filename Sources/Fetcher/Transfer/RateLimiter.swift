/// A token bucket that holds a tenth of a second of the rate. A piece passes as soon as the bucket is not empty, and
/// may leave it in debt.
struct RateLimiter {
    /// Bytes a second; nil for no limit.
    private(set) var bytesPerSecond: Int64?
    /// Bytes that may pass now; negative is debt.
    private var balance = 0.0
    private var filledAt: Double

    init(_ bytesPerSecond: Int64?, at now: Double) {
        self.bytesPerSecond = bytesPerSecond
        filledAt = now
    }

    /// Sets another rate. Debt stays.
    mutating func set(_ rate: Int64?, at now: Double) {
        fill(now)
        bytesPerSecond = rate
        if rate == nil { balance = 0 }
    }

    /// Whether a piece may pass now.
    mutating func allows(at now: Double) -> Bool {
        guard bytesPerSecond != nil else { return true }
        fill(now)
        return balance >= 0
    }

    /// Counts bytes that have passed.
    mutating func take(_ bytes: Int) {
        if bytesPerSecond != nil { balance -= Double(bytes) }
    }

    /// Seconds until a piece may pass.
    func wait(at now: Double) -> Double {
        guard let rate = bytesPerSecond else { return 0 }
        return max(0, -balance / Double(rate) - (now - filledAt))
    }

    private mutating func fill(_ now: Double) {
        guard let rate = bytesPerSecond.map(Double.init) else { return filledAt = now }
        balance = min(rate / 10, balance + (now - filledAt) * rate)
        filledAt = now
    }
}
