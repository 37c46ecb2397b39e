extension Jinja {
    static let tests: [String: Test] = {
        var all: [String: Test] = [
            "defined": plain { !$0.isUndefined },
            "undefined": plain(\.isUndefined),
            "none": plain(\.isNone),
            "boolean": plain { if case .bool = $0 { true } else { false } },
            "true": plain { if case .bool(true) = $0 { true } else { false } },
            "false": plain { if case .bool(false) = $0 { true } else { false } },
            "integer": plain { value in
                switch value {
                case .int, .long: true
                default: false
                }
            },
            "float": plain { if case .float = $0 { true } else { false } },
            "number": plain { value in
                if case .long = value { true } else { value.number != nil }
            },
            "string": plain { $0.text != nil },
            "mapping": plain { if case .dictionary = $0 { true } else { false } },
            "escaped": plain(\.isMarkup),
            "callable": plain(isCallable),
            "iterable": plain(isIterable),
            "sequence": plain(isSequence),
            "odd": Test { run, value, _ throws(Fault) in try run.remainder(of: value, by: .int(2), is: 1) },
            "even": Test { run, value, _ throws(Fault) in try run.remainder(of: value, by: .int(2), is: 0) },
            "divisibleby": Test(parameters: ["num"]) { run, value, given throws(Fault) in
                try run.remainder(of: value, by: given[0], is: 0)
            },
            "lower": Test { run, value, _ throws(Fault) in
                let text = try run.text(of: value)
                try run.spend(kindsOf: text.count)
                return text.isLower
            },
            "upper": Test { run, value, _ throws(Fault) in
                let text = try run.text(of: value)
                try run.spend(kindsOf: text.count)
                return text.isUpper
            },
            "sameas": Test(parameters: ["other"]) { run, value, given throws(Fault) in
                try run.areSame(value, given[0])
            },
            "filter": Test { run, value, _ throws(Fault) in
                guard let name = value.text else { return false }
                try run.spend(kindsOf: name.count)
                return filters[name.string] != nil
            },
            "test": Test { run, value, _ throws(Fault) in
                guard let name = value.text else { return false }
                try run.spend(kindsOf: name.count)
                return name == "test" || tests[name.string] != nil
            },
        ]
        for (names, comparison) in comparisons {
            for name in names {
                all[name] = Test(parameters: ["other"]) { run, value, given throws(Fault) in
                    try run.compare(value, comparison, given[0])
                }
            }
        }
        return all
    }()

    private static let comparisons: [([String], Comparison)] = [
        (["==", "eq", "equalto"], .equal), (["!=", "ne"], .notEqual), ([">", "gt", "greaterthan"], .greater),
        ([">=", "ge"], .greaterOrEqual), (["<", "lt", "lessthan"], .less), (["<=", "le"], .lessOrEqual),
        (["in"], .contained),
    ]

    private static func plain(_ holds: @escaping @Sendable (Value) -> Bool) -> Test {
        Test { _, value, _ throws(Fault) in holds(value) }
    }

    @Sendable private static func isCallable(_ value: Value) -> Bool {
        switch value {
        case .function, .loop, .undefined: true
        default: false
        }
    }

    @Sendable private static func isIterable(_ value: Value) -> Bool {
        switch value {
        case .none, .bool, .int, .long, .float, .namespace, .function: false
        default: true
        }
    }

    @Sendable private static func isSequence(_ value: Value) -> Bool {
        switch value {
        case .string, .list, .tuple, .dictionary, .range, .undefined: true
        default: false
        }
    }
}

extension Jinja.Run {
    fileprivate func remainder(of value: Value, by divisor: Value, is wanted: Int) throws(Fault) -> Bool {
        try areEqual(try calculate(value, .remainder, divisor), .int(wanted))
    }

    /// `is` of Python: the same object. Equal strings and numbers count as the same.
    fileprivate func areSame(_ left: Value, _ right: Value) throws(Fault) -> Bool {
        switch (left, right) {
        case (.list(let left), .list(let right)), (.tuple(let left), .tuple(let right)): left === right
        case (.dictionary(let left), .dictionary(let right)): left === right
        case (.bool(let left), .bool(let right)): left == right
        case (.int(let left), .int(let right)): left == right
        case (.bool, _), (_, .bool), (.float, _), (_, .float): false
        case (.string(let left), .string(let right)) where left.isMarkup != right.isMarkup: false
        default: try areEqual(left, right)
        }
    }
}
