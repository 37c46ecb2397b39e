public import HubCore

/// A value that a model can write: it has a schema, and is read from the JSON that fits it.
///
///     struct Book: Generable {
///         var title: String
///         var year: Int?
///         static let schema = JSONSchema.object(
///             .init("title", String.schema), .init("year", Int.schema, isRequired: false))
///         init(json: JSON) throws(AIError) {
///             title = try json.value("title")
///             year = try json.value("year")
///         }
///     }
public protocol Generable: Sendable {
    /// What the JSON of such a value looks like.
    static var schema: JSONSchema { get }
    /// Reads a value.
    ///
    /// - Throws: ``ErrorCode/generationFailed`` for JSON of another kind.
    init(json: JSON) throws(AIError)
}

extension Generable {
    /// A value from the text of an answer.
    ///
    /// - Throws: ``ErrorCode/generationFailed`` for a text that is not its JSON, such as one that was cut.
    public init(answer text: String) throws(AIError) {
        let json: JSON
        do throws(JSONError) { json = try JSON.parse(text) } catch {
            throw AIError(.generationFailed, "the answer is \(error)")
        }
        try self.init(json: json)
    }

    fileprivate static func mismatch(_ json: JSON) -> AIError {
        AIError(.generationFailed, "the answer has \(json.text().prefix(80)) where \(Self.self) is expected")
    }
}

extension JSON {
    /// The member of an object as a value; a member that is not there reads as `null`.
    ///
    /// - Throws: ``ErrorCode/generationFailed`` for JSON of another kind.
    public func value<Value: Generable>(_ key: String) throws(AIError) -> Value {
        try Value(json: object?[key] ?? .null)
    }
}

extension String: Generable {
    /// Any string.
    public static var schema: JSONSchema { .string() }
    /// Reads a string.
    public init(json: JSON) throws(AIError) {
        guard let value = json.string else { throw Self.mismatch(json) }
        self = value
    }
}

extension Int: Generable {
    /// Any whole number.
    public static var schema: JSONSchema { .integer() }
    /// Reads a whole number.
    public init(json: JSON) throws(AIError) {
        guard let value = json.int ?? json.double.flatMap({ Int64(exactly: $0) }), let number = Int(exactly: value)
        else {
            throw Self.mismatch(json)
        }
        self = number
    }
}

extension Double: Generable {
    /// Any number.
    public static var schema: JSONSchema { .number() }
    /// Reads a number.
    public init(json: JSON) throws(AIError) {
        guard let value = json.double else { throw Self.mismatch(json) }
        self = value
    }
}

extension Bool: Generable {
    /// `true` or `false`.
    public static var schema: JSONSchema { .boolean }
    /// Reads a boolean.
    public init(json: JSON) throws(AIError) {
        guard let value = json.bool else { throw Self.mismatch(json) }
        self = value
    }
}

extension Array: Generable where Element: Generable {
    /// A list of any length.
    public static var schema: JSONSchema { .array(of: Element.schema) }
    /// Reads a list.
    public init(json: JSON) throws(AIError) {
        guard let elements = json.array else { throw Self.mismatch(json) }
        self = []
        for element in elements { append(try Element(json: element)) }
    }
}

extension Optional: Generable where Wrapped: Generable {
    /// The value or `null`.
    public static var schema: JSONSchema { .anyOf(Wrapped.schema, JSONSchema(json: .object(["type": "null"]))) }
    /// Reads a value, or `null`.
    public init(json: JSON) throws(AIError) { self = json.isNull ? nil : try Wrapped(json: json) }
}
