import HubCore

/// Makes rules of a JSON Schema. What is compiled is a set of schemas that all hold at once: a `$ref` adds one to its
/// neighbours, a branch of `anyOf` adds itself, so keywords beside them need no care of their own.
struct SchemaCompiler {
    /// A schema by its pointer, and the schemas that led to it for the same value, to which it may not lead back.
    struct Start: Hashable {
        var pointer: String
        var path: [String] = []
    }
    /// Schemas, and those of them whose `anyOf` is decided.
    struct Key: Hashable {
        var starts: [Start]
        var decided: Set<String> = []

        init(_ pointers: [String]) { starts = pointers.map { Start(pointer: $0) } }
    }
    /// The keywords of one of the schemas.
    typealias Member = (pointer: String, keywords: JSONObject, path: [String])

    let document: SchemaDocument
    var builder = GrammarBuilder("the schema")
    private var open: [Key: Int] = [:]
    private var finished: [Key: GrammarSymbol] = [:]
    private var depth = 0
    private let check: SchemaCheck
    /// The schemas of all keys: those of one are the more, the more `anyOf` stand beside each other.
    private var gathered = 0

    /// Schemas within schemas, and schemas of all keys.
    private static let (deepest, mostGathered) = (200, 100_000)

    init(_ document: SchemaDocument) {
        self.document = document
        check = SchemaCheck(document)
    }

    /// The whole schema.
    mutating func compile() throws(AIError) -> GrammarSymbol { try symbol(Key([""])) }

    /// What fits all schemas of a key.
    mutating func symbol(_ key: Key) throws(AIError) -> GrammarSymbol {
        if let known = finished[key] { return known }
        if let rule = open[key] { return builder.reference(rule) }
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else {
            throw AIError(.invalidInput, "the schema has more than \(Self.deepest) levels")
        }
        var members: [Member] = []
        for start in key.starts {
            guard try gather(start.pointer, start.path, &members) else { return .nothing }
        }
        gathered += members.count + 1
        guard gathered <= Self.mostGathered else {
            throw AIError(
                .invalidInput,
                "the schema is too large: anyOf and $ref combine to more than \(Self.mostGathered) schemas"
            )
        }
        let rule = builder.open()
        open[key] = rule
        let made = try builder.finish(rule, try alternatives(members, key))
        finished[key] = made
        return made
    }

    /// Adds a schema and what it refers to.
    ///
    /// - Returns: false if one of them takes nothing.
    private func gather(
        _ pointer: String, _ path: [String], _ members: inout [Member]
    ) throws(AIError) -> Bool {
        try SchemaDocument.checkPath(path, pointer)
        if members.contains(where: { $0.pointer == pointer }) { return true }
        switch try document.schema(pointer) {
        case .all(let takesAll): return takesAll
        case .keywords(let keywords):
            if let reference = keywords["$ref"] {
                let target = try document.target(reference, SchemaDocument.pointer(pointer, "$ref"))
                guard try gather(target, path + [pointer], &members) else { return false }
            }
            members.append((pointer, keywords, path))
            return true
        }
    }

    private mutating func alternatives(_ members: [Member], _ key: Key) throws(AIError) -> [[GrammarSymbol]] {
        if let member = members.first(where: { $0.keywords["anyOf"] != nil && !key.decided.contains($0.pointer) }) {
            var parts: [[GrammarSymbol]] = []
            for index in (member.keywords["anyOf"]?.array ?? []).indices {
                var branch = key
                branch.starts.append(
                    Start(
                        pointer: SchemaDocument.pointer(member.pointer, "anyOf", String(index)),
                        path: member.path + [member.pointer]))
                branch.decided.insert(member.pointer)
                parts.append([try symbol(branch)])
            }
            return parts
        }
        if let values = try values(members) {
            let texts = values.map { Array(JSONSpelling.value($0).utf8) }
            return [[.terminal(builder.store.literals(texts))]]
        }
        let types = Self.types(members)
        var parts: [[GrammarSymbol]] = []
        for type in types {
            switch type {
            case "null": parts.append([literal("null")])
            case "boolean": parts += [[literal("true")], [literal("false")]]
            case "integer", "number":
                parts.append([
                    .terminal(NumberPattern(members, isWhole: type == "integer").expression(&builder.store))
                ])
            case "string": parts.append([.terminal(string(members))])
            case "array": parts.append(try array(members))
            default: parts.append(try object(members))
            }
        }
        return parts
    }

