import HubCore

/// The values that a branch of `oneOf` leaves out because another branch may fit them.
///
/// A value is written only if one of these proves that no other branch fits it: its type, its length, the bounds of
/// numbers, constants, a property that the other branch requires and this value lacks, or a property whose values differ.
struct Narrowing {
    /// Properties that must be present, and that must be absent.
    private(set) var required: Set<ExactText> = []
    private(set) var absent: Set<ExactText> = []
    /// The least and the greatest number of elements of a list; nil for no limit.
    private(set) var low = 0
    private(set) var high: Int?
    /// Expressions that strings must not match.
    private(set) var texts: [RegexStore.ID] = []
    /// Those of null, true and false that may fit another branch, and the types whose values all may.
    private var banned: Set<JSON> = []
    private var bannedTypes: Set<String> = []

    /// - Parameters:
    ///   - members: the schemas that a value must fit.
    ///   - key: has the branches that it must not fit.
    /// - Throws: ``ErrorCode/invalidInput`` if the same value may fit two branches and nothing separates them.
    init(
        _ members: [SchemaCompiler.Member], _ key: SchemaCompiler.Key, _ compiler: inout SchemaCompiler
    ) throws(AIError) {
        guard !key.excluded.isEmpty else { return }
        for value: JSON in [.null, true, false] where try compiler.mayFit(value, key.excluded) {
            banned.insert(value)
        }
        let types = Set(SchemaCompiler.types(members))
        for exclusion in key.excluded {
            let count = compiler.document[exclusion.pointer]?.array?.count ?? 0
            for other in 0..<count where other != exclusion.chosen {
                var branch = SchemaCompiler.Key([])
                branch.starts = [
                    .init(pointer: SchemaDocument.pointer(exclusion.pointer, String(other)), path: exclusion.path)
                ]
                for rival in try compiler.conjunctions(branch) {
                    let pair = Pair(own: members, rival: rival, exclusion: exclusion, other: other)
                    try avoid(pair, types, key, &compiler)
                }
            }
        }
    }

    /// The schemas of the values that are written, and those of a branch that they must not fit.
    private struct Pair {
        let own: [SchemaCompiler.Member]
        let rival: [SchemaCompiler.Member]
        let exclusion: SchemaCompiler.Exclusion
        let other: Int

        /// - Parameter advice: how to separate the branches.
        func refusal(_ type: String, _ advice: String) -> AIError {
            SchemaDocument.error(
                exclusion.pointer,
                "the branches \(exclusion.chosen) and \(other) may both fit the same \(type); \(advice)")
        }
    }

    /// Whether values of this type, or this value, may be written.
    func allows(_ type: String) -> Bool {
        !bannedTypes.contains(type) && (type != "null" || !banned.contains(.null))
    }
    func allows(_ bool: Bool) -> Bool { !banned.contains(.bool(bool)) }

    private mutating func avoid(
        _ pair: Pair, _ types: Set<String>, _ key: SchemaCompiler.Key, _ compiler: inout SchemaCompiler
    ) throws(AIError) {
        try compiler.count(comparing: pair.own, pair.rival)
        if let values = SchemaCompiler.listed(pair.rival) {
            return try avoid(values, pair, key, &compiler)
        }
        let others = Set(SchemaCompiler.types(pair.rival))
        if types.contains("string"), others.contains("string") {
            guard !pair.rival.contains(where: { $0.keywords["format"] != nil }) else {
                throw pair.refusal("string", "formats do not count here, since not every reader looks at them")
            }
            texts.append(compiler.content(pair.rival, formats: false))
        }
        bannedTypes.formUnion(Self.whole(pair.rival, others))
        let left = types.subtracting(bannedTypes)
        let numbers: Set = ["integer", "number"]
        if !left.isDisjoint(with: numbers), !others.isDisjoint(with: numbers),
            !NumberPattern(pair.own, isWhole: false).isApart(from: NumberPattern(pair.rival, isWhole: false))
        {
            throw pair.refusal("number", "give them limits without a number in common, or use anyOf")
        }
        if left.contains("array"), others.contains("array") { try avoidList(pair, &compiler) }
        if left.contains("object"), others.contains("object") { try avoidObject(pair, &compiler) }
    }

