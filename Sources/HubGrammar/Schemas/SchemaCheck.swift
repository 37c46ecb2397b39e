import HubCore

/// Whether a value fits a schema: for the values of `enum` and `const`, which may stand beside other keywords.
final class SchemaCheck {
    private let document: SchemaDocument
    /// The check of the most lenient reader; nil in that one itself.
    private let lenient: SchemaCheck?
    /// The constants among the branches of each `anyOf` and `oneOf`, and the patterns of each schema, by pointer.
    private var branches: [ExactText: Branches] = [:]
    private var lists: [ExactText: ValueSet] = [:]
    private var patterns: [ExactText: (automaton: LazyAutomaton, pattern: RegexStore.ID)] = [:]
    /// The schemas that values were held against, and the work that patterns may still take.
    private var steps = 0
    private var allowed = RegexStore.allowance

    private static let mostSteps = 300_000

    /// The branches of an `anyOf` or `oneOf`: constants, of which there may be many, and others by their numbers.
    private struct Branches {
        var constants = ValueSet()
        var others: [Int] = []
    }

    /// - Parameter isLenient: whether every format fits, and any number of branches of `oneOf`. Not all readers check
    ///   formats, so a value that must not fit a branch must fail it without them.
    init(_ document: SchemaDocument, isLenient: Bool = false) {
        self.document = document
        lenient = isLenient ? nil : SchemaCheck(document, isLenient: true)
    }

    /// - Parameter decided: the pointers of the `anyOf` and `oneOf` that are not checked.
    func fits(_ value: JSON, _ pointer: String, decided: Set<String> = []) throws(AIError) -> Bool {
        try fits(value, pointer, decided, [])
    }

    /// Whether some reader may find that a value fits.
    func mayFit(_ value: JSON, _ pointer: String) throws(AIError) -> Bool {
        try (lenient ?? self).fits(value, pointer)
    }

    /// Whether some reader may find that a value fits another branch than one of the `oneOf` at a pointer.
    func mayFit(_ value: JSON, another chosen: Int, _ pointer: String) throws(AIError) -> Bool {
        let check = lenient ?? self
        let own = try check.fits(value, SchemaDocument.pointer(pointer, String(chosen)))
        return try check.count(value, pointer, [], [], atMost: own ? 2 : 1) > (own ? 1 : 0)
    }

    /// Whether no reader can find that a value fits more than one branch of the `oneOf` at a pointer.
    func mayFitOneAlone(_ value: JSON, _ pointer: String) throws(AIError) -> Bool {
        try (lenient ?? self).count(value, pointer, [], [], atMost: 2) < 2
    }

    /// - Parameter path: the schemas that this value is being held against.
    private func fits(
        _ value: JSON, _ pointer: String, _ decided: Set<String>, _ path: [String]
    ) throws(AIError) -> Bool {
        try SchemaDocument.checkPath(path, pointer)
        steps += 1
        guard steps <= Self.mostSteps else {
            throw SchemaDocument.error(pointer, "holding values against it takes more than \(Self.mostSteps) steps")
        }
        switch try document.schema(pointer) {
        case .all(let takesAll): return takesAll
        case .keywords(let keywords):
            if lenient == nil, document.isWholeReference(keywords, pointer), let reference = keywords["$ref"] {
                let target = try document.target(reference, SchemaDocument.pointer(pointer, "$ref"))
                return try fits(value, target, decided, path + [pointer])
            }
            guard try fitsBranches(value, keywords, pointer, decided, path + [pointer]) else { return false }
            if let type = keywords["type"], !Self.has(value, type, keywords) { return false }
            if let list = keywords["enum"]?.array {
                let values = lists[ExactText(pointer)] ?? ValueSet(list)
                lists[ExactText(pointer)] = values
                guard values.contains(value) else { return false }
            }
            if let constant = keywords.constant, !Self.areEqual(constant, value) { return false }
            return try fits(value, keywords, pointer)
        }
    }

    /// Whether a value fits the schemas that `$ref`, `allOf`, `anyOf` and `oneOf` add.
    private func fitsBranches(
        _ value: JSON, _ keywords: JSONObject, _ pointer: String, _ decided: Set<String>, _ path: [String]
    ) throws(AIError) -> Bool {
        if let reference = keywords["$ref"] {
            let target = try document.target(reference, SchemaDocument.pointer(pointer, "$ref"))
            guard try fits(value, target, decided, path) else { return false }
        }
        for index in (keywords["allOf"]?.array ?? []).indices {
            let part = SchemaDocument.pointer(pointer, "allOf", String(index))
            guard try fits(value, part, decided, path) else { return false }
        }
        for keyword in ["anyOf", "oneOf"] where keywords[keyword] != nil {
            let place = SchemaDocument.pointer(pointer, keyword)
            guard !decided.contains(place) else { continue }
            let isOne = keyword == "oneOf" && lenient != nil
            let found = try count(value, place, decided, path, atMost: isOne ? 2 : 1)
            guard found == 1 else { return false }
            if isOne, let lenient {
                guard try lenient.count(value, place, decided, path, atMost: 2) == 1 else { return false }
            }
        }
        return true
    }

