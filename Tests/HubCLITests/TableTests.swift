import Testing

@testable import HubCLI

@Suite struct TableTests {
    static func table() -> Table {
        var table = Table([
            .init("MODEL", least: 8, cut: .middle), .init("SIZE", .right), .init("USED", optional: true),
            .init("TASK", least: 6, optional: true),
        ])
        table.add(["openai/gpt-oss-20b", "14 GB", "3 days ago", "text-generation"])
        table.add(["日本/モデル", "999 B", "1 hour ago", ""])
        return table
    }

    func lines(_ width: Int?) -> [String] { Self.table().lines(width: width).map(\.plain) }

    @Test func naturalWidthInAPipe() {
        #expect(
            lines(nil) == [
                "MODEL                SIZE  USED        TASK",
                "openai/gpt-oss-20b  14 GB  3 days ago  text-generation",
                "日本/モデル         999 B  1 hour ago",
            ])
        #expect(lines(80) == lines(nil))
    }

    @Test func wideColumnsShrinkTogether() {
        #expect(
            lines(44) == [
                "MODEL         SIZE  USED        TASK",
                "opena…s-20b  14 GB  3 days ago  text-genera…",
                "日本/モデル  999 B  1 hour ago",
            ])
    }

    @Test func optionalColumnsGoFromTheRight() {
        #expect(
            lines(30) == [
                "MODEL         SIZE  USED",
                "opena…s-20b  14 GB  3 days ago",
                "日本/モデル  999 B  1 hour ago",
            ])
        #expect(lines(20) == ["MODEL           SIZE", "openai…ss-20b  14 GB", "日本/モデル    999 B"])
    }

    /// A name that may not shrink stays whole, and the rest of the line is cut.
    @Test func aNameIsNeverCut() {
        var table = Table([.init("DELETE"), .init("FREES", .right), .init("WHY", optional: true)])
        table.add(["openai/gpt-oss-20b@12345678", "14 GB", "needed for --max-size 1 GB"])
        #expect(table.lines(width: 40).last?.plain == "openai/gpt-oss-20b@12345678  14 GB")
        for width in 1..<27 { #expect(table.lines(width: width).last?.plain.hasSuffix("…") == true) }
        for width in 1..<100 {
            #expect(table.lines(width: width).last?.plain.hasPrefix("openai/gpt-oss-20b@1234567") == true)
        }
    }

    @Test func noLineIsEverWiderThanTheTerminal() {
        for width in 1...100 {
            for line in lines(width) { #expect(DisplayWidth.of(line) <= width, "\(width): \(line)") }
        }
    }

    @Test func stylesAreNotMeasured() {
        var table = Table([.init("A"), .init("B")])
        table.add([Styled("x", .good), "y"])
        #expect(table.lines(width: 80)[1].written(color: true) == "\u{1B}[32mx\u{1B}[0m  y")
        #expect(table.lines(width: 80)[1].written(color: false) == "x  y")
    }

    @Test func cellsAreMadeSafe() {
        var table = Table([.init("A"), .init("B")])
        table.add(["\u{1B}[2J\n", "y"])
        #expect(table.lines(width: nil)[1].written(color: true) == "␛[2J   y")
    }

    @Test func withoutRowsThereIsNothing() { #expect(Table([.init("A")]).lines(width: 80).isEmpty) }
}
