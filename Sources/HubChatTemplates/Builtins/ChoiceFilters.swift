extension Jinja {
    /// Filters that choose from, order or change the elements of a sequence.
    static let choiceFilters: [String: Filter] = [
        "sort": .fixed(["reverse", "case_sensitive", "attribute"]) { run, value, given throws(Fault) in
            let values = try run.elements(value)
            let keys = try run.sortKeys(values, given[2], isCaseSensitive: given[1]?.isTrue ?? false)
            let order = try run.sorted(keys, isReversed: given[0]?.isTrue ?? false)
            return try run.list(order.map { values[$0.place] })
        },
        "dictsort": .fixed(["case_sensitive", "by", "reverse"]) { run, value, given throws(Fault) in
            try run.dictionarySorted(value, given)
        },
        "unique": .fixed(["case_sensitive", "attribute"]) { run, value, given throws(Fault) in
            try run.stream(choosing: value, given.compactMap { $0 }) { run throws(Fault) in
                let path = try run.path(given[1])
                var seen: Set<Key> = []
                return { run, element throws(Fault) in
                    try run.spend(cells: 4)
                    let key = try run.comparable(try run.follow(path, element), given[0]?.isTrue ?? false)
                    return seen.insert(try run.key(key)).inserted
                }
            }
        },
        "min": extreme(isLargest: false),
        "max": extreme(isLargest: true),
        "groupby": .fixed(["attribute", "default", "case_sensitive"]) { run, value, given throws(Fault) in
            try run.grouped(value, given)
        },
        "map": .open { run, value, arguments throws(Fault) in try run.map(value, arguments) },
        "select": choice(isKept: true, byAttribute: false),
        "reject": choice(isKept: false, byAttribute: false),
        "selectattr": choice(isKept: true, byAttribute: true),
        "rejectattr": choice(isKept: false, byAttribute: true),
    ]

    private static func extreme(isLargest: Bool) -> Filter {
        .fixed(["case_sensitive", "attribute"]) { run, value, given throws(Fault) in
            let path = try run.path(given[1])
            var best: (key: Value, value: Value)?
            for value in try run.elements(value) {
                let key = try run.comparable(try run.follow(path, value), given[0]?.isTrue ?? false)
                guard let current = best else {
                    best = (key, value)
                    continue
                }
                let isBetter =
                    isLargest ? try run.precedes(current.key, key, ">") : try run.precedes(key, current.key)
                if isBetter { best = (key, value) }
            }
            return best?.value ?? .undefined(.reason("No aggregated item, sequence was empty."))
        }
    }

    private static func choice(isKept: Bool, byAttribute: Bool) -> Filter {
        .open { run, value, arguments throws(Fault) in
            try run.choose(value, arguments, isKept: isKept, byAttribute: byAttribute)
        }
    }
}

extension Jinja.Run {
    /// A value for comparison: strings in lower case unless case matters.
    fileprivate func comparable(_ value: Value, _ isCaseSensitive: Bool) throws(Fault) -> Value {
        guard !isCaseSensitive, case .string(let text) = value else { return value }
        return try made(text.lowercased())
    }

    /// The sort keys of elements: a list of the values of several attributes.
    fileprivate func sortKeys(
        _ values: [Value], _ attribute: Value?, isCaseSensitive: Bool
    ) throws(Fault) -> [Value] {
        var paths = [try path(attribute)]
        if let names = attribute?.text {
            paths = []
            try spend(kindsOf: names.count)
            for name in names.scalars.split(separator: ",", omittingEmptySubsequences: false) {
                paths.append(try path(.string(Text(name))))
            }
        }
        var keys: [Value] = []
        for value in values {
            var parts: [Value] = []
            for path in paths { parts.append(try comparable(try follow(path, value), isCaseSensitive)) }
            keys.append(try list(parts))
        }
        return keys
    }

    fileprivate func dictionarySorted(_ value: Value, _ given: [Value?]) throws(Fault) -> Value {
        guard case .dictionary(let dictionary) = value else {
            if case .undefined(let undefined) = value { throw fail(undefined.message) }
            throw fail("'\(value.typeName)' object has no attribute 'items'")
        }
        let by = try text(given[1], "by") ?? "key"
        guard by == "key" || by == "value" else { throw fail("You can only sort by either \"key\" or \"value\"") }
        var keys: [Value] = []
        for value in by == "key" ? dictionary.keys : dictionary.values {
            keys.append(try comparable(value, given[0]?.isTrue ?? false))
        }
        var pairs: [Value] = []
        for row in try sorted(keys, isReversed: given[2]?.isTrue ?? false) {
            pairs.append(try tuple([dictionary.keys[row.place], dictionary.values[row.place]]))
        }
        return try list(pairs)
    }

