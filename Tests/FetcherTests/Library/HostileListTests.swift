import Catalog
import HubCore
import Support
import Testing

@testable import Fetcher

/// Lists that no honest Hub sends: what is good of them is kept, the rest is one clear error, and every run ends.
@Suite struct HostileListTests {
    private let place: TemporaryFolder
    private let catalog: Catalog

    init() throws {
        place = try TemporaryFolder()
        catalog = try Catalog(path: place("catalog.sqlite3"))
    }

    private func run(_ server: ScriptedServer, token: String? = nil, whole: Bool = false) async throws
        -> MirrorSync.Result
    {
        let test = try TestClient(server.address, token: token, retries: 0)
        var options = MirrorSync.Options()
        options.isWhole = whole
        let result = await MirrorSync(catalog: catalog, client: test.client).run(options)
        #expect(!test.said.contains(TestClient.secret))
        return result
    }

    private func known() throws -> [ModelRecord] {
        var query = ModelQuery()
        query.limit = -1
        return try catalog.search(query).map(\.record)
    }

    private static func page(_ id: String, next: String?) -> ScriptedServer.Answer {
        .json(
            "[{\"id\":\"\(id)\",\"lastModified\":\"2024-01-01T00:00:00.000Z\"}]",
            headers: next.map { [("Link", "<\($0)>; rel=\"next\"")] } ?? [])
    }

    /// The error of a list that goes wrong behind a good page, which is kept.
    private func expectGoodPage(_ result: MirrorSync.Result, _ words: String) throws {
        #expect(result.error?.code == .protocolViolation && result.error?.exitStatus == 5)
        #expect(result.error?.message.contains(words) == true, "\(result.error?.message ?? "no error")")
        #expect(!result.report.isComplete && result.report.vanished == 0)
        #expect(try known().map(\.repository.id.name).contains("org/good"))
    }

    @Test(arguments: [
        ("http://127.0.0.1:9/api/models?cursor=1", "another host"),
        ("https://evil.example/api/models?cursor=1", "another host"),
        ("//evil.example/api/models?cursor=1", "another host"),
        ("/api/datasets?cursor=1", "another list"), ("/api/models/org/good?cursor=1", "another list"),
        ("/api/models/../whoami-v2?cursor=1", "another list"), ("/api/models", "without a cursor"),
        ("/api/models?cursor=1#/x", "without a cursor"), ("ftp://127.0.0.1/api/models?cursor=1", "another host"),
        ("http://[/api/models?cursor=1", "not an address"),
        ("/api/models?cursor=\(TestClient.secret)", "holds the token"),
    ])
    func aLinkThatLeadsAstrayIsNotFollowed(link: String, words: String) async throws {
        let server = try ScriptedServer { _ in Self.page("org/good", next: link) }
        try expectGoodPage(try await run(server, token: TestClient.secret), words)
        #expect(server.requests.count == 1)
        for name in try FileSystem.entries(place.path) ?? [] {
            let bytes = try FileSystem.contents(place(name)) ?? []
            #expect(!String(decoding: bytes, as: UTF8.self).contains(TestClient.secret), "\(name)")
        }
    }

    @Test func userInformationInALinkIsNotFollowed() async throws {
        let server = try ScriptedServer { asked in
            Self.page("org/good", next: "http://a:b@127.0.0.1:\(asked.target.count)/api/models?cursor=1")
        }
        try expectGoodPage(try await run(server), "another host")
    }

    /// A mirror may pass the Hub's own links on: its further pages are asked of the mirror.
    @Test func aMirrorsLinksToTheHubStayAtTheMirror() async throws {
        let server = try ScriptedServer { asked in
            asked.target.contains("cursor=7")
                ? Self.page("org/last", next: nil)
                : Self.page("org/good", next: "https://huggingface.co/api/models?limit=1000&cursor=7")
        }
        let result = try await run(server)
        #expect(result.error == nil && result.report.models == 2)
    }

    @Test(arguments: [false, true])
    func aCircleEnds(whole: Bool) async throws {
        let server = try ScriptedServer { asked in
            let isFirst = asked.target.contains("cursor=2")
            return Self.page(isFirst ? "org/second" : "org/good", next: "/api/models?cursor=\(isFirst ? 1 : 2)")
        }
        try expectGoodPage(try await run(server, whole: whole), "circle")
        // The next run begins anew and does not go round from there.
        try expectGoodPage(try await run(server, whole: whole), "circle")
        #expect(server.requests.count < 12)
    }

