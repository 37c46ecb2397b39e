extension Jinja.Run {
    func evaluate(_ expression: Expression, _ scope: Scope) throws(Fault) -> Value {
        try enter()
        defer { leave() }
        switch expression {
        case .constant(let constant): return Value(constant)
        case .name(let name): return try variable(name, scope) ?? .undefined(.name(names[name]))
        case .list(let items): return try list(try evaluate(items, scope))
        case .tuple(let items): return try tuple(try evaluate(items, scope))
        case .dictionary(let pairs): return try dictionary(pairs, scope)
        case .condition(let test, let then, let otherwise, let line):
            return try condition(test, then, otherwise, line, scope)
        case .and(let operands): return try first(of: operands, isTrue: false, scope)
        case .or(let operands): return try first(of: operands, isTrue: true, scope)
        case .not(let operand): return .bool(try !evaluate(operand, scope).isTrue)
        case .compare(let first, let rest): return try compare(first, rest, scope)
        case .arithmetic(let first, let rest): return try arithmetic(first, rest, scope)
        case .join(let operands): return try join(operands, scope)
        case .signed(let isNegative, let operand): return try signed(isNegative, try evaluate(operand, scope))
        case .chain(let base, let suffixes): return try chain(base, suffixes, scope)
        }
    }

    func variable(_ name: Int, _ scope: Scope) throws(Fault) -> Value? {
        let found = scope.find(name)
        try spend(found.scopes)
        return found.value
    }

    private func evaluate(_ expressions: [Expression], _ scope: Scope) throws(Fault) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(expressions.count)
        for expression in expressions { values.append(try evaluate(expression, scope)) }
        return values
    }

    private func dictionary(
        _ pairs: [(key: Expression, value: Expression)], _ scope: Scope
    ) throws(Fault) -> Value {
        let dictionary = Jinja.Dict()
        for pair in pairs {
            try add(try evaluate(pair.key, scope), try evaluate(pair.value, scope), to: dictionary)
        }
        return .dictionary(dictionary)
    }

    private func condition(
        _ test: Expression, _ then: Expression, _ otherwise: Expression?, _ line: Int, _ scope: Scope
    ) throws(Fault) -> Value {
        if try evaluate(test, scope).isTrue { return try evaluate(then, scope) }
        if let otherwise { return try evaluate(otherwise, scope) }
        return .undefined(
            .reason(
                "the inline if-expression on line \(line) evaluated to false and no else section was defined."))
    }

    /// The first operand that is true (or false), else the last.
    private func first(of operands: [Expression], isTrue: Bool, _ scope: Scope) throws(Fault) -> Value {
        var value = Value.none
        for operand in operands {
            value = try evaluate(operand, scope)
            if value.isTrue == isTrue { break }
        }
        return value
    }

    private func compare(
        _ first: Expression, _ rest: [(operation: Jinja.Comparison, operand: Expression)], _ scope: Scope
    ) throws(Fault) -> Value {
        var left = try evaluate(first, scope)
        for (operation, operand) in rest {
            let right = try evaluate(operand, scope)
            guard try compare(left, operation, right) else { return .bool(false) }
            left = right
        }
        return .bool(true)
    }

    private func arithmetic(
        _ first: Expression, _ rest: [(operation: Jinja.Arithmetic, operand: Expression)], _ scope: Scope
    ) throws(Fault) -> Value {
        var left = try evaluate(first, scope)
        for (operation, operand) in rest {
            left = try calculate(left, operation, try evaluate(operand, scope))
        }
        return left
    }

    private func join(_ operands: [Expression], _ scope: Scope) throws(Fault) -> Value {
        var result: [Unicode.Scalar] = []
        for operand in operands {
            let text = try text(of: evaluate(operand, scope))
            try reserve(text.count)
            result += text.scalars
        }
        return .string(Text(result))
    }

    // MARK: Chains

    private func chain(
        _ base: Expression, _ suffixes: [Jinja.Suffix], _ scope: Scope
    ) throws(Fault) -> Value {
        var value = try evaluate(base, scope)
        for suffix in suffixes { value = try apply(suffix, to: value, scope) }
        return value
    }

    func apply(_ suffix: Jinja.Suffix, to value: Value, _ scope: Scope) throws(Fault) -> Value {
        try spend(1)
        switch suffix.kind {
        case .attribute(let name):
            line = suffix.line
            return try attribute(name, of: value)
        case .item(let index):
            let index = try evaluate(index, scope)
            line = suffix.line
            return try item(index, of: value)
        case .slice(let start, let stop, let step):
            return try slice(value, (start, stop, step), suffix.line, scope)
        case .call(let call):
            let arguments = try arguments(call, scope)
            line = suffix.line
            return try self.call(value, arguments)
        case .filter(let name, let filter, let call):
            return try applyFilter(name, filter, call, suffix.line, value, scope)
        case .test(let name, let test, let call, let isNegated):
            return .bool(try applyTest(name, test, call, suffix.line, value, scope) != isNegated)
        }
    }

    private func slice(
        _ value: Value, _ bounds: (Expression?, Expression?, Expression?), _ line: Int, _ scope: Scope
    ) throws(Fault) -> Value {
        func bound(_ expression: Expression?) throws(Fault) -> Value {
            guard let expression else { return .none }
            return try evaluate(expression, scope)
        }
        let (start, stop, step) = (try bound(bounds.0), try bound(bounds.1), try bound(bounds.2))
        self.line = line
        return try slice(value, start, stop, step)
    }

    private func applyFilter(
        _ name: String, _ filter: Jinja.Filter?, _ call: Jinja.CallArguments, _ line: Int, _ value: Value,
        _ scope: Scope
    ) throws(Fault) -> Value {
        let arguments = try arguments(call, scope)
        self.line = line
        guard let filter else { throw fail("No filter named '\(name)' found.") }
        return try self.filter(name, filter, value, arguments)
    }

    func filter(
        _ name: String, _ filter: Jinja.Filter, _ value: Value, _ arguments: Arguments
    ) throws(Fault) -> Value {
        try enter()
        defer { leave() }
        switch filter {
        case .fixed(let parameters, let body):
            return try body(self, value, try arguments.bound(name, parameters, self))
        case .open(let body): return try body(self, value, arguments)
        }
    }

    private func applyTest(
        _ name: String, _ test: Jinja.Test?, _ call: Jinja.CallArguments, _ line: Int, _ value: Value,
        _ scope: Scope
    ) throws(Fault) -> Bool {
        let arguments = try arguments(call, scope)
        self.line = line
        guard let test else { throw fail("No test named '\(name)' found.") }
        return try self.test(name, test, value, arguments)
    }

    func test(_ name: String, _ test: Jinja.Test, _ value: Value, _ arguments: Arguments) throws(Fault) -> Bool {
        let bound = try arguments.bound(name, test.parameters, self)
        var given: [Value] = []
        for (parameter, value) in zip(test.parameters, bound) {
            guard let value else { throw fail("the test '\(name)' needs the argument '\(parameter.string)'") }
            given.append(value)
        }
        return try test.body(self, value, given)
    }

    func call(_ value: Value, _ arguments: Arguments) throws(Fault) -> Value {
        switch value {
        case .function(let function): return try function.call(self, arguments)
        case .loop(let loop): return try loop.call(arguments, self)
        case .undefined(let undefined): throw fail(undefined.message)
        default: throw fail("'\(value.typeName)' object is not callable")
        }
    }
}
