extension Jinja {
    static let filters: [String: Filter] = {
        var all = textFilters
        all.merge(numberFilters) { first, _ in first }
        all.merge(sequenceFilters) { first, _ in first }
        all.merge(choiceFilters) { first, _ in first }
        for (alias, name) in [("d", "default"), ("count", "length"), ("e", "escape")] {
            all[alias] = all[name]
        }
        for name in ["urlize", "wordwrap", "pprint", "striptags"] {
            all[name] = .open { run, _, _ throws(Fault) in
                throw run.unsupported("the filter '\(name)' cannot be used in a chat template here")
            }
        }
        return all
    }()

    /// A filter that takes `str` of its value.
    private static func text(
        _ parameters: [Text] = [], _ body: @escaping @Sendable (Run, Text, [Value?]) throws(Fault) -> Value
    ) -> Filter {
        .fixed(parameters) { run, value, given throws(Fault) in
            let text = try run.text(of: value)
            try run.spend(characters: text.count)
            return try body(run, text, given)
        }
    }

    /// A filter that keeps a string's markup mark.
    private static func soft(
        _ parameters: [Text] = [], _ body: @escaping @Sendable (Run, Text, [Value?]) throws(Fault) -> Value
    ) -> Filter {
        .fixed(parameters) { run, value, given throws(Fault) in
            let text = try run.text(of: value)
            try run.spend(characters: text.count)
            let result = try body(run, text, given)
            return result.text.map { .string($0.marked(value.isMarkup)) } ?? result
        }
    }

    private static let textFilters: [String: Filter] = [
        "upper": soft { run, text, _ throws(Fault) in try run.changed(text) { $0.uppercased() } },
        "lower": soft { run, text, _ throws(Fault) in try run.changed(text) { $0.lowercased() } },
        "capitalize": soft { run, text, _ throws(Fault) in try run.changed(text) { $0.capitalized() } },
        "title": text { run, text, _ throws(Fault) in try run.changed(text) { $0.wordsCapitalized() } },
        "string": soft { _, text, _ throws(Fault) in .string(text) },
        "safe": text { _, text, _ throws(Fault) in .string(text.marked) },
        "escape": .fixed([]) { run, value, _ throws(Fault) in .string(try run.escaped(value)) },
        "forceescape": text { run, text, _ throws(Fault) in .string(try run.escaped(.string(text))) },
        "trim": soft(["chars"]) { run, text, given throws(Fault) in
            try run.strip(text, given[0], left: true, right: true)
        },
        "replace": text(["old", "new", "count"]) { run, text, given throws(Fault) in
            guard let old = given[0], let new = given[1] else {
                throw run.fail("the filter 'replace' needs what to replace and what by")
            }
            var count = -1
            if let given = given[2], !given.isNone { count = try run.whole(given, "count") ?? -1 }
            return try run.replace(text, try run.text(of: old), try run.text(of: new), count)
        },
        "center": soft(["width"]) { run, text, given throws(Fault) in
            try run.pad(text, try run.whole(given[0], "width") ?? 80, "^", " ")
        },
        "format": .open { run, value, arguments throws(Fault) in
            let format = try run.text(of: value).marked(value.isMarkup)
            guard !arguments.keywords.isEmpty else {
                return try run.printf(format, try run.tuple(arguments.positional))
            }
            guard arguments.positional.isEmpty else {
                throw run.fail("can't handle positional and keyword arguments at the same time")
            }
            let members = Dict()
            for keyword in arguments.keywords { try run.add(keyword.name, keyword.value, to: members) }
            return try run.printf(format, .dictionary(members))
        },
        "indent": .fixed(["width", "first", "blank"]) { run, value, given throws(Fault) in
            try run.indent(value, given[0], first: given[1]?.isTrue ?? false, blank: given[2]?.isTrue ?? false)
        },
        "truncate": .fixed(["length", "killwords", "end", "leeway"]) { run, value, given throws(Fault) in
            try run.truncate(value, given)
        },
        "wordcount": text { run, text, _ throws(Fault) in
            try run.spend(kindsOf: text.count)
            return .int(text.wordCount)
        },
        "urlencode": .fixed([]) { run, value, _ throws(Fault) in try run.urlEncoded(value) },
        "xmlattr": .fixed(["autospace"]) { run, value, given throws(Fault) in
            try run.attributes(value, startsWithSpace: given[0]?.isTrue ?? true)
        },
        "tojson": .fixed(["ensure_ascii", "indent", "separators", "sort_keys"]) { run, value, given throws(Fault) in
            .string(try run.json(value, try run.jsonStyle(given)))
        },
    ]
}

