/// Whole numbers beyond 64 bits, which simdjson refuses and Python does not. Many a tokenizer_config.json says
/// `"model_max_length": 1000000000000000019884624838656`, Python's `int(1e30)`.
enum LongNumbers {
    /// The document with such numbers written as `<digits>e0`, which reads as the nearest double; nil where it has none.
    static func rewritten(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        var out: [UInt8] = []
        var copied = 0
        var at = 0
        var inString = false
        while at < bytes.count {
            let byte = bytes[at]
            if inString {
                if byte == UInt8(ascii: "\\") { at += 1 } else if byte == UInt8(ascii: "\"") { inString = false }
                at += 1
            } else if isPartOfNumber(byte) {
                let start = at
                while at < bytes.count, isPartOfNumber(bytes[at]) { at += 1 }
                guard at - start >= 19, isTooLong(bytes[start..<at]) else { continue }
                out += bytes[copied..<at]
                out += "e0".utf8
                copied = at
            } else {
                inString = byte == UInt8(ascii: "\"")
                at += 1
            }
        }
        return copied == 0 ? nil : out + bytes[copied...]
    }

    private static func isPartOfNumber(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.eE".utf8.contains(byte)
    }

    /// Whether this is a sign and digits alone that fit no 64 bits.
    private static func isTooLong(_ token: Slice<UnsafeRawBufferPointer>) -> Bool {
        let digits = token.first == UInt8(ascii: "-") ? token.dropFirst() : token
        guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return false }
        let text = String(decoding: token, as: UTF8.self)
        return Int64(text) == nil && UInt64(text) == nil
    }
}
