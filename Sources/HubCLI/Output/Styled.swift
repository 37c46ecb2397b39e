/// A text with styles. Escape sequences are made only where it is written, so that no string from elsewhere can hold
/// one, and none is measured.
struct Styled: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// What a part of the text is, rather than how it looks.
    enum Style: Sendable, Hashable {
        case plain, strong, emphasis, faint, good, caution, bad, name

        /// The parameters of the SGR sequence (ECMA-48, 8.3.117); the 16 colours follow the user's own palette.
        private var parameters: String? {
            switch self {
            case .plain: nil
            case .strong: "1"
            case .faint: "2"
            case .emphasis: "3"
            case .good: "32"
            case .caution: "33"
            case .bad: "31"
            case .name: "36"
            }
        }

        /// A text, which must be safe already, with the style's escape sequences.
        func applied(to safe: String) -> String {
            guard let parameters, !safe.isEmpty else { return safe }
            return "\u{1B}[\(parameters)m\(safe)\u{1B}[0m"
        }
    }

    /// A stretch of one style.
    struct Run: Sendable, Hashable {
        var text: String
        var style: Style
    }

    private(set) var runs: [Run]

    /// A text of one style.
    init(_ text: String, _ style: Style = .plain) { runs = [Run(text: text, style: style)] }
    init(stringLiteral value: String) { self.init(value) }

    static func + (left: Styled, right: Styled) -> Styled {
        var sum = left
        sum.runs += right.runs
        return sum
    }

    /// Makes room for so many further runs.
    mutating func reserve(_ count: Int) { runs.reserveCapacity(runs.count + count) }

    mutating func append(_ other: Styled) { runs += other.runs }

    mutating func append(spaces: Int) {
        if spaces > 0 { runs.append(Run(text: String(repeating: " ", count: spaces), style: .plain)) }
    }

    /// The text alone, made safe for one line.
    var plain: String {
        if runs.count == 1 { return SafeText.line(runs[0].text) }
        return runs.reduce(into: "") { $0 += SafeText.line($1.text) }
    }

    /// The safe text, with escape sequences if there is colour.
    func written(color: Bool) -> String {
        guard color else { return plain }
        return runs.map { $0.style.applied(to: SafeText.line($0.text)) }.joined()
    }

    /// The cells it takes.
    var width: Int { DisplayWidth.of(plain) }

    /// Cut to a width; a cut text of several styles takes the first one's.
    func fitted(_ width: Int, _ truncation: Truncation, ellipsis: String) -> Styled {
        if self.width <= width { return self }
        return Styled(
            DisplayWidth.fit(plain, width, truncation, ellipsis: ellipsis), runs.first?.style ?? .plain)
    }
}

extension Styled {
    /// The text in lines of at most `width` cells, broken between words, the further ones indented as the first. A word
    /// that is wider is not broken: it may be a path.
    func wrapped(_ width: Int) -> [Styled] {
        guard self.width > width else { return [self] }
        var lines: [Styled] = []
        var line = Styled("")
        var used = 0
        let words = words
        let indent = min(words.first?.gap ?? 0, width / 2)
        for (gap, word) in words {
            if used > indent, used + gap + word.width > width {
                lines.append(line)
                (line, used) = (Styled(""), 0)
            }
            let spaces = used == 0 ? indent : gap
            line.append(spaces: spaces)
            line.append(word)
            used += spaces + word.width
        }
        return lines + [line]
    }

    /// The words, each with the number of spaces before it.
    private var words: [(gap: Int, word: Styled)] {
        var words: [(gap: Int, word: Styled)] = []
        var gap = 0
        for run in runs {
            var isNew = gap > 0 || words.isEmpty
            for part in SafeText.line(run.text).split(separator: " ", omittingEmptySubsequences: false) {
                if !part.isEmpty {
                    let text = Styled(String(part), run.style)
                    if isNew { words.append((gap, text)) } else { words[words.count - 1].word.append(text) }
                    gap = 0
                }
                (gap, isNew) = (gap + 1, true)
            }
            gap -= 1
        }
        return words
    }
}
