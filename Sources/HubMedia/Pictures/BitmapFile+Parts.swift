import HubCore

/// Where the colours of a pixel of 16 or 32 bits are.
struct BitmapMasks {
    struct Mask {
        let shift: Int
        let bits: Int

        /// - Returns: nil if the bits that are set do not stand side by side.
        init?(_ mask: Int) {
            let word = UInt32(truncatingIfNeeded: mask)
            guard word != 0 else { return nil }
            shift = word.trailingZeroBitCount
            bits = word.nonzeroBitCount
            guard bits == 32 - word.leadingZeroBitCount - shift else { return nil }
        }

        /// The colour of a pixel, 0 to 255, rounded down as Pillow does.
        func level(_ word: UInt32) -> UInt8 {
            let value = word >> UInt32(shift) & (bits == 32 ? .max : 1 << UInt32(bits) - 1)
            return UInt8(
                truncatingIfNeeded: bits > 8 ? value >> UInt32(bits - 8) : value * 255 / (1 << UInt32(bits) - 1))
        }
    }

    let red, green, blue: Mask
    let alpha: Mask?

    init?(red: Int, green: Int, blue: Int, alpha: Int) {
        guard let red = Mask(red), let green = Mask(green), let blue = Mask(blue) else { return nil }
        (self.red, self.green, self.blue, self.alpha) = (red, green, blue, Mask(alpha))
    }
}

/// Runs of indices: RLE8 and RLE4.
struct BitmapRuns {
    private let bytes: [UInt8]
    private var at: Int
    private let isNibbles: Bool

    init(_ bytes: [UInt8], start: Int, isNibbles: Bool) {
        (self.bytes, at, self.isNibbles) = (bytes, start, isNibbles)
    }

    /// The indices in the order of the file.
    ///
    /// - Throws: ``ErrorCode/unreadableFile`` if they end early.
    func indices(width: Int, height: Int, name: String) throws(AIError) -> [UInt8] {
        var reader = self
        let count = width * height
        var indices: [UInt8] = []
        indices.reserveCapacity(count)
        while indices.count < count {
            guard let length = reader.next(), let code = reader.next() else { break }
            if length > 0 {
                // Pixels behind the end of the row are left out.
                let room = width - indices.count % width
                reader.repeat(code, min(Int(length), room), in: &indices)
            } else if code == 0 {
                let row = (indices.count + width - 1) / width
                indices.append(contentsOf: repeatElement(0, count: row * width - indices.count))
            } else if code == 1 {
                break
            } else if code == 2 {
                guard let right = reader.next(), let up = reader.next() else { break }
                let skipped = Int(right) + Int(up) * width
                indices.append(contentsOf: repeatElement(0, count: min(skipped, count - indices.count)))
            } else if !reader.copy(min(Int(code), count - indices.count), in: &indices) {
                break
            }
        }
        guard indices.count == count else { throw BitmapFile.fault(name, "it ends before the picture does") }
        return indices
    }

    private mutating func next() -> UInt8? {
        guard at < bytes.count else { return nil }
        defer { at += 1 }
        return bytes[at]
    }

    private func `repeat`(_ code: UInt8, _ length: Int, in indices: inout [UInt8]) {
        if isNibbles {
            for number in 0..<length { indices.append(number % 2 == 0 ? code >> 4 : code & 15) }
        } else {
            indices.append(contentsOf: repeatElement(code, count: length))
        }
    }

    /// Copies indices as they are; whole words of 16 bits.
    private mutating func copy(_ length: Int, in indices: inout [UInt8]) -> Bool {
        let size = isNibbles ? (length + 1) / 2 : length
        guard size <= bytes.count - at else { return false }
        for number in 0..<length {
            let byte = bytes[at + (isNibbles ? number / 2 : number)]
            indices.append(!isNibbles ? byte : number % 2 == 0 ? byte >> 4 : byte & 15)
        }
        at += size
        at += at % 2
        return true
    }
}

/// Numbers in a file whose lowest byte comes first.
struct LittleEndianBytes {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// A number of some bytes; nil if it is not all there.
    func number(at: Int, _ count: Int) -> Int? {
        guard at >= 0, at + count <= bytes.count else { return nil }
        return (0..<count).reversed().reduce(0) { $0 << 8 | Int(bytes[at + $1]) }
    }
}
