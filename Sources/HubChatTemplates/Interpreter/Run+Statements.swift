extension Jinja.Run {
    typealias Scope = Jinja.Scope
    typealias Statement = Jinja.Statement
    typealias Flow = Jinja.Flow

    /// Runs statements until one breaks out.
    func run(_ statements: [Statement], _ scope: Scope) throws(Fault) -> Flow {
        try enter()
        defer { leave() }
        for statement in statements {
            let flow = try run(statement, scope)
            if flow != .normal { return flow }
        }
        return .normal
    }

    /// Runs a body in its scope.
    func run(_ body: Jinja.Body, _ scope: Scope) throws(Fault) -> Flow {
        try spend(body.unset.count)
        for name in body.unset { scope.set(name, .undefined(.name(names[name]))) }
        return try run(body.statements, scope)
    }

    private func run(_ statement: Statement, _ scope: Scope) throws(Fault) -> Flow {
        line = statement.line
        switch statement.kind {
        case .text(let text): try write(text)
        case .output(let values): try write(values, scope)
        case .loop(let loop): return try run(loop, scope)
        case .choice(let branches): return try choose(branches, scope)
        case .set(let target, let value): try assign(target, try evaluate(value, scope), scope)
        case .setBlock(let target, let filters, let body):
            try assign(target, try captured(body, filters, scope), scope)
        case .macro(let name, let body): set(name, try macro(body, scope), scope)
        case .callBlock(let body, let call): try runCall(body, call, scope)
        case .filterBlock(let filters, let body): try write(try text(of: captured(body, filters, scope)))
        case .with(let pairs, let body): return try runWith(pairs, body, scope)
        case .block(let block): return try run(block, scope)
        case .generation(let body): try generate(body, scope)
        case .exit(let flow): return flow
        case .refused(let tag): throw unsupported("a chat template cannot use '\(tag)'")
        }
        return .normal
    }

    // MARK: Output

    private func write(_ text: Text) throws(Fault) {
        try reserve(text.count)
        output += text.scalars
    }

    private func write(_ values: [Jinja.Expression], _ scope: Scope) throws(Fault) {
        for value in values { try write(try text(of: evaluate(value, scope))) }
    }

    /// The output of a body as a string. `break` cannot leave the body.
    func captured(_ scope: Scope, _ body: (Scope) throws(Fault) -> Void) throws(Fault) -> Text {
        let outside = output
        let isOutermost = outerCount == nil
        if isOutermost { outerCount = outside.count }
        output = []
        defer {
            output = outside
            if isOutermost { outerCount = nil }
        }
        try body(Scope(scope))
        return Text(output)
    }

    private func captured(_ body: Jinja.Body, _ filters: [Jinja.Suffix], _ scope: Scope) throws(Fault) -> Value {
        let inner = Scope(scope)
        let text = try captured(inner) { scope throws(Fault) in _ = try run(body, inner) }
        var value = Value.string(text)
        for filter in filters { value = try apply(filter, to: value, inner) }
        return value
    }

    /// A generation block: the text to train on. Transformers takes its start from the length of the template's main
    /// output, even inside a capture.
    private func generate(_ body: Jinja.MacroBody, _ scope: Scope) throws(Fault) {
        let inner = Scope(scope)
        try bind(Arguments(), of: body, inner)
        let text = try captured(inner) { _ throws(Fault) in _ = try run(body.body, inner) }
        let start = outerCount ?? output.count
        generated.append(start..<start + text.count)
        try write(text)
    }

    // MARK: Loops and choices

    private func choose(
        _ branches: [(condition: Jinja.Expression?, body: [Statement])], _ scope: Scope
    ) throws(Fault) -> Flow {
        for branch in branches {
            if let condition = branch.condition, try !evaluate(condition, scope).isTrue { continue }
            return try run(branch.body, scope)
        }
        return .normal
    }

    private func run(_ loop: Jinja.ForLoop, _ scope: Scope) throws(Fault) -> Flow {
        let sequence = try evaluate(loop.sequence, scope)
        guard loop.isRecursive else { return try run(loop, over: sequence, scope, level: 0) }
        try write(try recurse(loop, sequence, scope, level: 0))
        return .normal
    }

    /// The output of a recursive loop for some values.
    func recurse(_ loop: Jinja.ForLoop, _ sequence: Value, _ scope: Scope, level: Int) throws(Fault) -> Text {
        try captured(scope) { scope throws(Fault) in _ = try run(loop, over: sequence, scope, level: level) }
    }

    private func run(
        _ loop: Jinja.ForLoop, over sequence: Value, _ scope: Scope, level: Int
    ) throws(Fault) -> Flow {
        try enter()
        defer { leave() }
        let state = Jinja.Loop(try cursor(sequence), loop, scope, level: level)
        defer { state.end() }
        var isCompleted = false
        // Each value is tested just before its iteration: the body may change the condition's variables.
        while let value = try state.advance(self) {
            let inner = Scope(scope)
            inner.set(Jinja.SpecialName.loop, .loop(state))
            try assign(loop.target, value, inner)
            let flow = try run(loop.body, inner)
            if flow == .normal { isCompleted = true }
            if flow == .breakLoop { break }
        }
        // As in Jinja, an iteration that was left early does not count.
        if !isCompleted, !loop.otherwise.statements.isEmpty { return try run(loop.otherwise, Scope(scope)) }
        return .normal
    }

    private func runWith(
        _ pairs: [(target: Jinja.Target, value: Jinja.Expression)], _ body: Jinja.Body, _ scope: Scope
    ) throws(Fault) -> Flow {
        let inner = Scope(scope)
        // No value sees the names of the others.
        for pair in pairs { try assign(pair.target, try evaluate(pair.value, scope), inner) }
        return try run(body, inner)
    }

    // MARK: Blocks

    /// Without a parent template, a block is rendered in place. Unless scoped, it sees only global variables.
    private func run(_ block: Jinja.Block, _ scope: Scope) throws(Fault) -> Flow {
        if block.isRequired { throw fail("Required block '\(block.name)' not found") }
        return try run(block.body, Scope(block.isScoped ? try seen(from: scope) : context))
    }

    /// The variables of a scoped block: unset names shadow nothing.
    private func seen(from scope: Scope) throws(Fault) -> Scope {
        let result = Scope(context)
        var next: Scope? = scope
        while let here = next, here !== context {
            try spend(here.count)
            here.forEach { name, value in
                if case .undefined(.name) = value { return }
                if !result.holds(name) { result.set(name, value) }
            }
            next = here.parent
        }
        return result
    }

    /// `self`: the blocks of the template by name, each rendered without its surroundings.
    static func blocks(_ blocks: [Text: Jinja.Block]) -> Value {
        let function = Jinja.Function("self") { run, _ throws(Fault) in
            throw run.fail("'TemplateReference' object is not callable")
        }
        function.attribute = { name in
            guard let block = blocks[name] else { return nil }
            return .function(
                Jinja.Function(block.name) { run, arguments throws(Fault) in
                    _ = try arguments.bound(block.name, [], run)
                    return .string(
                        try run.captured(run.context) { scope throws(Fault) in _ = try run.run(block.body, scope) })
                })
        }
        return .function(function)
    }

    // MARK: Assignments

    func assign(_ target: Jinja.Target, _ value: Value, _ scope: Scope) throws(Fault) {
        switch target {
        case .name(let name):
            try spend(1)
            set(name, value, scope)
        case .attribute(let owner, let name):
            guard case .namespace(let namespace) = try variable(owner, scope) else {
                throw fail("cannot assign attribute on non-namespace object")
            }
            try set(name, value, of: namespace)
        case .tuple(let targets):
            let values = try elements(value, orElse: "cannot unpack non-iterable \(value.typeName) object")
            guard values.count >= targets.count else {
                throw fail("not enough values to unpack (expected \(targets.count), got \(values.count))")
            }
            guard values.count == targets.count else {
                throw fail("too many values to unpack (expected \(targets.count))")
            }
            for (target, value) in zip(targets, values) { try assign(target, value, scope) }
        }
    }

    private func set(_ name: Int, _ value: Value, _ scope: Scope) {
        scope.set(name, value)
        if scope === root { context.set(name, value) }
    }

    func set(_ name: Text, _ value: Value, of namespace: Jinja.Namespace) throws(Fault) {
        guard name.scalars.first != "_" else {
            throw fail("a namespace cannot hold the name '\(name.string)', which begins with an underscore")
        }
        try spend(hashing: name)
        try spend(cells: namespace.members[name] == nil ? 6 : 0)
        namespace.set(name, value)
    }
}
