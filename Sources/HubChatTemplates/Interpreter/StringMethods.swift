extension Jinja {
    static let stringMethods: [Text: Method<Text>] = [
        "upper": plain("upper") { $0.uppercased() },
        "lower": plain("lower") { $0.lowercased() },
        "capitalize": plain("capitalize") { $0.capitalized() },
        "title": plain("title") { $0.titled() },
        "swapcase": plain("swapcase") { $0.swappedCase() },
        "casefold": plain("casefold") { $0.caseFolded() },
        "strip": strip("strip", left: true, right: true),
        "lstrip": strip("lstrip", left: true, right: false),
        "rstrip": strip("rstrip", left: false, right: true),
        "split": { run, text, arguments throws(Fault) in try run.split(text, arguments, fromEnd: false) },
        "rsplit": { run, text, arguments throws(Fault) in try run.split(text, arguments, fromEnd: true) },
        "splitlines": { run, text, arguments throws(Fault) in
            let keeps = try arguments.bound("splitlines", ["keepends"], run)[0]?.isTrue ?? false
            try run.spend(characters: text.count)
            try run.spend(cells: 4 * text.lineBreaks)
            return try run.list(try run.texts(text.lines(keepingEnds: keeps)))
        },
        "replace": { run, text, arguments throws(Fault) in
            let given = try arguments.bound("replace", ["old", "new", "count"], run)
            guard let old = try run.text(given[0], "replace() argument 1"),
                let new = try run.text(given[1], "replace() argument 2")
            else { throw run.fail("replace expected at least 2 arguments") }
            return try run.replace(text, old, new, try run.whole(given[2], "replace() argument 3") ?? -1)
        },
        "join": { run, text, arguments throws(Fault) in
            guard let values = try arguments.bound("join", ["iterable"], run)[0] else {
                throw run.fail("join() takes exactly one argument (0 given)")
            }
            var parts: [Text] = []
            for (place, value) in try run.elements(values, orElse: "can only join an iterable").enumerated() {
                guard let part = value.text else {
                    throw run.fail("sequence item \(place): expected str instance, \(value.typeName) found")
                }
                parts.append(part)
            }
            return try run.joined(parts, text)
        },
        "startswith": ends("startswith", atEnd: false),
        "endswith": ends("endswith", atEnd: true),
        "find": search("find", fromEnd: false, mustFind: false),
        "rfind": search("rfind", fromEnd: true, mustFind: false),
        "index": search("index", fromEnd: false, mustFind: true),
        "rindex": search("rindex", fromEnd: true, mustFind: true),
        "count": { run, text, arguments throws(Fault) in
            let (needle, range) = try run.sought("count", text, arguments)
            guard let range else { return .int(0) }
            let matches = text.slice(range).matches(needle, limit: run.mostPieces).count
            try run.spend(cells: matches)
            return .int(matches)
        },
        "partition": { run, text, arguments throws(Fault) in try run.partition(text, arguments, fromEnd: false) },
        "rpartition": { run, text, arguments throws(Fault) in try run.partition(text, arguments, fromEnd: true) },
        "removeprefix": { run, text, arguments throws(Fault) in
            let prefix = try run.only(arguments, "removeprefix")
            try run.spend(characters: prefix.count)
            return text.hasPrefix(prefix, at: 0)
                ? try run.made(text.slice(prefix.count..<text.count)) : .string(text)
        },
        "removesuffix": { run, text, arguments throws(Fault) in
            let suffix = try run.only(arguments, "removesuffix")
            try run.spend(characters: suffix.count)
            let start = text.count - suffix.count
            guard start >= 0, text.hasPrefix(suffix, at: start) else { return .string(text) }
            return try run.made(text.slice(0..<start))
        },
        "center": pad("center", "^"),
        "ljust": pad("ljust", "<"),
        "rjust": pad("rjust", ">"),
        "zfill": { run, text, arguments throws(Fault) in
            let width = try run.whole(try arguments.bound("zfill", ["width"], run)[0], "zfill() argument") ?? 0
            try run.check(width: width)
            let hasSign = text.scalars.first == "-" || text.scalars.first == "+"
            let digits = hasSign ? text.slice(1..<text.count) : text
            let filled = try run.padded(digits, max(0, width) - (hasSign ? 1 : 0), ">", "0")
            return .string(hasSign ? text.slice(0..<1) + filled : filled)
        },
        "expandtabs": { run, text, arguments throws(Fault) in
            let given = try arguments.bound("expandtabs", ["tabsize"], run)[0]
            return try run.expandTabs(text, try run.whole(given, "expandtabs() argument") ?? 8)
        },
        "format": { run, text, arguments throws(Fault) in try run.format(text, arguments) },
        "format_map": { run, text, arguments throws(Fault) in
            guard case .dictionary(let members)? = try arguments.bound("format_map", ["mapping"], run)[0] else {
                throw run.fail("format_map() takes exactly one argument, a mapping")
            }
            var given = Arguments()
            for (key, value) in zip(members.keys, members.values) {
                if let name = key.text { given.keywords.append((name, value)) }
            }
            return try run.format(text, given)
        },
        "encode": { run, _, _ throws(Fault) in throw run.unsupported("bytes, which encode() gives") },
        "isalpha": all { isLetter($0) },
        "isdecimal": all { $0.properties.generalCategory == .decimalNumber },
        "isdigit": all { isDigit($0) },
        "isnumeric": all { $0.properties.numericType != nil },
        "isalnum": all { isLetter($0) || isDigit($0) || $0.properties.numericType != nil },
        "isspace": all(\.isPythonSpace),
        "isascii": test { $0.scalars.allSatisfy(\.isASCII) },
        "isprintable": test { $0.scalars.allSatisfy(\.isPythonPrintable) },
        "isidentifier": test { $0.isIdentifier },
        "islower": test { $0.isLower },
        "isupper": test { $0.isUpper },
        "istitle": test { $0.isTitle },
    ]

    private static func plain(_ name: String, _ change: @escaping @Sendable (Text) -> Text) -> Method<Text> {
        { run, text, arguments throws(Fault) in
            _ = try arguments.bound(name, [], run)
            return try run.changed(text, change)
        }
    }

    private static func test(_ holds: @escaping @Sendable (Text) -> Bool) -> Method<Text> {
        { run, text, arguments throws(Fault) in
            _ = try arguments.bound("this method", [], run)
            try run.spend(kindsOf: text.count)
            return .bool(holds(text))
        }
    }

    private static func all(_ holds: @escaping @Sendable (Unicode.Scalar) -> Bool) -> Method<Text> {
        test { !$0.isEmpty && $0.scalars.allSatisfy(holds) }
    }

    private static func strip(_ name: String, left: Bool, right: Bool) -> Method<Text> {
        { run, text, arguments throws(Fault) in
            let given = try arguments.bound(name, ["chars"], run)[0]
            return try run.strip(text, given, left: left, right: right)
        }
    }

    private static func ends(_ name: String, atEnd: Bool) -> Method<Text> {
        { run, text, arguments throws(Fault) in
            let given = try arguments.bound(name, ["prefix", "start", "end"], run)
            guard let wanted = given[0] else { throw run.fail("\(name)() takes at least 1 argument (0 given)") }
            var candidates = [wanted]
            if case .tuple(let items) = wanted { candidates = items.values }
            let range = try run.bounds(text.count, given[1], given[2])
            for candidate in candidates {
                if case .undefined(let undefined) = candidate { throw run.fail(undefined.message) }
                guard let candidate = candidate.text else {
                    throw run.fail(
                        "\(name) first arg must be str or a tuple of str, not \(wanted.typeName)")
                }
                try run.spend(characters: candidate.count)
                guard let range, candidate.count <= range.count else { continue }
                let place = atEnd ? range.upperBound - candidate.count : range.lowerBound
                if text.hasPrefix(candidate, at: place) { return .bool(true) }
            }
            return .bool(false)
        }
    }

    private static func search(_ name: String, fromEnd: Bool, mustFind: Bool) -> Method<Text> {
        { run, text, arguments throws(Fault) in
            let (needle, range) = try run.sought(name, text, arguments)
            let place = range.flatMap { fromEnd ? text.findLast(needle, in: $0) : text.find(needle, in: $0) }
            if place == nil, mustFind { throw run.fail("substring not found") }
            return .int(place ?? -1)
        }
    }

    private static func pad(_ name: String, _ align: Unicode.Scalar) -> Method<Text> {
        { run, text, arguments throws(Fault) in
            let given = try arguments.bound(name, ["width", "fillchar"], run)
            guard let width = try run.whole(given[0], "\(name)() argument 1") else {
                throw run.fail("\(name) expected at least 1 argument, got 0")
            }
            let fill = try run.text(given[1], "\(name)() argument 2") ?? " "
            guard fill.count == 1 else { throw run.fail("The fill character must be exactly one character long") }
            return try run.pad(text, width, align, fill.scalars[0])
        }
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: true
        default: false
        }
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.numericType == .decimal || scalar.properties.numericType == .digit
    }
}

