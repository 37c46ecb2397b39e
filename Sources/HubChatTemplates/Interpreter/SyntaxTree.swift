extension Jinja {
    /// A parsed template.
    struct Program: Sendable {
        var body: Body
        /// All names, indexed by number.
        var names: [String]
        /// The blocks of `self` by name, with names resolved.
        var blocks: [Text: Block] = [:]
    }

    /// Statements with their own scope.
    struct Body: Sendable {
        var statements: [Statement]
        /// The names that are unset at its start, even if an enclosing scope has them.
        var unset: [Int] = []
    }

    /// Numbers of names with a special meaning.
    enum SpecialName {
        static let all = ["loop", "caller", "varargs", "kwargs"]
        static let loop = 0
        static let caller = 1
        static let varargs = 2
        static let kwargs = 3
    }

    struct Statement: Sendable {
        var line: Int
        var kind: Kind

        indirect enum Kind: Sendable {
            case text(Text)
            case output([Expression])
            case loop(ForLoop)
            /// The first body whose condition holds; the last has none if there is an `else`.
            case choice([(condition: Expression?, body: [Statement])])
            case set(Target, Expression)
            case setBlock(Target, filters: [Suffix], Body)
            case macro(name: Int, MacroBody)
            case callBlock(MacroBody, Expression)
            case filterBlock([Suffix], Body)
            case with([(target: Target, value: Expression)], Body)
            case block(Block)
            case generation(MacroBody)
            case exit(Flow)
            /// Jinja that no chat template can use: ends the rendering when reached.
            case refused(String)
        }
    }

    /// How a body ends.
    enum Flow: Sendable {
        case normal
        case breakLoop
        case continueLoop
    }

    struct ForLoop: Sendable {
        var target: Target
        var sequence: Expression
        var condition: Expression?
        var isRecursive: Bool
        var body: Body
        var otherwise: Body
    }

    struct Block: Sendable {
        var name: String
        /// Whether it sees the enclosing variables.
        var isScoped: Bool
        /// Whether another template must fill it.
        var isRequired: Bool
        var body: Body
    }

    struct MacroBody: Sendable {
        /// Its name in messages; nil for the body of a call block.
        var name: String?
        var parameters: [(name: Int, fallback: Expression?)]
        var body: Body
        var usesCaller: Bool
        var usesVarargs: Bool
        var usesKwargs: Bool
    }

    indirect enum Target: Sendable {
        case name(Int)
        case attribute(of: Int, Text)
        case tuple([Target])
    }

    indirect enum Expression: Sendable {
        case constant(Constant)
        case name(Int)
        case list([Expression])
        case tuple([Expression])
        case dictionary([(key: Expression, value: Expression)])
        case condition(test: Expression, then: Expression, otherwise: Expression?, line: Int)
        case and([Expression])
        case or([Expression])
        case not(Expression)
        case compare(Expression, [(operation: Comparison, operand: Expression)])
        /// Operations of one precedence, left to right.
        case arithmetic(Expression, [(operation: Arithmetic, operand: Expression)])
        case join([Expression])
        case signed(isNegative: Bool, Expression)
        case chain(Expression, [Suffix])
    }

    enum Constant: Sendable {
        case none
        case bool(Bool)
        case int(Int)
        case float(Double)
        case string(Text)
    }

    enum Comparison: String, Sendable {
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case contained = "in"
        case notContained = "not in"
    }

    enum Arithmetic: String, Sendable {
        case add = "+"
        case subtract = "-"
        case multiply = "*"
        case divide = "/"
        case floorDivide = "//"
        case remainder = "%"
        case power = "**"
    }

    /// A suffix of a value: `.name`, `[...]`, `(...)`, `| filter`, `is test`.
    struct Suffix: Sendable {
        var line: Int
        var kind: Kind

        indirect enum Kind: Sendable {
            case attribute(Text)
            case item(Expression)
            case slice(start: Expression?, stop: Expression?, step: Expression?)
            case call(CallArguments)
            case filter(String, Filter?, CallArguments)
            case test(String, Test?, CallArguments, isNegated: Bool)
        }
    }

    struct CallArguments: Sendable {
        var positional: [Expression] = []
        var keywords: [(name: Text, value: Expression)] = []
        var spread: Expression?
        var keywordSpread: Expression?
    }
}
