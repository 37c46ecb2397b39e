import CSimdJSON

/// A parsed document as simdjson left it: a word for each value and each end of an array or object, a second one for a
/// number (https://github.com/simdjson/simdjson/blob/master/doc/tape.md). Values are named by the place of their word.
struct JSONTape {
    /// The letter that simdjson marks a value with.
    struct Kind: Equatable {
        fileprivate let letter: UInt8

        static let string = Kind(letter: UInt8(ascii: "\""))
        static let array = Kind(letter: UInt8(ascii: "["))
        static let object = Kind(letter: UInt8(ascii: "{"))
        static let int = Kind(letter: UInt8(ascii: "l"))
        static let unsigned = Kind(letter: UInt8(ascii: "u"))
        static let double = Kind(letter: UInt8(ascii: "d"))
        static let isTrue = Kind(letter: UInt8(ascii: "t"))
        static let isFalse = Kind(letter: UInt8(ascii: "f"))
        static let null = Kind(letter: UInt8(ascii: "n"))
    }

    /// The offset of the root value.
    static let root = 1

    private let words: UnsafePointer<UInt64>
    private let strings: UnsafePointer<UInt8>

    /// The tape lives as long as the document.
    init(_ document: OpaquePointer) {
        let tape = hub_json_read(document)
        (words, strings) = (tape.words, tape.strings)
    }

    /// The number of words: the first word gives the end.
    var wordCount: Int { Int(words[0] & (1 << 56 - 1)) }

    func kind(_ at: Int) -> Kind { Kind(letter: UInt8(truncatingIfNeeded: words[at] >> 56)) }

    func int(_ at: Int) -> Int64 { Int64(bitPattern: words[at + 1]) }
    func unsigned(_ at: Int) -> UInt64 { words[at + 1] }
    func double(_ at: Int) -> Double { Double(bitPattern: words[at + 1]) }

    func text(_ at: Int) -> UnsafeBufferPointer<UInt8> {
        let start = strings + Int(words[at] & (1 << 56 - 1))
        let count = UnsafeRawPointer(start).loadUnaligned(as: UInt32.self)
        return UnsafeBufferPointer(start: start + 4, count: Int(count))
    }

    /// The offset after a value and its contents.
    func after(_ at: Int) -> Int {
        switch kind(at) {
        case .array, .object: Int(words[at] & 0xFFFF_FFFF)
        case .int, .unsigned, .double: at + 2
        default: at + 1
        }
    }

    /// The place of the word that ends an array or object.
    func end(of at: Int) -> Int { Int(words[at] & 0xFFFF_FFFF) - 1 }

    /// The number of elements or members of an array or object.
    func count(_ at: Int) -> Int {
        let count = Int(words[at] >> 32 & 0xFF_FFFF)
        // Beyond the tape's counter the elements are counted.
        guard count == 0xFF_FFFF else { return count }
        var found = 0
        var next = at + 1
        while next != end(of: at) {
            next = after(kind(at) == .object ? next + 1 : next)
            found += 1
        }
        return found
    }

    /// Decodes a value completely. simdjson rejects documents deeper than 1,024 levels.
    func value(_ at: Int) -> JSON {
        switch kind(at) {
        case .isTrue: return .bool(true)
        case .isFalse: return .bool(false)
        case .int: return .int(int(at))
        case .unsigned: return .longNumber(String(unsigned(at)))
        case .double: return .double(double(at))
        case .string: return .string(string(at))
        case .array:
            var elements: [JSON] = []
            elements.reserveCapacity(count(at))
            var next = at + 1
            while next != end(of: at) {
                elements.append(value(next))
                next = after(next)
            }
            return .array(elements)
        case .object:
            var members: [(key: String, value: JSON)] = []
            members.reserveCapacity(count(at))
            var next = at + 1
            while next != end(of: at) {
                members.append((string(next), value(next + 1)))
                next = after(next + 1)
            }
            return .object(JSONObject(members))
        default: return .null
        }
    }

    private func string(_ at: Int) -> String { String(decoding: text(at), as: UTF8.self) }
}