    /// The types whose values all may fit: no keyword limits them.
    private static func whole(_ members: [SchemaCompiler.Member], _ types: Set<String>) -> Set<String> {
        func says(_ keywords: String...) -> Bool {
            keywords.contains { keyword in members.contains { $0.keywords[keyword] != nil } }
        }
        var found: Set<String> = []
        if !says("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum") {
            found = types.contains("number") ? ["number", "integer"] : ["integer"]
        }
        if !says("items", "prefixItems", "minItems", "maxItems", "uniqueItems") { found.insert("array") }
        if !says("properties", "required", "additionalProperties", "propertyNames") { found.insert("object") }
        return found.intersection(types.contains("number") ? types.union(["integer"]) : types)
    }

    /// Leaves out the constants of another branch that fit this one, too.
    private mutating func avoid(
        _ values: [JSON], _ pair: Pair, _ key: SchemaCompiler.Key, _ compiler: inout SchemaCompiler
    ) throws(AIError) {
        for value in values where try compiler.mayFit(value, [pair.exclusion]) {
            var fits = true
            for start in key.starts where fits {
                fits = try compiler.check.fits(value, start.pointer, decided: key.decided)
            }
            guard fits else { continue }
            switch value {
            case .null, .bool: break
            case .string(let text): texts.append(compiler.builder.store.literal(JSONSpelling.content(text)))
            default: throw pair.refusal("value", "the constant \(JSONSpelling.value(value).printable) fits both")
            }
        }
    }

    // MARK: Lists

    private mutating func avoidList(_ pair: Pair, _ compiler: inout SchemaCompiler) throws(AIError) {
        let (own, rival) = (SchemaCompiler.lengths(pair.own), SchemaCompiler.lengths(pair.rival))
        let most = [own.high, high].compactMap { $0 }.min() ?? .max
        let least = max(own.low, low)
        if least > rival.high ?? .max || most < rival.low { return }
        let prefix = max(SchemaCompiler.prefixCount(pair.own), SchemaCompiler.prefixCount(pair.rival))
        for place in 0...prefix where place < most {
            let elements = (SchemaCompiler.element(place, pair.own), SchemaCompiler.element(place, pair.rival))
            guard try compiler.areApart(elements.0, elements.1) else { continue }
            low = max(low, place + 1)
            return
        }
        if rival.low > least {
            high = rival.low - 1
        } else if let end = rival.high, end < most {
            low = end + 1
        } else {
            throw pair.refusal("list", "give them elements of different types, or use anyOf")
        }
    }

    // MARK: Objects

    private mutating func avoidObject(_ pair: Pair, _ compiler: inout SchemaCompiler) throws(AIError) {
        let own = SchemaCompiler.required(pair.own).union(required)
        let rival = SchemaCompiler.required(pair.rival)
        let names = SchemaCompiler.names(pair.own)
        let named = Set(names.map { ExactText($0) })
        let needed = SchemaCompiler.names(pair.rival).filter { rival.contains(ExactText($0)) }
        // The other branch requires a property that is never written.
        if needed.contains(where: { absent.contains(ExactText($0)) }) { return }
        if !SchemaCompiler.hasOthers(pair.own), needed.contains(where: { !named.contains(ExactText($0)) }) {
            return
        }
        var telling: String?
        for name in names + needed.filter({ !named.contains(ExactText($0)) }) {
            let values = (SchemaCompiler.value(of: name, pair.own), SchemaCompiler.value(of: name, pair.rival))
            guard try compiler.areApart(values.0, values.1) else { continue }
            if own.contains(ExactText(name)) || rival.contains(ExactText(name)) { return }
            if telling == nil, named.contains(ExactText(name)), !absent.contains(ExactText(name)) { telling = name }
        }
        if let telling {
            required.insert(ExactText(telling))
        } else if let name = needed.first(where: { !own.contains(ExactText($0)) }) {
            absent.insert(ExactText(name))
        } else {
            throw pair.refusal(
                "object", "require a property that has another constant in each, or use anyOf")
        }
    }
}

