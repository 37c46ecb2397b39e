extension Jinja {
    /// One piece of a template.
    struct Token: Sendable {
        enum Kind: Sendable, Equatable {
            /// Text between tags.
            case data(Text)
            /// `{{`
            case variableBegin
            /// `}}`
            case variableEnd
            /// `{%`
            case blockBegin
            /// `%}`
            case blockEnd
            case name(String)
            case string(Text)
            case integer(Int)
            case float(Double)
            case symbol(Symbol)
            case end
        }

        var kind: Kind
        /// From 1.
        var line: Int

        /// Its name in Jinja's messages.
        var description: String {
            switch kind {
            case .data: "template data / text"
            case .variableBegin: "begin of print statement"
            case .variableEnd: "end of print statement"
            case .blockBegin: "begin of statement block"
            case .blockEnd: "end of statement block"
            case .name(let name): name
            case .string: "string"
            case .integer: "integer"
            case .float: "float"
            case .symbol(let symbol): symbol.rawValue
            case .end: "end of template"
            }
        }
    }

    enum Symbol: String, Sendable, CaseIterable {
        case floorDivide = "//"
        case power = "**"
        case equal = "=="
        case notEqual = "!="
        case greaterOrEqual = ">="
        case lessOrEqual = "<="
        case plus = "+"
        case minus = "-"
        case divide = "/"
        case times = "*"
        case remainder = "%"
        case tilde = "~"
        case openBracket = "["
        case closeBracket = "]"
        case openParenthesis = "("
        case closeParenthesis = ")"
        case openBrace = "{"
        case closeBrace = "}"
        case greater = ">"
        case less = "<"
        case assign = "="
        case dot = "."
        case colon = ":"
        case pipe = "|"
        case comma = ","
        case semicolon = ";"

        private static let bySpelling = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })

        /// The longest symbol at an offset.
        static func match(_ source: [Unicode.Scalar], _ at: Int) -> Symbol? {
            guard source[at].isASCII else { return nil }
            if at + 1 < source.count, source[at + 1].isASCII,
                let two = bySpelling["\(source[at])\(source[at + 1])"]
            {
                return two
            }
            return bySpelling[String(source[at])]
        }

        /// The closing bracket of an opening one.
        var closing: Symbol? {
            switch self {
            case .openBracket: .closeBracket
            case .openParenthesis: .closeParenthesis
            case .openBrace: .closeBrace
            default: nil
            }
        }

        var isClosing: Bool { self == .closeBracket || self == .closeParenthesis || self == .closeBrace }
    }
}
