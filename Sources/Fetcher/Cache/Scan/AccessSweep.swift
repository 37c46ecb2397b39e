/// Detects a program that read most of a cache at once, such as a backup or an indexer: its access times do not mean
/// use. Then only uses recorded by `hub` count.
struct AccessSweep: Sendable {
    /// Minimum repositories: all of a small cache may really be used.
    static let leastRepositories = 5
    /// Maximum seconds between the ends of two reads: a large model takes minutes.
    static let longestPause = 600.0

    private var times: ClosedRange<Double>?

    /// - Parameter times: when each repository was last read, seconds since 1970.
    init(_ times: [Double]) {
        let sorted = times.sorted()
        var start = sorted.startIndex
        for index in sorted.indices {
            if index > start, sorted[index] - sorted[index - 1] > Self.longestPause { start = index }
            let count = index - start + 1
            if count >= Self.leastRepositories, count * 4 >= sorted.count * 3 {
                self.times = sorted[start]...sorted[index]
            }
        }
    }

    /// When something was last used.
    ///
    /// - Parameters:
    ///   - accessed: the access time; nil if not recorded.
    ///   - noted: the use recorded by `hub`.
    func lastUse(accessed: Double?, noted: Double?) -> Double? {
        guard let accessed, let noted else { return accessed ?? noted }
        return times?.contains(accessed) == true ? noted : max(accessed, noted)
    }
}
