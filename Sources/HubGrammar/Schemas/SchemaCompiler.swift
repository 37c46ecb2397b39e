import HubCore

/// Makes rules of a JSON Schema. What is compiled is a set of schemas that all hold at once: `$ref` and `allOf` add some to
/// their neighbours, a branch of `anyOf` or `oneOf` adds itself, so keywords beside them need no care of their own.
struct SchemaCompiler {
    /// A schema by its pointer, and the schemas that led to it for the same value, to which it may not lead back.
    struct Start: Hashable {
        var pointer: String
        var path: [String] = []
    }
    /// Schemas, and the `anyOf` and `oneOf` among them that are decided.
    struct Key: Hashable {
        var starts: [Start]
        var decided: Set<String> = []
        /// The `oneOf` of which one branch was chosen, so that the others must not fit.
        var excluded: [Exclusion] = []
        /// Whether each value has one spelling alone, as elements that are compared.
        var isCanonical = false

        init(_ pointers: [String]) { starts = pointers.map { Start(pointer: $0) } }
    }
    /// A `oneOf` by its pointer, and its branch that was chosen.
    struct Exclusion: Hashable {
        var pointer: String
        var chosen: Int
        var path: [String]
    }
    /// The keywords of one of the schemas.
    typealias Member = (pointer: String, keywords: JSONObject, path: [String])

    let document: SchemaDocument
    var builder = GrammarBuilder("the schema")
    private var open: [Key: Int] = [:]
    private var finished: [Key: GrammarSymbol] = [:]
    /// Rules that are being made.
    private(set) var unfinished: Set<Int> = []
    private var depth = 0
    let check: SchemaCheck
    /// The schemas of all keys: those of one are the more, the more `anyOf` stand beside each other.
    private var gathered = 0
    private var compared = 0
    /// The results of ``conjunctions(_:)``.
    var known: [Key: [[Member]]] = [:]

