/// The texts of a tokenizer's tokens, arranged to find at once all that may follow. Made once for a tokenizer.
package final class TokenVocabulary: Sendable {
    /// The tree of some texts, flat: each node comes before its children.
    struct Tree: Sendable {
        var bytes: [UInt8] = []
        /// The bytes before each node's.
        var depths: [UInt16] = []
        /// The node behind each node's children.
        var ends: [Int32] = []
        /// The token whose text ends at a node; -1 for none.
        var tokens: [Int32] = []
        var deepest = 0
    }

    /// The number of ids.
    package let count: Int
    /// Text tokens, by their bytes.
    let all: Tree
    /// Those that are not among ``plain``.
    let others: Tree
    /// Tokens of whole characters that JSON strings hold as they are, up to as many characters as the index, as bits.
    let plain: [[UInt64]]
    /// Other tokens with the same text as one in the tree.
    let twins: [Int32: [Int32]]
    /// Tokens that are no text, and which of them a text may mention: special and added ones.
    let special: [Int32]
    private let spellings: [UInt8]
    private let offsets: [Int32]
    private let isText: [Bool]
    /// Bytes without a token of their own, so that a text could not go on.
    package let missingBytes: [UInt8]

    /// Longer plain tokens are in ``others``.
    static let longestPlain = 128
    /// Bytes of the longest of ``others`` that may stand within a JSON string.
    let reach: Int

    /// A vocabulary by ids.
    ///
    /// - Parameters:
    ///   - texts: the bytes of each text token; nil for one that is no part of any text.
    ///   - special: the spellings of special and added tokens, by which markers are found.
    package init(texts: [[UInt8]?], special: [Int: [UInt8]]) {
        count = texts.count
        var spellings: [UInt8] = []
        var offsets: [Int32] = [0]
        for (id, text) in texts.enumerated() {
            spellings += text ?? special[id] ?? []
            offsets.append(Int32(spellings.count))
        }
        (self.spellings, self.offsets) = (spellings, offsets)
        isText = texts.map { $0 != nil }
        self.special = special.keys.filter { texts.indices.contains($0) && texts[$0] == nil }.sorted().map {
            Int32($0)
        }
        let words = (texts.count + 63) / 64
        var plain = [[UInt64]](repeating: [UInt64](repeating: 0, count: words), count: Self.longestPlain + 1)
        var ids: [Int32] = []
        var isPlain = [Bool](repeating: false, count: texts.count)
        for (id, text) in texts.enumerated() {
            guard let text, !text.isEmpty else { continue }
            ids.append(Int32(id))
            guard let length = Self.plainLength(text), length <= Self.longestPlain else { continue }
            isPlain[id] = true
            plain[length][id >> 6] |= 1 << UInt64(id & 63)
        }
        for most in 1...Self.longestPlain {
            for word in 0..<words { plain[most][word] |= plain[most - 1][word] }
        }
        self.plain = plain
        reach = ids.reduce(0) { longest, id in
            guard let text = texts[Int(id)], !isPlain[Int(id)], text[0] >= 0x20, text[0] != 0x22 else {
                return longest
            }
            return max(longest, text.count)
        }
        let sorted = Self.sorted(ids, spellings, offsets)
        var twins: [Int32: [Int32]] = [:]
        all = Self.tree(sorted, spellings, offsets, &twins)
        others = Self.tree(sorted.filter { !isPlain[Int($0)] }, spellings, offsets, &twins)
        self.twins = twins.mapValues { Array(Set($0)).sorted() }
        let single = Set(texts.compactMap { $0?.count == 1 ? $0?.first : nil })
        missingBytes = (UInt8.min...UInt8.max).filter { !single.contains($0) && Self.isInText($0) }
    }

    /// The bytes of a token's text or spelling.
    func bytes(_ id: Int) -> ArraySlice<UInt8> {
        guard id >= 0, id < count else { return [] }
        return spellings[Int(offsets[id])..<Int(offsets[id + 1])]
    }

    /// Whether a token is a part of texts, rather than special.
    func isText(_ id: Int) -> Bool { id >= 0 && id < count && isText[id] }

    /// Whether UTF-8 has a byte.
    private static func isInText(_ byte: UInt8) -> Bool { byte < 0xC0 || (0xC2...0xF4).contains(byte) }

    /// The number of characters of a text that a JSON string holds as it is; nil for another.
    private static func plainLength(_ text: [UInt8]) -> Int? {
        guard text.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }) else { return nil }
        return String(validating: text, as: UTF8.self)?.unicodeScalars.count
    }

    private static func sorted(_ ids: [Int32], _ spellings: [UInt8], _ offsets: [Int32]) -> [Int32] {
        spellings.withUnsafeBufferPointer { bytes in
            offsets.withUnsafeBufferPointer { offsets in
                ids.sorted { left, right in
                    var (a, b) = (Int(offsets[Int(left)]), Int(offsets[Int(right)]))
                    let (endA, endB) = (Int(offsets[Int(left) + 1]), Int(offsets[Int(right) + 1]))
                    while a < endA, b < endB {
                        if bytes[a] != bytes[b] { return bytes[a] < bytes[b] }
                        (a, b) = (a + 1, b + 1)
                    }
                    return endA - a != endB - b ? endA - a < endB - b : left < right
                }
            }
        }
    }

    private static func tree(
        _ sorted: [Int32], _ spellings: [UInt8], _ offsets: [Int32], _ twins: inout [Int32: [Int32]]
    ) -> Tree {
        var tree = Tree()
        // The nodes of the text before, from the first byte on.
        var path: [Int] = []
        for id in sorted {
            let text = spellings[Int(offsets[Int(id)])..<Int(offsets[Int(id) + 1])]
            var shared = 0
            for byte in text {
                guard shared < path.count, tree.bytes[path[shared]] == byte else { break }
                shared += 1
            }
            for node in path[shared...] { tree.ends[node] = Int32(tree.bytes.count) }
            path.removeSubrange(shared...)
            for byte in text.dropFirst(shared) {
                tree.depths.append(UInt16(path.count))
                path.append(tree.bytes.count)
                tree.bytes.append(byte)
                tree.ends.append(0)
                tree.tokens.append(-1)
            }
            tree.deepest = max(tree.deepest, path.count)
            if let node = path.last {
                if tree.tokens[node] < 0 {
                    tree.tokens[node] = id
                } else {
                    twins[tree.tokens[node], default: []].append(id)
                }
            }
        }
        for node in path { tree.ends[node] = Int32(tree.bytes.count) }
        return tree
    }
}
