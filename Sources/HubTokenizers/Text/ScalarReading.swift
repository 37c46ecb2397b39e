/// Reads and writes UTF-8 scalar by scalar. All texts here are valid UTF-8.
extension UnsafeBufferPointer<UInt8> {
    /// The scalar at an offset, and its length in bytes. Never reads beyond the end.
    func scalar(at offset: Int) -> (value: UInt32, width: Int) {
        let lead = self[offset]
        if lead < 0x80 { return (UInt32(lead), 1) }
        let left = count - offset
        if left < 2 || (lead >= 0xE0 && left < 3) || (lead >= 0xF0 && left < 4) { return (0xFFFD, left) }
        func tail(_ index: Int) -> UInt32 { UInt32(self[offset + index] & 0x3F) }
        if lead < 0xE0 { return (UInt32(lead & 0x1F) << 6 | tail(1), 2) }
        if lead < 0xF0 { return (UInt32(lead & 0x0F) << 12 | tail(1) << 6 | tail(2), 3) }
        return (UInt32(lead & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3), 4)
    }

    /// The scalar that ends at an offset, and its length in bytes.
    func scalar(before offset: Int) -> (value: UInt32, width: Int) {
        var start = offset - 1
        while start > 0, self[start] & 0xC0 == 0x80 { start -= 1 }
        return scalar(at: start)
    }
}

extension [UInt8] {
    /// Appends a scalar as UTF-8.
    mutating func append(scalar value: UInt32) {
        func tail(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: value >> shift & 0x3F | 0x80) }
        if value < 0x80 {
            append(UInt8(value))
        } else if value < 0x800 {
            append(UInt8(value >> 6) | 0xC0)
            append(tail(0))
        } else if value < 0x10000 {
            append(UInt8(value >> 12) | 0xE0)
            append(tail(6))
            append(tail(0))
        } else {
            append(UInt8(truncatingIfNeeded: value >> 18) | 0xF0)
            append(tail(12))
            append(tail(6))
            append(tail(0))
        }
    }

    /// The number of bytes of the character that begins at an index.
    func width(at index: Int) -> Int {
        switch self[index] {
        case ..<0xC0: 1
        case ..<0xE0: 2
        case ..<0xF0: 3
        default: 4
        }
    }

    /// The first occurrence of another array's bytes from an index.
    func firstRange(of other: [UInt8], from start: Int = 0) -> Range<Int>? {
        guard let first = other.first, count >= other.count else { return nil }
        var at = start
        while at + other.count <= count {
            if self[at] == first, self[at..<at + other.count].elementsEqual(other) { return at..<at + other.count }
            at += 1
        }
        return nil
    }

    /// The bytes with every occurrence of others replaced. An empty array occurs before and after every character.
    func replacing(_ other: [UInt8], with content: [UInt8]) -> [UInt8] {
        if other.isEmpty {
            return content.isEmpty ? self : flatMap { $0 & 0xC0 == 0x80 ? [$0] : content + [$0] } + content
        }
        guard var match = firstRange(of: other) else { return self }
        var result: [UInt8] = []
        var done = 0
        while true {
            result += self[done..<match.lowerBound]
            result += content
            done = match.upperBound
            guard let next = firstRange(of: other, from: done) else { break }
            match = next
        }
        return result + self[done...]
    }
}