extension Jinja.Run {
    fileprivate func jsonStyle(_ given: [Value?]) throws(Fault) -> JSONStyle {
        var style = JSONStyle()
        style.escapesNonASCII = given[0]?.isTrue ?? false
        style.sortsKeys = given[3]?.isTrue ?? false
        switch given[1] {
        case nil, Value.none?: break
        case .string(let text)?: style.indent = text
        case let value?:
            guard let width = value.wholeNumber else {
                throw fail("can't multiply sequence by non-int of type '\(value.typeName)'")
            }
            try check(width: width)
            style.indent = Text([Unicode.Scalar](repeating: " ", count: max(0, width)))
        }
        if style.indent != nil { style.itemSeparator = "," }
        if let separators = given[2], !separators.isNone {
            let pair = try elements(separators)
            guard pair.count == 2, let item = pair[0].text, let key = pair[1].text else {
                throw fail("separators must be two strings")
            }
            style.itemSeparator = item
            style.keySeparator = key
        }
        return style
    }

    /// The value, which must already be a string.
    fileprivate func strictText(_ value: Value, _ filter: String) throws(Fault) -> Text {
        if case .undefined(let undefined) = value { throw fail(undefined.message) }
        guard let text = value.text else {
            throw fail("the filter '\(filter)' needs a string, not \(value.typeName)")
        }
        try spend(characters: text.count)
        return text
    }

    fileprivate func indent(_ value: Value, _ width: Value?, first: Bool, blank: Bool) throws(Fault) -> Value {
        let text = try strictText(value, "indent")
        var indentation = Text([Unicode.Scalar](repeating: " ", count: 4))
        if let given = width?.text {
            indentation = given
        } else if let count = try whole(width, "width") {
            try check(width: count)
            indentation = Text([Unicode.Scalar](repeating: " ", count: max(0, count)))
        }
        try spend(cells: 4 * text.lineBreaks)
        let lines = (text + "\n").lines()
        try reserve(text.count + (try product(indentation.count + 1, lines.count)))
        var result: [Unicode.Scalar] = first ? indentation.scalars : []
        for (place, line) in lines.enumerated() {
            if place > 0 {
                result.append("\n")
                if blank || !line.isEmpty { result += indentation.scalars }
            }
            result += line.scalars
        }
        return .string(Text(result).marked(text.isMarkup))
    }

    fileprivate func truncate(_ value: Value, _ given: [Value?]) throws(Fault) -> Value {
        let text = try strictText(value, "truncate")
        let length = try whole(given[0], "length") ?? 255
        let end = try self.text(given[2], "end") ?? "..."
        var leeway = 5
        if let asked = given[3], !asked.isNone { leeway = try whole(asked, "leeway") ?? 5 }
        guard length >= end.count else { throw fail("expected length >= \(end.count), got \(length)") }
        guard leeway >= 0 else { throw fail("expected leeway >= 0, got \(leeway)") }
        if text.count <= length || text.count - length <= leeway { return .string(text) }
        var kept = text.slice(0..<length - end.count)
        if !(given[1]?.isTrue ?? false), let space = kept.scalars.lastIndex(of: " ") {
            kept = kept.slice(0..<space)
        }
        return try calculate(.string(kept.marked(text.isMarkup)), .add, .string(end))
    }