extension Jinja.Text {
    fileprivate var isIdentifier: Bool {
        guard let first = scalars.first, first == "_" || first.properties.isXIDStart else { return false }
        return scalars.dropFirst().allSatisfy(\.properties.isXIDContinue)
    }

    var isLower: Bool {
        scalars.contains(where: \.properties.isLowercase)
            && !scalars.contains { $0.properties.isUppercase || $0.properties.generalCategory == .titlecaseLetter }
    }

    var isUpper: Bool {
        scalars.contains(where: \.properties.isUppercase)
            && !scalars.contains { $0.properties.isLowercase || $0.properties.generalCategory == .titlecaseLetter }
    }

    fileprivate var isTitle: Bool {
        var isInWord = false
        var hasCased = false
        for scalar in scalars {
            if scalar.properties.isUppercase || scalar.properties.generalCategory == .titlecaseLetter {
                if isInWord { return false }
                isInWord = true
                hasCased = true
            } else if scalar.properties.isLowercase {
                if !isInWord { return false }
                hasCased = true
            } else {
                isInWord = false
            }
        }
        return hasCased
    }
}

// MARK: - Shared by methods and filters

extension Jinja.Run {
    func only(_ arguments: Arguments, _ name: String) throws(Fault) -> Text {
        guard let text = try text(try arguments.bound(name, ["value"], self)[0], "\(name)() argument") else {
            throw fail("\(name)() takes exactly one argument (0 given)")
        }
        return text
    }

