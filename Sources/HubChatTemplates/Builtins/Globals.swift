extension Jinja {
    /// The functions that every template can call.
    static let globals: [(name: String, make: @Sendable () -> Function)] = [
        ("range", { Function("range") { run, arguments throws(Fault) in try run.range(arguments) } }),
        ("namespace", { Function("namespace") { run, arguments throws(Fault) in try run.namespace(arguments) } }),
        ("dict", dictionaryFunction),
        ("cycler", { Function("cycler") { run, arguments throws(Fault) in try run.cycler(arguments) } }),
        ("joiner", { Function("joiner") { run, arguments throws(Fault) in try run.joiner(arguments) } }),
        (
            "lipsum",
            { Function("lipsum") { run, _ throws(Fault) in throw run.unsupported("lipsum(), which is random") } }
        ),
        (
            "raise_exception",
            {
                Function("raise_exception") { run, arguments throws(Fault) in
                    guard let message = try arguments.bound("raise_exception", ["message"], run)[0] else {
                        throw run.fail("raise_exception() needs a message")
                    }
                    throw Fault(kind: .raised, message: try run.text(of: message).string, line: run.line)
                }
            }
        ),
        (
            "strftime_now",
            {
                Function("strftime_now") { run, arguments throws(Fault) in
                    let format = try run.text(
                        try arguments.bound("strftime_now", ["format"], run)[0], "strftime_now() argument")
                    guard let format else { throw run.fail("strftime_now() needs a format") }
                    return try run.made(Text(try run.time(format.string)))
                }
            }
        ),
    ]

    @Sendable private static func dictionaryFunction() -> Function {
        let function = Function("dict") { run, arguments throws(Fault) in
            .dictionary(try run.dictionary(arguments, "dict"))
        }
        function.attribute = { name in
            guard name == "fromkeys" else { return nil }
            return .function(
                Function("fromkeys") { run, arguments throws(Fault) in try run.dictionaryFromKeys(arguments) })
        }
        return function
    }
}

extension Jinja.Run {
    func range(_ arguments: Arguments) throws(Fault) -> Value {
        try arguments.refuseKeywords("range", self)
        var numbers: [Int] = []
        for value in arguments.positional {
            guard let number = value.wholeNumber else {
                throw fail("'\(value.typeName)' object cannot be interpreted as an integer")
            }
            numbers.append(number)
        }
        let range: Jinja.NumberRange
        switch numbers.count {
        case 1: range = Jinja.NumberRange(start: 0, stop: numbers[0], step: 1)
        case 2: range = Jinja.NumberRange(start: numbers[0], stop: numbers[1], step: 1)
        case 3: range = Jinja.NumberRange(start: numbers[0], stop: numbers[1], step: numbers[2])
        default: throw fail("range expected 1 to 3 arguments, got \(numbers.count)")
        }
        guard range.step != 0 else { throw fail("range() arg 3 must not be zero") }
        guard range.count <= Jinja.longestRange else {
            throw limit("Range too big. The sandbox blocks ranges larger than MAX_RANGE (\(Jinja.longestRange)).")
        }
        return .range(range)
    }

    /// The result of `dict(...)`.
    func dictionary(_ arguments: Arguments, _ name: String) throws(Fault) -> Jinja.Dict {
        guard arguments.positional.count <= 1 else {
            throw fail("\(name) expected at most 1 argument, got \(arguments.positional.count)")
        }
        let result = Jinja.Dict()
        switch arguments.positional.first {
        case nil: break
        case .dictionary(let given)?:
            for (key, value) in zip(given.keys, given.values) { try add(key, value, to: result) }
        case let values?:
            for pair in try elements(values) {
                let members = try elements(pair)
                guard members.count == 2 else {
                    throw fail("dictionary update sequence element has length \(members.count); 2 is required")
                }
                try add(members[0], members[1], to: result)
            }
        }
        for keyword in arguments.keywords { try add(keyword.name, keyword.value, to: result) }
        return result
    }

    func namespace(_ arguments: Arguments) throws(Fault) -> Value {
        let members = try dictionary(arguments, "namespace")
        let namespace = try newNamespace()
        for (key, value) in zip(members.keys, members.values) {
            guard let name = key.text else { continue }
            try set(name, value, of: namespace)
        }
        return .namespace(namespace)
    }

    func cycler(_ arguments: Arguments) throws(Fault) -> Value {
        try arguments.refuseKeywords("cycler", self)
        let items = arguments.positional
        guard !items.isEmpty else { throw fail("at least one item has to be provided") }
        guard case .tuple(let kept) = try tuple(items) else { return .none }
        final class Place { var at = 0 }
        let place = Place()
        let cycler = Jinja.Function("cycler", depth: kept.depth) { run, _ throws(Fault) in
            throw run.fail("'Cycler' object is not callable")
        }
        cycler.attribute = { name in
            switch name {
            case "current": return kept.values[place.at]
            case "next":
                return .function(
                    Jinja.Function("next", depth: kept.depth) { _, _ throws(Fault) in
                        defer { place.at = (place.at + 1) % kept.values.count }
                        return kept.values[place.at]
                    })
            case "reset":
                return .function(
                    Jinja.Function("reset") { _, _ throws(Fault) in
                        place.at = 0
                        return .none
                    })
            default: return nil
            }
        }
        return .function(cycler)
    }

    func joiner(_ arguments: Arguments) throws(Fault) -> Value {
        let separator = try arguments.bound("joiner", ["sep"], self)[0] ?? .string(", ")
        try check(depth: separator.depth + 1)
        final class Use { var wasCalled = false }
        let use = Use()
        return .function(
            Jinja.Function("joiner", depth: separator.depth + 1) { _, _ throws(Fault) in
                defer { use.wasCalled = true }
                return use.wasCalled ? separator : .string("")
            })
    }
}
