/// Bold, emphasis, code and links within a line that arrives in pieces. A mark that is never closed is shown as it is, so
/// text behind an open one waits for the mark's other half or the line's end. https://spec.commonmark.org/0.31.2/#inlines
struct InlineMarkdown {
    typealias Run = Styled.Run

    private var rest: [Character] = []
    private let base: Styled.Style
    /// The character before the rest.
    private var before: Character = " "

    /// Characters that wait for the other half of a mark at most.
    private static let longest = 4096

    init(_ base: Styled.Style = .plain) { self.base = base }

    /// The runs of a whole text.
    static func runs(_ text: String, _ base: Styled.Style = .plain) -> [Run] {
        var inline = InlineMarkdown(base)
        return inline.add(text) + inline.end()
    }

    /// Adds a piece; returns what is settled.
    mutating func add(_ text: String) -> [Run] {
        rest += text
        return settle(isFinal: rest.count > Self.longest)
    }

    /// The rest, at the end of the line.
    mutating func end() -> [Run] { settle(isFinal: true) }

    private mutating func settle(isFinal: Bool) -> [Run] {
        var runs: [Run] = []
        var plain = ""
        var at = 0
        func flush() {
            if !plain.isEmpty { runs.append(Run(text: plain, style: base)) }
            plain = ""
        }
        scan: while at < rest.count {
            guard Self.marks.contains(rest[at]) else {
                plain.append(rest[at])
                at += 1
                continue
            }
            switch mark(at, isFinal: isFinal, before: at > 0 ? rest[at - 1] : before) {
            case .wait: break scan
            case .literal(let count):
                plain += String(rest[at..<at + count])
                at += count
            case .escaped:
                plain.append(rest[at + 1])
                at += 2
            case .span(let inner, let next):
                flush()
                runs += inner
                at = next
            }
        }
        flush()
        if at > 0 { before = rest[at - 1] }
        rest.removeFirst(at)
        return runs
    }

    private static let marks: Set<Character> = ["*", "_", "`", "[", "\\", "~"]

    private enum Mark {
        /// More has to come before this can be told.
        case wait
        case literal(Int)
        case escaped
        case span([Run], next: Int)
    }

    private func mark(_ at: Int, isFinal: Bool, before: Character) -> Mark {
        let unknown = { (count: Int) in isFinal ? Mark.literal(count) : .wait }
        if rest[at] == "\\" {
            guard at + 1 < rest.count else { return unknown(1) }
            return rest[at + 1].isASCII && (rest[at + 1].isPunctuation || rest[at + 1].isSymbol)
                ? .escaped : .literal(1)
        }
        if rest[at] == "[" { return link(at, unknown) }
        let run = rest[at...].prefix { $0 == rest[at] }.count
        guard at + run < rest.count else { return unknown(run) }
        if rest[at] == "`" {
            guard let end = closing("`", run, from: at + run, isFinal: isFinal, isCode: true) else {
                return unknown(run)
            }
            let code = String(rest[at + run..<end]).trimmingOneSpace
            return .span([Run(text: code, style: .name)], next: end + run)
        }
        let isWord = { (character: Character) in character.isLetter || character.isNumber }
        let isOpening = !rest[at + run].isWhitespace && (rest[at] == "*" || !isWord(before))
        guard isOpening, rest[at] == "~" ? run == 2 : run <= 3 else { return .literal(run) }
        guard let end = closing(rest[at], run, from: at + run, isFinal: isFinal, isCode: false) else {
            return unknown(run)
        }
        let style: Styled.Style = rest[at] == "~" ? .faint : run == 1 ? .emphasis : .strong
        // Where the whole is bold, emphasis within it stays bold.
        let inner = Self.runs(String(rest[at + run..<end]), base == .strong ? .strong : style)
        return .span(inner, next: end + run)
    }

    /// Where a run of so many marks closes a span.
    private func closing(_ mark: Character, _ count: Int, from start: Int, isFinal: Bool, isCode: Bool) -> Int? {
        var at = start
        while at < rest.count {
            if !isCode, rest[at] == "\\" {
                at += 2
                continue
            }
            guard rest[at] == mark else {
                at += 1
                continue
            }
            let run = rest[at...].prefix { $0 == mark }.count
            // It may grow.
            if at + run == rest.count, !isFinal { return nil }
            if run == count, isCode || isClosing(at, run, mark) { return at }
            at += run
        }
        return nil
    }

    private func isClosing(_ at: Int, _ run: Int, _ mark: Character) -> Bool {
        guard !rest[at - 1].isWhitespace else { return false }
        guard mark == "_", at + run < rest.count else { return true }
        return !(rest[at + run].isLetter || rest[at + run].isNumber)
    }

    /// `[text](address)`: the text, and the address where it says more.
    private func link(_ at: Int, _ unknown: (Int) -> Mark) -> Mark {
        guard let close = rest[at...].firstIndex(of: "]") else { return unknown(1) }
        guard close + 1 < rest.count else { return unknown(1) }
        guard rest[close + 1] == "(" else { return .literal(1) }
        guard let end = rest[close...].firstIndex(of: ")") else { return unknown(1) }
        let text = String(rest[at + 1..<close])
        let address = String(rest[close + 2..<end])
        guard !text.isEmpty, !address.contains(where: \.isWhitespace) else { return .literal(1) }
        var runs = Self.runs(text, base)
        if address != text, !address.isEmpty {
            runs += [Run(text: " (", style: base), Run(text: address, style: .faint), Run(text: ")", style: base)]
        }
        return .span(runs, next: end + 1)
    }
}

extension String {
    /// Without the one space on each side that code has which begins or ends with a mark.
    fileprivate var trimmingOneSpace: String {
        guard hasPrefix(" "), hasSuffix(" "), contains(where: { $0 != " " }) else { return self }
        return String(dropFirst().dropLast())
    }
}