    mutating func literal(_ text: String) -> GrammarSymbol { .terminal(builder.store.literal(text)) }

    /// The types that all members allow; `integer` only where `number` is not.
    private static func types(_ members: [Member]) -> [String] {
        let allowed = members.compactMap { member in
            member.keywords["type"].map { Set(($0.array ?? [$0]).compactMap(\.string)) }
        }
        return SchemaDocument.types.filter { type in
            if type == "integer" {
                return allowed.allSatisfy { $0.contains("integer") || $0.contains("number") }
                    && !allowed.allSatisfy { $0.contains("number") }
            }
            return allowed.allSatisfy { $0.contains(type) }
        }
    }

    /// The values of `enum` and `const` that fit everything else; nil without such keywords.
    private func values(_ members: [Member]) throws(AIError) -> [JSON]? {
        var lists: [[JSON]] = []
        for member in members {
            if let list = member.keywords["enum"]?.array { lists.append(list) }
            if let value = member.keywords.members.last(where: { $0.key == "const" })?.value {
                lists.append([value])
            }
        }
        guard let first = lists.first else { return nil }
        var values: [JSON] = []
        var seen = ValueSet()
        for value in first {
            var fits = true
            for member in members where fits { fits = try check.fits(value, member.pointer) }
            if fits, seen.insert(value) { values.append(value) }
        }
        return values
    }

    // MARK: Strings

    private mutating func string(_ members: [Member]) -> RegexStore.ID {
        let low = members.compactMap { $0.keywords["minLength"]?.count }.max() ?? 0
        let high = members.compactMap { $0.keywords["maxLength"]?.count }.min()
        guard low <= high ?? .max else { return RegexStore.nothing }
        let character = builder.store.character(.all, .jsonString)
        var parts = [builder.store.repeated(character, low, high)]
        for member in members {
            if let source = member.keywords["pattern"]?.string, let pattern = try? PatternParser.parse(source) {
                parts.append(builder.store.containing(pattern, .jsonString))
            }
            if let format = member.keywords["format"]?.string, let pattern = StringFormats.patterns[format] {
                parts.append(builder.store.whole(pattern, .jsonString))
            }
        }
        // Any string is no limit beside a pattern.
        if parts.count > 1, low == 0, high == nil { parts.removeFirst() }
        return quoted(builder.store.both(parts))
    }

    mutating func quoted(_ content: RegexStore.ID) -> RegexStore.ID {
        let quote = builder.store.literal("\"")
        return builder.store.sequence([quote, content, quote])
    }

    // MARK: Arrays

    /// What separates elements: a comma, and at most one space.
    mutating func separator(_ text: String) -> GrammarSymbol {
        let space = builder.store.optional(builder.store.literal(" "))
        return .terminal(builder.store.then(builder.store.literal(text), space))
    }

    private mutating func array(_ members: [Member]) throws(AIError) -> [GrammarSymbol] {
        let low = members.compactMap { $0.keywords["minItems"]?.count }.max() ?? 0
        let high = members.compactMap { $0.keywords["maxItems"]?.count }.min()
        guard low <= high ?? .max else { return [.nothing] }
        guard high != 0 else { return [literal("[]")] }
        let key = Key(
            members.filter { $0.keywords["items"] != nil }.map { SchemaDocument.pointer($0.pointer, "items") })
        let element = try symbol(key)
        let next = try builder.choice([[separator(","), element]])
        let rest = try builder.repeated(next, max(0, low - 1), high.map { $0 - 1 })
        var contents = [[element, rest]]
        if low == 0 { contents.append([]) }
        return [literal("["), try builder.choice(contents), literal("]")]
    }

    // MARK: Objects

    /// A property: its name as it is written, its value, whether it must be there.
    private struct Property {
        var name: [UInt8]
        var value: GrammarSymbol
        var isRequired: Bool
    }

