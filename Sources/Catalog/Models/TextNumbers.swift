import HubCore
import Libc

/// A map from texts (compared by bytes) to numbers. The texts are in one block of memory and a lookup does not allocate
/// or count references: importing a million models makes some twenty million lookups.
struct TextNumbers {
    private struct Entry {
        var hash: UInt64
        var start: Int
        var count: Int
        var number: Int64
    }

    private var entries: [Entry] = []
    private var texts: [UInt8] = []
    /// Entry index plus one, or 0; a power of two of slots, at most half in use.
    private var slots = [UInt32](repeating: 0, count: 1024)

    var count: Int { entries.count }

    /// The number of a text; nil for none.
    func number(of text: UnsafeRawBufferPointer) -> Int64? {
        place(of: text, ByteHash.hash(text.assumingMemoryBound(to: UInt8.self))).entry.map { entries[$0].number }
    }

    /// Sets the number of a text, unless it has one.
    ///
    /// - Returns: whether it is new.
    @discardableResult
    mutating func insert(_ text: UnsafeRawBufferPointer, _ number: Int64) -> Bool {
        let hash = ByteHash.hash(text.assumingMemoryBound(to: UInt8.self))
        let place = place(of: text, hash)
        guard place.entry == nil else { return false }
        entries.append(Entry(hash: hash, start: texts.count, count: text.count, number: number))
        texts.append(contentsOf: text)
        slots[place.slot] = UInt32(entries.count)
        if entries.count * 2 > slots.count { grow() }
        return true
    }

    /// The entry of a text, or nil and its free slot.
    private func place(of text: UnsafeRawBufferPointer, _ hash: UInt64) -> (slot: Int, entry: Int?) {
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] != 0 {
            let entry = Int(slots[slot]) - 1
            if entries[entry].hash == hash, equals(entries[entry], text) { return (slot, entry) }
            slot = (slot + 1) & mask
        }
        return (slot, nil)
    }

    private func equals(_ entry: Entry, _ text: UnsafeRawBufferPointer) -> Bool {
        guard entry.count == text.count, let base = text.baseAddress, entry.count > 0 else {
            return entry.count == text.count
        }
        return texts.withUnsafeBytes { memcmp($0.baseAddress! + entry.start, base, entry.count) == 0 }
    }

    private mutating func grow() {
        let mask = slots.count * 2 - 1
        slots = [UInt32](repeating: 0, count: mask + 1)
        for (place, entry) in entries.enumerated() {
            var slot = Int(truncatingIfNeeded: entry.hash) & mask
            while slots[slot] != 0 { slot = (slot + 1) & mask }
            slots[slot] = UInt32(place + 1)
        }
    }
}