    fileprivate func urlEncoded(_ value: Value) throws(Fault) -> Value {
        let pairs: [Value]
        switch value {
        case .dictionary(let members): pairs = try elements(.view(.items, members))
        case .list, .tuple, .view, .stream, .range, .undefined: pairs = try elements(value)
        default: return .string(try urlQuoted(try text(of: value), isQuery: false))
        }
        var parts: [Text] = []
        for pair in pairs {
            let members = try elements(pair)
            guard members.count == 2 else { throw fail("not enough values to unpack (expected 2)") }
            let name = try urlQuoted(try text(of: members[0]), isQuery: true)
            parts.append(name + "=" + (try urlQuoted(try text(of: members[1]), isQuery: true)))
        }
        return try joined(parts, "&")
    }

    private func urlQuoted(_ text: Text, isQuery: Bool) throws(Fault) -> Text {
        try spend(characters: text.count)
        try reserve(text.urlQuotedCount(isQuery: isQuery))
        return text.urlQuoted(isQuery: isQuery)
    }

    fileprivate func attributes(_ value: Value, startsWithSpace: Bool) throws(Fault) -> Value {
        guard case .dictionary(let members) = value else {
            throw fail("'\(value.typeName)' object has no attribute 'items'")
        }
        var parts: [Text] = []
        for (key, value) in zip(members.keys, members.values) where !value.isNone && !value.isUndefined {
            let name = try text(of: key)
            guard !name.scalars.contains(where: { "\t\n\u{B}\u{C}\r />=".unicodeScalars.contains($0) }) else {
                throw fail("Invalid character in attribute name: \(name.quoted.string)")
            }
            parts.append(try escaped(key) + "=\"" + (try escaped(value)) + "\"")
        }
        guard case .string(let text) = try joined(parts, " ") else { return .none }
        return try made(startsWithSpace && !text.isEmpty ? " " + text : text)
    }
}

extension Jinja.Text {
    /// As the filter `title`: capitalizes after white space, a hyphen or an opening bracket.
    fileprivate func wordsCapitalized() -> Text {
        var upper = CaseMapping(.upper)
        var result: [Unicode.Scalar] = []
        var start = 0
        func isBreak(_ at: Int) -> Bool {
            scalars[at].isPythonSpace || "-({[<".unicodeScalars.contains(scalars[at])
        }
        while start < count {
            var end = start + 1
            let breaks = isBreak(start)
            while end < count, isBreak(end) == breaks { end += 1 }
            if breaks {
                result += scalars[start..<end]
            } else {
                upper.append(scalars[start], to: &result)
                result += slice(start + 1..<end).lowercased().scalars
            }
            start = end
        }
        return Text(result)
    }

    fileprivate var wordCount: Int {
        var words = 0
        var isInWord = false
        for scalar in scalars {
            let isWord =
                scalar == "_"
                || scalar.properties.isAlphabetic && scalar.properties.generalCategory != .nonspacingMark
                || scalar.properties.numericType != nil
            if isWord, !isInWord { words += 1 }
            isInWord = isWord
        }
        return words
    }

    fileprivate func urlQuotedCount(isQuery: Bool) -> Int {
        scalars.reduce(0) { $0 + ($1.standsInURL(isQuery: isQuery) ? 1 : 3 * UTF8.width($1)) }
    }

    fileprivate func urlQuoted(isQuery: Bool) -> Text {
        let digits = Array("0123456789ABCDEF".unicodeScalars)
        var result: [Unicode.Scalar] = []
        result.reserveCapacity(urlQuotedCount(isQuery: isQuery))
        for scalar in scalars {
            if scalar.standsInURL(isQuery: isQuery) {
                result.append(scalar == " " ? "+" : scalar)
                continue
            }
            for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                result += ["%", digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return Text(result)
    }
}

extension Unicode.Scalar {
    /// Whether it is one character in a URL: itself, or a plus sign for a space.
    fileprivate func standsInURL(isQuery: Bool) -> Bool {
        switch self {
        case "0"..."9", "A"..."Z", "a"..."z", "_", ".", "-", "~": true
        case "/": !isQuery
        case " ": isQuery
        default: false
        }
    }
}
