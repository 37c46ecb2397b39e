/// The rate of a decoder in tokens per second, once it is warm: the first tokens fetch weights from the disk and wake
/// threads, so they are left out. The rest is measured for long enough that the clock's error does not count.
struct DecodingRate {
    /// Tokens that are left out at the start.
    static let skipped = 4
    /// Tokens that are measured at least; a slow model stops after them.
    static let fewest = 8
    /// The least time to measure, unless the text ends before.
    static let seconds = 0.5
    /// The most tokens of a measurement.
    static let most = 2048

    private var seen = 0
    private var start: ContinuousClock.Instant?
    private var end: ContinuousClock.Instant?

    /// Adds the time at which a token was made.
    ///
    /// - Returns: whether enough tokens were measured.
    mutating func add(_ time: ContinuousClock.Instant) -> Bool {
        seen += 1
        if seen == Self.skipped { start = time }
        guard seen > Self.skipped else { return false }
        end = time
        return seen >= Self.skipped + Self.fewest && elapsed >= Self.seconds
    }

    private var elapsed: Double {
        guard let start, let end else { return 0 }
        return (end - start) / .seconds(1)
    }

    /// The rate; nil if there were too few tokens.
    var tokensPerSecond: Double? { elapsed > 0 ? Double(seen - Self.skipped) / elapsed : nil }
}
