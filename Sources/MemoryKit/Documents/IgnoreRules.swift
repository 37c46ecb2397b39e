import HubCore

/// The patterns of a folder's `.gitignore`. https://git-scm.com/docs/gitignore
struct IgnoreRules: Sendable {
    private struct Rule: Sendable {
        var pattern: [Unicode.Scalar]
        var isNegated: Bool
        /// Whether only folders are meant.
        var isFolder: Bool
        /// Whether the pattern is about the whole path below the folder, not about a name anywhere in it.
        var isPath: Bool
    }

    private var rules: [Rule] = []

    init(_ text: String) {
        for line in text.split(whereSeparator: \.isNewline) {
            if let rule = Self.rule(line) { rules.append(rule) }
        }
    }

    private static func rule(_ line: Substring) -> Rule? {
        var line = line
        // Blanks at the end do not count, unless the last one is escaped.
        while line.last == " " || line.last == "\t", !line.dropLast().hasSuffix("\\") { line.removeLast() }
        guard !line.isEmpty, !line.hasPrefix("#") else { return nil }
        let isNegated = line.hasPrefix("!")
        if isNegated { line.removeFirst() }
        let isFolder = line.hasSuffix("/")
        if isFolder { line.removeLast() }
        let isPath = line.contains("/")
        if line.hasPrefix("/") { line.removeFirst() }
        guard !line.isEmpty else { return nil }
        return Rule(
            pattern: Array(line.unicodeScalars), isNegated: isNegated, isFolder: isFolder, isPath: isPath)
    }

    /// Whether a path below the folder is left out; nil if no pattern is about it. The last one that is counts.
    func ignores(_ path: String, isFolder: Bool) -> Bool? {
        let whole = Array(path.unicodeScalars)
        let name = Array(Path.name(path).unicodeScalars)
        for rule in rules.reversed() where isFolder || !rule.isFolder {
            if Self.matches(rule.pattern, rule.isPath ? whole : name) { return !rule.isNegated }
        }
        return nil
    }

    /// Whether a text matches: `*` and `?` stop at slashes, `**` does not. A pattern takes time by the product of both
    /// lengths at most, because states that failed are remembered.
    private static func matches(_ pattern: [Unicode.Scalar], _ text: [Unicode.Scalar]) -> Bool {
        var failed = Set<Int>()
        func match(_ p: Int, _ t: Int) -> Bool {
            if p == pattern.count { return t == text.count }
            let state = p * (text.count + 1) + t
            guard !failed.contains(state) else { return false }
            let isMatch: Bool
            if pattern[p] == "*" {
                isMatch = star(p, t)
            } else {
                isMatch =
                    t < text.count && text[t] != "/" || p < pattern.count && pattern[p] == "/" ? one(p, t) : false
            }
            if !isMatch { failed.insert(state) }
            return isMatch
        }
        func star(_ p: Int, _ t: Int) -> Bool {
            if p + 1 < pattern.count, pattern[p + 1] == "*" {
                // `**/` is any number of folders, none included.
                if p + 2 < pattern.count, pattern[p + 2] == "/" {
                    if match(p + 3, t) { return true }
                    for at in t..<text.count where text[at] == "/" && match(p + 3, at + 1) { return true }
                    return false
                }
                for at in t...text.count where match(p + 2, at) { return true }
                return false
            }
            var at = t
            while true {
                if match(p + 1, at) { return true }
                guard at < text.count, text[at] != "/" else { return false }
                at += 1
            }
        }
        func one(_ p: Int, _ t: Int) -> Bool {
            guard t < text.count else { return false }
            switch pattern[p] {
            case "?": return text[t] != "/" && match(p + 1, t + 1)
            case "[":
                guard let (isMember, next) = member(of: pattern, at: p, text[t]) else {
                    return text[t] == "[" && match(p + 1, t + 1)
                }
                return isMember && text[t] != "/" && match(next, t + 1)
            case "\\" where p + 1 < pattern.count: return text[t] == pattern[p + 1] && match(p + 2, t + 1)
            case let literal: return text[t] == literal && match(p + 1, t + 1)
            }
        }
        return match(0, 0)
    }

    /// Whether a character is in the class that begins at a place, and where the pattern goes on; nil if it has no end.
    private static func member(
        of pattern: [Unicode.Scalar], at start: Int, _ scalar: Unicode.Scalar
    ) -> (Bool, next: Int)? {
        var at = start + 1
        let isNegated = at < pattern.count && (pattern[at] == "!" || pattern[at] == "^")
        if isNegated { at += 1 }
        let first = at
        var isMember = false
        while at < pattern.count, pattern[at] != "]" || at == first {
            if at + 2 < pattern.count, pattern[at + 1] == "-", pattern[at + 2] != "]" {
                if pattern[at] <= scalar, scalar <= pattern[at + 2] { isMember = true }
                at += 3
            } else {
                if pattern[at] == scalar { isMember = true }
                at += 1
            }
        }
        guard at < pattern.count else { return nil }
        return (isMember != isNegated, at + 1)
    }
}
