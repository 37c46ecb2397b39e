import HubCore

/// A schema with its parts by JSON pointer (https://www.rfc-editor.org/rfc/rfc6901).
final class SchemaDocument {
    private let root: JSON
    /// Where schemas begin that are documents of their own: their references are to themselves.
    private let inner: [String]
    /// What was read and checked.
    private var known: [ExactText: Schema] = [:]

    init(_ root: JSON, inner: [String] = []) { (self.root, self.inner) = (root, inner) }

    /// What constrains values and is understood.
    private static let understood: Set<String> = [
        "type", "properties", "required", "additionalProperties", "items", "minItems", "maxItems", "enum", "const",
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "pattern", "format",
        "anyOf", "$ref",
    ]
    /// What only says something about a schema.
    private static let annotations: Set<String> = [
        "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$schema", "$id",
        "$comment", "$defs", "definitions", "$anchor", "contentEncoding", "contentMediaType",
    ]
    static let types = ["null", "boolean", "object", "array", "number", "integer", "string"]

    /// The part at a pointer.
    subscript(pointer: String) -> JSON? {
        var part = root
        for escaped in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            let key = String(escaped).replacing("~1", with: "/").replacing("~0", with: "~")
            switch part {
            case .object(let members):
                guard let member = members[key] else { return nil }
                part = member
            case .array(let elements):
                guard let index = Int(key), elements.indices.contains(index) else { return nil }
                part = elements[index]
            default: return nil
            }
        }
        return part
    }

    static func pointer(_ parent: String, _ keys: String...) -> String {
        keys.reduce(parent) { $0 + "/" + $1.replacing("~", with: "~0").replacing("/", with: "~1") }
    }

    static func error(_ pointer: String, _ what: String) -> AIError {
        AIError(.invalidInput, "the schema at \(pointer.isEmpty ? "/" : pointer.printable): \(what)")
    }

    /// The schema at a pointer: its keywords, or whether it takes everything or nothing.
    enum Schema {
        case keywords(JSONObject)
        case all(Bool)
    }

    /// Reads and checks the schema at a pointer.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for a keyword that is not supported, or whose value is not what it must be.
    func schema(_ pointer: String) throws(AIError) -> Schema {
        if let known = known[ExactText(pointer)] { return known }
        let schema = try read(pointer)
        known[ExactText(pointer)] = schema
        return schema
    }

    /// Schemas in a row that refer to each other without a value in between.
    static let longestPath = 100

    /// - Parameter path: the schemas that led to the one at a pointer, for the same value.
    /// - Throws: ``ErrorCode/invalidInput`` if it is one of them, or they are too many.
    static func checkPath(_ path: [String], _ pointer: String) throws(AIError) {
        guard !path.contains(pointer) else {
            throw error(pointer, "the schema leads back to itself by $ref or anyOf")
        }
        guard path.count <= longestPath else {
            throw error(pointer, "more than \(longestPath) levels of $ref and anyOf lead here")
        }
    }

    private func read(_ pointer: String) throws(AIError) -> Schema {
        switch self[pointer] {
        case .bool(let takesAll)?: return .all(takesAll)
        case .object(let keywords)?:
            for (keyword, value) in keywords.members where !keyword.hasPrefix("x-") {
                guard Self.understood.contains(keyword) || Self.annotations.contains(keyword) else {
                    throw Self.error(
                        Self.pointer(pointer, keyword), "the keyword \"\(keyword.printable)\" is not supported")
                }
                try check(keyword, value, Self.pointer(pointer, keyword))
            }
            return .keywords(keywords)
        case nil: throw Self.error(pointer, "there is nothing")
        default: throw Self.error(pointer, "a schema is an object, true or false")
        }
    }

    private func check(_ keyword: String, _ value: JSON, _ pointer: String) throws(AIError) {
        func require(_ holds: Bool, _ what: String) throws(AIError) {
            if !holds { throw Self.error(pointer, "\"\(keyword)\" must be \(what)") }
        }
        switch keyword {
        case "type":
            let names = value.array ?? [value]
            try require(
                !names.isEmpty && names.allSatisfy { Self.types.contains($0.string ?? "") },
                "one of \(Self.types.joined(separator: ", ")), or a list of them")
        case "properties": try require(value.object != nil, "an object")
        case "required":
            try require(value.array?.allSatisfy { $0.string != nil } ?? false, "a list of names")
        case "additionalProperties", "items": try require(value.object != nil || value.bool != nil, "a schema")
        case "minItems", "maxItems", "minLength", "maxLength":
            try require(
                value.count.map { (0...Self.largest).contains($0) } ?? false,
                "a whole number from 0 to \(Self.largest)")
        case "enum": try require(value.array.map { !$0.isEmpty } ?? false, "a list with a value")
        case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
            try require(value.double?.isFinite ?? false, "a number")
        case "pattern":
            try require(value.string != nil, "a regular expression")
            do { _ = try PatternParser.parse(value.string ?? "") } catch {
                throw Self.error(pointer, error.message)
            }
        case "format":
            guard StringFormats.patterns[value.string ?? ""] != nil else {
                throw Self.error(
                    pointer,
                    "the format \"\(value.string?.printable ?? "")\" is not supported; \(StringFormats.names) are")
            }
        case "anyOf": try require(value.array.map { !$0.isEmpty } ?? false, "a list with a schema")
        case "$ref": _ = try target(value, pointer)
        default: break
        }
    }

    /// The largest count of characters or elements.
    private static let largest = 1_000_000_000

    /// The pointer that a `$ref` names.
    func target(_ reference: JSON, _ pointer: String) throws(AIError) -> String {
        guard let text = reference.string, text == "#" || text.hasPrefix("#/") else {
            throw Self.error(pointer, "only references within the document, such as #/$defs/name, are supported")
        }
        let base = inner.first { pointer == $0 || pointer.hasPrefix($0 + "/") } ?? ""
        guard let target = PercentEncoding.decode(text.dropFirst()), self[base + target] != nil else {
            throw Self.error(pointer, "there is nothing at \(text.printable)")
        }
        return base + target
    }
}

extension JSON {
    /// A whole number, however it is written.
    var count: Int? {
        if let int { return Int(int) }
        guard let double, double == double.rounded(), abs(double) < 1e15 else { return nil }
        return Int(double)
    }
}
