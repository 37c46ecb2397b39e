/// A pattern as the Hub's own clients match file names: Python's `fnmatchcase` on the whole path. `*` crosses `/`,
/// `?` is one character, `[...]` and `[!...]` are classes; nothing escapes. https://docs.python.org/3/library/fnmatch.html
public struct GlobPattern: Sendable, Hashable, CustomStringConvertible {
    /// The pattern as given.
    public let pattern: String
    private let scalars: [Unicode.Scalar]

    /// A pattern. As in huggingface_hub, `\` means `/` and a trailing `/` means everything below that folder.
    public init(_ pattern: String) {
        self.pattern = pattern
        scalars =
            pattern.unicodeScalars.map { $0 == "\\" ? "/" : $0 }
            + (pattern.hasSuffix("/") || pattern.hasSuffix("\\") ? ["*"] : [])
    }

    /// The pattern that one path alone matches.
    package static func exactly(_ path: String) -> GlobPattern {
        GlobPattern(
            path.unicodeScalars.reduce(into: "") { out, scalar in
                out += isPattern(String(scalar)) ? "[\(scalar)]" : String(scalar)
            })
    }

    /// What it means among these paths: exactly the path that equals it, if there is one, else the glob.
    package func meant(among paths: some Sequence<String>) -> GlobPattern {
        let isThere = Self.isPattern(pattern) && paths.contains { ExactText($0) == ExactText(pattern) }
        return isThere ? .exactly(pattern) : self
    }

    /// The pattern as given.
    public var description: String { pattern }

    /// Whether a path matches as a whole.
    public func matches(_ path: String) -> Bool {
        let text = Array(path.unicodeScalars)
        // Backtracking to the last star only: linear in practice, and enough, since a later star makes an earlier
        // star's choice irrelevant.
        var (p, t) = (0, 0)
        var star: (p: Int, t: Int)?
        while t < text.count {
            if p < scalars.count, scalars[p] == "*" {
                star = (p, t)
                p += 1
            } else if p < scalars.count, let next = step(p, text[t]) {
                p = next
                t += 1
            } else if let last = star {
                p = last.p + 1
                t = last.t + 1
                star = (last.p, t)
            } else {
                return false
            }
        }
        while p < scalars.count, scalars[p] == "*" { p += 1 }
        return p == scalars.count
    }

    /// Whether the pattern holds any of `*`, `?`, `[`.
    public static func isPattern(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0 == "*" || $0 == "?" || $0 == "[" }
    }

    /// Matches one character against the item at `p`; the index of the next item, nil if it does not match.
    private func step(_ p: Int, _ character: Unicode.Scalar) -> Int? {
        switch scalars[p] {
        case "?": return p + 1
        case "[":
            guard let (members, negated, next) = characterClass(at: p) else {
                return character == "[" ? p + 1 : nil
            }
            return members.contains { $0.contains(character) } != negated ? next : nil
        case let literal: return literal == character ? p + 1 : nil
        }
    }

    /// The class that begins at `p`; nil if its bracket is not closed, which is then literal.
    private func characterClass(at p: Int) -> (members: [ClosedRange<Unicode.Scalar>], negated: Bool, next: Int)? {
        var start = p + 1
        let negated = start < scalars.count && scalars[start] == "!"
        if negated { start += 1 }
        // A "]" straight after the opening is a member.
        var end = start
        if end < scalars.count, scalars[end] == "]" { end += 1 }
        while end < scalars.count, scalars[end] != "]" { end += 1 }
        guard end < scalars.count else { return nil }
        var members: [ClosedRange<Unicode.Scalar>] = []
        var at = start
        while at < end {
            if at + 2 < end, scalars[at + 1] == "-" {
                if scalars[at] <= scalars[at + 2] { members.append(scalars[at]...scalars[at + 2]) }
                at += 3
            } else {
                members.append(scalars[at]...scalars[at])
                at += 1
            }
        }
        return (members, negated, end + 1)
    }
}

/// A filter of a repository's files: those that match some `include` (all, without any) and no `exclude`.
public struct FileFilter: Sendable, Hashable {
    /// Patterns of which one must match; nil accepts every file, an empty list none.
    public var include: [GlobPattern]?
    /// Patterns of which none may match.
    public var exclude: [GlobPattern]
    /// If set, only these paths are possible.
    package var selection: FileSelection?

    /// A filter of the Hub's patterns.
    public init(include: [String]? = nil, exclude: [String] = []) {
        self.include = include.map { $0.map(GlobPattern.init) }
        self.exclude = exclude.map(GlobPattern.init)
    }

    /// Everything.
    public static let all = FileFilter()

    /// The same with what its patterns mean among these paths.
    package func meant(among paths: some Sequence<String>) -> FileFilter {
        var out = self
        out.include = include?.map { $0.meant(among: paths) }
        out.exclude = exclude.map { $0.meant(among: paths) }
        return out
    }

    /// Whether a path is wanted.
    public func matches(_ path: String) -> Bool {
        if let selection, !selection.contains(path) { return false }
        guard include?.contains(where: { $0.matches(path) }) ?? true else { return false }
        return !exclude.contains { $0.matches(path) }
    }
}

/// A variant of a repository at one commit, with its companion files.
package struct FileSelection: Sendable, Hashable {
    /// Its name for `--quant`: `Q4_K_M`.
    package let name: String
    /// Its format in one word: `gguf`.
    package let format: String
    private let paths: Set<ExactText>

    package init(name: String, format: String, paths: some Sequence<String>) {
        (self.name, self.format) = (name, format)
        self.paths = Set(paths.map(ExactText.init))
    }

    /// The paths, sorted.
    package var files: [String] { paths.map(\.text).sorted() }

    package func contains(_ path: String) -> Bool { paths.contains(ExactText(path)) }
}
