/// Text of several styles that is set in lines of a width while it arrives. What it returns to the caller is final: nothing
/// is ever drawn again, so nothing flickers.
struct WrappedText {
    typealias Run = Styled.Run

    /// Cells of a line, at least ten.
    private let width: Int
    /// What stands before each further line of the paragraph.
    private var margin: [Run] = []
    private var marginWidth = 0
    /// Cells of the line that are in use.
    private var column = 0
    /// The word that may still grow, and the spaces before it.
    private var word: [Run] = []
    private var wordWidth = 0
    private var spaces = 0
    /// What can be written.
    private var ready: [Run] = []

    init(width: Int) { self.width = max(10, width) }

    /// Begins a line of a paragraph.
    ///
    /// - Parameters:
    ///   - start: what stands before its first line,
    ///   - margin: and before the others.
    mutating func begin(_ start: [Run], margin: [Run]) {
        self.margin = margin
        marginWidth = min(Self.width(margin), width / 2)
        ready += start
        column = Self.width(start)
    }

    /// Adds text without line ends.
    mutating func add(_ text: String, _ style: Styled.Style) {
        for character in text {
            if character == " " || character == "\t" {
                finishWord()
                spaces += 1
            } else {
                append(character, style)
            }
        }
    }

    private mutating func append(_ character: Character, _ style: Styled.Style) {
        wordWidth += DisplayWidth.of(character)
        if let last = word.indices.last, word[last].style == style {
            word[last].text.append(character)
        } else {
            word.append(Run(text: String(character), style: style))
        }
        // Languages without spaces, and addresses: a word that fills a line is broken.
        if wordWidth >= width - marginWidth { finishWord() }
    }

    private mutating func finishWord() {
        guard !word.isEmpty else { return }
        if column > marginWidth, column + spaces + wordWidth > width {
            ready.append(Run(text: "\n", style: .plain))
            ready += margin
            column = Self.width(margin)
        } else if spaces > 0 {
            ready.append(Run(text: String(repeating: " ", count: spaces), style: .plain))
            column += spaces
        }
        ready += word
        column += wordWidth
        (word, wordWidth, spaces) = ([], 0, 0)
    }

    /// Ends the line.
    mutating func end() {
        finishWord()
        spaces = 0
        ready.append(Run(text: "\n", style: .plain))
        column = 0
    }

    /// What can be written now.
    mutating func take() -> [Run] {
        defer { ready = [] }
        return ready
    }

    private static func width(_ runs: [Run]) -> Int { runs.reduce(0) { $0 + DisplayWidth.of($1.text) } }
}
