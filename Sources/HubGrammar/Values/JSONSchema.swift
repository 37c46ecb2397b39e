public import HubCore

/// A JSON Schema made in Swift, of what ``OutputGrammar/init(jsonSchema:)`` understands.
public struct JSONSchema: Sendable, Hashable {
    /// The document.
    public var json: JSON

    /// A schema that was written elsewhere.
    public init(json: JSON) { self.json = json }

    private init(_ keywords: JSONObject) { json = .object(keywords) }

    /// A property of an object.
    public struct Property: Sendable, Hashable {
        var name: String
        var schema: JSONSchema
        var isRequired: Bool

        /// A property; one that is not required may be left out.
        public init(_ name: String, _ schema: JSONSchema, isRequired: Bool = true) {
            self.name = name
            self.schema = schema
            self.isRequired = isRequired
        }
    }

    /// An object with these properties, in this order, and no others.
    public static func object(_ properties: Property...) -> JSONSchema {
        JSONSchema([
            "type": "object", "additionalProperties": false,
            "properties": .object(JSONObject(properties.map { ($0.name, $0.schema.json) })),
            "required": .array(properties.filter(\.isRequired).map { .string($0.name) }),
        ])
    }

    /// A list.
    ///
    /// - Parameter count: how many elements; nil for any number.
    public static func array(of element: JSONSchema, count: ClosedRange<Int>? = nil) -> JSONSchema {
        JSONSchema([
            "type": "array", "items": element.json, "minItems": count.map { .int(Int64($0.lowerBound)) },
            "maxItems": count.map { .int(Int64($0.upperBound)) },
        ])
    }

    /// A string.
    ///
    /// - Parameters:
    ///   - length: characters; nil for any number.
    ///   - pattern: a regular expression that it contains.
    ///   - format: `date`, `time`, `date-time`, `email`, `uuid` or `uri`.
    public static func string(
        length: ClosedRange<Int>? = nil, pattern: String? = nil, format: String? = nil
    ) -> JSONSchema {
        JSONSchema([
            "type": "string", "minLength": length.map { .int(Int64($0.lowerBound)) },
            "maxLength": length.map { .int(Int64($0.upperBound)) }, "pattern": pattern.map { .string($0) },
            "format": format.map { .string($0) },
        ])
    }

    /// A whole number.
    public static func integer(in range: ClosedRange<Int>? = nil) -> JSONSchema {
        JSONSchema([
            "type": "integer", "minimum": range.map { .int(Int64($0.lowerBound)) },
            "maximum": range.map { .int(Int64($0.upperBound)) },
        ])
    }

    /// A number.
    public static func number(in range: ClosedRange<Double>? = nil) -> JSONSchema {
        JSONSchema([
            "type": "number", "minimum": range.map { .double($0.lowerBound) },
            "maximum": range.map { .double($0.upperBound) },
        ])
    }

    /// `true` or `false`.
    public static let boolean = JSONSchema(["type": "boolean"])

    /// One of some texts.
    public static func choice(_ texts: String...) -> JSONSchema {
        JSONSchema(["type": "string", "enum": .array(texts.map { .string($0) })])
    }

    /// One of several.
    public static func anyOf(_ schemas: JSONSchema...) -> JSONSchema {
        JSONSchema(["anyOf": .array(schemas.map(\.json))])
    }

    /// This with words for the model about what it means.
    public func described(_ description: String) -> JSONSchema {
        guard var keywords = json.object else { return self }
        keywords["description"] = .string(description)
        return JSONSchema(keywords)
    }
}