    /// Objects with their properties in the schema's order; those that are not required may be left out. Other properties
    /// come last, where `additionalProperties` says so or no property has a name.
    private mutating func object(_ members: [Member]) throws(AIError) -> [GrammarSymbol] {
        let required = members.flatMap { ($0.keywords["required"]?.array ?? []).compactMap(\.string) }
        let needed = Set(required.map { ExactText($0) })
        var names: [String] = []
        var seen: Set<ExactText> = []
        for name in members.flatMap({ $0.keywords["properties"]?.object?.keys ?? [] }) + required
        where seen.insert(ExactText(name)).inserted { names.append(name) }
        var properties: [Property] = []
        for name in names {
            properties.append(
                Property(
                    name: Array(JSONSpelling.content(name).utf8), value: try symbol(Self.value(of: name, members)),
                    isRequired: needed.contains(ExactText(name))))
        }
        let others = try others(members, properties.map(\.name))
        let firstRequired = properties.firstIndex(where: \.isRequired) ?? properties.count
        // What may follow, by whether a property came before.
        var (afterNone, afterSome) = (try list(of: others, isFirst: true), try list(of: others, isFirst: false))
        for (index, property) in properties.enumerated().reversed() {
            let pair = [
                .terminal(quoted(builder.store.literal(property.name))), separator(":"), property.value, afterSome,
            ]
            func step(_ pair: [GrammarSymbol], _ without: GrammarSymbol) throws(AIError) -> GrammarSymbol {
                try builder.choice(property.isRequired ? [pair] : [pair, [without]])
            }
            if index <= firstRequired { afterNone = try step(pair, afterNone) }
            afterSome = try step([separator(",")] + pair, afterSome)
        }
        return [literal("{"), afterNone, literal("}")]
    }

    /// What the value of a property must fit.
    private static func value(of name: String, _ members: [Member]) -> Key {
        Key(
            members.compactMap { member in
                if member.keywords["properties"]?.object?[name] != nil {
                    return SchemaDocument.pointer(member.pointer, "properties", name)
                }
                guard member.keywords["additionalProperties"] != nil else { return nil }
                return SchemaDocument.pointer(member.pointer, "additionalProperties")
            })
    }

    /// A property with another name; nil if there may be none.
    private mutating func others(_ members: [Member], _ names: [[UInt8]]) throws(AIError) -> GrammarSymbol? {
        let said = members.filter { $0.keywords["additionalProperties"] != nil }
        guard !said.isEmpty || names.isEmpty else { return nil }
        let value = try symbol(
            Key(said.map { SchemaDocument.pointer($0.pointer, "additionalProperties") }))
        guard value != .nothing else { return nil }
        let any = builder.store.repeated(builder.store.character(.all, .jsonString), 0, nil)
        let known = builder.store.literals(names)
        let name = builder.store.both([builder.store.not(known), any])
        return try builder.choice([[.terminal(quoted(name)), separator(":"), value]])
    }

    private mutating func list(of others: GrammarSymbol?, isFirst: Bool) throws(AIError) -> GrammarSymbol {
        guard let others else { return .empty }
        let next = try builder.choice([[separator(","), others]])
        let rest = try builder.repeated(next, 0, nil)
        return isFirst ? try builder.choice([[], [others, rest]]) : rest
    }
}

/// JSON as constants are written, with the same escapes as other strings.
enum JSONSpelling {
    static func value(_ value: JSON) -> String {
        switch value {
        case .string(let text): "\"\(content(text))\""
        case .array(let elements): "[" + elements.map(self.value).joined(separator: ",") + "]"
        case .object(let object):
            "{" + object.members.map { "\"\(content($0.key))\":\(self.value($0.value))" }.joined(separator: ",")
                + "}"
        default: value.text()
        }
    }

    /// The inside of a string.
    static func content(_ text: String) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\r": out += "\\r"
            case "\t": out += "\\t"
            case "\u{8}": out += "\\b"
            case "\u{C}": out += "\\f"
            case _ where scalar.value < 0x20:
                out += (scalar.value < 16 ? "\\u000" : "\\u00") + String(scalar.value, radix: 16)
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }
}
