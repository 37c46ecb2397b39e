/// Tokens by spelling and by id.
///
/// All spellings lie in one block of memory, found through one flat table: a hundred thousand little strings would take a
/// model's opening a second. They are compared by bytes: Swift's String takes canonically equivalent spellings for one.
struct Vocabulary: Sendable {
    private struct Entry {
        var start: Int
        var count: Int32
        var id: Int32
    }

    private struct Slot {
        /// The upper half of the hash, which tells nearly all others apart without a look at their spelling.
        var tag: UInt32
        var entry: Int32
    }

    private var spellings: [UInt8] = []
    private var entries: [Entry] = []
    private var slots: [Slot]
    /// By id; ids that lie far apart are in `distant`.
    private var entryOfID: [Int32]
    private var distant: [Int32: Int32] = [:]
    private static let free: Int32 = -1

    /// An empty vocabulary for at most `count` tokens.
    init(count: Int) {
        var size = 16
        while 2 * size < 3 * count { size *= 2 }
        slots = [Slot](repeating: Slot(tag: 0, entry: Self.free), count: size)
        entryOfID = [Int32](repeating: Self.free, count: count + count / 8 + 64)
        entries.reserveCapacity(count)
        spellings.reserveCapacity(8 * count)
    }

    /// Adds a token; of two with one spelling the later is found.
    ///
    /// - Parameter keepsAlike: Whether the earlier keeps its id; else that is free again.
    /// - Returns: false where the id is taken.
    mutating func add(_ spelling: UnsafeBufferPointer<UInt8>, id: Int32, keepsAlike: Bool = false) -> Bool {
        precondition(entries.count < slots.count)
        guard entry(of: id) == Self.free else { return false }
        let hash = ByteHash.hash(spelling)
        let slot = slot(of: spelling, hash)
        if !keepsAlike, slots[slot].entry != Self.free {
            let old = Int(slots[slot].entry)
            set(Self.free, of: entries[old].id)
            entries[old].id = id
            set(Int32(old), of: id)
            return true
        }
        let entry = Int32(entries.count)
        entries.append(Entry(start: spellings.count, count: Int32(spelling.count), id: id))
        spellings.append(contentsOf: spelling)
        slots[slot] = Slot(tag: UInt32(truncatingIfNeeded: hash >> 32), entry: entry)
        set(entry, of: id)
        return true
    }

    /// The id of a spelling.
    func id(of spelling: UnsafeBufferPointer<UInt8>) -> Int32? {
        let entry = slots[slot(of: spelling, ByteHash.hash(spelling))].entry
        return entry == Self.free ? nil : entries[Int(entry)].id
    }

    /// The id of a spelling.
    func id(of spelling: [UInt8]) -> Int32? { spelling.withUnsafeBufferPointer { id(of: $0) } }

    /// The id of a spelling.
    func id(of spelling: String) -> Int32? { id(of: Array(spelling.utf8)) }

    /// The spelling of an id.
    func spelling(of id: Int) -> ArraySlice<UInt8>? {
        guard let id = Int32(exactly: id) else { return nil }
        let entry = entry(of: id)
        guard entry != Self.free else { return nil }
        let found = entries[Int(entry)]
        return spellings[found.start..<found.start + Int(found.count)]
    }

    /// Appends the spelling of an id.
    ///
    /// - Returns: false where the id is none.
    func append(_ id: Int, to bytes: inout [UInt8]) -> Bool {
        guard let spelling = spelling(of: id) else { return false }
        bytes.append(contentsOf: spelling)
        return true
    }

    /// The number of tokens.
    var count: Int { entries.count }
    /// The largest id.
    var largestID: Int? { entries.lazy.map(\.id).max().map(Int.init) }
    /// Every id with its spelling.
    func forEach(_ body: (Int32, ArraySlice<UInt8>) -> Void) {
        for entry in entries { body(entry.id, spellings[entry.start..<entry.start + Int(entry.count)]) }
    }

    /// Whether `▁` is a token and only ever begins the tokens wanted, or is all of them: nothing that is merged goes
    /// beyond the beginning of a word.
    func keepsWordsApart(where isWanted: (Int32) -> Bool = { _ in true }) -> Bool {
        let space = SentencePieceNormalizer.space
        guard id(of: space) != nil else { return false }
        var crosses = false
        forEach { id, spelling in
            guard !crosses, isWanted(id) else { return }
            var rest = spelling
            while rest.starts(with: space) { rest = rest.dropFirst(space.count) }
            crosses = rest.contains(space[0]) && Array(rest).firstRange(of: space) != nil
        }
        return !crosses
    }

    private func entry(of id: Int32) -> Int32 {
        if id >= 0, Int(id) < entryOfID.count { return entryOfID[Int(id)] }
        return distant.isEmpty ? Self.free : distant[id] ?? Self.free
    }

    private mutating func set(_ entry: Int32, of id: Int32) {
        if id >= 0, Int(id) < entryOfID.count {
            entryOfID[Int(id)] = entry
        } else {
            distant[id] = entry == Self.free ? nil : entry
        }
    }

    /// The slot of the entry with this spelling, or the free one where it would go.
    private func slot(of spelling: UnsafeBufferPointer<UInt8>, _ hash: UInt64) -> Int {
        let tag = UInt32(truncatingIfNeeded: hash >> 32)
        return slots.withUnsafeBufferPointer { slots in
            let mask = slots.count - 1
            var slot = Int(truncatingIfNeeded: hash) & mask
            while slots[slot].entry != Self.free {
                if slots[slot].tag == tag, isSpelled(entries[Int(slots[slot].entry)], spelling) { break }
                slot = (slot + 1) & mask
            }
            return slot
        }
    }

    private func isSpelled(_ entry: Entry, _ spelling: UnsafeBufferPointer<UInt8>) -> Bool {
        guard Int(entry.count) == spelling.count else { return false }
        return spellings.withUnsafeBufferPointer { spellings in
            for offset in 0..<spelling.count where spellings[entry.start + offset] != spelling[offset] { return false }
            return true
        }
    }
}
