import HubCore
import ModelFormats

/// The merges of a file, `"a b"` or `["a", "b"]`, before it is known what they make. The bytes live as long as the file.
struct MergePairs {
    private var lefts: [UnsafeBufferPointer<UInt8>] = []
    private var rights: [UnsafeBufferPointer<UInt8>] = []

    init(count: Int) {
        lefts.reserveCapacity(count)
        rights.reserveCapacity(count)
    }

    /// Appends a merge.
    ///
    /// - Returns: false where it is no pair.
    mutating func append(_ entry: JSONCursor) -> Bool {
        if let text = entry.text { return append(text) }
        guard let (left, right) = entry.textPair else { return false }
        lefts.append(left)
        rights.append(right)
        return true
    }

    /// Appends a merge with a space between its halves.
    mutating func append(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let space = UInt8(ascii: " ")
        guard let middle = text.firstIndex(of: space), text.lastIndex(of: space) == middle else { return false }
        lefts.append(UnsafeBufferPointer(rebasing: text[..<middle]))
        rights.append(UnsafeBufferPointer(rebasing: text[(middle + 1)...]))
        return true
    }

    /// What the pairs make.
    ///
    /// - Parameters:
    ///   - prefixCount: How much of the second token is left out where both are joined.
    ///   - isWhole: Whether all of the file's merges are here; the one after the last is no pair otherwise.
    /// - Throws: ``ErrorCode/malformedModel`` for a merge that is no pair of known tokens, or makes none.
    func table(_ vocabulary: Vocabulary, prefixCount: Int = 0, isWhole: Bool, path: String) throws(AIError)
        -> MergeTable
    {
        func fault(_ rank: Int) -> AIError { .malformed(path, "merge \(rank) is not a pair of known tokens") }
        let (leftIDs, rightIDs) = (vocabulary.ids(of: lefts), vocabulary.ids(of: rights))
        var results: [Int32] = []
        results.reserveCapacity(lefts.count)
        var joined: [UInt8] = []
        // Merges come in the order of what they make, so that it is nearly always what was made before, or what follows.
        var last: Int32 = -1
        for rank in lefts.indices {
            guard leftIDs[rank] >= 0, rightIDs[rank] >= 0, rights[rank].count >= prefixCount else {
                throw fault(rank)
            }
            let right = UnsafeBufferPointer(rebasing: rights[rank][prefixCount...])
            if last < Int32.max - 1, !vocabulary.hasAlike, vocabulary.isSpelled(last + 1, lefts[rank], right) {
                last += 1
            } else if vocabulary.hasAlike || !vocabulary.isSpelled(last, lefts[rank], right) {
                joined.removeAll(keepingCapacity: true)
                joined.append(contentsOf: lefts[rank])
                joined.append(contentsOf: right)
                guard let id = vocabulary.id(of: joined) else { throw fault(rank) }
                last = id
            }
            results.append(last)
        }
        guard isWhole else { throw fault(lefts.count) }
        // By itself, so that the places in the table are fetched side by side.
        var table = MergeTable(count: lefts.count)
        for rank in results.indices {
            table[leftIDs[rank], rightIDs[rank]] = MergeTable.Merge(rank: Int32(rank), result: results[rank])
        }
        return table
    }
}
