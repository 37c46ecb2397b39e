/// A program that has read most of a cache in one go, such as a backup or an indexer: the times of access that it left say
/// nothing of use. Where `hub` has noted a use, that counts then.
struct AccessSweep: Sendable {
    /// A cache of a few models may well be used as a whole.
    static let leastRepositories = 5
    /// From the end of one read to that of the next, in seconds: a large model takes minutes.
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
    ///   - accessed: what the file system says; nil where it notes nothing.
    ///   - noted: what `hub` saw.
    func lastUse(accessed: Double?, noted: Double?) -> Double? {
        guard let accessed, let noted else { return accessed ?? noted }
        return times?.contains(accessed) == true ? noted : max(accessed, noted)
    }
}
