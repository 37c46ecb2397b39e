/// Text that is marked as safe for HTML, as in markupsafe: text combined with it by `+`, `%` or its methods is escaped.
/// https://github.com/pallets/markupsafe/blob/3.0.4/src/markupsafe/__init__.py
extension Jinja.Text {
    var marked: Text { marked(true) }
    var plain: Text { marked(false) }

    func marked(_ isMarkup: Bool) -> Text {
        var result = self
        result.isMarkup = isMarkup
        return result
    }

    var escapedCount: Int { scalars.reduce(0) { $0 + ($1.htmlEscape?.count ?? 1) } }

    func escaped() -> Text {
        var result: [Unicode.Scalar] = []
        result.reserveCapacity(escapedCount)
        for scalar in scalars {
            if let escape = scalar.htmlEscape { result += escape.scalars } else { result.append(scalar) }
        }
        return Text(result)
    }
}

extension Unicode.Scalar {
    fileprivate var htmlEscape: Jinja.Text? {
        switch self {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        case "'": "&#39;"
        case "\"": "&#34;"
        default: nil
        }
    }
}

extension Jinja.Value {
    var isMarkup: Bool { text?.isMarkup ?? false }

    /// Marks a string, or the strings in a list or tuple, as safe.
    fileprivate func marked(_ run: Jinja.Run) throws(Jinja.Fault) -> Value {
        switch self {
        case .string(let text): return .string(text.marked)
        case .list(let items): return try run.list(items.values.map(\.markedText))
        case .tuple(let items): return try run.tuple(items.values.map(\.markedText))
        default: return self
        }
    }

    private var markedText: Value { text.map { .string($0.marked) } ?? self }
}

extension Jinja.Run {
    /// `escape(value)`: marked text stays unchanged.
    func escaped(_ value: Value) throws(Fault) -> Text {
        if case .string(let text) = value, text.isMarkup { return text }
        let text = try text(of: value)
        try spend(characters: text.count)
        try reserve(text.escapedCount)
        return text.escaped().marked
    }

    /// The method of a marked text: escapes unmarked arguments and returns marked text.
    func markedMethod(_ name: Text, _ text: Text) throws(Fault) -> Value? {
        if name == "unescape" || name == "striptags" {
            throw unsupported("the method \(name.string)() of a text that is marked as safe")
        }
        if name == "escape" {
            return .function(
                Jinja.Function("escape") { run, arguments throws(Fault) in
                    guard let value = try arguments.bound("escape", ["s"], run)[0] else {
                        throw run.fail("escape() needs a value")
                    }
                    return .string(try run.escaped(value))
                })
        }
        guard let method = Jinja.stringMethods[name] ?? Jinja.translationMethods[name] else { return nil }
        let gives = Self.markedResults.contains(name)
        return .function(
            Jinja.Function(name.string) { run, arguments throws(Fault) in
                var arguments = arguments
                try run.escape(&arguments, of: name)
                // Formats escape their arguments if marked.
                let isFormat = name == "format" || name == "format_map"
                let result = try method(run, isFormat ? text : text.plain, arguments)
                return gives ? try result.marked(run) : result
            })
    }

    private static let markedResults: Set<Text> = [
        "capitalize", "title", "lower", "upper", "swapcase", "casefold", "strip", "lstrip", "rstrip", "translate",
        "expandtabs", "zfill", "removeprefix", "removesuffix", "split", "rsplit", "splitlines", "partition",
        "rpartition", "replace", "ljust", "rjust", "center", "join", "format", "format_map",
    ]

    private func escape(_ arguments: inout Arguments, of method: Text) throws(Fault) {
        switch method {
        case "replace", "ljust", "rjust", "center":
            guard arguments.positional.count > 1, arguments.positional[1].text != nil else { return }
            arguments.positional[1] = .string(try escaped(arguments.positional[1]))
        case "join":
            guard let values = arguments.positional.first else { return }
            var parts: [Value] = []
            for value in try elements(values, orElse: "can only join an iterable") {
                parts.append(.string(try escaped(value)))
            }
            arguments.positional[0] = try list(parts)
        default: break
        }
    }
}
