/// Tokens by spelling and by id.
///
/// All spellings lie in one block of memory: a hundred thousand little arrays would take a model's opening a second.
/// They are compared by bytes: Swift's String takes canonically equivalent spellings for one.
struct Vocabulary: Sendable {
    private var spellings: [UInt8] = []
    /// Where each entry's spelling ends; it begins where the one before ends.
    private var ends: [Int] = []
    private var ids: [Int32] = []
    private var entryOfID: [Int32: Int32] = [:]
    /// A hash table of entries with open addressing.
    private var slots: [Int32]
    private static let free: Int32 = -1

    /// An empty vocabulary for at most `count` tokens.
    init(count: Int) {
        var size = 16
        while size < 2 * count { size *= 2 }
        slots = [Int32](repeating: Self.free, count: size)
        ends.reserveCapacity(count)
        ids.reserveCapacity(count)
        entryOfID.reserveCapacity(count)
        spellings.reserveCapacity(8 * count)
    }

    /// Adds a token; of two with one spelling the later counts.
    ///
    /// - Returns: false where the id is taken.
    mutating func add(_ spelling: UnsafeBufferPointer<UInt8>, id: Int32) -> Bool {
        precondition(2 * ids.count < slots.count)
        let entry = Int32(ids.count)
        guard entryOfID.updateValue(entry, forKey: id) == nil else { return false }
        let slot = slot(of: spelling)
        spellings.append(contentsOf: spelling)
        ends.append(spellings.count)
        ids.append(id)
        slots[slot] = entry
        return true
    }

    /// The id of a spelling.
    func id(of spelling: UnsafeBufferPointer<UInt8>) -> Int32? {
        let entry = slots[slot(of: spelling)]
        return entry == Self.free ? nil : ids[Int(entry)]
    }

    /// The spelling of an id.
    func spelling(of id: Int) -> ArraySlice<UInt8>? {
        guard let id = Int32(exactly: id), let entry = entryOfID[id] else { return nil }
        return spellings[range(Int(entry))]
    }

    /// The largest id.
    var largestID: Int? { ids.max().map(Int.init) }

    private func range(_ entry: Int) -> Range<Int> { (entry == 0 ? 0 : ends[entry - 1])..<ends[entry] }

    /// The slot of the entry with this spelling, or the free one where it would go.
    private func slot(of spelling: UnsafeBufferPointer<UInt8>) -> Int {
        // Seeded anew in each process: a file cannot be made to collide.
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(spelling))
        let mask = slots.count - 1
        var slot = hasher.finalize() & mask
        spellings.withUnsafeBufferPointer { spellings in
            while slots[slot] != Self.free {
                let range = range(Int(slots[slot]))
                if range.count == spelling.count, spellings[range].elementsEqual(spelling) { break }
                slot = (slot + 1) & mask
            }
        }
        return slot
    }
}
