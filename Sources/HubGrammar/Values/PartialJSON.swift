public import HubCore

/// The value so far of JSON that is still being written.
public struct PartialJSON: Sendable {
    private var text = ""
    private var last: JSON?

    /// Nothing was written yet.
    public init() {}

    /// Takes the next piece of the text: the value so far, if it has changed.
    public mutating func add(_ piece: String) -> JSON? {
        text += piece
        guard let value = Self.value(of: text), value != last else { return nil }
        last = value
        return value
    }

    /// The value so far of a text that begins a JSON document: strings end where the text does, lists and objects have
    /// what is complete or has begun, a number counts as far as it goes. Nil if there is nothing yet.
    public static func value(of text: String) -> JSON? {
        if let whole = try? JSON.parse(text) { return whole }
        var reader = PartialReader(text)
        return reader.value()
    }
}

/// Reads the beginning of a JSON document.
private struct PartialReader {
    private let bytes: [UInt8]
    private var at = 0
    private var depth = 0

    /// Levels that are read.
    private static let deepest = 500

    init(_ text: String) { bytes = Array(text.utf8) }

    private var peek: UInt8? { at < bytes.count ? bytes[at] : nil }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || (9...13).contains(byte) { at += 1 }
    }

    mutating func value() -> JSON? {
        skipSpace()
        depth += 1
        defer { depth -= 1 }
        guard let first = peek, depth <= Self.deepest else { return nil }
        switch first {
        case UInt8(ascii: "{"): return object()
        case UInt8(ascii: "["): return array()
        case UInt8(ascii: "\""): return string().map { .string($0) }
        default:
            let start = at
            while let byte = peek, !" \t\r\n,]}".utf8.contains(byte) { at += 1 }
            let word = String(decoding: bytes[start..<at], as: UTF8.self)
            // A number that has a sign or a point at its end counts without it.
            var digits = word[...]
            while !digits.isEmpty, !digits.last!.isNumber, digits.first == "-" || digits.first!.isNumber {
                digits.removeLast()
            }
            return try? JSON.parse(at == bytes.count ? String(digits) : word)
        }
    }

    private mutating func array() -> JSON {
        at += 1
        var elements: [JSON] = []
        while let element = value() {
            elements.append(element)
            skipSpace()
            guard peek == UInt8(ascii: ",") else { break }
            at += 1
        }
        skipSpace()
        if peek == UInt8(ascii: "]") { at += 1 }
        return .array(elements)
    }

    private mutating func object() -> JSON {
        at += 1
        var object = JSONObject()
        while true {
            skipSpace()
            guard peek == UInt8(ascii: "\""), let key = string() else { break }
            skipSpace()
            // A key is known where its colon is.
            guard peek == UInt8(ascii: ":") else { break }
            at += 1
            guard let value = value() else { break }
            object[key] = value
            skipSpace()
            guard peek == UInt8(ascii: ",") else { break }
            at += 1
        }
        if peek == UInt8(ascii: "}") { at += 1 }
        return .object(object)
    }

    /// The string here, as far as whole characters go.
    private mutating func string() -> String? {
        let start = at
        at += 1
        var end = at
        while let byte = peek, byte != UInt8(ascii: "\"") {
            at +=
                byte == UInt8(ascii: "\\")
                ? (at + 1 < bytes.count && bytes[at + 1] == UInt8(ascii: "u") ? 6 : 2) : 1
            if at <= bytes.count { end = at }
        }
        if at < bytes.count { at += 1 } else { at = bytes.count }
        // A cut escape or character is left out, from the end on.
        while end > start {
            let text = String(decoding: bytes[start..<end] + [UInt8(ascii: "\"")], as: UTF8.self)
            if let value = try? JSON.parse(text).string { return value }
            end -= 1
        }
        return nil
    }
}