    /// The arguments of a search: the needle and the range.
    func sought(_ name: String, _ text: Text, _ arguments: Arguments) throws(Fault) -> (Text, Range<Int>?) {
        let given = try arguments.bound(name, ["sub", "start", "end"], self)
        guard let needle = try self.text(given[0], "\(name)() argument 1") else {
            throw fail("\(name) expected at least 1 argument, got 0")
        }
        try spend(lookingFor: needle, in: text)
        return (needle, try bounds(text.count, given[1], given[2]))
    }

    /// Applies a case change, which can triple the length.
    func changed(_ text: Text, _ change: (Text) -> Text) throws(Fault) -> Value {
        try spend(kindsOf: text.count)
        let result = change(text)
        try reserve(result.count)
        return .string(result)
    }

    func texts(_ parts: [Text]) throws(Fault) -> [Value] {
        var values: [Value] = []
        try spend(cells: 4 * parts.count)
        for part in parts { values.append(try made(part)) }
        return values
    }

    func strip(_ text: Text, _ characters: Value?, left: Bool, right: Bool) throws(Fault) -> Value {
        try reserve(text.count)
        guard let characters, !characters.isNone else {
            return .string(text.stripped(left: left, right: right, where: \.isPythonSpace))
        }
        guard let chosen = characters.text else {
            throw fail("strip arg must be None or str, not \(characters.typeName)")
        }
        try spend(kindsOf: chosen.count)
        let set = Set(chosen.scalars)
        return .string(text.stripped(left: left, right: right) { set.contains($0) })
    }

    func joined(_ parts: [Text], _ separator: Text) throws(Fault) -> Value {
        var result: [Unicode.Scalar] = []
        for (place, part) in parts.enumerated() {
            try reserve(part.count + separator.count)
            if place > 0 { result += separator.scalars }
            result += part.scalars
        }
        return .string(Text(result))
    }

    func replace(_ text: Text, _ old: Text, _ new: Text, _ count: Int) throws(Fault) -> Value {
        try spend(lookingFor: old, in: text)
        let places = text.matches(old, limit: min(count < 0 ? .max : count, mostPieces))
        try spend(cells: places.count)
        if places.isEmpty { return .string(text) }
        try reserve(text.count + (try product(new.count, places.count)))
        var result: [Unicode.Scalar] = []
        var done = 0
        for place in places {
            result += text.scalars[done..<place]
            result += new.scalars
            done = place + old.count
        }
        result += text.scalars[done...]
        return .string(Text(result))
    }

