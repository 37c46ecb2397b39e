import HubCore
import ModelFormats
import Support
import Testing

@Suite struct CardSummaryTests {
    private func summary(_ text: String) -> String? { CardSummary.text(of: Array(text.utf8)) }

    @Test(arguments: [
        ("One plain paragraph here.\n\nAnother one.", "One plain paragraph here."),
        (
            "---\nlicense: mit\n---\n\n# Title\n\nWhat it really is,\non two lines.",
            "What it really is, on two lines."
        ),
        ("---\r\nlicense: mit\r\n---\r\n# Title\r\nWhat it really is.\r\n", "What it really is."),
        ("\u{FEFF}\n--- \nx: 1\n---\nText after a mark.", "Text after a mark."),
        ("Title of it all\n===============\n\nIt is a model.", "It is a model."),
        ("Title of it all\n---------------\nIt is a model.", "It is a model."),
        ("* * *\n\nIt is a model.", "It is a model."),
        ("- one of many things\n- two of many things\n  goes on here\n\nIt is a model.", "It is a model."),
        ("1. one of many things\n2) two of many things\n\nIt is a model.", "It is a model."),
        (
            "| a | table | of | words |\n|---|---|---|---|\n| and | a | second | row |\n\nIt is a model.",
            "It is a model."
        ),
        ("> [!NOTE]\n> This was moved away.\n\nIt is a model.", "It is a model."),
        ("```python\nimport this and that too\n```\nIt is a model.", "It is a model."),
        ("    an indented piece of code\n\nIt is a model.", "It is a model."),
        ("[name]: https://a.example with some words\n\nIt is a model.", "It is a model."),
        // Links, emphasis, entities, escapes.
        ("The **big** _model_ of `many` ~~old~~ parts.", "The big model of many old parts."),
        ("A snake_case_name and 2 * 3 * 4 stay whole.", "A snake_case_name and 2 * 3 * 4 stay whole."),
        (
            "See the [paper (2024)](https://a.example/x_(y)) and [more][1] of it [2].",
            "See the paper (2024) and more of it [2]."
        ),
        ("Ask us at <https://a.example/b?c> or never at all.", "Ask us at https://a.example/b?c or never at all."),
        (
            "Fish &amp; chips &#8212; it&#x27;s &lt;b&gt; &unknown; here.",
            "Fish & chips \u{2014} it's <b> &unknown; here."
        ),
        ("Not \\*emphasised\\* at all here.", "Not *emphasised* at all here."),
        // What cards begin with.
        ("![logo](logo.png)\n\n[![badge](a)](b) [![badge](c)](d)\n\nIt is a model.", "It is a model."),
        ("[Home](a) | [Paper about it](b) | [Our own blog](c)\n\nIt is a model of ours.", "It is a model of ours."),
        (
            "<p align=\"center\">\n  <a href=\"x\">Home page of it</a>&nbsp&nbsp | <a href=\"y\">The blog</a>\n</p>\n\nIt is a model of ours.",
            "It is a model of ours."
        ),
        ("<div>\n<p>Told in <b>HTML</b> by its makers.</p>\n<p>More.</p></div>", "Told in HTML by its makers."),
        ("<h1 align=center>The name of it</h1>\nIt is a model.", "It is a model."),
        ("<!-- a note\n\nto whoever edits -->\nIt is a model.", "It is a model."),
        (
            "<style>p { color: red of all }</style><script>alert(1) and more words</script>It is a model.",
            "It is a model."
        ),
        ("<TABLE><tr><td>words in a table</td></tr></TABLE>It is a model.", "It is a model."),
        // Other scripts set no spaces between words.
        ("# 模型\n\n这是一个用于测试的小型语言模型。", "这是一个用于测试的小型语言模型。"),
    ])
    func theFirstParagraphThatSaysSomething(readme: String, expected: String) {
        #expect(summary(readme) == expected)
    }

    @Test(arguments: [
        "", "\n\n", "# Only a title", "---\nlicense: mit\n---\n", "---\nnever: closed\nIt is a model, or is it.",
        "![picture](a.png)", "TODO", "[More Information Needed]", "<!-- It is a model, or is it.",
        "a\u{0}b c d e f",
        "<script>It is a model, or is it.", "| a | b c d e |",
    ])
    func whereNothingIsSaidThereIsNothing(readme: String) { #expect(summary(readme) == nil) }

    @Test func nothingInItDrivesATerminal() throws {
        let text = try #require(
            summary(
                "It \u{1B}[2J\u{1B}]0;x\u{7} is\u{9B}31m a\u{202E} model\u{2028}of &#27;[1m ours\u{84}.\u{FEFF}"))
        #expect(text == "It [2J]0;x is31m a model of [1m ours.")
        let bytes: [UInt8] = Array("It is a model".utf8) + [0xFF, 0xC3] + Array(" here.".utf8)
        #expect(CardSummary.text(of: bytes) == "It is a model here.")
    }

    @Test func itIsShortHoweverLongTheParagraph() throws {
        let words = try #require(summary(String(repeating: "word ", count: 100_000)))
        #expect(words.hasSuffix("word ...") && words.count <= CardSummary.lengthLimit && words.count > 400)
        let unbroken = try #require(summary("It is " + String(repeating: "語", count: 50_000)))
        #expect(unbroken.count <= CardSummary.lengthLimit)
        // One character with marks without end.
        let marked = try #require(summary("It is a" + String(repeating: "\u{301}", count: 20_000) + " model"))
        #expect(marked.utf8.count <= CardSummary.lengthLimit * 8)
    }

    /// What would take the square of its length, or a stack, in a parser that looks ahead without bound.
    @Test(arguments: [
        "[", "![", "[(", "<", "<a", "<a>", "<ul>", "<!--", "<!", "&", "&#", "\\", "*", "`", "[a](", "[[a](b)",
        "```\n", "> ",
        "</", "<p>", "_a", "- \n", "-\n", "~", "<h1></h1>",
    ])
    func noTextTakesLong(piece: String) {
        let text = summary(String(repeating: piece, count: CardSummary.readLimit / piece.utf8.count))
        #expect((text?.count ?? 0) <= CardSummary.lengthLimit)
    }
}
