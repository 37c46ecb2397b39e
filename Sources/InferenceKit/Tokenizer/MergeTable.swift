import CKernels
import HubCore

/// What pairs of tokens merge into, and which goes first: a flat table with open addressing.
struct MergeTable: Sendable {
    /// What becomes of a pair.
    struct Merge: Sendable {
        var rank: Int32
        var result: Int32
    }

    private struct Slot {
        var pair: UInt64
        var merge: Merge
    }

    private var slots: [Slot]
    // Ids are not negative, so no pair is this.
    private static let free = UInt64.max

    /// An empty table for at most `count` merges.
    init(count: Int) {
        var size = 16
        while 2 * size < 3 * count { size *= 2 }
        slots = [Slot](large: size, repeating: Slot(pair: Self.free, merge: Merge(rank: 0, result: 0)))
    }

    /// What a pair merges into. A pair that is set again takes the later value, as a map filled in order does in the
    /// reference.
    subscript(left: Int32, right: Int32) -> Merge? {
        get {
            slots.withUnsafeBufferPointer { slots in
                let found = slots[Self.slot(slots, left, right)]
                return found.pair == Self.free ? nil : found.merge
            }
        }
        set {
            guard let newValue else { return }
            let slot = slots.withUnsafeBufferPointer { Self.slot($0, left, right) }
            slots[slot] = Slot(pair: Self.key(left, right), merge: newValue)
        }
    }

    /// Sets many pairs in their order.
    mutating func set(_ pairs: [(left: Int32, right: Int32, merge: Merge)]) {
        let keys = ByteHash.keys
        slots.withUnsafeMutableBufferPointer { slots in
            guard let base = slots.baseAddress else { return }
            let mask = slots.count - 1
            // The table is larger than the processor's near memory: some dozen places are on their way at once.
            let ahead = 32
            for start in stride(from: 0, to: pairs.count, by: ahead) {
                let range = start..<min(start + ahead, pairs.count)
                for pair in pairs[range] {
                    let hash = ByteHash.hash(Self.key(pair.left, pair.right), keys)
                    hub_prefetch(base + (Int(truncatingIfNeeded: hash) & mask))
                }
                for (left, right, merge) in pairs[range] {
                    let slot = Self.slot(UnsafeBufferPointer(slots), left, right)
                    slots[slot] = Slot(pair: Self.key(left, right), merge: merge)
                }
            }
        }
    }

    private static func key(_ left: Int32, _ right: Int32) -> UInt64 {
        UInt64(UInt32(bitPattern: left)) << 32 | UInt64(UInt32(bitPattern: right))
    }

    private static func slot(_ slots: UnsafeBufferPointer<Slot>, _ left: Int32, _ right: Int32) -> Int {
        let key = key(left, right)
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: ByteHash.hash(key)) & mask
        while slots[slot].pair != key, slots[slot].pair != free { slot = (slot + 1) & mask }
        return slot
    }
}
