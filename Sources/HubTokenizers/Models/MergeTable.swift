import CKernels
import HubCore

/// The results and ranks of token merges: a flat hash table with open addressing.
struct MergeTable: Sendable {
    /// The result of merging a pair.
    struct Merge: Sendable {
        var rank: Int32
        var result: Int32
    }

    private struct Slot {
        var pair: UInt64
        var merge: Merge
    }

    private var slots: [Slot]
    /// The last slot of a region. All slots of a pair are in one region, so that each thread can fill a region.
    private let lastOfRegion: Int
    // Ids are not negative, so no pair has this value.
    private static let free = UInt64.max

    /// An empty table for at most `count` merges.
    init(count: Int) {
        var size = 16
        while 2 * size < 3 * count { size *= 2 }
        slots = [Slot](large: size, repeating: Slot(pair: Self.free, merge: Merge(rank: 0, result: 0)))
        // Each region gets about half of the pairs.
        lastOfRegion = (size < 1 << 16 ? size : size / 2) - 1
    }

    var isEmpty: Bool { slots.allSatisfy { $0.pair == Self.free } }

    /// The result of a pair. Setting a pair again replaces the value, as in the reference.
    subscript(left: Int32, right: Int32) -> Merge? {
        get {
            slots.withUnsafeBufferPointer { slots in
                let found = slots[Self.slot(slots, Self.key(left, right), lastOfRegion)]
                return found.pair == Self.free ? nil : found.merge
            }
        }
        set {
            guard let newValue else { return }
            let key = Self.key(left, right)
            let slot = slots.withUnsafeBufferPointer { Self.slot($0, key, lastOfRegion) }
            slots[slot] = Slot(pair: key, merge: newValue)
        }
    }

    /// Sets many pairs in their order.
    mutating func set(_ pairs: [(left: Int32, right: Int32, merge: Merge)]) {
        let last = lastOfRegion
        slots.withUnsafeMutableBufferPointer { slots in
            // Each thread writes to its own slots.
            nonisolated(unsafe) let slots = slots
            Parallel.perform(slots.count / (last + 1)) { region in
                Self.set(pairs, in: region, of: slots, last)
            }
        }
    }

    /// Sets those pairs that belong to one region.
    private static func set(
        _ pairs: [(left: Int32, right: Int32, merge: Merge)], in region: Int,
        of slots: UnsafeMutableBufferPointer<Slot>,
        _ last: Int
    ) {
        guard let base = slots.baseAddress else { return }
        let keys = ByteHash.keys
        let mask = slots.count - 1
        var waiting: [Slot] = []
        // The table exceeds the CPU caches, so slots are prefetched.
        let ahead = 32
        waiting.reserveCapacity(ahead)
        func flush() {
            for pair in waiting { slots[slot(UnsafeBufferPointer(slots), pair.pair, last, keys)] = pair }
            waiting.removeAll(keepingCapacity: true)
        }
        for (left, right, merge) in pairs {
            let key = key(left, right)
            let home = Int(truncatingIfNeeded: ByteHash.hash(key, keys)) & mask
            guard home & ~last == region * (last + 1) else { continue }
            hub_prefetch(base + home)
            waiting.append(Slot(pair: key, merge: merge))
            if waiting.count == ahead { flush() }
        }
        flush()
    }

    private static func key(_ left: Int32, _ right: Int32) -> UInt64 {
        UInt64(UInt32(bitPattern: left)) << 32 | UInt64(UInt32(bitPattern: right))
    }

    private static func slot(
        _ slots: UnsafeBufferPointer<Slot>, _ key: UInt64, _ last: Int, _ keys: ByteHash.Keys = ByteHash.keys
    ) -> Int {
        var slot = Int(truncatingIfNeeded: ByteHash.hash(key, keys)) & (slots.count - 1)
        while slots[slot].pair != key, slots[slot].pair != free { slot = slot & ~last | (slot + 1) & last }
        return slot
    }
}
