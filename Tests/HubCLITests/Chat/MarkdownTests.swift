import Support
import Testing

@testable import HubCLI

/// Markdown on a terminal.
@Suite struct MarkdownTests {
    /// The text with its styles as tags: `<b>`, `<i>`, `<c>` for code, `<f>` for faint.
    private func shown(_ text: String, width: Int = 40, pieces: [Int] = []) -> String {
        var markdown = MarkdownText(width: width, isUnicode: true)
        var runs: [Styled.Run] = []
        var rest = Substring(text)
        for count in pieces {
            runs += markdown.add(String(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        runs += markdown.add(String(rest))
        return tagged(runs + markdown.end())
    }

    private func tagged(_ runs: [Styled.Run]) -> String {
        // Neighbours of one style are one.
        var merged: [Styled.Run] = []
        for run in runs where !run.text.isEmpty {
            if merged.last?.style == run.style {
                merged[merged.count - 1].text += run.text
            } else {
                merged.append(run)
            }
        }
        return merged.map { run in
            switch run.style {
            case .strong: "<b>\(run.text)</b>"
            case .emphasis: "<i>\(run.text)</i>"
            case .name: "<c>\(run.text)</c>"
            case .faint: "<f>\(run.text)</f>"
            default: run.text
            }
        }.joined()
    }

    @Test func marksBecomeStyles() {
        #expect(shown("a **bold** and *soft* `code`.") == "a <b>bold</b> and <i>soft</i> <c>code</c>.\n")
        #expect(shown("__b__ _i_ ***both*** ~~gone~~") == "<b>b</b> <i>i</i> <b>both</b> <f>gone</f>\n")
        #expect(shown("``a ` b``") == "<c>a</c> <c>`</c> <c>b</c>\n")
        #expect(shown("**a `c` b**") == "<b>a</b> <c>c</c> <b>b</b>\n")
        #expect(shown("[text](https://x.org)") == "text (<f>https://x.org</f>)\n")
    }

    /// What is no mark is shown as it is: nothing that a model said is lost.
    @Test func whatIsNeverClosedStays() {
        for text in [
            "2 * 3 * 4", "use *args and **kwargs", "snake_case_name", "a ` b", "[1] and [x", "[a] (b)", "5 ~ 6",
            "C:\\path\\file", "**", "a **b", "_", "~~", "`",
        ] {
            #expect(shown(text) == text + "\n", "\(text)")
        }
        #expect(shown("\\*no\\*") == "*no*\n")
    }

    @Test func blocksAreShown() {
        #expect(shown("# One\n## Two") == "<b>One</b>\n<b>Two</b>\n")
        #expect(shown("- a\n* b\n  + c\n10. d") == "• a\n• b\n  • c\n10. d\n")
        #expect(shown("> said") == "<f>│ </f>said\n")
        #expect(shown("a\n\n---\nb") == "a\n\n<f>" + String(repeating: "─", count: 40) + "\n</f>b\n")
        #expect(shown("#tag and -x and 1.5") == "#tag and -x and 1.5\n")
    }

    @Test func codeStaysAsItIs() {
        let text = "```swift\nlet a = **b**\n\n  - x\n```\nafter"
        #expect(shown(text) == "<f>    swift\n</f><c>    let a = **b**</c>\n<c>\n      - x</c>\nafter\n")
        // One that is cut off, as by a limit of tokens.
        #expect(shown("~~~\n``` x") == "<c>    ``` x</c>\n")
        #expect(shown("````\n```\n````\n*a*") == "<c>    ```\n</c><i>a</i>\n")
    }

    @Test func paragraphsAreSetInLines() {
        #expect(shown("one two three four", width: 10) == "one two\nthree four\n")
        #expect(shown("- one two three", width: 10) == "• one two\n  three\n")
        #expect(shown("a **bold one** b", width: 10) == "a <b>bold</b> <b>one</b>\nb\n")
        // Wide characters take two cells; words without spaces are broken.
        #expect(shown("世界世界世界世界", width: 10) == "世界世界世\n界世界\n")
        #expect(shown(String(repeating: "x", count: 25), width: 10) == "xxxxxxxxxx\nxxxxxxxxxx\nxxxxx\n")
    }

    @Test func tablesHaveEvenColumns() {
        let text = "| a | bb |\n|---|:--:|\n| long one | **c** |\n| x \\| y | d |\nafter"
        #expect(
            shown(text) == """
                <b>a</b>       <f> │ </f><b>bb</b>
                <f>─────────┼───
                </f>long one<f> │ </f><b>c</b>
                x | y   <f> │ </f>d
                after

                """)
        #expect(shown("| only | this") == "| only | this\n")
        let narrow = shown("|first|second|\n|-|-|\n|some words here|and more words there|", width: 24)
        let plain = narrow.replacing(/<\/?[bcfi]>/, with: "")
        #expect(plain.split(separator: "\n").allSatisfy { DisplayWidth.of(String($0)) <= 24 }, "\(plain)")
        #expect(plain.contains("words") && plain.contains("there"))
    }

    /// However a text arrives, what is shown in the end is the same.
    @Test func piecesMakeNoDifference() {
        let parts = [
            "# Head\n", "text ", "**bold", " text** ", "*", "_", "`co", "de` ", "\n", "\n\n", "- item ", "1. ",
            "> ",
            "```\n", "| a | b |\n", "|---|---|\n", "[l](u) ", "\\", "🙂", "e\u{301}", "世", "---\n", "    ",
        ]
        var random = SeededRandom(number: 20)
        for _ in 0..<400 {
            let text = (0..<Int.random(in: 1...30, using: &random)).map { _ in parts.randomElement(using: &random)!
            }
            .joined()
            let whole = shown(text, width: 20)
            let pieces = (0..<60).map { _ in Int.random(in: 1...5, using: &random) }
            #expect(shown(text, width: 20, pieces: pieces) == whole, "\(text.debugDescription)")
            let letters = { (text: String) in text.filter { $0.isLetter }.count }
            let tags = whole.replacing(/<\/?[bcfi]>/, with: "")
            #expect(letters(tags) == letters(text), "\(text.debugDescription)")
        }
    }

    /// A word is shown as soon as it is known to be one, not at the end of its line.
    @Test func wordsAreNotHeldBack() {
        var markdown = MarkdownText(width: 40, isUnicode: true)
        #expect(tagged(markdown.add("Hello the")) == "Hello")
        #expect(tagged(markdown.add("re, you")) == " there,")
        #expect(tagged(markdown.add(" **all of")) == " you")
        #expect(tagged(markdown.add("** them ")) == " <b>all</b> <b>of</b> them")
    }
}
