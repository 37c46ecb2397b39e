/// The fields of a request or a response in their order. Names are case-insensitive.
package struct HTTPHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// One line.
    package struct Field: Sendable, Equatable {
        package var name: String
        package var value: String
    }

    package private(set) var fields: [Field] = []

    package init() {}

    package init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0, value: $1) }
    }

    /// The first value of a name; setting replaces every value, nil removes them.
    package subscript(name: String) -> String? {
        get { fields.first { Self.equal($0.name, name) }?.value }
        set {
            fields.removeAll { Self.equal($0.name, name) }
            if let newValue { add(name, newValue) }
        }
    }

    /// Every value of a name in order.
    package func all(_ name: String) -> [String] { fields.filter { Self.equal($0.name, name) }.map(\.value) }

    /// Appends a field.
    package mutating func add(_ name: String, _ value: String) { fields.append(Field(name: name, value: value)) }

    /// Adds other fields; they replace values of the same name.
    package mutating func merge(_ other: HTTPHeaders) {
        for field in other.fields { self[field.name] = nil }
        fields += other.fields
    }

    private static func equal(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count
            && zip(left.utf8, right.utf8).allSatisfy { lower($0) == lower($1) }
    }

    private static func lower(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
