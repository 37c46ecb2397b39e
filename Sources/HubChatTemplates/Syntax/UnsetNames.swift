extension Jinja {
    /// Finds the names that are unset at the start of each body of a program.
    ///
    /// Jinja resolves names when it compiles: a name that a body sets before reading it, and that no enclosing body
    /// knows, is undefined until then, also for inner bodies that come earlier.
    /// https://github.com/pallets/jinja/blob/3.1.6/src/jinja2/idtracking.py
    enum UnsetNames {
        /// A program's outermost body, resolved recursively.
        static func settled(_ statements: [Statement]) -> Body {
            settled(Body(statements: statements), within: nil, parameters: [])
        }

        /// The blocks of a settled program by name, at any depth.
        static func blocks(of body: Body) -> [Text: Block] {
            var found: [Text: Block] = [:]
            func search(_ statements: [Statement]) {
                for statement in statements {
                    switch statement.kind {
                    case .text, .output, .set, .exit, .refused: break
                    case .choice(let branches): branches.forEach { search($0.body) }
                    case .loop(let loop):
                        search(loop.body.statements)
                        search(loop.otherwise.statements)
                    case .setBlock(_, _, let body), .filterBlock(_, let body), .with(_, let body):
                        search(body.statements)
                    case .macro(_, let macro), .callBlock(let macro, _), .generation(let macro):
                        search(macro.body.statements)
                    case .block(let block):
                        found[Text(block.name)] = block
                        search(block.body.statements)
                    }
                }
            }
            search(body.statements)
            return found
        }

        private static func settled(_ body: Body, within outer: BodyNames?, parameters: Set<Int>) -> Body {
            let names = BodyNames(outer, parameters)
            names.visit(body.statements)
            return Body(statements: settled(body.statements, names), unset: names.unset)
        }

        private static func settled(_ statements: [Statement], _ names: BodyNames) -> [Statement] {
            statements.map { Statement(line: $0.line, kind: settled($0.kind, names)) }
        }

        private static func settled(_ kind: Statement.Kind, _ names: BodyNames) -> Statement.Kind {
            switch kind {
            case .text, .output, .set, .exit, .refused: return kind
            case .choice(let branches):
                return .choice(branches.map { ($0.condition, settled($0.body, names)) })
            case .loop(var loop):
                let parameters = Set(loop.target.names + [SpecialName.loop])
                loop.body = settled(loop.body, within: names, parameters: parameters)
                loop.otherwise = settled(loop.otherwise, within: names, parameters: [])
                return .loop(loop)
            case .setBlock(let target, let filters, let body):
                return .setBlock(target, filters: filters, settled(body, within: names, parameters: []))
            case .macro(let name, let body): return .macro(name: name, settled(body, names))
            case .callBlock(let body, let call): return .callBlock(settled(body, names), call)
            case .generation(let body): return .generation(settled(body, names))
            case .filterBlock(let filters, let body):
                return .filterBlock(filters, settled(body, within: names, parameters: []))
            case .with(let pairs, let body):
                let parameters = Set(pairs.flatMap(\.target.names))
                return .with(pairs, settled(body, within: names, parameters: parameters))
            case .block(var block):
                // A block sees no enclosing names.
                block.body = settled(block.body, within: nil, parameters: [])
                return .block(block)
            }
        }

        private static func settled(_ macro: MacroBody, _ outer: BodyNames) -> MacroBody {
            var result = macro
            var parameters = Set(macro.parameters.map(\.name))
            if macro.usesCaller { parameters.insert(SpecialName.caller) }
            if macro.usesVarargs { parameters.insert(SpecialName.varargs) }
            if macro.usesKwargs { parameters.insert(SpecialName.kwargs) }
            let names = BodyNames(outer, parameters)
            for parameter in macro.parameters { names.load(parameter.fallback) }
            names.visit(macro.body.statements)
            result.body = Body(statements: settled(macro.body.statements, names), unset: names.unset)
            return result
        }
    }
}

extension Jinja.Target {
    /// The assigned names, nested tuples included.
    fileprivate var names: [Int] {
        switch self {
        case .name(let name): [name]
        case .attribute: []
        case .tuple(let targets): targets.flatMap(\.names)
        }
    }
}

/// The names that occur in one body, inner bodies excluded.
private final class BodyNames {
    typealias Expression = Jinja.Expression

    private let outer: BodyNames?
    private var known: Set<Int>
    private(set) var unset: [Int] = []
    /// Whether the visited code may be skipped at run time.
    private var isInBranch = false

    init(_ outer: BodyNames?, _ parameters: Set<Int>) {
        self.outer = outer
        known = parameters
    }

    private func isKnown(_ name: Int) -> Bool { known.contains(name) || (outer?.isKnown(name) ?? false) }

    private func store(_ name: Int) {
        guard !known.contains(name) else { return }
        if !isInBranch, !isKnown(name) { unset.append(name) }
        known.insert(name)
    }

    private func store(_ target: Jinja.Target) {
        switch target {
        case .name(let name): store(name)
        case .attribute(let owner, _): load(owner)
        case .tuple(let targets): targets.forEach(store)
        }
    }

    private func load(_ name: Int) {
        if !isKnown(name) { known.insert(name) }
    }

    func visit(_ statements: [Jinja.Statement]) {
        for statement in statements {
            switch statement.kind {
            case .text, .exit, .refused, .block, .generation: break
            case .output(let values): load(values)
            case .loop(let loop): load(loop.sequence)
            case .choice(let branches):
                let isInside = isInBranch
                for branch in branches {
                    load(branch.condition)
                    isInBranch = true
                    visit(branch.body)
                }
                isInBranch = isInside
            case .set(let target, let value):
                load(value)
                store(target)
            case .setBlock(let target, _, _): store(target)
            case .macro(let name, _): store(name)
            case .callBlock(_, let call): load(call)
            case .filterBlock(let filters, _): load(filters)
            case .with(let pairs, _): load(pairs.map(\.value))
            }
        }
    }

    // MARK: Expressions

    func load(_ expression: Expression?) {
        switch expression {
        case nil, .constant: break
        case .name(let name): load(name)
        case .list(let items), .tuple(let items), .and(let items), .or(let items), .join(let items): load(items)
        case .dictionary(let pairs):
            for pair in pairs { load([pair.key, pair.value]) }
        case .condition(let test, let then, let otherwise, _):
            load([test, then])
            load(otherwise)
        case .not(let operand), .signed(_, let operand): load(operand)
        case .compare(let first, let rest):
            load(first)
            load(rest.map(\.operand))
        case .arithmetic(let first, let rest):
            load(first)
            load(rest.map(\.operand))
        case .chain(let base, let suffixes):
            load(base)
            load(suffixes)
        }
    }

    private func load(_ expressions: [Expression]) {
        for expression in expressions { load(expression) }
    }

    private func load(_ suffixes: [Jinja.Suffix]) {
        for suffix in suffixes {
            switch suffix.kind {
            case .attribute: break
            case .item(let index): load(index)
            case .slice(let start, let stop, let step):
                load(start)
                load(stop)
                load(step)
            case .call(let arguments), .filter(_, _, let arguments), .test(_, _, let arguments, _):
                load(arguments.positional)
                load(arguments.keywords.map(\.value))
                load(arguments.spread)
                load(arguments.keywordSpread)
            }
        }
    }
}
