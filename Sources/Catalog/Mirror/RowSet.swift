/// A bit set of row numbers, which are dense and may be millions.
package struct RowSet: Sendable {
    private var words: [UInt64] = []

    /// No rows.
    package init() {}

    package var isEmpty: Bool { words.isEmpty }

    /// Adds a row; returns whether it is new.
    @discardableResult
    package mutating func insert(_ row: Int64) -> Bool {
        let (word, bit) = (Int(row >> 6), UInt64(1) << UInt64(row & 63))
        while words.count <= word { words.append(0) }
        guard words[word] & bit == 0 else { return false }
        words[word] |= bit
        return true
    }

    package func contains(_ row: Int64) -> Bool {
        let word = Int(row >> 6)
        return word < words.count && words[word] & (1 << UInt64(row & 63)) != 0
    }

    /// All of them, ascending.
    var rows: [Int64] {
        words.indices.flatMap { word in
            (0..<64).lazy.filter { words[word] & (1 << UInt64($0)) != 0 }.map { Int64(word << 6 | $0) }
        }
    }
}

/// Stored row numbers: ascending, delta-encoded as varints. A page of new models takes one byte each.
enum PackedRows {
    static func pack(_ rows: [Int64]) -> [UInt8] {
        var bytes: [UInt8] = []
        var last: Int64 = 0
        for row in rows.sorted() {
            var distance = UInt64(row - last)
            last = row
            while distance >= 128 {
                bytes.append(UInt8(distance & 127) | 128)
                distance >>= 7
            }
            bytes.append(UInt8(distance))
        }
        return bytes
    }

    /// nil for invalid bytes.
    static func unpack(_ bytes: [UInt8]) -> [Int64]? {
        var rows: [Int64] = []
        var last: UInt64 = 0
        var distance: UInt64 = 0
        var shift: UInt64 = 0
        for byte in bytes {
            distance |= UInt64(byte & 127) << shift
            shift += 7
            // Eight bytes exceed any row number.
            guard byte < 128 || shift < 56 else { return nil }
            guard byte < 128 else { continue }
            last += distance
            guard last <= UInt64(Int64.max) else { return nil }
            rows.append(Int64(last))
            (distance, shift) = (0, 0)
        }
        return shift == 0 ? rows : nil
    }
}
