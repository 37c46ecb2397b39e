/// A JSON document as a value. Parsed by simdjson (https://simdjson.org), at most 1,024 levels deep.
public enum JSON: Sendable, Hashable {
    /// `null`
    case null
    /// `true` or `false`
    case bool(Bool)
    /// A number written without fraction or exponent that fits 64 bits with sign.
    case int(Int64)
    /// A number with fraction or exponent.
    case double(Double)
    /// A number written without fraction or exponent that fits no 64 bits with sign: its digits.
    case longNumber(String)
    /// A string.
    case string(String)
    /// An array.
    case array([JSON])
    /// An object, its members in the order of the document.
    case object(JSONObject)

    /// The usual limit of a document, in words of simdjson's tape: its values then need 300 MB at most. Values may need fifty
    /// times the memory of their text, so every reader has a limit. The index of a model with 200,000 tensors has a tenth of
    /// these words.
    package static let usualWords = 4 << 20

    /// Parses one UTF-8 document.
    ///
    /// - Throws: ``JSONError`` with simdjson's reason, or if the document has millions of values.
    public static func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> JSON {
        try parse(bytes, mostWords: usualWords)
    }

    /// Parses one UTF-8 document.
    public static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSON { try parse(bytes, mostWords: usualWords) }

    /// Parses a document with a limit of its own.
    ///
    /// - Parameter mostWords: a document with more tape words is an error: a string or a constant takes one, a number,
    ///   a list and an object two.
    package static func parse(_ bytes: [UInt8], mostWords: Int) throws(JSONError) -> JSON {
        let result: Result<JSON, JSONError> = bytes.withUnsafeBytes { buffer in
            do throws(JSONError) { return .success(try parse(buffer, mostWords: mostWords)) } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private static func parse(_ bytes: UnsafeRawBufferPointer, mostWords: Int) throws(JSONError) -> JSON {
        let document: JSONDocument
        do { document = try JSONDocument(bytes) } catch {
            guard let (rewritten, digits) = LongNumbers.rewritten(bytes) else { throw error }
            var number = 0
            return LongNumbers.restored(try parse(rewritten, mostWords: mostWords), digits, &number)
        }
        guard document.tape.wordCount <= mostWords else { throw JSONError.tooManyValues }
        return withExtendedLifetime(document) { document.tape.value(JSONTape.root) }
    }

    /// Parses one document.
    public static func parse(_ text: String) throws(JSONError) -> JSON { try parse(Array(text.utf8)) }
}

/// Why a text is not JSON.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The parser's reason.
    public var reason: String
    /// The reason as a sentence.
    public var description: String { "not JSON: \(reason)" }

    /// The document has more values than allowed.
    package static let tooManyValues = JSONError(reason: "it has too many values")
}

/// The members of a JSON object in document order. A repeated key is kept; looking it up gives the last one, as Python
/// does. Keys are compared byte by byte.
public struct JSONObject: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// The members in document order, repeated keys included.
    public private(set) var members: [(key: String, value: JSON)]
    private var index: [ExactText: Int]

    /// An object with these members.
    public init(_ members: [(key: String, value: JSON)] = []) {
        self.members = members
        self.index = [:]
        // A document may have millions of empty objects: they get no storage.
        if !members.isEmpty { index.reserveCapacity(members.count) }
        for (offset, member) in members.enumerated() { index[ExactText(member.key)] = offset }
    }

    /// An object with these members; nil values are left out.
    public init(dictionaryLiteral elements: (String, JSON?)...) {
        self.init(elements.compactMap { key, value in value.map { (key, $0) } })
    }

    /// The value of a key; setting nil removes the member.
    public subscript(key: String) -> JSON? {
        get { index[ExactText(key)].map { members[$0].value } }
        set {
            if let newValue {
                if let at = index[ExactText(key)] {
                    members[at].value = newValue
                } else {
                    index[ExactText(key)] = members.count
                    members.append((key, newValue))
                }
            } else if index[ExactText(key)] != nil {
                self = JSONObject(members.filter { ExactText($0.key) != ExactText(key) })
            }
        }
    }

    /// Whether a key occurs more than once.
    public var hasDuplicateKeys: Bool { index.count != members.count }
    /// The number of members.
    public var count: Int { members.count }
    /// The keys in document order.
    public var keys: [String] { members.map(\.key) }

    /// Equal members in equal order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members.count == right.members.count
            && zip(left.members, right.members).allSatisfy {
                ExactText($0.key) == ExactText($1.key) && $0.value == $1.value
            }
    }

    /// Feeds keys and values to the hasher.
    public func hash(into hasher: inout Hasher) {
        for member in members {
            hasher.combine(ExactText(member.key))
            hasher.combine(member.value)
        }
    }
}

extension JSON {
    /// The string, if this is one.
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    /// The number, if this is a whole one.
    public var int: Int64? { if case .int(let value) = self { value } else { nil } }
    /// The boolean, if this is one.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The elements, if this is an array.
    public var array: [JSON]? { if case .array(let value) = self { value } else { nil } }
    /// The members, if this is an object.
    public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }
    /// The number, whole or not.
    public var double: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value
        case .longNumber(let digits): Double(digits)
        default: nil
        }
    }
    /// Whether this is `null`.
    public var isNull: Bool { self == .null }
    /// A member of an object; nil if this is not an object, the key is absent, or its value is `null`.
    public subscript(key: String) -> JSON? {
        guard let value = object?[key], !value.isNull else { return nil }
        return value
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// A boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}