    /// How many of the branches at a pointer a value fits.
    private func count(
        _ value: JSON, _ pointer: String, _ decided: Set<String>, _ path: [String], atMost most: Int
    ) throws(AIError) -> Int {
        let known: Branches
        if let made = branches[ExactText(pointer)] { known = made } else { known = try makeBranches(pointer) }
        branches[ExactText(pointer)] = known
        var count = known.constants.count(of: value)
        for index in known.others where count < most {
            if try fits(value, SchemaDocument.pointer(pointer, String(index)), decided, path) { count += 1 }
        }
        return min(count, most)
    }

    private func makeBranches(_ pointer: String) throws(AIError) -> Branches {
        var made = Branches()
        for index in (document[pointer]?.array ?? []).indices {
            if case .keywords(let keywords) = try document.schema(SchemaDocument.pointer(pointer, String(index))),
                let values = keywords.onlyValues
            {
                for value in values { made.constants.insert(value) }
            } else {
                made.others.append(index)
            }
        }
        return made
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
            if keywords["uniqueItems"]?.bool == true, ValueSet(elements).all.count < elements.count { return false }
            for (index, element) in elements.enumerated() {
                guard let part = keywords.element(index) else { continue }
                guard try fits(element, SchemaDocument.pointer(pointer, part)) else { return false }
            }
            return true
        case .object(let object): return try fits(object, keywords, pointer)
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

    private func fits(_ object: JSONObject, _ keywords: JSONObject, _ pointer: String) throws(AIError) -> Bool {
        for name in (keywords["required"]?.array ?? []).compactMap(\.string) where object[name] == nil {
            return false
        }
        for (name, member) in object.members {
            if keywords["propertyNames"] != nil {
                let rule = SchemaDocument.pointer(pointer, "propertyNames")
                guard try fits(.string(name), rule) else { return false }
            }
            guard let part = keywords.property(name) else { continue }
            guard try fits(member, SchemaDocument.pointer(pointer, part)) else { return false }
        }
        return true
    }

    private func matches(_ text: String, _ keywords: JSONObject, _ pointer: String) throws(AIError) -> Bool {
        guard keywords["pattern"] != nil || keywords["format"] != nil && lenient != nil else { return true }
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
        if lenient != nil, let format = keywords["format"]?.string, let pattern = StringFormats.patterns[format] {
            parts.append(store.whole(pattern, .plain))
        }
        let all = store.both(parts)
        allowed = store.allowed
        return (LazyAutomaton(store), all)
    }

    /// Whether a value has a type, or one of several.
    private static func has(_ value: JSON, _ type: JSON, _ keywords: JSONObject) -> Bool {
        keywords.isNullable && value == .null
            || (type.array ?? [type]).contains { has(value, $0.string ?? "") }
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

extension JSONObject {
    /// The value of `const`, which may be null.
    var constant: JSON? { members.last { $0.key == "const" }?.value }

    /// Whether null fits beside the types, as in OpenAPI 3.0: "A true value adds "null" to the allowed type specified by
    /// the type keyword, only if type is explicitly defined within the same Schema Object"
    /// (https://spec.openapis.org/oas/v3.0.3).
    var isNullable: Bool { self["nullable"]?.bool == true }

    /// The values that fit a schema of `const` or `enum` alone; nil for another.
    var onlyValues: [JSON]? {
        guard keys.allSatisfy({ $0 == "const" || $0 == "enum" || !SchemaDocument.isUnderstood($0) }) else {
            return nil
        }
        let list = self["enum"]?.array.map { ValueSet($0).all }
        guard let constant else { return list }
        return list.map { $0.filter { SchemaCheck.areEqual($0, constant) } } ?? [constant]
    }

    /// Where the schema of a property stands, as keys behind the object's schema; nil for one that may be anything.
    func property(_ name: String) -> [String]? {
        if self["properties"]?.object?[name] != nil { return ["properties", name] }
        return self["additionalProperties"] == nil ? nil : ["additionalProperties"]
    }
}

/// Values in the sense of ``SchemaCheck/areEqual(_:_:)``, and how often each was put in.
struct ValueSet {
    private var values: [String: [(value: JSON, count: Int)]] = [:]
    /// Each value once, in order.
    private(set) var all: [JSON] = []

    init(_ values: [JSON] = []) { for value in values { insert(value) } }

    func contains(_ value: JSON) -> Bool { count(of: value) > 0 }

    func count(of value: JSON) -> Int {
        guard !values.isEmpty else { return 0 }
        return values[Self.key(value)]?.first { SchemaCheck.areEqual($0.value, value) }?.count ?? 0
    }

    /// - Returns: whether the value is new.
    @discardableResult
    mutating func insert(_ value: JSON) -> Bool {
        let key = Self.key(value)
        if let place = values[key]?.firstIndex(where: { SchemaCheck.areEqual($0.value, value) }) {
            values[key]?[place].count += 1
            return false
        }
        values[key, default: []].append((value, 1))
        all.append(value)
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
