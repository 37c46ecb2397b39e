import Libc

extension Jinja {
    /// A Python string: code points; their number is its length.
    ///
    /// Unlike Swift's String, whose characters are graphemes and whose `==` normalises.
    struct Text: Sendable, Hashable, Comparable, ExpressibleByStringLiteral {
        var scalars: [Unicode.Scalar]
        /// Whether it is marked as safe for HTML; ignored by `==`.
        var isMarkup = false

        init(_ scalars: some Sequence<Unicode.Scalar>) { self.scalars = Array(scalars) }
        init(_ string: String) { scalars = Array(string.unicodeScalars) }
        init(stringLiteral value: String) { self.init(value) }

        var count: Int { scalars.count }
        var isEmpty: Bool { scalars.isEmpty }

        var string: String {
            var result = ""
            result.unicodeScalars.append(contentsOf: scalars)
            return result
        }

        static func == (left: Text, right: Text) -> Bool {
            left.count == right.count && left.hasPrefix(right, at: 0)
        }

        static func < (left: Text, right: Text) -> Bool {
            let end = min(left.count, right.count)
            var at = 0
            // Common prefixes are compared block by block with memcmp.
            while at + block <= end, left.matches(right, at..<at + block) { at += block }
            while at < end, left.scalars[at] == right.scalars[at] { at += 1 }
            return at < end ? left.scalars[at] < right.scalars[at] : left.count < right.count
        }

        private static let block = 256

        private func matches(_ other: Text, _ range: Range<Int>) -> Bool {
            scalars[range].withUnsafeBytes { these in
                other.scalars[range].withUnsafeBytes { those in
                    guard let one = these.baseAddress, let another = those.baseAddress else { return true }
                    return memcmp(one, another, these.count) == 0
                }
            }
        }

        func hash(into hasher: inout Hasher) { scalars.withUnsafeBytes { hasher.combine(bytes: $0) } }

        static func + (left: Text, right: Text) -> Text { Text(left.scalars + right.scalars) }
    }
}

extension Unicode.Scalar {
    /// `str.isspace`; also `\s` of a pattern.
    var isPythonSpace: Bool {
        switch value {
        case 0x09...0x0D, 0x1C...0x20, 0x85, 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000:
            true
        default: false
        }
    }

    /// Whether it ends a line for `str.splitlines`.
    var isPythonLineBreak: Bool {
        switch value {
        case 0x0A...0x0D, 0x1C...0x1E, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }

    /// Whether `repr` shows it unescaped.
    var isPythonPrintable: Bool {
        if value < 0x7F { return value >= 0x20 }
        switch properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
            .spaceSeparator:
            return false
        default: return true
        }
    }
}

// MARK: - Searching and cutting

extension Jinja.Text {
    typealias Text = Jinja.Text

    /// The offsets of the first match within a range; linear in the range's length for any needle.
    func find(_ needle: Text, in range: Range<Int>) -> Int? {
        if needle.isEmpty { return range.lowerBound }
        guard needle.count <= range.count else { return nil }
        // A short needle needs no table.
        if needle.count <= 16 { return plainFind(needle, in: range) }
        var search = Matcher(needle)
        for at in range where search.take(scalars[at]) { return at + 1 - needle.count }
        return nil
    }

    private func plainFind(_ needle: Text, in range: Range<Int>) -> Int? {
        let first = needle.scalars[0]
        for at in range.lowerBound...(range.upperBound - needle.count) where scalars[at] == first {
            if hasPrefix(needle, at: at) { return at }
        }
        return nil
    }

    /// The offset of the last match within a range.
    func findLast(_ needle: Text, in range: Range<Int>) -> Int? {
        let turned = Text(scalars[range].reversed())
        guard let at = turned.find(Text(needle.scalars.reversed()), in: 0..<turned.count) else { return nil }
        return range.upperBound - at - needle.count
    }

