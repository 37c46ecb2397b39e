extension Jinja {
    /// Splits a template into tokens and handles white space around tags as `trim_blocks` and `lstrip_blocks` do.
    struct Lexer {
        let source: [Unicode.Scalar]
        var at = 0
        var line = 1
        private var tokens: [Token] = []

        static func tokens(of template: String) throws(Fault) -> [Token] {
            var lexer = Lexer(template)
            return try lexer.run()
        }

        private init(_ template: String) {
            var scalars: [Unicode.Scalar] = []
            scalars.reserveCapacity(template.utf8.count)
            var isAfterReturn = false
            for scalar in template.unicodeScalars {
                if scalar == "\r" || scalar == "\n" {
                    if !(isAfterReturn && scalar == "\n") { scalars.append("\n") }
                } else {
                    scalars.append(scalar)
                }
                isAfterReturn = scalar == "\r"
            }
            // Drops one trailing line break.
            if scalars.last == "\n" { scalars.removeLast() }
            source = scalars
        }

        private mutating func run() throws(Fault) -> [Token] {
            while at < source.count {
                guard let tag = nextTag() else {
                    add(.data(Text(source[at...])))
                    at = source.count
                    break
                }
                addText(before: tag)
                at = tag.contents
                switch tag.kind {
                case .comment: try skipComment()
                case .raw: try takeRaw()
                case .variable: try takeTag(.variableBegin, .variableEnd)
                case .block: try takeTag(.blockBegin, .blockEnd)
                }
            }
            add(.end)
            return tokens
        }

        private mutating func add(_ kind: Token.Kind) {
            if case .data(let text) = kind, text.isEmpty { return }
            tokens.append(Token(kind: kind, line: line))
        }

        func fail(_ message: String) -> Fault { Fault(kind: .syntax, message: message, line: line) }
    }
}

// MARK: - Tags

extension Jinja.Lexer {
    private enum TagKind { case variable, block, comment, raw }

    private struct Tag {
        var kind: TagKind
        /// Offset of the opening brace.
        var start: Int
        /// `-`, `+` or none, right after the brace.
        var sign: Unicode.Scalar?
        /// Offset of the contents.
        var contents: Int
    }

    private func scalar(_ at: Int) -> Unicode.Scalar? { at < source.count ? source[at] : nil }

    private func nextTag() -> Tag? {
        var place = at
        while place + 1 < source.count {
            if source[place] == "{", let tag = tag(place) { return tag }
            place += 1
        }
        return nil
    }

    private func tag(_ start: Int) -> Tag? {
        let sign = scalar(start + 2).flatMap { $0 == "-" || $0 == "+" ? $0 : nil }
        let contents = start + (sign == nil ? 2 : 3)
        switch source[start + 1] {
        case "{": return Tag(kind: .variable, start: start, sign: sign, contents: contents)
        case "#": return Tag(kind: .comment, start: start, sign: sign, contents: contents)
        case "%":
            if let end = rawEnd(contents) { return Tag(kind: .raw, start: start, sign: sign, contents: end) }
            return Tag(kind: .block, start: start, sign: sign, contents: contents)
        default: return nil
        }
    }

    /// The offset after `raw %}`, if that comes next.
    private func rawEnd(_ start: Int) -> Int? {
        let place = spaceEnd(keywordEnd("raw", spaceEnd(start)) ?? source.count)
        if scalar(place) == "-", scalar(place + 1) == "%", scalar(place + 2) == "}" { return spaceEnd(place + 3) }
        return scalar(place) == "%" && scalar(place + 1) == "}" ? place + 2 : nil
    }

    private func keywordEnd(_ word: String, _ start: Int) -> Int? {
        var place = start
        for letter in word.unicodeScalars {
            guard scalar(place) == letter else { return nil }
            place += 1
        }
        return place
    }

    private func spaceEnd(_ start: Int) -> Int {
        var place = start
        while place < source.count, source[place].isPythonSpace { place += 1 }
        return place
    }

