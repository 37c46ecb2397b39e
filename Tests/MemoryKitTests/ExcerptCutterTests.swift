import Support
import Testing

@testable import MemoryKit

@Suite struct ExcerptCutterTests {
    private let cutter = ExcerptCutter(longest: 60, overlap: 20)

    @Test func aShortTextIsOneStretch() {
        #expect(cutter.cuts("One.\n\nTwo.\n") == [Cut(text: "One.\n\nTwo.", first: 1, last: 3)])
        #expect(cutter.cuts("").isEmpty && cutter.cuts(" \n\n\t\n").isEmpty)
    }

    @Test func headingsAreBorders() {
        let text = "# A\n" + String(repeating: "word ", count: 8) + "\n# B\n" + String(repeating: "next ", count: 8)
        let cuts = cutter.cuts(text)
        #expect(cuts.map(\.first) == [1, 3] && cuts[1].text.hasPrefix("# B") && !cuts[0].text.contains("# B"))
    }

    @Test func emptyLinesAreBordersAndNeighboursOverlap() {
        let cuts = cutter.cuts("a a a a a a a a a\nb b b b b b b b b\n\nc c c c c c c c c\nd d d d d d d d d\n")
        #expect(cuts.count == 2)
        #expect(cuts[0] == Cut(text: "a a a a a a a a a\nb b b b b b b b b", first: 1, last: 2))
        // The line before the border is in both.
        #expect(cuts[1].text.hasPrefix("b b") && cuts[1].last == 5)
    }

    /// Nothing is lost, nothing is too long, and lines are those of the text, whatever it is.
    @Test func everyTextIsCoveredByItsStretches() {
        var random = SeededRandom(number: 7)
        let pieces = ["\n", "\n\n", "# head\n", "word ", "some longer words. ", "🙂", "e\u{301}", "    }", "\r\n"]
        for _ in 0..<500 {
            let text = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                pieces.randomElement(using: &random)!
            }.joined()
            let cuts = cutter.cuts(text)
            let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
            for (before, after) in zip(cuts, cuts.dropFirst()) {
                #expect(before.first <= after.first && before.last <= after.last)
            }
            for cut in cuts {
                #expect(cut.text.utf8.count <= cutter.longest)
                #expect(cut.first >= 1 && cut.first <= cut.last && cut.last <= lines.count)
                for (line, part) in zip(cut.first...cut.last, [lines[cut.first - 1]]) {
                    #expect(line == cut.first && cut.text.contains { !$0.isWhitespace } && !part.isEmpty)
                }
            }
            let said = Set(cuts.flatMap { Array($0.first...$0.last) })
            for (index, line) in lines.enumerated() where line.contains(where: { !$0.isWhitespace }) {
                #expect(said.contains(index + 1), "line \(index + 1) of \(text.debugDescription)")
            }
        }
    }

    @Test func longLinesAreCutBehindSentences() {
        let line = String(repeating: "A sentence stands here. ", count: 10)
        let cuts = cutter.cuts(line)
        #expect(cuts.count > 3 && cuts.allSatisfy { $0.first == 1 && $0.last == 1 })
        #expect(cuts.allSatisfy { $0.text.hasSuffix("here.") })
    }

    @Test func pagesAreCounted() {
        #expect(cutter.cuts(pages: ["One.", "", "Three."]).map(\.first) == [1, 3])
    }
}
