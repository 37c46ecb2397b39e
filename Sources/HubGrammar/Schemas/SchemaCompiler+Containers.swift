import HubCore

/// Rules of lists and objects.
extension SchemaCompiler {
    // MARK: Arrays

    /// What separates elements: a comma, and at most one space.
    mutating func separator(_ text: String, _ key: Key) -> GrammarSymbol {
        let space = key.isCanonical ? RegexStore.empty : builder.store.optional(builder.store.literal(" "))
        return .terminal(builder.store.then(builder.store.literal(text), space))
    }

    /// How many elements a list may have.
    static func lengths(_ members: [Member]) -> (low: Int, high: Int?) {
        let low = members.compactMap { $0.keywords["minItems"]?.count }.max() ?? 0
        return (low, members.compactMap { $0.keywords["maxItems"]?.count }.min())
    }

    /// What an element of a list must fit.
    static func element(_ index: Int, _ members: [Member], isCanonical: Bool = false) -> Key {
        var key = Key(
            members.compactMap { member in
                member.keywords.element(index).map { SchemaDocument.pointer(member.pointer, $0) }
            })
        key.isCanonical = isCanonical
        return key
    }

    /// The number of first elements that have schemas of their own.
    static func prefixCount(_ members: [Member]) -> Int {
        members.compactMap { $0.keywords.prefix?.schemas.count }.max() ?? 0
    }

    mutating func array(
        _ members: [Member], _ narrowing: Narrowing, _ key: Key
    ) throws(AIError) -> [GrammarSymbol] {
        var (low, high) = Self.lengths(members)
        low = max(low, narrowing.low)
        high = [high, narrowing.high].compactMap { $0 }.min()
        let prefix = Self.prefixCount(members)
        // As with objects: without a schema for further elements there are none.
        if prefix > 0, !members.contains(where: { $0.keywords.rest != nil }) {
            high = min(high ?? .max, max(low, prefix))
        }
        guard low <= high ?? .max else { return [.nothing] }
        guard high != 0 else { return [literal("[]")] }
        let unique = members.first { $0.keywords["uniqueItems"]?.bool == true }
        let isCanonical = key.isCanonical || unique != nil
        if let unique { try checkUnique(unique, prefix: prefix, low) }
        let shared = min(prefix, high ?? .max)
        // From the last to the first: what follows so many elements.
        var rest = GrammarSymbol.empty
        if high != shared {
            let element = try symbol(Self.element(prefix, members, isCanonical: isCanonical))
            if unique != nil, low > 1, try !hasTexts(low, element) { return [.nothing] }
            let next = try builder.choice([[separator(",", key), element]])
            let first = max(1, shared)
            rest = try builder.repeated(next, max(0, low - first), high.map { $0 - first })
            if shared == 0 { rest = try builder.choice([[element, rest]] + (low == 0 ? [[]] : [])) }
        }
        for index in (0..<shared).reversed() {
            try count(members.count - 1)
            let element = try symbol(Self.element(index, members, isCanonical: isCanonical))
            var contents = [(index == 0 ? [] : [separator(",", key)]) + [element, rest]]
            if index >= low { contents.append([]) }
            rest = try builder.choice(contents)
        }
        return [literal("[")] + (unique == nil ? [] : [.mark]) + [rest, literal("]")]
    }

    /// The most elements that must differ.
    private static let mostUnique = 10_000

    private func checkUnique(_ member: Member, prefix: Int, _ low: Int) throws(AIError) {
        let pointer = SchemaDocument.pointer(member.pointer, "uniqueItems")
        guard prefix == 0 else {
            throw SchemaDocument.error(
                pointer, "\"uniqueItems\" is not supported beside schemas of single elements (\"prefixItems\")")
        }
        guard low <= Self.mostUnique else {
            throw SchemaDocument.error(
                pointer, "at least \(low) different elements are more than \(Self.mostUnique)")
        }
    }

    /// Whether an element has at least so many values. With fewer, a list would get stuck: it could neither end nor go on.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for an element that contains the list, or one that takes too much work.
    private func hasTexts(_ count: Int, _ element: GrammarSymbol) throws(AIError) -> Bool {
        var stack = [element]
        var seen: Set<Int> = []
        while let symbol = stack.popLast() {
            guard case .rule(let rule) = symbol, seen.insert(rule).inserted else { continue }
            guard !unfinished.contains(rule) else {
                throw AIError(
                    .invalidInput,
                    "the schema has a list of at least \(count) different elements that leads back to itself, which is not supported"
                )
            }
            stack += builder.rules[rule].joined()
        }
        // Compiling the whole grammar reports an element that no text fits.
        guard let grammar = try? CompiledGrammar(builder, start: element) else { return true }
        let automaton = PushdownAutomaton(grammar)
        if automaton.hasTexts(count) { return true }
        // When the work is used up, the count is unknown.
        if let failure = automaton.failure { throw failure }
        return false
    }

    // MARK: Objects

    /// A property: its name as it is written, its value, whether it must be there.
    private struct Property {
        var name: [UInt8]
        var value: GrammarSymbol
        var isRequired: Bool
    }

