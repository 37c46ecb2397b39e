/// Integers beyond 64 bits, which simdjson rejects and Python accepts. Many a tokenizer_config.json has
/// `"model_max_length": 1000000000000000019884624838656`, Python's `int(1e30)`.
enum LongNumbers {
    /// The document with such numbers written as `<digits>e0`, which reads as the nearest double, and their digits by
    /// index among the document's numbers, from 0; nil if there are none.
    static func rewritten(_ bytes: UnsafeRawBufferPointer) -> (document: [UInt8], digits: [Int: String])? {
        var out: [UInt8] = []
        var digits: [Int: String] = [:]
        var numbers = 0
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
                // `true` and `false` contain an `e`, but no digit.
                if bytes[start] != UInt8(ascii: "e") { numbers += 1 }
                guard at - start >= 19, isTooLong(bytes[start..<at]) else { continue }
                digits[numbers - 1] = String(decoding: bytes[start..<at], as: UTF8.self)
                out += bytes[copied..<at]
                out += "e0".utf8
                copied = at
            } else {
                inString = byte == UInt8(ascii: "\"")
                at += 1
            }
        }
        return copied == 0 ? nil : (out + bytes[copied...], digits)
    }

    /// Restores the long numbers in a document parsed from the rewritten text.
    ///
    /// - Parameter number: How many numbers come before this value.
    static func restored(_ json: JSON, _ digits: [Int: String], _ number: inout Int) -> JSON {
        switch json {
        case .null, .bool, .string: return json
        case .int, .double, .longNumber:
            defer { number += 1 }
            return digits[number].map { .longNumber($0) } ?? json
        case .array(let elements): return .array(elements.map { restored($0, digits, &number) })
        case .object(let object):
            return .object(JSONObject(object.members.map { ($0.key, restored($0.value, digits, &number)) }))
        }
    }

    private static func isPartOfNumber(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.eE".utf8.contains(byte)
    }

    /// Whether this is an optional sign and digits beyond 64 bits.
    private static func isTooLong(_ token: Slice<UnsafeRawBufferPointer>) -> Bool {
        let digits = token.first == UInt8(ascii: "-") ? token.dropFirst() : token
        guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return false }
        let text = String(decoding: token, as: UTF8.self)
        return Int64(text) == nil && UInt64(text) == nil
    }
}