    func hasPrefix(_ prefix: Text, at start: Int) -> Bool {
        guard start + prefix.count <= count else { return false }
        return scalars[start..<start + prefix.count].withUnsafeBytes { these in
            prefix.scalars.withUnsafeBytes { those in
                guard let one = these.baseAddress, let other = those.baseAddress else { return true }
                return memcmp(one, other, those.count) == 0
            }
        }
    }

    func contains(_ needle: Text) -> Bool { find(needle, in: 0..<count) != nil }

    /// The offsets of non-overlapping matches, at most `limit`.
    func matches(_ needle: Text, limit: Int = .max) -> [Int] {
        var found: [Int] = []
        var from = 0
        if needle.isEmpty {
            while from <= count, found.count < limit {
                found.append(from)
                from += 1
            }
            return found
        }
        if needle.count > 16 {
            var search = Matcher(needle)
            for at in 0..<count where found.count < limit && search.take(scalars[at]) {
                found.append(at + 1 - needle.count)
                search.restart()
            }
            return found
        }
        while found.count < limit, let at = find(needle, in: from..<count) {
            found.append(at)
            from = at + needle.count
        }
        return found
    }

    func slice(_ range: Range<Int>) -> Text { Text(scalars[range]) }

    /// With decimal digits of all scripts replaced by ASCII, as Python parses numbers.
    var withASCIIDigits: Text {
        guard !scalars.allSatisfy(\.isASCII) else { return self }
        return Text(
            scalars.map { scalar in
                guard scalar.properties.generalCategory == .decimalNumber,
                    let digit = scalar.properties.numericValue
                else {
                    return scalar
                }
                return Unicode.Scalar(0x30 + UInt8(digit))
            })
    }

    /// Strips the scalars at its ends that match a predicate.
    func stripped(left: Bool, right: Bool, where drops: (Unicode.Scalar) -> Bool) -> Text {
        var range = 0..<count
        if left { while let at = range.first, drops(scalars[at]) { range.removeFirst() } }
        if right { while let at = range.last, drops(scalars[at]) { range.removeLast() } }
        return range.count == count ? self : slice(range)
    }

    var lineBreaks: Int { scalars.reduce(0) { $0 + ($1.isPythonLineBreak ? 1 : 0) } }

    /// As `str.splitlines`.
    func lines(keepingEnds: Bool = false) -> [Text] {
        var result: [Text] = []
        var start = 0
        var at = 0
        while at < count {
            guard scalars[at].isPythonLineBreak else {
                at += 1
                continue
            }
            let end = at
            at += scalars[at] == "\r" && at + 1 < count && scalars[at + 1] == "\n" ? 2 : 1
            result.append(slice(start..<(keepingEnds ? at : end)))
            start = at
        }
        if start < count { result.append(slice(start..<count)) }
        return result
    }

    /// Knuth, Morris and Pratt's search.
    private struct Matcher {
        private let needle: [Unicode.Scalar]
        private var back: [Int]
        private var matched = 0

        init(_ text: Text) {
            needle = text.scalars
            back = [Int](repeating: 0, count: needle.count)
            var length = 0
            for at in needle.indices.dropFirst() {
                while length > 0, needle[at] != needle[length] { length = back[length - 1] }
                if needle[at] == needle[length] { length += 1 }
                back[at] = length
            }
        }

        /// Consumes a scalar; returns whether it completes a match.
        mutating func take(_ scalar: Unicode.Scalar) -> Bool {
            while matched > 0, needle[matched] != scalar { matched = back[matched - 1] }
            if needle[matched] == scalar { matched += 1 }
            guard matched == needle.count else { return false }
            matched = back[matched - 1]
            return true
        }

        mutating func restart() { matched = 0 }
    }
}

// MARK: - Letters

extension Jinja.Text {
    func lowercased() -> Text {
        var lower = CaseMapping(.lower)
        var result: [Unicode.Scalar] = []
        result.reserveCapacity(count)
        for at in scalars.indices { appendLower(at, &lower, to: &result) }
        return Text(result)
    }

    func uppercased() -> Text {
        var upper = CaseMapping(.upper)
        var result: [Unicode.Scalar] = []
        result.reserveCapacity(count)
        for scalar in scalars { upper.append(scalar, to: &result) }
        return Text(result)
    }

