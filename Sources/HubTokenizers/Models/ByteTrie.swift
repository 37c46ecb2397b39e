/// Tokens as a byte trie, to find all tokens at an offset.
///
/// The children of a node are contiguous, in byte order.
struct ByteTrie: Sendable {
    private var labels: [UInt8] = [0]
    /// The start of each node's children; they end where the next node's begin.
    private var children: [Int32] = []
    /// The token that ends at each node, or -1.
    private var ids: [Int32] = [-1]
    /// The children of the root by their byte, or -1.
    private var first = [Int32](repeating: -1, count: 256)

    init(_ vocabulary: Vocabulary, where isWanted: (Int32) -> Bool = { _ in true }) {
        var tokens: [(id: Int32, spelling: ArraySlice<UInt8>)] = []
        tokens.reserveCapacity(vocabulary.count)
        vocabulary.forEach { id, spelling in if !spelling.isEmpty, isWanted(id) { tokens.append((id, spelling)) } }
        tokens.sort { $0.spelling.lexicographicallyPrecedes($1.spelling) }

        // Level by level, each node with the tokens below it.
        var level: [(node: Int, tokens: Range<Int>)] = [(0, 0..<tokens.count)]
        var depth = 0
        while !level.isEmpty {
            var below: [(node: Int, tokens: Range<Int>)] = []
            for (_, range) in level {
                children.append(Int32(labels.count))
                var at = range.lowerBound
                // A token that ends here sorts before longer ones.
                while at < range.upperBound, tokens[at].spelling.count == depth { at += 1 }
                while at < range.upperBound {
                    let byte = Self.byte(tokens[at].spelling, depth)
                    var end = at + 1
                    while end < range.upperBound, Self.byte(tokens[end].spelling, depth) == byte { end += 1 }
                    below.append((labels.count, at..<end))
                    labels.append(byte)
                    // Of tokens with the same spelling the last counts.
                    let ending = tokens[at..<end].prefix { $0.spelling.count == depth + 1 }
                    ids.append(ending.map(\.id).max() ?? -1)
                    at = end
                }
            }
            level = below
            depth += 1
        }
        children.append(Int32(labels.count))
        for child in Int(children[0])..<Int(children[1]) { first[Int(labels[child])] = Int32(child) }
    }

    private static func byte(_ spelling: ArraySlice<UInt8>, _ depth: Int) -> UInt8 {
        spelling[spelling.startIndex + depth]
    }

    /// Calls `body` for each token at an offset, the shortest first, with its end.
    func forEachToken(_ text: UnsafeBufferPointer<UInt8>, at start: Int, _ body: (_ id: Int32, _ end: Int) -> Void)
    {
        var node = Int(first[Int(text[start])])
        var at = start + 1
        while node > 0 {
            if ids[node] >= 0 { body(ids[node], at) }
            guard at < text.count else { return }
            node = child(of: node, text[at])
            at += 1
        }
    }

    private func child(of node: Int, _ byte: UInt8) -> Int {
        var low = Int(children[node])
        var high = Int(children[node + 1])
        while high - low > 8 {
            let middle = (low + high) / 2
            if labels[middle] <= byte { low = middle } else { high = middle }
        }
        while low < high {
            if labels[low] == byte { return low }
            low += 1
        }
        return -1
    }
}
