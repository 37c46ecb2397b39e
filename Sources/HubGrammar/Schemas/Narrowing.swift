import HubCore

/// What a branch of `oneOf` gives up so that no other branch of it fits.
///
/// A value that is written fits none of the others because of something that can be shown: its type, its length, a
/// property that another requires and it does not have, or a property whose values differ.
struct Narrowing {
    /// Properties that must be there, and that may not.
    private(set) var required: Set<ExactText> = []
    private(set) var absent: Set<ExactText> = []
    /// The elements of a list.
    private(set) var low = 0
    private(set) var high: Int?
    /// What strings are not.
    private(set) var texts: [RegexStore.ID] = []
    /// Null, true and false that fit another branch, and types of which every value does.
    private var banned: Set<JSON> = []
    private var bannedTypes: Set<String> = []

    /// - Throws: ``ErrorCode/invalidInput`` if the same value may fit two branches.
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

    /// What is written, and what it must not fit.
    private struct Pair {
        let own: [SchemaCompiler.Member]
        let rival: [SchemaCompiler.Member]
        let exclusion: SchemaCompiler.Exclusion
        let other: Int

        /// - Parameter advice: what would make the difference.
        func refusal(_ type: String, _ advice: String) -> AIError {
            SchemaDocument.error(
                exclusion.pointer,
                "the branches \(exclusion.chosen) and \(other) may both fit the same \(type); \(advice)")
        }
    }

    /// Whether the branch has this type, or this value of it, for itself.
    func allows(_ type: String) -> Bool {
        !bannedTypes.contains(type) && (type != "null" || !banned.contains(.null))
    }
    func allows(_ bool: Bool) -> Bool { !banned.contains(.bool(bool)) }

    private mutating func avoid(
        _ pair: Pair, _ types: Set<String>, _ key: SchemaCompiler.Key, _ compiler: inout SchemaCompiler
    ) throws(AIError) {
        try compiler.count(1)
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

    /// The types of schemas of which every value fits.
    private static func whole(_ members: [SchemaCompiler.Member], _ types: Set<String>) -> Set<String> {
        func says(_ keywords: String...) -> Bool {
            keywords.contains { keyword in members.contains { $0.keywords[keyword] != nil } }
        }
        var found: Set<String> = []
        if !says("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum") {
            found = types.contains("number") ? ["number", "integer"] : ["integer"]
        }
        if !says("items", "prefixItems", "minItems", "maxItems", "uniqueItems") { found.insert("array") }
        if !says("properties", "required", "additionalProperties") { found.insert("object") }
        return found.intersection(types.contains("number") ? types.union(["integer"]) : types)
    }

    /// Constants of another branch that fit this one, too.
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
        // What it never has, another requires.
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

    /// The ways to fit a key, each as schemas that all hold and have no branches left; at least all of them.
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

    /// Deeper values are not looked at.
    private static let deepestProof = 4

    /// Whether it is certain that no value fits both keys, for whatever reader.
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
        try count(1)
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
