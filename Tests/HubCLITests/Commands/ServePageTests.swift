@testable import HubCLI
import HubCore
import HubServer
import Support
import Testing

/// `hub serve page` as a program; the page itself is tested in a browser (Tests/Peers/test_page.py).
@Suite struct ServePageTests {
    let stage: Stage

    init() throws { stage = try Stage { try ModelRepository.tiny("org/tiny", in: $0) } }

    @Test func itsAddressIsTheLastLine() async throws {
        let server = try stage.start("serve", "page")
        try await server.wait(forText: "stops it\n")
        let address = try await server.wait(forText: "export HF_ENDPOINT=").prefix { $0 != "\n" }
        let page = try await HTTPClient.get("\(address)/-/storage")
        #expect(page.status == 200)
        server.interrupt()
        #expect(try await server.wait().output == "\(address)\nexport HF_ENDPOINT=\(address)\n\(address)/\n")
    }

    /// Who answers for a name in the network could show a page of theirs in its place. An API alone has such names.
    @Test func noNameOfTheNetworkReachesIt() async throws {
        for (words, status) in [(["serve", "api", "page"], 421), (["serve", "api"], 200)] {
            let server = try stage.start(words)
            let address = try await server.wait(forText: "export ").split(separator: "\n")[0]
            for name in ["printer.local", "some.internal"] {
                let answer = try await HTTPClient.get("\(address)/api/version", headers: ["Host": name])
                #expect(answer.status == status, "\(words) \(name): \(answer.text)")
            }
            server.interrupt()
            _ = try await server.wait()
        }
    }

    @Test func whatCannotBeIsExit2() async throws {
        try FileSystem.createDirectories(stage.machine("folder"))
        let cases = [
            (["serve", "folder", "--page"], "--page shows the cache, not a folder"),
            (
                ["serve", "page", "--host", "0.0.0.0"],
                "0.0.0.0 can be reached by others, and the page has no token"
            ),
        ]
        for (words, message) in cases {
            let result = try await stage.run(words)
            #expect(result.status == 2 && result.error.contains(message), "\(words): \(result.error)")
        }
    }

    @Test func textsBecomeNoMarkup() {
        let text = HTML.tag("a", ["title": "\"><b>", "href": nil, "hidden": ""], "<script>&\u{0}\n").text
        #expect(text == "<a title=\"&quot;&gt;&lt;b&gt;\" hidden>&lt;script&gt;&amp;\u{FFFD}\n</a>")
    }
}
