/// Reads a JSON document front to back, for when most of it is not needed: only requested values are decoded. See
/// ``JSON`` for documents as values.
package struct JSONCursor {
    private let tape: JSONTape
    private let at: Int

    private init(tape: JSONTape, at: Int) {
        self.tape = tape
        self.at = at
    }

    /// At a document's one value.
    init(_ tape: JSONTape) { self.init(tape: tape, at: JSONTape.root) }

    /// The padding in bytes after a document that avoids a copy (`SIMDJSON_PADDING`).
    static let padding = 64

    /// Bytes of a string, valid while the document lives.
    package typealias Text = UnsafeBufferPointer<UInt8>

    /// Parses a document and passes a cursor at its root to `body`, valid only inside it.
    ///
    /// - Throws: ``JSONError``, and what `body` throws.
    package static func read<Value>(_ bytes: [UInt8], _ body: (JSONCursor) throws -> Value) throws -> Value {
        let document = try bytes.withUnsafeBytes {
            try JSONDocument($0, isPadded: bytes.capacity - bytes.count >= padding)
        }
        return try withExtendedLifetime(document) { try body(document.root) }
    }

    /// The whole number here, if it is one.
    package var int: Int64? { tape.kind(at) == .int ? tape.int(at) : nil }
    /// The number here, whole or not, if it is one.
    package var double: Double? {
        switch tape.kind(at) {
        case .int: Double(tape.int(at))
        case .unsigned: Double(tape.unsigned(at))
        case .double: tape.double(at)
        default: nil
        }
    }
    /// The value here, decoded completely.
    package var json: JSON { tape.value(at) }
    /// The number of members or elements of the object or array here, 0 for anything else.
    package var count: Int {
        let kind = tape.kind(at)
        return kind == .array || kind == .object ? tape.count(at) : 0
    }
    /// The string here, if it is one.
    package var text: Text? { tape.kind(at) == .string ? tape.text(at) : nil }
    /// Whether here is `null`.
    package var isNull: Bool { tape.kind(at) == .null }

    /// Calls `body` for each member of the object here, with the cursor at its value, until it returns false. Returns
    /// false then, and if there is no object.
    package func members(_ body: (Text, JSONCursor) -> Bool) -> Bool {
        guard tape.kind(at) == .object else { return false }
        let end = tape.end(of: at)
        var next = at + 1
        while next != end {
            guard body(tape.text(next), JSONCursor(tape: tape, at: next + 1)) else { return false }
            next = tape.after(next + 1)
        }
        return true
    }

    /// The two strings of the array here, if it is one of exactly two.
    package var textPair: (Text, Text)? {
        guard tape.kind(at) == .array, tape.end(of: at) == at + 3, tape.kind(at + 1) == .string,
            tape.kind(at + 2) == .string
        else { return nil }
        return (tape.text(at + 1), tape.text(at + 2))
    }

    /// Calls `body` for each element of the array here until it returns false. Returns false then, and if there is no
    /// array.
    package func elements(_ body: (JSONCursor) -> Bool) -> Bool {
        guard tape.kind(at) == .array else { return false }
        let end = tape.end(of: at)
        var next = at + 1
        while next != end {
            guard body(JSONCursor(tape: tape, at: next)) else { return false }
            next = tape.after(next)
        }
        return true
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether these bytes are those of a text.
    package func equals(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount
            && elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
