import Support
import Testing

@testable import RemoteKit

@Suite struct HTMLTextTests {
    private func text(_ html: String) -> String { HTMLText(html, base: "https://a.org/b/c").text }

    @Test func blocksAreLines() {
        let html = """
            <!DOCTYPE html><html><head><title> A &amp; B </title><style>p{x:y}</style><script>if (a<b) "</p>"</script></head>
            <body><h1>Head</h1><p>One  two
            three<br>four</p><ul><li>a<li>b</ul><pre>  x
              y</pre><table><tr><th>k<th>v</tr><tr><td>1<td>2</table></body></html>
            """
        #expect(HTMLText(html, base: "https://a.org").title == "A & B")
        // All of a title goes into the prompt.
        let long = HTMLText("<title>" + String(repeating: "a", count: 900_000) + "</title>b", base: "https://a.org")
        #expect(long.title == String(repeating: "a", count: 300) + "…" && long.text == "b")
        #expect(
            text(html) == """
                # Head

                One two three
                four

                - a
                - b

                  x
                  y

                k | v
                1 | 2
                """)
    }

    @Test func linksHaveAddresses() {
        #expect(text("<a href='d?e=1&amp;f'>here</a>!") == "here (https://a.org/b/d?e=1&f)!")
        #expect(
            text("<a href=#top>up</a> <a href=javascript:x()>run</a> <a>bare</a> <a href=/x></a>") == "up run bare")
    }

    @Test func entitiesAreCharacters() {
        #expect(
            text("&lt;b&gt; &#8364;&#x20AC; &euro; &nosuch; & &amp;lt; &#0; a&nbsp;b")
                == "<b> €€ € &nosuch; & &lt; \u{FFFD} a b")
    }

    @Test func whatIsBrokenEnds() {
        #expect(text("a < b <3 <p") == "a < b <3")
        #expect(text("<!-- no end") == "" && text("x<!-- > --!> -->y") == "xy")
        #expect(text("<script>never ends <p>x") == "")
        #expect(text("<p title=\"a>b\" x='>' y=z>in</p>") == "in")
        #expect(text("<svg><p>no</p></svg>yes") == "yes")
    }

    /// Any text ends, and soon.
    @Test func randomTagsEnd() {
        var random = SeededRandom(number: 3)
        let pieces = [
            "<", ">", "</", "a", " href=", "\"", "'", "<p>", "<a href=x>", "</a>", "&", "#", ";", "<!--", "-->",
            "\n",
        ]
        for _ in 0..<300 {
            let html = (0..<200).map { _ in pieces.randomElement(using: &random)! }.joined()
            _ = text(html)
        }
        #expect(text(String(repeating: "<a href=x>", count: 20_000) + "x").hasSuffix("x"))
        #expect(text(String(repeating: "&", count: 200_000)).count == 200_000)
    }
}
