import HubCore
import InferenceKit
import Support
import Testing

@testable import RemoteKit

/// Pages as text, from a server on the loopback that the tests' own policy lets through.
@Suite struct WebReaderTests {
    private typealias Reply = InferenceStandIn.Reply

    private static func html(_ text: String, _ type: String = "text/html; charset=utf-8") -> InferenceStandIn.Reply
    {
        Reply.bytes(Array(text.utf8), type: type)
    }

    /// Every host but `inside.test` is the server.
    private static let policy = WebPolicy(
        resolve: { (host) throws(AIError) in [IPAddress(host == "inside.test" ? "10.0.0.1" : "127.0.0.1")!] },
        allows: { $0.description == "127.0.0.1" }, seconds: 900, patience: 900)

    private func reader(_ place: RemotePlace) -> WebReader { WebReader(place.context, policy: Self.policy) }
    private func port(_ place: RemotePlace) -> String { String(place.server.address.split(separator: ":")[2]) }

    @Test func aPageIsFetchedFromTheAddressThatWasChecked() async throws {
        let place = try RemotePlace { _ in Self.html("<title>The  Sea</title><p>Deep &amp; blue.") }
        // No resolver knows this name: the connection goes where the policy said.
        let page = try await reader(place).page("http://no-such-host.invalid:\(port(place))/sea?x=1")
        #expect(page.title == "The Sea" && page.text == "Deep & blue." && !page.isCut)
        let request = try #require(place.server.requests.first)
        #expect(request.target == "/sea?x=1" && request.header("Host") == "no-such-host.invalid:\(port(place))")
        // Nothing of the Hub's goes to a page.
        #expect(request.header("Authorization") == nil && request.header("Cookie") == nil)
    }

    @Test func everyRedirectIsChecked() async throws {
        let place = try RemotePlace { request in
            switch request.path {
            case "/a": Reply.redirect("/b")
            case "/b": Self.html("<p>There")
            case "/inside": Reply.redirect("http://inside.test/secret")
            case "/file": Reply.redirect("file:///etc/passwd")
            default: Reply.redirect("/loop")
            }
        }
        let base = "http://one.test:\(port(place))"
        let page = try await reader(place).page(base + "/a")
        #expect(page.text == "There" && page.address == base + "/b")
        for path in ["/inside", "/file", "/loop"] {
            await #expect(throws: AIError.self, "\(path)") { try await reader(place).page(base + path) }
        }
        #expect(place.server.requests.filter { $0.path == "/secret" }.isEmpty)
    }

    @Test func onlyTextIsRead() async throws {
        let place = try RemotePlace { request in
            switch request.path {
            case "/plain": Self.html("a <b> c", "text/plain")
            case "/json": Self.html(#"{"a":1}"#, "application/json")
            case "/latin":
                Reply.bytes([0x63, 0xE9, 0x80], type: "text/plain; charset=\"ISO-8859-1\"")
            case "/image": Self.html("PNG", "image/png")
            case "/none": Reply.bytes([0x78], type: nil)
            case "/long": Self.html(String(repeating: "é", count: 600_000), "text/plain")
            default: Self.html("gone", "text/html").status(404)
            }
        }
        let base = "http://one.test:\(port(place))"
        #expect(try await reader(place).page(base + "/plain").text == "a <b> c")
        #expect(try await reader(place).page(base + "/json").text == #"{"a":1}"#)
        #expect(try await reader(place).page(base + "/latin").text == "cé€")
        let long = try await reader(place).page(base + "/long")
        #expect(long.isCut && long.text.utf8.count == WebReader.limit && !long.text.contains("\u{FFFD}"))
        for (path, text) in [("/image", "image/png"), ("/none", "no known type"), ("/x", "status 404")] {
            let error = await #expect(throws: AIError.self) { try await reader(place).page(base + path) }
            #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
        }
    }

    @Test func withoutNetworkNothingIsRead() async throws {
        let place = try RemotePlace { _ in Self.html("x") }
        let reader = WebReader(place.offline(), policy: Self.policy)
        let error = await #expect(throws: AIError.self) { try await reader.page("http://one.test/") }
        #expect(error?.code == .offline && place.server.requests.isEmpty)
    }

    @Test func theToolsOfTheWeb() async throws {
        let found =
            #"{"results":[{"url":"http://found.test:PORT/a","title":"A","content":"about a"},{"url":"javascript:x"}]}"#
        let place = try RemotePlace { request in
            request.path == "/search"
                ? Self.html(
                    found.replacing("PORT", with: String((request.header("Host") ?? "").split(separator: ":")[1])),
                    "application/json") : Self.html("<p>The page " + request.path)
        }
        let searching = try RemotePlace(["HUB_SEARXNG_URL": place.server.address + "/"]) { _ in Self.html("") }
        let web = try WebTools(searching.context, policy: Self.policy)
        #expect(web.tools.map(\.name) == ["web_search", "read_page"] && web.searches)
        let (search, read) = (web.tools[0], web.tools[1])
        let address = "http://found.test:\(port(place))/a"
        let refused = await #expect(throws: AIError.self) {
            try await read.call(arguments: ["address": .string(address)])
        }
        #expect(refused?.message.contains("neither the user nor a search named") == true)
        let answer = try await search.call(arguments: ["query": "the sea & more"])
        #expect(answer.contains("1. A\n   \(address)\n   about a") && !answer.contains("javascript"))
        #expect(place.server.requests.first?.target == "/search?format=json&q=the%20sea%20%26%20more")
        #expect(try await read.call(arguments: ["address": .string(address + "#x")]).contains("The page /a"))
        // What is added to an address could carry something away.
        await #expect(throws: AIError.self) {
            try await read.call(arguments: ["address": .string(address + "?secret")])
        }
        web.hear("Read http://named.test:\(port(place))/b, please.")
        #expect(
            try await read.call(arguments: ["address": .string("http://named.test:\(port(place))/b")]).contains(
                "/b"))
        await #expect(throws: AIError.self) { try await search.call(arguments: [:]) }
        let without = try WebTools(place.context)
        #expect(without.tools.map(\.name) == ["read_page"] && !without.searches)
    }

    @Test func aLongPageIsReadInParts() async throws {
        let place = try RemotePlace { _ in Self.html(String(repeating: "x", count: 12_000) + "END", "text/plain") }
        let web = try WebTools(place.context, policy: Self.policy)
        let address = "http://one.test:\(port(place))/"
        web.hear(address)
        let first = try await web.tools[0].call(arguments: ["address": .string(address)])
        #expect(first.contains("with the offset 12000") && !first.contains("END"))
        let second = try await web.tools[0].call(arguments: ["address": .string(address), "offset": 12_000])
        #expect(second.hasSuffix("\nEND"))
    }
}

extension InferenceStandIn.Reply {
    fileprivate func status(_ status: Int) -> Self {
        var reply = self
        reply.status = status
        return reply
    }
}