    /// The first scalar in title case, the rest in lower case.
    func capitalized() -> Text {
        guard let first = scalars.first else { return self }
        let rest = lowercased().scalars
        let lowerFirst = first == "Σ" ? 1 : first.properties.lowercaseMapping.unicodeScalars.count
        return Text(Array(first.properties.titlecaseMapping.unicodeScalars) + rest.dropFirst(lowerFirst))
    }

    /// As `str.title`: each run of cased letters begins in title case.
    func titled() -> Text {
        var lower = CaseMapping(.lower)
        var title = CaseMapping(.title)
        var result: [Unicode.Scalar] = []
        var isInWord = false
        for (at, scalar) in scalars.enumerated() {
            if isInWord { appendLower(at, &lower, to: &result) } else { title.append(scalar, to: &result) }
            isInWord = scalar.properties.isCased
        }
        return Text(result)
    }

    func swappedCase() -> Text {
        var lower = CaseMapping(.lower)
        var upper = CaseMapping(.upper)
        var result: [Unicode.Scalar] = []
        for (at, scalar) in scalars.enumerated() {
            if scalar.properties.isUppercase {
                appendLower(at, &lower, to: &result)
            } else if scalar.properties.isLowercase {
                upper.append(scalar, to: &result)
            } else {
                result.append(scalar)
            }
        }
        return Text(result)
    }

    /// Upper case, then lower case approximates `casefold`.
    func caseFolded() -> Text {
        var upper = CaseMapping(.upper)
        var lower = CaseMapping(.lower)
        var capitals: [Unicode.Scalar] = []
        for scalar in scalars { upper.append(scalar, to: &capitals) }
        var result: [Unicode.Scalar] = []
        for scalar in capitals { lower.append(scalar, to: &result) }
        return Text(result)
    }

    private func appendLower(_ at: Int, _ lower: inout CaseMapping, to result: inout [Unicode.Scalar]) {
        if scalars[at] == "Σ" {
            result.append(isFinalSigma(at) ? "ς" : "σ")
        } else {
            lower.append(scalars[at], to: &result)
        }
    }

    /// Whether a sigma ends a word: a cased letter before it and none after, ignoring case-ignorable characters.
    private func isFinalSigma(_ at: Int) -> Bool {
        var before = at - 1
        // At most sixty-four case-ignorable characters; without a bound this would be quadratic.
        while before >= 0, at - before <= 64, scalars[before].properties.isCaseIgnorable { before -= 1 }
        guard before >= 0, scalars[before].properties.isCased else { return false }
        var after = at + 1
        while after < count, after - at <= 64, scalars[after].properties.isCaseIgnorable { after += 1 }
        return after >= count || !scalars[after].properties.isCased
    }
}

/// A cache of case mappings per scalar, because each lookup allocates a string.
struct CaseMapping {
    enum Case { case lower, upper, title }

    private let wanted: Case
    private var known: [Unicode.Scalar: [Unicode.Scalar]] = [:]

    init(_ wanted: Case) { self.wanted = wanted }

    mutating func append(_ scalar: Unicode.Scalar, to result: inout [Unicode.Scalar]) {
        switch scalar.value {
        case 0x41...0x5A where wanted == .lower: result.append(Unicode.Scalar(UInt8(scalar.value + 32)))
        case 0x61...0x7A where wanted != .lower: result.append(Unicode.Scalar(UInt8(scalar.value - 32)))
        case 0..<0x80: result.append(scalar)
        default: result += mapping(of: scalar)
        }
    }

    private mutating func mapping(of scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        if let found = known[scalar] { return found }
        let mapping =
            switch wanted {
            case .lower: scalar.properties.lowercaseMapping
            case .upper: scalar.properties.uppercaseMapping
            case .title: scalar.properties.titlecaseMapping
            }
        let found = Array(mapping.unicodeScalars)
        known[scalar] = found
        return found
    }
}
