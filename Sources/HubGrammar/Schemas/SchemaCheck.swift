import HubCore

/// Whether a value fits a schema: for the values of `enum` and `const`, which may stand beside other keywords.
struct SchemaCheck {
    private let document: SchemaDocument

    init(_ document: SchemaDocument) { self.document = document }

    func fits(_ value: JSON, _ pointer: String) throws(AIError) -> Bool {
        try fits(value, pointer, [])
    }

    /// - Parameter path: the schemas that this value is being held against.
    private func fits(_ value: JSON, _ pointer: String, _ path: [String]) throws(AIError) -> Bool {
        guard !path.contains(pointer) else {
            throw SchemaDocument.error(pointer, "the schema leads back to itself")
        }
        let path = path + [pointer]
        switch try document.schema(pointer) {
        case .all(let takesAll): return takesAll
        case .keywords(let keywords):
            if let reference = keywords["$ref"] {
                let target = try document.target(reference, SchemaDocument.pointer(pointer, "$ref"))
                guard try fits(value, target, path) else { return false }
            }
            if let branches = keywords["anyOf"]?.array {
                var fitsOne = false
                for index in branches.indices where !fitsOne {
                    fitsOne = try fits(value, SchemaDocument.pointer(pointer, "anyOf", String(index)), path)
                }
                guard fitsOne else { return false }
            }
            if let type = keywords["type"],
                !(type.array ?? [type]).contains(where: { Self.has(value, $0.string ?? "") })
            {
                return false
            }
            if let list = keywords["enum"]?.array, !list.contains(where: { Self.areEqual($0, value) }) {
                return false
            }
            if let constant = keywords.members.last(where: { $0.key == "const" })?.value,
                !Self.areEqual(constant, value)
            {
                return false
            }
            return try fits(value, keywords, pointer)
        }
    }

    private func fits(_ value: JSON, _ keywords: JSONObject, _ pointer: String) throws(AIError) -> Bool {
        func isWithin(_ count: Int, _ low: String, _ high: String) -> Bool {
            count >= keywords[low]?.count ?? 0 && count <= keywords[high]?.count ?? .max
        }
        switch value {
        case .string(let text):
            guard isWithin(text.unicodeScalars.count, "minLength", "maxLength") else { return false }
            return try matches(text, keywords)
        case .array(let elements):
            guard isWithin(elements.count, "minItems", "maxItems") else { return false }
            guard keywords["items"] != nil else { return true }
            for element in elements {
                guard try fits(element, SchemaDocument.pointer(pointer, "items"), []) else { return false }
            }
            return true
        case .object(let object):
            for name in (keywords["required"]?.array ?? []).compactMap(\.string) where object[name] == nil {
                return false
            }
            for (name, member) in object.members {
                let isKnown = keywords["properties"]?.object?[name] != nil
                guard isKnown || keywords["additionalProperties"] != nil else { continue }
                let part =
                    isKnown
                    ? SchemaDocument.pointer(pointer, "properties", name)
                    : SchemaDocument.pointer(pointer, "additionalProperties")
                guard try fits(member, part, []) else { return false }
            }
            return true
        default:
            guard let number = value.double else { return true }
            func bound(_ name: String) -> Double? { keywords[name]?.double }
            return number >= bound("minimum") ?? -.infinity && number <= bound("maximum") ?? .infinity
                && number > bound("exclusiveMinimum") ?? -.infinity
                && number < bound("exclusiveMaximum") ?? .infinity
        }
    }

    private func matches(_ text: String, _ keywords: JSONObject) throws(AIError) -> Bool {
        var store = RegexStore()
        var parts: [RegexStore.ID] = []
        if let source = keywords["pattern"]?.string {
            parts.append(store.containing(try PatternParser.parse(source), .plain))
        }
        if let format = keywords["format"]?.string, let pattern = StringFormats.patterns[format] {
            parts.append(store.whole(pattern, .plain))
        }
        let all = store.both(parts)
        var automaton = LazyAutomaton(store)
        return automaton.matches(all, text.utf8)
    }

    private static func has(_ value: JSON, _ type: String) -> Bool {
        switch (value, type) {
        case (.null, "null"), (.bool, "boolean"), (.string, "string"), (.array, "array"), (.object, "object"): true
        case (.int, "number"), (.double, "number"), (.longNumber, "number"), (.int, "integer"),
            (.longNumber, "integer"):
            true
        case (.double(let number), "integer"): number == number.rounded()
        default: false
        }
    }

    /// Equality as JSON Schema defines it: of numbers by value, of objects in any order.
    static func areEqual(_ left: JSON, _ right: JSON) -> Bool {
        switch (left, right) {
        case (.array(let first), .array(let second)):
            return first.count == second.count && zip(first, second).allSatisfy { areEqual($0, $1) }
        case (.object(let first), .object(let second)):
            return first.count == second.count
                && first.members.allSatisfy { member in
                    second[member.key].map { areEqual(member.value, $0) } ?? false
                }
        case (.string(let first), .string(let second)): return ExactText(first) == ExactText(second)
        case (.int(let first), .int(let second)): return first == second
        default:
            if let first = left.double, let second = right.double { return first == second }
            return left == right
        }
    }
}
