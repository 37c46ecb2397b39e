extension Jinja {
    /// The arguments of a call.
    struct Arguments {
        var positional: [Value] = []
        var keywords: [(name: Text, value: Value)] = []

        /// All arguments.
        var values: [Value] { positional + keywords.map(\.value) }

        /// The values of the parameters, nil if not given.
        ///
        /// - Throws: for too many arguments, or an unknown name.
        func bound(_ function: String, _ parameters: [Text], _ run: Run) throws(Fault) -> [Value?] {
            guard positional.count <= parameters.count else {
                throw run.fail(
                    "\(function)() takes \(parameters.count) arguments at most, \(positional.count) were given")
            }
            var result: [Value?] = positional
            result += [Value?](repeating: nil, count: parameters.count - positional.count)
            for keyword in keywords {
                guard let place = parameters.firstIndex(of: keyword.name) else {
                    throw run.fail("\(function)() got an unexpected keyword argument '\(keyword.name.string)'")
                }
                guard result[place] == nil else {
                    throw run.fail("\(function)() got multiple values for argument '\(keyword.name.string)'")
                }
                result[place] = keyword.value
            }
            return result
        }

        func refuseKeywords(_ function: String, _ run: Run) throws(Fault) {
            if let keyword = keywords.first {
                throw run.fail("\(function)() got an unexpected keyword argument '\(keyword.name.string)'")
            }
        }
    }
}

extension Jinja.Run {
    typealias Arguments = Jinja.Arguments
    typealias Expression = Jinja.Expression

    func arguments(_ call: Jinja.CallArguments, _ scope: Scope) throws(Fault) -> Arguments {
        var result = Arguments()
        for value in call.positional { result.positional.append(try evaluate(value, scope)) }
        for keyword in call.keywords { result.keywords.append((keyword.name, try evaluate(keyword.value, scope))) }
        if let spread = call.spread {
            let values = try elements(
                try evaluate(spread, scope), orElse: "argument after * must be an iterable")
            try spend(cells: values.count)
            result.positional += values
        }
        if let spread = call.keywordSpread {
            guard case .dictionary(let dictionary) = try evaluate(spread, scope) else {
                throw fail("argument after ** must be a mapping")
            }
            for keyword in result.keywords { try spend(hashing: keyword.name) }
            var known = Set(result.keywords.map(\.name))
            try spend(cells: dictionary.count)
            for (key, value) in zip(dictionary.keys, dictionary.values) {
                guard let name = key.text else { throw fail("keywords must be strings") }
                try spend(hashing: name)
                guard known.insert(name).inserted else {
                    throw fail("got multiple values for keyword argument '\(name.string)'")
                }
                result.keywords.append((name, value))
            }
        }
        return result
    }

    /// An argument that must be an integer.
    func whole(_ value: Value?, _ what: String) throws(Fault) -> Int? {
        guard let value else { return nil }
        guard let number = value.wholeNumber else {
            throw fail("\(what) must be an integer, not \(value.typeName)")
        }
        return number
    }

    /// An argument that must be a string.
    func text(_ value: Value?, _ what: String) throws(Fault) -> Text? {
        guard let value else { return nil }
        guard let text = value.text else { throw fail("\(what) must be str, not \(value.typeName)") }
        return text
    }
}

// MARK: - Macros

extension Jinja.Run {
    /// A macro with its enclosing scope.
    func macro(_ body: Jinja.MacroBody, _ scope: Scope) throws(Fault) -> Value {
        try keep(scope)
        let macro = Jinja.Macro(body, scope)
        return .function(
            Jinja.Function(body.name ?? "caller", macro: macro) { run, arguments throws(Fault) in
                .string(try run.call(macro, arguments))
            })
    }

