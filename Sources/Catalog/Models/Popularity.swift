/// The order of search results: the most downloaded first, without sorting.
///
/// The search index returns matches by row number, so a row number combines a model's popularity and its own number: no
/// row moves because another did. Popularity is a logarithmic step, 16 per doubling: fine enough to rank well-known
/// models, and coarse enough that neighbours differ by small numbers, which the index stores in a byte or two.
enum Popularity {
    private static let highest: Int64 = 1023
    /// The range of steps.
    static let steps = 0...step(downloads: .max)

    /// The step of a number of downloads: the number itself below 32, then its five highest bits.
    static func step(downloads: Int64?) -> Int64 {
        // A server may send any number.
        let count = min(max(downloads ?? 0, 0), 1 << 40)
        guard count >= 32 else { return count }
        let exponent = Int64(count.bitWidth - count.leadingZeroBitCount - 5)
        return exponent << 4 + count >> exponent
    }

    /// The fewest downloads of a step.
    static func downloads(ofStep step: Int64) -> Int64 {
        guard step >= 32 else { return step }
        let exponent = step >> 4 - 1
        return (step - exponent << 4) << exponent
    }

    /// The new step of a model: it changes only by more than three steps, about a quarter, and more than ten downloads.
    /// Of the models changed in three days three in five move, instead of nearly all, and the first five hundred stay
    /// the same.
    static func step(from old: Int64, downloads: Int64?) -> Int64 {
        let new = step(downloads: downloads)
        let change = abs(Self.downloads(ofStep: new) - Self.downloads(ofStep: old))
        return abs(new - old) > 3 && change > 10 ? new : old
    }

    /// The row in the search index.
    static func row(step: Int64, model: Int64) -> Int64 { (highest - step) << 32 | model }
    /// The model of a row of the search index, in SQL.
    static let model = "(search.rowid & 4294967295)"
}