    func split(_ text: Text, _ arguments: Arguments, fromEnd: Bool) throws(Fault) -> Value {
        let given = try arguments.bound("split", ["sep", "maxsplit"], self)
        let limit = try whole(given[1], "split() maxsplit") ?? -1
        try spend(characters: text.count)
        // A piece costs four elements.
        let most = min(limit < 0 ? Int.max : limit, mostPieces / 4 + 1)
        guard let separator = given[0], !separator.isNone else {
            return try list(try texts(fromEnd ? text.wordsFromEnd(most) : text.words(most)))
        }
        guard let separator = separator.text else { throw fail("must be str or None, not \(separator.typeName)") }
        guard !separator.isEmpty else { throw fail("empty separator") }
        try spend(lookingFor: separator, in: text)
        return try list(try texts(fromEnd ? text.partsFromEnd(separator, most) : text.parts(separator, most)))
    }

    func partition(_ text: Text, _ arguments: Arguments, fromEnd: Bool) throws(Fault) -> Value {
        let separator = try only(arguments, "partition")
        guard !separator.isEmpty else { throw fail("empty separator") }
        try reserve(text.count + separator.count)
        try spend(lookingFor: separator, in: text)
        let whole = 0..<text.count
        guard let place = fromEnd ? text.findLast(separator, in: whole) : text.find(separator, in: whole) else {
            let parts: [Text] = fromEnd ? ["", "", text] : [text, "", ""]
            return try tuple(parts.map { .string($0) })
        }
        return try tuple([
            .string(text.slice(0..<place)), .string(separator),
            .string(text.slice(place + separator.count..<text.count)),
        ])
    }

    func pad(_ text: Text, _ width: Int, _ align: Unicode.Scalar, _ fill: Unicode.Scalar) throws(Fault) -> Value {
        try check(width: width)
        // The extra space of a centred text goes left if the width is odd too.
        guard align == "^", width > text.count else { return .string(try padded(text, width, align, fill)) }
        let room = width - text.count
        let left = room / 2 + (room & width & 1)
        return .string(try padded(try padded(text, text.count + left, ">", fill), width, "<", fill))
    }

    func expandTabs(_ text: Text, _ size: Int) throws(Fault) -> Value {
        try check(width: size)
        var result: [Unicode.Scalar] = []
        var column = 0
        for scalar in text.scalars {
            if scalar == "\t" {
                let count = size > 0 ? size - column % size : 0
                try reserve(count)
                result += [Unicode.Scalar](repeating: " ", count: count)
                column += count
            } else {
                result.append(scalar)
                column = scalar == "\n" || scalar == "\r" ? 0 : column + 1
            }
        }
        return try made(Text(result))
    }
}

extension Jinja.Text {
    /// Split at each separator, at most `limit` times.
    fileprivate func parts(_ separator: Text, _ limit: Int) -> [Text] {
        var result: [Text] = []
        var done = 0
        for place in matches(separator, limit: limit) {
            result.append(slice(done..<place))
            done = place + separator.count
        }
        result.append(slice(done..<count))
        return result
    }

    fileprivate func partsFromEnd(_ separator: Text, _ limit: Int) -> [Text] {
        let turned = Text(scalars.reversed()).parts(Text(separator.scalars.reversed()), limit)
        return turned.reversed().map { Text($0.scalars.reversed()) }
    }

    /// Split at runs of white space, at most `limit` times; the rest loses its leading white space.
    fileprivate func words(_ limit: Int) -> [Text] {
        var result: [Text] = []
        var at = 0
        while true {
            while at < count, scalars[at].isPythonSpace { at += 1 }
            guard at < count else { return result }
            guard result.count < limit else { break }
            let start = at
            while at < count, !scalars[at].isPythonSpace { at += 1 }
            result.append(slice(start..<at))
        }
        result.append(slice(at..<count))
        return result
    }

    fileprivate func wordsFromEnd(_ limit: Int) -> [Text] {
        Text(scalars.reversed()).words(limit).reversed().map { Text($0.scalars.reversed()) }
    }
}
