extension Jinja {
    typealias Method<Receiver> = @Sendable (Run, Receiver, Arguments) throws(Fault) -> Value
}

extension Jinja.Run {
    /// A method of a value's Python class; undefined if it would mutate the value.
    func method(_ name: Text, of value: Value) throws(Fault) -> Value? {
        switch value {
        case .string(let text) where text.isMarkup: return try markedMethod(name, text)
        case .string(let text):
            return try bound(name, value, text, Jinja.stringMethods[name] ?? Jinja.translationMethods[name])
        case .dictionary(let dictionary):
            if Self.dictionaryChanges.contains(name) { return .undefined(.unsafe(name.string, owner: "dict")) }
            return try bound(name, value, dictionary, Jinja.dictionaryMethods[name])
        case .list(let items), .tuple(let items):
            if case .list = value, Self.listChanges.contains(name) {
                return .undefined(.unsafe(name.string, owner: "list"))
            }
            return try bound(name, value, items, Jinja.sequenceMethods[name])
        case .int, .bool, .float: return try numberMethod(name, value)
        default: return nil
        }
    }

    private static let dictionaryChanges: Set<Text> = ["clear", "pop", "popitem", "setdefault", "update"]
    private static let listChanges: Set<Text> = [
        "append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove",
    ]

    private func bound<Receiver>(
        _ name: Text, _ value: Value, _ receiver: Receiver, _ method: Jinja.Method<Receiver>?
    ) throws(Fault) -> Value? {
        guard let method else { return nil }
        try check(depth: value.depth + 1)
        return .function(
            Jinja.Function(name.string, depth: value.depth + 1) { run, arguments throws(Fault) in
                try method(run, receiver, arguments)
            })
    }

    private func numberMethod(_ name: Text, _ value: Value) throws(Fault) -> Value? {
        switch name {
        case "real": return value
        case "imag": return value.wholeNumber == nil ? .float(0) : .int(0)
        case "numerator": return value.wholeNumber.map { .int($0) }
        case "denominator": return value.wholeNumber.map { _ in .int(1) }
        case "is_integer":
            guard case .float(let number) = value else { return nil }
            return .function(
                Jinja.Function("is_integer") { _, _ throws(Fault) in .bool(number.rounded() == number) })
        case "bit_length":
            guard let number = value.wholeNumber else { return nil }
            return .function(
                Jinja.Function("bit_length") { _, _ throws(Fault) in
                    .int(Int.bitWidth - number.magnitude.leadingZeroBitCount)
                })
        default: return nil
        }
    }
}

// MARK: - Dictionaries

extension Jinja {
    static let dictionaryMethods: [Text: Method<Dict>] = [
        "get": { run, dictionary, arguments throws(Fault) in
            let given = try arguments.bound("get", ["key", "default"], run)
            guard let key = given[0] else { throw run.fail("get expected at least 1 argument, got 0") }
            return dictionary[try run.key(key)] ?? given[1] ?? .none
        },
        "keys": { run, dictionary, arguments throws(Fault) in
            _ = try arguments.bound("keys", [], run)
            return .view(.keys, dictionary)
        },
        "values": { run, dictionary, arguments throws(Fault) in
            _ = try arguments.bound("values", [], run)
            return .view(.values, dictionary)
        },
        "items": { run, dictionary, arguments throws(Fault) in
            _ = try arguments.bound("items", [], run)
            return .view(.items, dictionary)
        },
        "copy": { run, dictionary, arguments throws(Fault) in
            _ = try arguments.bound("copy", [], run)
            // Both are immutable, so no copy is needed.
            return .dictionary(dictionary)
        },
        "fromkeys": { run, _, arguments throws(Fault) in try run.dictionaryFromKeys(arguments) },
    ]

    static let sequenceMethods: [Text: Method<Items>] = [
        "count": { run, items, arguments throws(Fault) in
            guard let value = try arguments.bound("count", ["value"], run)[0] else {
                throw run.fail("count() takes exactly one argument (0 given)")
            }
            var count = 0
            for item in items.values {
                if try run.areEqual(item, value) { count += 1 }
            }
            return .int(count)
        },
        "index": { run, items, arguments throws(Fault) in
            let given = try arguments.bound("index", ["value", "start", "stop"], run)
            guard let value = given[0] else { throw run.fail("index expected at least 1 argument, got 0") }
            let range = try run.bounds(items.values.count, given[1], given[2])
            for place in range ?? 0..<0 {
                if try run.areEqual(items.values[place], value) { return .int(place) }
            }
            throw run.fail("\(try run.representation(of: value).string) is not in list")
        },
        "copy": { run, items, arguments throws(Fault) in
            _ = try arguments.bound("copy", [], run)
            return .list(items)
        },
    ]
}

extension Jinja.Run {
    func dictionaryFromKeys(_ arguments: Arguments) throws(Fault) -> Value {
        let given = try arguments.bound("fromkeys", ["iterable", "value"], self)
        guard let keys = given[0] else { throw fail("fromkeys expected at least 1 argument, got 0") }
        let dictionary = Jinja.Dict()
        for key in try elements(keys) { try add(key, given[1] ?? .none, to: dictionary) }
        return .dictionary(dictionary)
    }

    /// The range given by a search's `start` and `stop`; nil if it begins past the end.
    func bounds(_ count: Int, _ start: Value?, _ stop: Value?) throws(Fault) -> Range<Int>? {
        func place(_ value: Value?, _ fallback: Int) throws(Fault) -> Int {
            guard let value, !value.isNone else { return fallback }
            guard let number = value.wholeNumber else {
                throw fail("slice indices must be integers or None or have an __index__ method")
            }
            return number < 0 ? max(0, max(number, -count) + count) : number
        }
        let from = try place(start, 0)
        let to = min(count, try place(stop, count))
        return from <= to ? from..<to : nil
    }
}
