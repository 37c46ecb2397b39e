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
        "anyOf", "oneOf", "allOf", "$ref", "prefixItems", "additionalItems", "uniqueItems", "nullable",
        "propertyNames",
    ]
    /// What only says something about a schema.
    private static let annotations: Set<String> = [
        "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$schema", "$id",
        "$comment", "$defs", "definitions", "$anchor", "contentEncoding", "contentMediaType",
        // OpenAPI's; a discriminator only says where to look first.
        "discriminator", "example", "externalDocs", "xml",
    ]
    /// Whether a keyword constrains values.
    static func isUnderstood(_ keyword: String) -> Bool { understood.contains(keyword) }

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

    static func pointer(_ parent: String, _ keys: String...) -> String { pointer(parent, keys) }

    static func pointer(_ parent: String, _ keys: [String]) -> String {
        keys.reduce(parent) { pointer, key in
            guard key.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else {
                return pointer + "/" + key
            }
            return pointer + "/" + key.replacing("~", with: "~0").replacing("/", with: "~1")
        }
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
            throw error(pointer, "the schema leads back to itself by $ref, anyOf, oneOf or allOf")
        }
        guard path.count <= longestPath else {
            throw error(pointer, "more than \(longestPath) levels of $ref, anyOf, oneOf and allOf lead here")
        }
    }

    private func read(_ pointer: String) throws(AIError) -> Schema {
        switch self[pointer] {
        case .bool(let takesAll)?: return .all(takesAll)
        case .object(var keywords)?:
            for (keyword, value) in keywords.members where !keyword.hasPrefix("x-") {
                guard Self.understood.contains(keyword) || Self.annotations.contains(keyword) else {
                    throw Self.error(
                        Self.pointer(pointer, keyword), "the keyword \"\(keyword.printable)\" is not supported")
                }
                try check(keyword, value, Self.pointer(pointer, keyword))
            }
            if keywords["prefixItems"] != nil { try checkPrefix(keywords, pointer) }
            if let rule = keywords["propertyNames"] {
                keywords["propertyNames"] = .object(try names(rule, Self.pointer(pointer, "propertyNames")))
            }
            return .keywords(keywords)
        case nil: throw Self.error(pointer, "there is nothing")
        default: throw Self.error(pointer, "a schema is an object, true or false")
        }
    }

    /// Drafts before 2020-12 know no `prefixItems`: there `items` would be for all elements.
    private func checkPrefix(_ keywords: JSONObject, _ pointer: String) throws(AIError) {
        guard keywords["items"]?.array == nil else {
            throw Self.error(pointer, "\"prefixItems\" and a list in \"items\" are of different drafts; use one")
        }
        let draft = draft(pointer)
        guard !["draft-0", "2019-09"].contains(where: draft.contains) else {
            throw Self.error(
                pointer,
                "\"prefixItems\" is not in the draft of $schema, \(draft.printable); use a list in \"items\"")
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
        case "items":
            try require(
                value.object != nil || value.bool != nil || value.array != nil, "a schema, or a list of them")
        case "additionalProperties", "additionalItems":
            try require(value.object != nil || value.bool != nil, "a schema")
        case "nullable", "uniqueItems": try require(value.bool != nil, "true or false")
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
        case "format": try require(value.string != nil, "the name of a format")
        case "anyOf", "oneOf", "allOf", "prefixItems":
            try require(value.array.map { !$0.isEmpty } ?? false, "a list with a schema")
        case "$ref": _ = try target(value, pointer)
        case "propertyNames": _ = try names(value, pointer)
        default: break
        }
    }

    /// What names of properties must be: one of a list, or what matches a pattern; references are followed.
    private func names(_ value: JSON, _ pointer: String) throws(AIError) -> JSONObject {
        let refusal = Self.error(
            pointer,
            "the keyword \"propertyNames\" is not supported but as an enum, a const or a pattern of strings")
        var (found, place, path) = (value.object, pointer, [String]())
        while let reference = found?["$ref"] {
            path.append(place)
            place = try target(reference, Self.pointer(place, "$ref"))
            try Self.checkPath(path, place)
            // What stands beside a reference is not looked at by every reader.
            guard
                found?.keys.allSatisfy({ $0 == "$ref" || Self.annotations.contains($0) || $0.hasPrefix("x-") })
                    == true
            else { throw refusal }
            found = self[place]?.object
        }
        guard let rule = found,
            rule.keys.allSatisfy({
                Self.annotations.contains($0) || Self.ofNames.contains($0) || $0.hasPrefix("x-")
            }), rule["type"].map({ $0 == .string("string") }) ?? true
        else { throw refusal }
        let isListed = rule["enum"] != nil || rule.constant != nil
        guard isListed != (rule["pattern"] != nil),
            rule["enum"].map({ $0.array?.allSatisfy { $0.string != nil } ?? false }) ?? true,
            rule.constant.map({ $0.string != nil }) ?? true
        else { throw refusal }
        for keyword in ["enum", "pattern"] {
            if let part = rule[keyword] { try check(keyword, part, Self.pointer(place, keyword)) }
        }
        return rule
    }

    private static let ofNames: Set<String> = ["type", "enum", "const", "pattern"]

    /// The largest count of characters or elements.
    private static let largest = 1_000_000_000

    /// The pointer that a `$ref` names.
    func target(_ reference: JSON, _ pointer: String) throws(AIError) -> String {
        guard let text = reference.string, text == "#" || text.hasPrefix("#/") else {
            throw Self.error(pointer, "only references within the document, such as #/$defs/name, are supported")
        }
        let base = base(pointer)
        guard let target = PercentEncoding.decode(text.dropFirst()), self[base + target] != nil else {
            throw Self.error(pointer, "there is nothing at \(text.printable)")
        }
        return base + target
    }

    /// The draft that the document at a pointer is written in; empty if it does not say.
    private func draft(_ pointer: String) -> String {
        (self[base(pointer)]?["$schema"] ?? root["$schema"])?.string ?? ""
    }

    /// Whether readers take a `$ref` for the whole schema: "All other properties in a "$ref" object MUST be ignored"
    /// (https://json-schema.org/draft-07/draft-handrews-json-schema-01#rfc.section.8.3).
    func isWholeReference(_ keywords: JSONObject, _ pointer: String) -> Bool {
        keywords["$ref"] != nil && draft(pointer).contains("draft-0")
    }

    /// The document that a pointer leads into.
    private func base(_ pointer: String) -> String {
        inner.first { pointer == $0 || pointer.hasPrefix($0 + "/") } ?? ""
    }
}

extension JSONObject {
    /// The schemas of the first elements of a list, and under which keyword they stand.
    var prefix: (keyword: String, schemas: [JSON])? {
        for keyword in ["prefixItems", "items"] {
            if let schemas = self[keyword]?.array { return (keyword, schemas) }
        }
        return nil
    }

    /// The names that properties may have; nil where they are not listed.
    var listedNames: [String]? {
        guard let rule = self["propertyNames"]?.object else { return nil }
        let list = rule["enum"]?.array?.compactMap(\.string)
        guard let constant = rule.constant?.string else { return list }
        return list.map { $0.filter { ExactText($0) == ExactText(constant) } } ?? [constant]
    }

    /// What all elements behind the first must fit, if there is such a keyword.
    var rest: String? {
        let keyword = self["items"]?.array == nil ? "items" : "additionalItems"
        return self[keyword] == nil ? nil : keyword
    }

    /// Where the schema of an element stands, as keys behind the list's schema; nil for one that may be anything.
    func element(_ index: Int) -> [String]? {
        if let prefix, index < prefix.schemas.count { return [prefix.keyword, String(index)] }
        return rest.map { [$0] }
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