    private static let mostCompared = 2_000_000
    /// Schemas within schemas, schemas of all keys, and schemas that hold at once.
    private static let (deepest, mostGathered, mostAtOnce) = (200, 100_000, 1000)

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
        try count(members.count + 1)
        let rule = builder.open()
        open[key] = rule
        unfinished.insert(rule)
        let made = try builder.finish(rule, try alternatives(members, key))
        unfinished.remove(rule)
        finished[key] = made
        return made
    }

    /// Counts schemas that were put together.
    mutating func count(_ schemas: Int) throws(AIError) {
        gathered += schemas
        guard gathered <= Self.mostGathered else {
            throw AIError(
                .invalidInput,
                "the schema is too large: anyOf, oneOf, allOf and $ref combine to more than \(Self.mostGathered) schemas"
            )
        }
    }

    /// Counts two schemas that are compared, by their properties.
    mutating func count(comparing own: [Member], _ other: [Member]) throws(AIError) {
        try count(1)
        for member in own + other { compared += 1 + (member.keywords["properties"]?.object?.members.count ?? 0) }
        guard compared <= Self.mostCompared else {
            throw AIError(
                .invalidInput, "the schema is too large: oneOf has too many branches with many properties")
        }
    }

    /// Adds a schema and what it refers to.
    ///
    /// - Parameter isLenient: whether to leave out what stands beside a `$ref` where not every reader looks at it.
    /// - Returns: false if one of them takes nothing.
    func gather(
        _ pointer: String, _ path: [String], _ members: inout [Member], isLenient: Bool = false
    ) throws(AIError) -> Bool {
        try SchemaDocument.checkPath(path, pointer)
        if members.contains(where: { $0.pointer == pointer }) { return true }
        switch try document.schema(pointer) {
        case .all(let takesAll): return takesAll
        case .keywords(let keywords):
            if let reference = keywords["$ref"] {
                let target = try document.target(reference, SchemaDocument.pointer(pointer, "$ref"))
                guard try gather(target, path + [pointer], &members, isLenient: isLenient) else { return false }
                if isLenient, document.isWholeReference(keywords, pointer) { return true }
            }
            members.append((pointer, keywords, path))
            guard members.count <= Self.mostAtOnce else {
                throw SchemaDocument.error(pointer, "more than \(Self.mostAtOnce) schemas are to hold at once")
            }
            for index in (keywords["allOf"]?.array ?? []).indices {
                let part = SchemaDocument.pointer(pointer, "allOf", String(index))
                guard try gather(part, path + [pointer], &members, isLenient: isLenient) else { return false }
            }
            return true
        }
    }

    private mutating func alternatives(_ members: [Member], _ key: Key) throws(AIError) -> [[GrammarSymbol]] {
        if let choice = choice(members, key.decided) { return try branches(choice, key) }
        if let values = try values(members, key) { return [[constants(values, key)]] }
        let narrowing = try Narrowing(members, key, &self)
        var parts: [[GrammarSymbol]] = []
        for type in Self.types(members) where narrowing.allows(type) {
            switch type {
            case "null": parts.append([literal("null")])
            case "boolean":
                parts += [true, false].filter { narrowing.allows($0) }.map { [literal($0 ? "true" : "false")] }
            case "integer", "number":
                let pattern = NumberPattern(members, isWhole: type == "integer", isCanonical: key.isCanonical)
                parts.append([.terminal(pattern.expression(&builder.store))])
            case "string": parts.append([.terminal(string(members, except: narrowing.texts))])
            case "array": parts.append(try array(members, narrowing, key))
            default: parts.append(try object(members, narrowing, key))
            }
        }
        return parts
    }

    // MARK: Branches

    /// An `anyOf` or `oneOf`: the schema that has it, the keyword, its pointer.
    typealias Choice = (member: Member, keyword: String, pointer: String)

    /// The first one that is not decided.
    func choice(_ members: [Member], _ decided: Set<String>) -> Choice? {
        for member in members {
            for keyword in ["anyOf", "oneOf"] where member.keywords[keyword] != nil {
                let pointer = SchemaDocument.pointer(member.pointer, keyword)
                if !decided.contains(pointer) { return (member, keyword, pointer) }
            }
        }
        return nil
    }

    private mutating func branches(_ choice: Choice, _ key: Key) throws(AIError) -> [[GrammarSymbol]] {
        let count = choice.member.keywords[choice.keyword]?.array?.count ?? 0
        let path = choice.member.path + [choice.member.pointer]
        var parts: [[GrammarSymbol]] = []
        var constants: [JSON] = []
        for index in 0..<count {
            let pointer = SchemaDocument.pointer(choice.pointer, String(index))
            // Of constants there may be many: together they are one expression.
            if case .keywords(let keywords) = try document.schema(pointer), let values = keywords.onlyValues {
                constants += values
                continue
            }
            var branch = key
            branch.starts.append(Start(pointer: pointer, path: path))
            branch.decided.insert(choice.pointer)
            if choice.keyword == "oneOf", count > 1 {
                branch.excluded.append(Exclusion(pointer: choice.pointer, chosen: index, path: path))
            }
            parts.append([try symbol(branch)])
        }
        guard !constants.isEmpty else { return parts }
        var decided = key
        decided.decided.insert(choice.pointer)
        var values: [JSON] = []
        for value in try self.values(ValueSet(constants).all, key.starts.map(\.pointer), decided) {
            if choice.keyword == "oneOf", try !check.mayFitOneAlone(value, choice.pointer) { continue }
            values.append(value)
        }
        return parts + [[self.constants(values, key)]]
    }

    private mutating func constants(_ values: [JSON], _ key: Key) -> GrammarSymbol {
        let texts = values.map { key.isCanonical ? JSONSpelling.canonical($0) : JSONSpelling.value($0) }
        return .terminal(builder.store.literals(texts.map { Array($0.utf8) }))
    }

    mutating func literal(_ text: String) -> GrammarSymbol { .terminal(builder.store.literal(text)) }

    /// The types that all members allow; `integer` only where `number` is not.
    static func types(_ members: [Member]) -> [String] {
        let allowed = members.compactMap { member in
            member.keywords["type"].map {
                Set(($0.array ?? [$0]).compactMap(\.string)).union(member.keywords.isNullable ? ["null"] : [])
            }
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
    func values(_ members: [Member], _ key: Key) throws(AIError) -> [JSON]? {
        for member in members {
            let list = member.keywords.constant.map { [$0] } ?? member.keywords["enum"]?.array
            if let list { return try values(ValueSet(list).all, members.map(\.pointer), key) }
        }
        return nil
    }

    /// The values that fit all schemas, and none of the branches that must not fit.
    private func values(
        _ values: [JSON], _ pointers: some Sequence<String>, _ key: Key
    ) throws(AIError) -> [JSON] {
        var found: [JSON] = []
        for value in values {
            var fits = try !mayFit(value, key.excluded)
            for pointer in pointers where fits { fits = try check.fits(value, pointer, decided: key.decided) }
            if fits { found.append(value) }
        }
        return found
    }

    /// Whether a value may fit one of the branches that must not.
    func mayFit(_ value: JSON, _ excluded: [Exclusion]) throws(AIError) -> Bool {
        for exclusion in excluded {
            if try check.mayFit(value, another: exclusion.chosen, exclusion.pointer) { return true }
        }
        return false
    }

    // MARK: Strings

    private mutating func string(_ members: [Member], except texts: [RegexStore.ID]) -> RegexStore.ID {
        let content = content(members)
        return quoted(texts.isEmpty ? content : builder.store.both([content] + texts.map { builder.store.not($0) }))
    }

    /// What stands between the quotes.
    ///
    /// - Parameter formats: whether they count.
    mutating func content(_ members: [Member], formats: Bool = true) -> RegexStore.ID {
        let low = members.compactMap { $0.keywords["minLength"]?.count }.max() ?? 0
        let high = members.compactMap { $0.keywords["maxLength"]?.count }.min()
        guard low <= high ?? .max else { return RegexStore.nothing }
        let character = builder.store.character(.all, .jsonString)
        var parts = [builder.store.repeated(character, low, high)]
        for member in members {
            if let source = member.keywords["pattern"]?.string, let pattern = try? PatternParser.parse(source) {
                parts.append(builder.store.containing(pattern, .jsonString))
            }
            if formats, let format = member.keywords["format"]?.string, let pattern = StringFormats.patterns[format]
            {
                parts.append(builder.store.whole(pattern, .jsonString))
            }
        }
        // Any string is no limit beside a pattern.
        if parts.count > 1, low == 0, high == nil { parts.removeFirst() }
        return builder.store.both(parts)
    }

    mutating func quoted(_ content: RegexStore.ID) -> RegexStore.ID {
        let quote = builder.store.literal("\"")
        return builder.store.sequence([quote, content, quote])
    }
}