    /// Objects with their properties in the schema's order; those that are not required may be left out. Other properties
    /// come last, where `additionalProperties` says so or no property has a name. Names that `propertyNames` lists are
    /// properties as those of the schema, so that none comes twice.
    ///
    /// In the canonical form they are sorted by name. There are then no other properties if some have names, else at most one.
    mutating func object(
        _ members: [Member], _ narrowing: Narrowing, _ key: Key
    ) throws(AIError) -> [GrammarSymbol] {
        let needed = Self.required(members).union(narrowing.required)
        var names = Self.names(members)
        if key.isCanonical { names.sort(by: JSONSpelling.precedes) }
        var properties: [Property] = []
        for name in names where !narrowing.absent.contains(ExactText(name)) {
            try count(members.count - 1)
            guard try isAllowed(name, members) else {
                if needed.contains(ExactText(name)) { return [.nothing] }
                continue
            }
            properties.append(
                Property(
                    name: Array(JSONSpelling.content(name).utf8),
                    value: try symbol(Self.value(of: name, members, isCanonical: key.isCanonical)),
                    isRequired: needed.contains(ExactText(name))))
        }
        let known = names + narrowing.absent.map(\.text)
        let others =
            key.isCanonical && !names.isEmpty
            ? nil : try others(members, known.map { Array(JSONSpelling.content($0).utf8) }, key)
        let firstRequired = properties.firstIndex(where: \.isRequired) ?? properties.count
        // What may follow, by whether a property came before.
        var afterNone = try list(of: others, isFirst: true, key)
        var afterSome = try list(of: others, isFirst: false, key)
        for (index, property) in properties.enumerated().reversed() {
            let pair = [
                .terminal(quoted(builder.store.literal(property.name))), separator(":", key), property.value,
                afterSome,
            ]
            func step(_ pair: [GrammarSymbol], _ without: GrammarSymbol) throws(AIError) -> GrammarSymbol {
                try builder.choice(property.isRequired ? [pair] : [pair, [without]])
            }
            if index <= firstRequired { afterNone = try step(pair, afterNone) }
            afterSome = try step([separator(",", key)] + pair, afterSome)
        }
        return [literal("{"), afterNone, literal("}")]
    }

    /// The properties that must be there.
    static func required(_ members: [Member]) -> Set<ExactText> {
        Set(members.flatMap { ($0.keywords["required"]?.array ?? []).compactMap(\.string) }.map { ExactText($0) })
    }

    /// The properties that the schemas name, in their order.
    static func names(_ members: [Member]) -> [String] {
        let named = members.flatMap { $0.keywords["properties"]?.object?.keys ?? [] }
        let required = members.flatMap { ($0.keywords["required"]?.array ?? []).compactMap(\.string) }
        var seen: Set<ExactText> = []
        return (named + required + (isOpen(members) ? listedNames(members) ?? [] : [])).filter {
            seen.insert(ExactText($0)).inserted
        }
    }

    /// Whether there may be properties that the schemas do not name.
    static func hasOthers(_ members: [Member]) -> Bool { isOpen(members) && listedNames(members) == nil }

    /// Whether there may be more properties than those of `properties` and `required`.
    private static func isOpen(_ members: [Member]) -> Bool {
        members.contains { $0.keywords["additionalProperties"] != nil }
            || members.allSatisfy { member in
                member.keywords["properties"]?.object?.keys.isEmpty ?? true
                    && member.keywords["required"]?.array?.isEmpty ?? true
            }
    }

    /// The names that every list of names has; nil without one.
    private static func listedNames(_ members: [Member]) -> [String]? {
        let lists = members.compactMap(\.keywords.listedNames)
        guard let first = lists.first else { return nil }
        let others = lists.dropFirst().map { Set($0.map { ExactText($0) }) }
        return first.filter { name in others.allSatisfy { $0.contains(ExactText(name)) } }
    }

    /// Whether a property may have a name.
    private func isAllowed(_ name: String, _ members: [Member]) throws(AIError) -> Bool {
        for member in members where member.keywords["propertyNames"] != nil {
            let rule = SchemaDocument.pointer(member.pointer, "propertyNames")
            guard try check.fits(.string(name), rule) else { return false }
        }
        return true
    }

    /// What the value of a property must fit.
    static func value(of name: String, _ members: [Member], isCanonical: Bool = false) -> Key {
        var key = Key(
            members.compactMap { member in
                member.keywords.property(name).map { SchemaDocument.pointer(member.pointer, $0) }
            })
        key.isCanonical = isCanonical
        return key
    }

    /// A property with another name; nil if there may be none.
    private mutating func others(
        _ members: [Member], _ names: [[UInt8]], _ key: Key
    ) throws(AIError) -> GrammarSymbol? {
        guard Self.hasOthers(members) else { return nil }
        let said = members.filter { $0.keywords["additionalProperties"] != nil }
        var inner = Key(said.map { SchemaDocument.pointer($0.pointer, "additionalProperties") })
        inner.isCanonical = key.isCanonical
        let value = try symbol(inner)
        guard value != .nothing else { return nil }
        let any = builder.store.repeated(builder.store.character(.all, .jsonString), 0, nil)
        let known = builder.store.literals(names)
        var limits = [builder.store.not(known), any]
        for member in members {
            guard let source = member.keywords["propertyNames"]?["pattern"]?.string,
                let pattern = try? PatternParser.parse(source)
            else { continue }
            limits.append(builder.store.containing(pattern, .jsonString))
        }
        let name = builder.store.both(limits)
        return try builder.choice([[.terminal(quoted(name)), separator(":", key), value]])
    }

    private mutating func list(
        of others: GrammarSymbol?, isFirst: Bool, _ key: Key
    ) throws(AIError) -> GrammarSymbol {
        guard let others else { return .empty }
        if key.isCanonical { return isFirst ? try builder.choice([[], [others]]) : .empty }
        let next = try builder.choice([[separator(",", key), others]])
        let rest = try builder.repeated(next, 0, nil)
        return isFirst ? try builder.choice([[], [others, rest]]) : rest
    }
}