    fileprivate func grouped(_ value: Value, _ given: [Value?]) throws(Fault) -> Value {
        guard let attribute = given[0] else { throw fail("the filter 'groupby' needs an attribute") }
        let values = try elements(value)
        let path = try path(attribute)
        var names: [Value] = []
        var keys: [Value] = []
        for value in values {
            names.append(try follow(path, value, fallback: given[1]))
            keys.append(try comparable(names[names.count - 1], given[2]?.isTrue ?? false))
        }
        var groups: [Value] = []
        var rows = try sorted(keys)[...]
        while let first = rows.popFirst() {
            var members = [values[first.place]]
            while let next = rows.first, try areEqual(first.value, next.value) {
                members.append(values[next.place])
                rows.removeFirst()
            }
            groups.append(try tuple([names[first.place], try list(members)], fields: ["grouper", "list"]))
        }
        return try list(groups)
    }

    fileprivate func map(_ value: Value, _ arguments: Arguments) throws(Fault) -> Value {
        try stream(of: value, arguments.values) { run throws(Fault) in
            guard value.isTrue else { return { _ throws(Fault) in nil } }
            let change = try run.change(arguments)
            var cursor = try run.cursor(value)
            return { run throws(Fault) in
                guard let element = try cursor.next(run) else { return nil }
                return try change(run, element)
            }
        }
    }

    /// The function that `map` applies to each element.
    private func change(_ arguments: Arguments) throws(Fault) -> (Jinja.Run, Value) throws(Fault) -> Value {
        if arguments.positional.isEmpty, let attribute = arguments.keywords.first(where: { $0.name == "attribute" })
        {
            let fallback = arguments.keywords.first { $0.name == "default" }
            if let other = arguments.keywords.first(where: { $0.name != "attribute" && $0.name != "default" }) {
                throw fail("Unexpected keyword argument '\(other.name.string)'")
            }
            let path = try path(attribute.value)
            // None means no fallback.
            let missing = fallback.flatMap { $0.value.isNone ? nil : $0.value }
            return { run, element throws(Fault) in try run.follow(path, element, fallback: missing) }
        }
        var rest = arguments
        guard let name = try text(rest.positional.first, "the name of a filter")?.string else {
            throw fail("map requires a filter argument")
        }
        rest.positional.removeFirst()
        guard let filter = Jinja.filters[name] else { throw fail("No filter named '\(name)'.") }
        return { [rest] run, element throws(Fault) in try run.filter(name, filter, element, rest) }
    }

    fileprivate func choose(
        _ value: Value, _ arguments: Arguments, isKept: Bool, byAttribute: Bool
    ) throws(Fault) -> Value {
        try stream(choosing: value, arguments.values) { run throws(Fault) in
            // Jinja does not look up attributes of falsy values.
            guard value.isTrue else { return nil }
            let holds = try run.condition(arguments, byAttribute: byAttribute)
            return { run, element throws(Fault) in try holds(run, element) == isKept }
        }
    }

    /// The condition that `select` and similar filters test.
    private func condition(
        _ arguments: Arguments, byAttribute: Bool
    ) throws(Fault) -> (Jinja.Run, Value) throws(Fault) -> Bool {
        var rest = arguments
        var path: [Value] = []
        if byAttribute {
            guard let attribute = rest.positional.first else { throw fail("Missing parameter for attribute name") }
            path = try self.path(attribute)
            rest.positional.removeFirst()
        }
        guard let name = try text(rest.positional.first, "the name of a test")?.string else {
            return { [path] run, element throws(Fault) in try run.follow(path, element).isTrue }
        }
        guard let test = Jinja.tests[name] else { throw fail("No test named '\(name)'.") }
        rest.positional.removeFirst()
        return { [path, rest] run, element throws(Fault) in
            try run.test(name, test, try run.follow(path, element), rest)
        }
    }
}
