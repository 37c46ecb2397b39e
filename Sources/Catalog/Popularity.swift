/// The order in which search answers: the most downloaded first, without sorting.
///
/// A model's rank is made from its downloads alone, `(2^31 - 1 - downloads) * 2^32` and a number that makes it unique, so
/// that no other row moves when one does. A small drift is left where it is: ranks are for finding the well-known, not
/// for a league table.
enum Popularity {
    private static let step: Int64 = 1 << 32

    /// The first rank of models with so many downloads.
    static func base(downloads: Int64?) -> Int64 {
        (Int64(Int32.max) - 1 - counted(downloads)) * step
    }

    /// Downloads as far as a rank can tell them apart: what a server sends may be any number.
    private static func counted(_ downloads: Int64?) -> Int64 { min(max(downloads ?? 0, 0), Int64(Int32.max) - 1) }

    /// The downloads a rank stands for.
    static func downloads(ofRank rank: Int64) -> Int64 { Int64(Int32.max) - 1 - rank / step }

    /// Whether a model of this rank should move now that it has so many downloads: past an eighth, or past ten.
    static func hasDrifted(rank: Int64, downloads: Int64?) -> Bool {
        let old = Self.downloads(ofRank: rank)
        let difference = abs(old - counted(downloads))
        return difference > 10 && difference > old / 8
    }

    /// The rank of a model: the base and its own row's number, which is unique.
    static func rank(downloads: Int64?, model: Int64) -> Int64 { base(downloads: downloads) + model % step }
}
