import HubCore

/// Whether a value fits a schema: for the values of `enum` and `const`, which may stand beside other keywords.
final class SchemaCheck {
    private let document: SchemaDocument
    /// The values of each `enum`, and the patterns of each schema, by pointer.
    private var lists: [ExactText: ValueSet] = [:]
    private var patterns: [ExactText: (automaton: LazyAutomaton, pattern: RegexStore.ID)] = [:]
    /// The schemas that values were held against, and the work that patterns may still take.
    private var steps = 0
    private var allowed = RegexStore.allowance

    private static let mostSteps = 1_000_000

    init(_ document: SchemaDocument) { self.document = document }

    func fits(_ value: JSON, _ pointer: String) throws(AIError) -> Bool {
        try fits(value, pointer, [])
    }

    /// - Parameter path: the schemas that this value is being held against.
    private func fits(_ value: JSON, _ pointer: String, _ path: [String]) throws(AIError) -> Bool {
        try SchemaDocument.checkPath(path, pointer)
        steps += 1
        guard steps <= Self.mostSteps else {
            throw SchemaDocument.error(pointer, "holding values against it takes more than \(Self.mostSteps) steps")
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
            if let list = keywords["enum"]?.array {
                let values = lists[ExactText(pointer)] ?? ValueSet(list)
                lists[ExactText(pointer)] = values
                guard values.contains(value) else { return false }
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
            return try matches(text, keywords, pointer)
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
            // By their digits: whole numbers can have more than a double holds.
            guard let number = DecimalBound(value, isExclusive: false) else { return true }
            func holds(_ name: String, _ fits: (DecimalBound) -> Bool) -> Bool {
                DecimalBound(keywords[name], isExclusive: false).map(fits) ?? true
            }
            return holds("minimum") { !number.isLess($0) } && holds("maximum") { !$0.isLess(number) }
                && holds("exclusiveMinimum") { $0.isLess(number) }
                && holds("exclusiveMaximum") { number.isLess($0) }
        }
    }

    private func matches(_ text: String, _ keywords: JSONObject, _ pointer: String) throws(AIError) -> Bool {
        guard keywords["pattern"] != nil || keywords["format"] != nil else { return true }
        let key = ExactText(pointer)
        if patterns[key] == nil { patterns[key] = try pattern(keywords) }
        guard let pattern = patterns[key]?.pattern else { return true }
        let matches = patterns[key]?.automaton.matches(pattern, text.utf8, &allowed) ?? true
        guard patterns[key]?.automaton.isExhausted == false else {
            throw SchemaDocument.error(pointer, "its patterns are too large")
        }
        return matches
    }

    private func pattern(_ keywords: JSONObject) throws(AIError) -> (LazyAutomaton, RegexStore.ID) {
        var store = RegexStore()
        store.allowed = allowed
        var parts: [RegexStore.ID] = []
        if let source = keywords["pattern"]?.string {
            parts.append(store.containing(try PatternParser.parse(source), .plain))
        }
        if let format = keywords["format"]?.string, let pattern = StringFormats.patterns[format] {
            parts.append(store.whole(pattern, .plain))
        }
        let all = store.both(parts)
        allowed = store.allowed
        return (LazyAutomaton(store), all)
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

/// Values without repetition, in the sense of ``SchemaCheck/areEqual(_:_:)``.
struct ValueSet {
    private var values: [String: [JSON]] = [:]

    init(_ values: [JSON] = []) { for value in values { insert(value) } }

    func contains(_ value: JSON) -> Bool {
        values[Self.key(value)]?.contains { SchemaCheck.areEqual($0, value) } ?? false
    }

    /// - Returns: whether the value is new.
    @discardableResult
    mutating func insert(_ value: JSON) -> Bool {
        guard !contains(value) else { return false }
        values[Self.key(value), default: []].append(value)
        return true
    }

    /// The same text for equal values; seldom the same for others.
    private static func key(_ value: JSON) -> String {
        switch value {
        case .array(let elements): return "[" + elements.map(key).joined(separator: ",") + "]"
        case .object(let object):
            let keys = object.members.map(\.key)
            let names = Set(keys.map { ExactText($0) })
            // Of a key that is there twice the last one counts.
            guard names.count == keys.count else { return "{\(names.count)}" }
            return "{" + object.members.map { "\"\($0.key)\":" + key($0.value) }.sorted().joined(separator: ",")
                + "}"
        case .string(let text): return "\"\(text)\""
        default: return value.double.map { "\($0)" } ?? value.text()
        }
    }
}
