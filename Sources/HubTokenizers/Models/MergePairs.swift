import HubCore
import ModelFormats

/// The merges of a file, `"a b"` or `["a", "b"]`, before their results are known. The bytes live as long as the file.
struct MergePairs {
    private struct Pair {
        let left: UnsafeBufferPointer<UInt8>
        let right: UnsafeBufferPointer<UInt8>
        /// Their hashes, by ``ByteHash``.
        let leftHash: UInt64
        let rightHash: UInt64
    }

    private var pairs: [Pair] = []
    private let keys = ByteHash.keys
    /// Memory for the results; nil until allocated.
    private var room: Room?

    private struct Room {
        var found: [Found]
        var table: MergeTable

        init(count: Int) {
            found = [Found](large: count, repeating: (0, 0, MergeTable.Merge(rank: 0, result: 0)))
            table = MergeTable(count: count)
        }
    }

    /// Whether all merges were read; otherwise the one after the last is not a pair.
    private(set) var isWhole = true

    init(count: Int) { pairs.reserveLargeCapacity(count) }

    /// Reads the merges and allocates memory for the results: touching new memory is slow, and the other thread's
    /// vocabulary takes longer anyway.
    init(_ lists: [JSONCursor]) {
        self.init(count: lists.reduce(0) { $0 + $1.count })
        isWhole = lists.allSatisfy { $0.elements { append($0) } }
        room = Room(count: pairs.count)
    }

    /// Appends a merge.
    ///
    /// - Returns: false if it is not a pair.
    private mutating func append(_ entry: JSONCursor) -> Bool {
        if let text = entry.text {
            // The first line of GPT-2's merges.txt, which older files copied.
            return text.starts(with: "#version".utf8) || append(text)
        }
        guard let (left, right) = entry.textPair else {
            isWhole = false
            return false
        }
        append(left, right)
        return true
    }

    private mutating func append(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) {
        pairs.append(
            Pair(
                left: left, right: right, leftHash: ByteHash.hash(left, keys),
                rightHash: ByteHash.hash(right, keys)))
    }

    /// Appends a merge with a space between its halves.
    @discardableResult
    mutating func append(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let space = UInt8(ascii: " ")
        guard let middle = text.firstIndex(of: space), text.lastIndex(of: space) == middle else {
            isWhole = false
            return false
        }
        append(
            UnsafeBufferPointer(rebasing: text[..<middle]), UnsafeBufferPointer(rebasing: text[(middle + 1)...]))
        return true
    }

    /// The merge table; call once.
    ///
    /// - Parameters:
    ///   - prefixCount: The number of bytes dropped from the second token when joined.
    /// - Throws: ``ErrorCode/malformedModel`` for a merge that is not a pair of known tokens, or whose result is not a
    ///   token.
    mutating func table(_ vocabulary: Vocabulary, prefixCount: Int = 0, path: String) throws(AIError)
        -> MergeTable
    {
        var room = self.room ?? Room(count: pairs.count)
        self.room = nil
        func fault(_ rank: Int) -> AIError { .malformed(path, "merge \(rank) is not a pair of known tokens") }
        var faults = [Int?](repeating: nil, count: max(1, min(Self.parts, pairs.count / 1024)))
        let parts = faults.count
        room.found.withUnsafeMutableBufferPointer { found in
            faults.withUnsafeMutableBufferPointer { faults in
                // Each part writes to its own places.
                nonisolated(unsafe) let (pairs, found, faults) = (self, found, faults)
                Parallel.perform(parts) { part in
                    let count = found.count
                    let range = count * part / parts..<count * (part + 1) / parts
                    faults[part] = pairs.find(range, vocabulary, prefixCount, into: found)
                }
            }
        }
        if let rank = faults.lazy.compactMap(\.self).first { throw fault(rank) }
        guard isWhole else { throw fault(pairs.count) }
        room.table.set(room.found)
        return room.table
    }

    /// A merge by ids.
    private typealias Found = (left: Int32, right: Int32, merge: MergeTable.Merge)

    /// Memory latency dominates, so several threads help.
    private static let parts = 4

    /// Finds the ids of some merges.
    ///
    /// - Returns: the first that is not a pair of known tokens, or whose result is not a token.
    private func find(
        _ ranks: Range<Int>, _ vocabulary: Vocabulary, _ prefixCount: Int,
        into found: UnsafeMutableBufferPointer<Found>
    ) -> Int? {
        pairs.withUnsafeBufferPointer { pairs in
            var joined: [UInt8] = []
            // Merges are in the order of their results, so the result is nearly always the last one or the next.
            var last: Int32 = -1
            for rank in ranks {
                if (rank - ranks.lowerBound) % Vocabulary.ahead == 0 {
                    let next = rank..<min(rank + Vocabulary.ahead, ranks.upperBound)
                    vocabulary.fetch(next.lazy.map { pairs[$0].leftHash })
                    vocabulary.fetch(next.lazy.map { pairs[$0].rightHash })
                }
                let pair = pairs[rank]
                guard let leftID = vocabulary.id(of: pair.left, pair.leftHash),
                    let rightID = vocabulary.id(of: pair.right, pair.rightHash), pair.right.count >= prefixCount
                else { return rank }
                let right = UnsafeBufferPointer(rebasing: pair.right[prefixCount...])
                if last < Int32.max - 1, !vocabulary.hasAlike, vocabulary.isSpelled(last + 1, pair.left, right) {
                    last += 1
                } else if vocabulary.hasAlike || !vocabulary.isSpelled(last, pair.left, right) {
                    joined.removeAll(keepingCapacity: true)
                    joined.append(contentsOf: pair.left)
                    joined.append(contentsOf: right)
                    guard let id = vocabulary.id(of: joined) else { return rank }
                    last = id
                }
                found[rank] = (leftID, rightID, MergeTable.Merge(rank: Int32(rank), result: last))
            }
            return nil
        }
    }
}