    @Test(arguments: ["[]", "[{\"id\":\"org/good\",\"lastModified\":\"2024-01-01T00:00:00.000Z\"}]"])
    func aListWithoutAnEndEnds(body: String) async throws {
        let server = try ScriptedServer { asked in
            asked.index == 0
                ? Self.page("org/good", next: "/api/models?cursor=0")
                : .json(body, headers: [("Link", "</api/models?cursor=\(asked.index)>; rel=\"next\"")])
        }
        try expectGoodPage(try await run(server), "continues without a new entry")
        #expect(server.requests.count == 11)
    }

    @Test func someEmptyPagesAreNoEnd() async throws {
        let server = try ScriptedServer { asked in
            switch asked.index {
            case 0...4: .json("[]", headers: [("Link", "</api/models?cursor=\(asked.index)>; rel=\"next\"")])
            default: Self.page("org/good", next: nil)
            }
        }
        let result = try await run(server)
        #expect(result.error == nil && result.report.isComplete && result.report.added == 1)
    }

    @Test(arguments: [
        ("{\"error\":\"no\"}", "is not a JSON list"), ("null", "is not a JSON list"), ("[unfinished", "not JSON"),
        ("<html>Sign in</html>", "web page"), ("[1,null,\"x\",[]]", "none has a name"),
        ("[{\"id\":\"../etc\"},{\"id\":\"\"},{\"id\":7},{}]", "none has a name"),
    ])
    func aPageOfGarbageKeepsTheGoodOnes(body: String, words: String) async throws {
        let server = try ScriptedServer { asked in
            asked.target.contains("cursor=") ? .json(body) : Self.page("org/good", next: "/api/models?cursor=1")
        }
        for whole in [false, true] { try expectGoodPage(try await run(server, whole: whole), words) }
    }

    @Test func anEntryWithoutANameHidesNoOther() async throws {
        let server = try ScriptedServer { _ in
            .json("[{\"likes\":1},{\"id\":\"a b\"},{\"id\":\"org/good\"},{\"id\":\"org/\\u0000\"},17]")
        }
        let result = try await run(server)
        #expect(result.error == nil && result.report.models == 1 && result.report.added == 1)
    }

    @Test func absurdNumbersAreKeptOrLeftOut() async throws {
        let long = String(repeating: "n", count: 96)
        let tags = (0..<2074).map { "\"tag:\($0)\"" }.joined(separator: ",")
        let server = try ScriptedServer { _ in
            .json(
                """
                [{"id":"org/good","downloads":9223372036854775807,"likes":-9223372036854775808,"trendingScore":1e308,
                "usedStorage":99999999999999999999999,"createdAt":"9999-99-99T99:99:99Z","lastModified":12,
                "tags":[\(tags)],"safetensors":{"total":-1},"gated":{"a":[]}},
                {"id":"Org/Good"},{"id":"twenty-characters-xx/\(long)","tags":[1,null,{}]},{"id":"org/good","likes":2}]
                """)
        }
        let result = try await run(server, whole: true)
        #expect(result.error == nil && result.report.models == 3 && result.report.added == 3)
        let known = try known()
        #expect(Set(known.map(\.repository.id.name)) == ["org/good", "Org/Good", "twenty-characters-xx/\(long)"])
        let good = try #require(known.first { $0.repository.id.name == "org/good" })
        #expect(good.downloads == .max && good.likes == 2 && good.tags?.count == 2074)
        #expect(good.createdAt == nil && good.usedStorage == nil)
    }

    @Test(arguments: [401, 403, 500])
    func aRefusalInTheMiddleKeepsWhatCame(status: Int) async throws {
        let server = try ScriptedServer { asked in
            asked.target.contains("cursor=") ? .status(status) : Self.page("org/good", next: "/api/models?cursor=1")
        }
        let result = try await run(server)
        #expect(result.error?.context.status == status && result.report.models == 1)
        // The place is kept: the next run asks there.
        _ = try await run(server)
        #expect(server.requests.last?.target == "/api/models?cursor=1" && server.requests.count == 3)
    }
}
