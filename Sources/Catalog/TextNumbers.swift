#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Numbers by texts, byte for byte. The texts stand in one block of memory and a look-up neither allocates nor counts
/// references: taking in a million models asks some twenty million times.
struct TextNumbers {
    private struct Entry {
        var hash: UInt64
        var start: Int
        var count: Int
        var number: Int64
    }

    private var entries: [Entry] = []
    private var texts: [UInt8] = []
    /// The place of an entry and one, or 0; a power of two of them, never more than half in use.
    private var slots = [UInt32](repeating: 0, count: 1024)
    /// Another in each process, so that nobody can send names that all fall together.
    private let seed = UInt64.random(in: .min ... .max)

    var count: Int { entries.count }

    /// The number of a text; nil for none.
    func number(of text: UnsafeRawBufferPointer) -> Int64? {
        place(of: text, hash(text)).entry.map { entries[$0].number }
    }

    /// Gives a text its number, unless it has one.
    ///
    /// - Returns: whether it is new.
    @discardableResult
    mutating func insert(_ text: UnsafeRawBufferPointer, _ number: Int64) -> Bool {
        let hash = hash(text)
        let place = place(of: text, hash)
        guard place.entry == nil else { return false }
        entries.append(Entry(hash: hash, start: texts.count, count: text.count, number: number))
        texts.append(contentsOf: text)
        slots[place.slot] = UInt32(entries.count)
        if entries.count * 2 > slots.count { grow() }
        return true
    }

    /// The entry of a text, or nil and the slot where it belongs.
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

    /// Multiplies eight bytes at a time with a large odd number and folds the halves of the product together.
    private func hash(_ text: UnsafeRawBufferPointer) -> UInt64 {
        func mixed(_ state: UInt64, _ word: UInt64) -> UInt64 {
            let product = (state ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
            return product.high ^ product.low
        }
        var state = seed
        var place = 0
        while place + 8 <= text.count {
            state = mixed(state, text.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            place += 8
        }
        var rest: UInt64 = 0
        for byte in text[place...] { rest = rest << 8 | UInt64(byte) }
        return mixed(mixed(state, rest), UInt64(text.count))
    }
}