    /// `{% call %}`: its body is the macro `caller` of the called macro.
    func runCall(_ body: Jinja.MacroBody, _ call: Expression, _ scope: Scope) throws(Fault) {
        guard case .chain(let base, var suffixes) = call, let last = suffixes.popLast(),
            case .call(let arguments) = last.kind
        else { throw fail("expected call") }
        let caller = try macro(body, scope)
        let callee = try evaluate(suffixes.isEmpty ? base : .chain(base, suffixes), scope)
        var given = try self.arguments(arguments, scope)
        line = last.line
        given.keywords.append(("caller", caller))
        let text = try text(of: try self.call(callee, given))
        try reserve(text.count)
        output += text.scalars
    }

    private func call(_ macro: Jinja.Macro, _ arguments: Arguments) throws(Fault) -> Text {
        try enter()
        defer { leave() }
        let callLine = line
        let scope = Scope(macro.scope)
        try bind(arguments, of: macro.body, scope)
        let text = try captured(scope) { _ throws(Fault) in _ = try run(macro.body.body, scope) }
        line = callLine
        return text
    }

    /// The keyword arguments, from which the parameters take theirs.
    private struct Keywords {
        private var all: [(name: Text, value: Value?)] = []
        private var places: [Text: Int] = [:]

        init(_ given: [(name: Text, value: Value)]) {
            for keyword in given {
                // If there are two `caller`, the parameter takes the first.
                if places[keyword.name] == nil { places[keyword.name] = all.count }
                all.append((keyword.name, keyword.value))
            }
        }

        var isEmpty: Bool { all.isEmpty }

        /// The arguments that no parameter took.
        var rest: [(name: Text, value: Value)] {
            all.compactMap { keyword in keyword.value.map { (keyword.name, $0) } }
        }

        mutating func take(_ name: Text) -> Value? {
            guard let place = places[name] else { return nil }
            defer { all[place].value = nil }
            return all[place].value
        }
    }

    func bind(_ arguments: Arguments, of body: Jinja.MacroBody, _ scope: Scope) throws(Fault) {
        try spend(cells: body.parameters.count + arguments.positional.count + arguments.keywords.count)
        for keyword in arguments.keywords { try spend(hashing: keyword.name) }
        var keywords = Keywords(arguments.keywords)
        for (place, parameter) in body.parameters.enumerated() {
            if place < arguments.positional.count {
                scope.set(parameter.name, arguments.positional[place])
            } else if let value = try taken(parameter.name, &keywords) {
                scope.set(parameter.name, value)
            } else if let fallback = parameter.fallback {
                // It sees the parameters before it.
                scope.set(parameter.name, try evaluate(fallback, scope))
            } else {
                scope.set(parameter.name, .undefined(.parameter(names[parameter.name])))
            }
        }
        if body.usesCaller {
            scope.set(
                Jinja.SpecialName.caller, keywords.take("caller") ?? .undefined(.reason("No caller defined")))
        }
        if body.usesKwargs {
            let dictionary = Jinja.Dict()
            for keyword in keywords.rest { try add(keyword.name, keyword.value, to: dictionary) }
            scope.set(Jinja.SpecialName.kwargs, .dictionary(dictionary))
        } else if let keyword = keywords.rest.first {
            if keywords.rest.contains(where: { $0.name == "caller" }) {
                throw fail("\(body.title) was invoked with two values for the special caller argument")
            }
            throw fail("\(body.title) takes no keyword argument '\(keyword.name.string)'")
        }
        let surplus = arguments.positional.dropFirst(body.parameters.count)
        if body.usesVarargs {
            scope.set(Jinja.SpecialName.varargs, try tuple(Array(surplus)))
        } else if !surplus.isEmpty {
            throw fail("\(body.title) takes not more than \(body.parameters.count) argument(s)")
        }
    }

    /// The argument for a parameter's name.
    private func taken(_ parameter: Int, _ keywords: inout Keywords) throws(Fault) -> Value? {
        if keywords.isEmpty { return nil }
        let name = Text(names[parameter])
        try spend(hashing: name)
        return keywords.take(name)
    }
}

extension Jinja.MacroBody {
    /// Its name in messages.
    fileprivate var title: String { name.map { "macro '\($0)'" } ?? "the body of a call block" }
}
