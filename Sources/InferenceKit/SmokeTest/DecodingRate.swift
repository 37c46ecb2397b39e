/// The rate at which a decoder goes on with a text: warm, for its first tokens fetch weights from the disk and wake threads,
/// and over a time that can be measured.
struct DecodingRate {
    /// Tokens that are left out.
    static let skipped = 4
    /// Tokens that are measured at least: a slow model is done with them.
    static let fewest = 8
    /// What the measured time has to be, unless the text ends before.
    static let seconds = 0.5
    /// Tokens of one measurement at most.
    static let most = 2048

    private var seen = 0
    private var start: ContinuousClock.Instant?
    private var end: ContinuousClock.Instant?

    /// Takes the time at which a token was made; whether that is enough of them.
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

    /// nil if there were too few tokens.
    var tokensPerSecond: Double? { elapsed > 0 ? Double(seen - Self.skipped) / elapsed : nil }
}