    /// Adds the text up to a tag, less the white space that the tag's sign or `lstrip_blocks` strips.
    private mutating func addText(before tag: Tag) {
        var end = tag.start
        if tag.sign == "-" {
            while end > at, source[end - 1].isPythonSpace { end -= 1 }
        } else if tag.sign == nil, tag.kind != .variable {
            end = indentationStart(before: tag.start)
        }
        add(.data(Jinja.Text(source[at..<end])))
        line += newlines(at..<tag.start)
        line += newlines(tag.start..<tag.contents)
    }

    /// The start of the tag's line if only white space precedes the tag, else the tag's offset.
    private func indentationStart(before tag: Int) -> Int {
        var place = tag
        while place > at, source[place - 1] != "\n" {
            guard source[place - 1].isPythonSpace else { return tag }
            place -= 1
        }
        let startsLine = place > at || at == 0 || source[at - 1] == "\n"
        return startsLine ? place : tag
    }

    private func newlines(_ range: Range<Int>) -> Int {
        source[range].reduce(0) { $0 + ($1 == "\n" ? 1 : 0) }
    }

    private mutating func advance(to place: Int) {
        line += newlines(at..<place)
        at = place
    }

    /// The offset after a closing `%}` or `#}` and the white space it strips; nil if there is none.
    private func blockEnd(_ place: Int, _ mark: Unicode.Scalar) -> Int? {
        switch scalar(place) {
        case "-" where scalar(place + 1) == mark && scalar(place + 2) == "}": spaceEnd(place + 3)
        case "+" where scalar(place + 1) == mark && scalar(place + 2) == "}": place + 3
        case mark where scalar(place + 1) == "}": scalar(place + 2) == "\n" ? place + 3 : place + 2
        default: nil
        }
    }

    private mutating func skipComment() throws(Jinja.Fault) {
        for place in at..<max(at, source.count) {
            guard let end = blockEnd(place, "#") else { continue }
            return advance(to: end)
        }
        throw fail("Missing end of comment tag")
    }

    private mutating func takeRaw() throws(Jinja.Fault) {
        let start = at
        for place in start..<max(start, source.count) where source[place] == "{" && scalar(place + 1) == "%" {
            guard let tag = tag(place), tag.kind == .block,
                let word = keywordEnd("endraw", spaceEnd(tag.contents)), let end = blockEnd(spaceEnd(word), "%")
            else { continue }
            addText(before: Tag(kind: .raw, start: place, sign: tag.sign, contents: place))
            at = place
            return advance(to: end)
        }
        throw fail("Missing end of raw directive")
    }

    /// The tokens of one tag. Its closing mark counts only where all brackets are closed.
    private mutating func takeTag(_ begin: Jinja.Token.Kind, _ end: Jinja.Token.Kind) throws(Jinja.Fault) {
        add(begin)
        var open: [Jinja.Symbol] = []
        while at < source.count {
            if open.isEmpty, let place = begin == .blockBegin ? blockEnd(at, "%") : variableEnd(at) {
                add(end)
                return advance(to: place)
            }
            if source[at].isPythonSpace {
                advance(to: spaceEnd(at))
            } else if try !takeNumber(), try !takeName(), try !takeString() {
                try takeSymbol(&open)
            }
        }
    }

    private func variableEnd(_ place: Int) -> Int? {
        if scalar(place) == "-", scalar(place + 1) == "}", scalar(place + 2) == "}" { return spaceEnd(place + 3) }
        return scalar(place) == "}" && scalar(place + 1) == "}" ? place + 2 : nil
    }

    private mutating func takeSymbol(_ open: inout [Jinja.Symbol]) throws(Jinja.Fault) {
        guard let symbol = Jinja.Symbol.match(source, at) else {
            throw fail("unexpected char \(Jinja.Text([source[at]]).quoted.string) at \(at)")
        }
        if let closing = symbol.closing {
            open.append(closing)
        } else if symbol.isClosing {
            guard let expected = open.popLast() else { throw fail("unexpected '\(symbol.rawValue)'") }
            guard expected == symbol else {
                throw fail("unexpected '\(symbol.rawValue)', expected '\(expected.rawValue)'")
            }
        }
        add(.symbol(symbol))
        at += symbol.rawValue.unicodeScalars.count
    }

    mutating func take(_ kind: Jinja.Token.Kind, to place: Int) {
        add(kind)
        advance(to: place)
    }
}
