import HubCore

/// Information that publishers put into model names.
enum ModelName {
    /// The number of parameters in a name: `0.5B`, `125m`, `8x7B` (8 times 7 billion), `1T`; the largest of several,
    /// because `A3B` and `1M` may occur beside it. nil if there is none.
    static func parameters(in id: String) -> Int64? {
        var id = id
        return id.withUTF8 { bytes in
            // Skips the owner's name.
            let start = bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
            var largest: Int64?
            var place = start
            while place < bytes.count {
                guard isDigit(bytes[place]), place == start || !isPartOfNumber(bytes[place - 1]) else {
                    place += 1
                    continue
                }
                if let count = count(bytes, &place), count > largest ?? 0 { largest = count }
            }
            return largest
        }
    }

    /// The number at an offset, which moves past it.
    private static func count(_ bytes: UnsafeBufferPointer<UInt8>, _ place: inout Int) -> Int64? {
        var value = number(bytes, &place)
        if place + 1 < bytes.count, bytes[place] | 0x20 == UInt8(ascii: "x"), isDigit(bytes[place + 1]) {
            place += 1
            value *= number(bytes, &place)
        }
        guard place < bytes.count, let unit = units[bytes[place] | 0x20] else { return nil }
        let next = place + 1
        guard next == bytes.count || !isAlphanumeric(bytes[next]) else { return nil }
        place = next
        // No model is larger.
        return value > 0 && value * unit <= 1e14 ? Int64(value * unit) : nil
    }

    /// In small letters.
    private static let units: [UInt8: Double] = [
        UInt8(ascii: "m"): 1e6, UInt8(ascii: "b"): 1e9, UInt8(ascii: "t"): 1e12,
    ]

    /// Digits with a point between them.
    private static func number(_ bytes: UnsafeBufferPointer<UInt8>, _ place: inout Int) -> Double {
        var value = 0.0
        while place < bytes.count, isDigit(bytes[place]) {
            value = value * 10 + Double(bytes[place] - UInt8(ascii: "0"))
            place += 1
        }
        guard place + 1 < bytes.count, bytes[place] == UInt8(ascii: "."), isDigit(bytes[place + 1]) else {
            return value
        }
        place += 1
        var unit = 0.1
        while place < bytes.count, isDigit(bytes[place]) {
            value += unit * Double(bytes[place] - UInt8(ascii: "0"))
            unit /= 10
            place += 1
        }
        return value
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isDigit(byte) || (byte | 0x20) &- UInt8(ascii: "a") < 26
    }
    private static func isPartOfNumber(_ byte: UInt8) -> Bool { isAlphanumeric(byte) || byte == UInt8(ascii: ".") }

    /// The bits per packed weight in a name, scales included; nil if there are none.
    static func packedBits(in id: String) -> Double? { words(id).lazy.compactMap { bits[$0] }.first }

    /// Whether a name says that the weights are of type FP8.
    static func isFP8(_ id: String) -> Bool { words(id).contains("fp8") }

    /// The words of a model's name in lower case.
    static func words(_ id: String) -> [Substring] {
        Path.name(id).lowercased().split { !($0.isLetter || $0.isNumber) }
    }

    /// Groups of about 64 weights share scales, half a bit per weight.
    private static let bits: [Substring: Double] = [
        "2bit": 2.5, "3bit": 3.5, "4bit": 4.5, "5bit": 5.5, "6bit": 6.5, "8bit": 8.5, "int4": 4.5, "w4a16": 4.5,
        "awq": 4.5, "gptq": 4.5, "hqq": 4.5, "nf4": 4.5, "fp4": 4.5, "nvfp4": 4.5, "mxfp4": 4.5, "int8": 8.5,
        "w8a8": 8.5,
        "w8a16": 8.5,
    ]

    /// Whether an id contains all words, which are in lower case. Ids are ASCII and many are tested per search, so
    /// bytes are compared.
    static func holds(_ words: [[UInt8]], _ id: String) -> Bool {
        var id = id
        return id.withUTF8 { bytes in words.allSatisfy { holds($0, bytes) } }
    }

    private static func holds(_ word: [UInt8], _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.count >= word.count else { return false }
        return (0...bytes.count - word.count).contains { start in
            word.indices.allSatisfy { place in
                let byte = bytes[start + place]
                return (byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte) == word[place]
            }
        }
    }
}
