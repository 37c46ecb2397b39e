/// What a line of Markdown is, by its beginning.
enum MarkdownBlock: Equatable {
    case paragraph(indent: Int)
    case heading(level: Int)
    /// A bullet, or a number with its dot.
    case item(indent: Int, bullet: String)
    case quote
    /// The marks that open a block of code, and its language.
    case fence(marks: String, language: String)
    case rule
    case tableRow
    case empty

    /// The block that a line begins, and how many characters of it say so; nil if more of it has to come.
    ///
    /// - Parameter isWhole: whether the line is all there is.
    static func read(_ line: [Character], isWhole: Bool) -> (block: MarkdownBlock, length: Int)? {
        var indent = 0
        var start = 0
        while start < line.count, line[start] == " " || line[start] == "\t" {
            indent += line[start] == "\t" ? 4 : 1
            start += 1
        }
        guard start < line.count else { return isWhole ? (.empty, line.count) : nil }
        let rest = line[start...]
        let paragraph = (MarkdownBlock.paragraph(indent: indent), start)
        switch line[start] {
        case "#": return heading(rest, start, isWhole) { paragraph }
        case "`", "~": return fence(rest, isWhole, line.count) { paragraph }
        case ">":
            guard start + 1 < line.count || isWhole else { return nil }
            return (.quote, start + (start + 1 < line.count && line[start + 1] == " " ? 2 : 1))
        case "|": return isWhole ? (.tableRow, 0) : nil
        case "-", "*", "+": return bullet(rest, indent, start, isWhole) { paragraph }
        case "0"..."9": return number(rest, indent, start, isWhole) { paragraph }
        default: return paragraph
        }
    }

    /// Whether a line begins a row of a table.
    static func isRow(_ line: [Character]) -> Bool { line.prefix(200).first { $0 != " " && $0 != "\t" } == "|" }

    private static func heading(
        _ rest: ArraySlice<Character>, _ start: Int, _ isWhole: Bool, _ otherwise: () -> (MarkdownBlock, Int)
    ) -> (MarkdownBlock, Int)? {
        let level = rest.prefix { $0 == "#" }.count
        guard level < rest.count || isWhole else { return nil }
        guard level <= 6, level < rest.count, rest[start + level] == " " else { return otherwise() }
        return (.heading(level: level), start + level + 1)
    }

    private static func fence(
        _ rest: ArraySlice<Character>, _ isWhole: Bool, _ length: Int, _ otherwise: () -> (MarkdownBlock, Int)
    ) -> (MarkdownBlock, Int)? {
        let marks = rest.prefix { $0 == rest.first }
        if marks.count < 3 { return marks.count == rest.count && !isWhole ? nil : otherwise() }
        let language = String(rest.dropFirst(marks.count))
        // Code within a line may begin with three marks too.
        if language.contains("`") { return otherwise() }
        return isWhole ? (.fence(marks: String(marks), language: language.trimmed), length) : nil
    }

    private static func bullet(
        _ rest: ArraySlice<Character>, _ indent: Int, _ start: Int, _ isWhole: Bool,
        _ otherwise: () -> (MarkdownBlock, Int)
    ) -> (MarkdownBlock, Int)? {
        let mark = rest[start]
        if rest.allSatisfy({ $0 == mark || $0 == " " }) {
            guard isWhole else { return nil }
            if rest.filter({ $0 == mark }).count >= 3, mark != "+" { return (.rule, start + rest.count) }
        }
        guard rest.count > 1, rest[start + 1] == " " else { return otherwise() }
        return (.item(indent: indent, bullet: ""), start + 2)
    }

    private static func number(
        _ rest: ArraySlice<Character>, _ indent: Int, _ start: Int, _ isWhole: Bool,
        _ otherwise: () -> (MarkdownBlock, Int)
    ) -> (MarkdownBlock, Int)? {
        let digits = rest.prefix { ("0"..."9").contains($0) }
        guard digits.count <= 9 else { return otherwise() }
        let end = start + digits.count
        guard end < start + rest.count else { return isWhole ? otherwise() : nil }
        guard rest[end] == "." || rest[end] == ")" else { return otherwise() }
        guard end + 1 < start + rest.count else { return isWhole ? otherwise() : nil }
        guard rest[end + 1] == " " else { return otherwise() }
        return (.item(indent: indent, bullet: String(digits) + String(rest[end])), end + 2)
    }
}

extension String {
    fileprivate var trimmed: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }
}