extension SchemaCompiler {
    /// The values of the first `enum` or `const`; nil for none.
    static func listed(_ members: [Member]) -> [JSON]? {
        for member in members {
            if let constant = member.keywords.constant { return [constant] }
            if let list = member.keywords["enum"]?.array { return list }
        }
        return nil
    }

    /// All combinations of branches that fit a key, each as schemas that hold at once. There may be some that fit nothing.
    mutating func conjunctions(_ key: Key) throws(AIError) -> [[Member]] {
        if let known = known[key] { return known }
        var found: [[Member]] = []
        var stack = [key]
        next: while let key = stack.popLast() {
            var members: [Member] = []
            for start in key.starts {
                guard try gather(start.pointer, start.path, &members, isLenient: true) else { continue next }
            }
            try count(members.count + 1)
            guard let choice = choice(members, key.decided) else {
                found.append(members)
                continue
            }
            for index in (choice.member.keywords[choice.keyword]?.array ?? []).indices {
                var branch = key
                branch.starts.append(
                    Start(
                        pointer: SchemaDocument.pointer(choice.pointer, String(index)),
                        path: choice.member.path + [choice.member.pointer]))
                branch.decided.insert(choice.pointer)
                stack.append(branch)
            }
        }
        known[key] = found
        return found
    }

    /// How deep in a value a difference is looked for.
    private static let deepestProof = 4

    /// Whether no value fits both keys, however strict or lenient the reader is. False if that is not certain.
    mutating func areApart(_ left: Key, _ right: Key, depth: Int = 0) throws(AIError) -> Bool {
        guard depth < Self.deepestProof else { return false }
        let (first, second) = (try conjunctions(left), try conjunctions(right))
        for own in first {
            for other in second where try !areApart(own, other, depth) { return false }
        }
        return true
    }

    private mutating func areApart(
        _ own: [Member], _ other: [Member], _ depth: Int
    ) throws(AIError) -> Bool {
        try count(comparing: own, other)
        if let values = Self.listed(own) ?? Self.listed(other) {
            for value in values {
                var fits = true
                for member in own + other where fits { fits = try check.mayFit(value, member.pointer) }
                if fits { return false }
            }
            return true
        }
        let (first, second) = (Set(Self.types(own)), Set(Self.types(other)))
        let common = first.intersection(second)
        let numbers: Set = ["integer", "number"]
        if !first.isDisjoint(with: numbers), !second.isDisjoint(with: numbers),
            !NumberPattern(own, isWhole: false).isApart(from: NumberPattern(other, isWhole: false))
        {
            return false
        }
        for type in common.subtracting(numbers) {
            switch type {
            case "array": guard try areListsApart(own, other, depth) else { return false }
            case "object": guard try areObjectsApart(own, other, depth) else { return false }
            default: return false
            }
        }
        return true
    }

    private mutating func areListsApart(
        _ own: [Member], _ other: [Member], _ depth: Int
    ) throws(AIError) -> Bool {
        let (first, second) = (Self.lengths(own), Self.lengths(other))
        if first.low > second.high ?? .max || second.low > first.high ?? .max { return true }
        let prefix = max(Self.prefixCount(own), Self.prefixCount(other))
        for place in 0...prefix where place < max(first.low, second.low) {
            let elements = (Self.element(place, own), Self.element(place, other))
            if try areApart(elements.0, elements.1, depth: depth + 1) { return true }
        }
        return false
    }

    private mutating func areObjectsApart(
        _ own: [Member], _ other: [Member], _ depth: Int
    ) throws(AIError) -> Bool {
        let names = Self.names(own) + Self.names(other)
        let required = Self.required(own).union(Self.required(other))
        for name in names where required.contains(ExactText(name)) {
            let values = (Self.value(of: name, own), Self.value(of: name, other))
            if try areApart(values.0, values.1, depth: depth + 1) { return true }
        }
        return false
    }
}
