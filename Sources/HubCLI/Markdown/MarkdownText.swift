/// Markdown that arrives in pieces, as text for a terminal: headings, lists, quotes, code, tables, and what
/// ``InlineMarkdown`` knows. What was returned stays as it is, so a terminal shows it at once and without flicker.
struct MarkdownText {
    typealias Run = Styled.Run

    private let width: Int
    private let isUnicode: Bool
    private var wrapped: WrappedText
    /// The beginning of a line whose block is not known yet.
    private var head: [Character] = []
    private var line = Line.start
    private var inline = InlineMarkdown()
    private var table = MarkdownTable()
    /// The marks that end the block of code.
    private var fence: String?

    private enum Line {
        /// What the line is has to be found out.
        case start
        /// Text of a block.
        case text
        /// Code, which goes out as it comes.
        case code
    }

    init(width: Int, isUnicode: Bool) {
        (self.width, self.isUnicode) = (max(10, width), isUnicode)
        wrapped = WrappedText(width: width)
    }

    /// Adds a piece; returns what can be shown.
    mutating func add(_ text: String) -> [Run] {
        var out: [Run] = []
        for character in text {
            if character.isNewline { out += endLine() } else { out += add(character) }
        }
        if line == .text { out += flow([]) }
        return out
    }

    /// The rest, at the end of the text. Its last line is ended.
    mutating func end() -> [Run] {
        var out: [Run] = []
        if !head.isEmpty || line != .start { out += endLine() }
        out += endTable()
        fence = nil
        return out
    }

    /// A line whose kind is not known after so many characters is text; only rows of tables are longer.
    private static let longestHead = 200

    private mutating func add(_ character: Character) -> [Run] {
        switch line {
        case .text: return flow(inline.add(String(character)))
        case .code: return [Run(text: String(character), style: .name)]
        case .start:
            head.append(character)
            if fence != nil { return beginCode() }
            guard head.count <= Self.longestHead || MarkdownBlock.isRow(head) else {
                return begin(.paragraph(indent: 0), 0)
            }
            guard let (block, length) = MarkdownBlock.read(head, isWhole: false) else { return [] }
            return begin(block, length)
        }
    }

    private mutating func endLine() -> [Run] {
        defer { (line, head) = (.start, []) }
        switch line {
        case .text:
            let out = flow(inline.end())
            wrapped.end()
            return out + wrapped.take()
        case .code: return [Run(text: "\n", style: .plain)]
        case .start:
            if fence != nil { return endCodeLine() }
            guard let (block, length) = MarkdownBlock.read(head, isWhole: true) else { return [] }
            return endLine(of: block, length)
        }
    }

    /// A line whose block became known only at its end.
    private mutating func endLine(of block: MarkdownBlock, _ length: Int) -> [Run] {
        switch block {
        case .tableRow:
            table.add(String(head))
            return table.isFull ? endTable() : []
        case .empty: return endTable() + [Run(text: "\n", style: .plain)]
        case .rule:
            let rule = String(repeating: isUnicode ? "─" : "-", count: min(40, width))
            return endTable() + [Run(text: rule + "\n", style: .faint)]
        case .fence(let marks, let language):
            fence = marks
            let out = endTable()
            return language.isEmpty ? out : out + [Run(text: "    \(language)\n", style: .faint)]
        default:
            var out = begin(block, length)
            out += flow(inline.end())
            wrapped.end()
            return out + wrapped.take()
        }
    }

    private mutating func begin(_ block: MarkdownBlock, _ length: Int) -> [Run] {
        let out = endTable()
        let content = String(head[length...])
        var (start, margin) = ([Run](), [Run]())
        var style = Styled.Style.plain
        switch block {
        case .heading: style = .strong
        case .quote:
            start = [Run(text: isUnicode ? "│ " : "> ", style: .faint)]
            margin = start
        case .item(let indent, let bullet):
            let mark = bullet.isEmpty ? (isUnicode ? "•" : "-") : bullet
            start = [Run(text: Self.spaces(indent) + mark + " ", style: .plain)]
            margin = [Run(text: Self.spaces(indent) + Self.spaces(mark.count + 1), style: .plain)]
        case .paragraph(let indent) where indent > 0:
            start = [Run(text: Self.spaces(indent), style: .plain)]
            margin = start
        default: break
        }
        line = .text
        inline = InlineMarkdown(style)
        wrapped.begin(start, margin: margin)
        return out + flow(inline.add(content))
    }

    /// Deeper lists would leave no room.
    private static func spaces(_ count: Int) -> String { String(repeating: " ", count: min(count, 16)) }

    private mutating func flow(_ runs: [Run]) -> [Run] {
        for run in runs { wrapped.add(run.text, run.style) }
        return wrapped.take()
    }

    private mutating func endTable() -> [Run] {
        guard !table.isEmpty else { return [] }
        defer { table = MarkdownTable() }
        return table.runs(width: width, isUnicode: isUnicode)
    }

    // MARK: Code

    /// Whether the head may become the line that ends the code.
    private var mayEndCode: Bool {
        guard let fence, let mark = fence.first else { return false }
        let rest = head.drop { $0 == " " }
        return head.count - rest.count <= 3 && rest.allSatisfy { $0 == mark || $0 == " " }
    }

    private mutating func beginCode() -> [Run] {
        guard head.count > Self.longestHead || !mayEndCode else { return [] }
        line = .code
        return [Run(text: "    " + String(head), style: .name)]
    }

    private mutating func endCodeLine() -> [Run] {
        if let fence, mayEndCode, head.filter({ $0 == fence.first }).count >= fence.count {
            self.fence = nil
            return []
        }
        return [Run(text: head.isEmpty ? "\n" : "    \(String(head))\n", style: .name)]
    }
}
