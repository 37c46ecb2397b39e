import Catalog
import Fetcher
import HubCore
import Support
import Testing

/// What is written on the wire, as the Hub reads it.
@Suite struct WireFormatTests {
    private func asked(_ change: (inout ModelQuery) -> Void) async throws -> [String] {
        let server = try ScriptedServer { _ in .json("[]") }
        var query = ModelQuery()
        change(&query)
        let test = try TestClient(server.address)
        _ = try await test.client.search(query)
        let target = try #require(server.requests.first?.target)
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        return [parts[0]] + (parts.count > 1 ? parts[1].split(separator: "&").map(String.init) : [])
    }

    /// Booleans are `true` and `false`; what there are several of is a key that comes again, not `filter[]`.
    @Test func aSearchIsWrittenAsTheHubsOwnClientWritesIt() async throws {
        let items = try await asked {
            $0.text = "llama 3"
            $0.author = "org"
            $0.task = "text-generation"
            $0.library = "transformers"
            $0.license = "mit"
            $0.tags = ["a/b", "c"]
            $0.gated = false
            $0.sort = .trending
            $0.limit = 5
        }
        #expect(
            items.filter { !$0.hasPrefix("expand=") } == [
                "/api/models", "search=llama%203", "author=org", "pipeline_tag=text-generation",
                "filter=transformers", "filter=license%3Amit", "filter=a%2Fb", "filter=c", "gated=false",
                "sort=trendingScore", "limit=5",
            ])
        let expanded = items.filter { $0.hasPrefix("expand=") }
        #expect(expanded.count > 5 && Set(expanded).count == expanded.count)
        #expect(
            ["expand=library_name", "expand=pipeline_tag", "expand=lastModified"].allSatisfy(expanded.contains))
        // With `expand` these three are refused.
        #expect(!items.contains { ["full", "config", "cardData"].contains($0.split(separator: "=")[0]) })
    }

    @Test(
        arguments: [
            (.downloads, "downloads"), (.likes, "likes"), (.updated, "lastModified"), (.created, "createdAt"),
            (.trending, "trendingScore"), (.relevance, "downloads"),
        ] as [(ModelQuery.Sort, String)])
    func anOrderHasTheHubsName(sort: ModelQuery.Sort, name: String) async throws {
        #expect(try await asked { $0.sort = sort }.contains("sort=\(name)"))
    }

    /// The cursor is the server's; parameters of ours would be a second question.
    @Test func aNextPageIsAskedForVerbatim() async throws {
        let link = "/api/models/org/m/tree/x?expand=false&cursor=a%2Cb%3D&limit=7"
        let server = try ScriptedServer { asked in
            .json("[]", headers: asked.index == 0 ? [("Link", "<\(link)>; rel=\"next\"")] : [])
        }
        let test = try TestClient(server.address + "///")
        _ = try await test.client.tree(.model("org/m"), at: .of("a"))
        #expect(
            server.requests.map(\.target) == [
                "/api/models/org/m/tree/\(Commit.of("a"))?recursive=true&expand=false", link,
            ])
    }

    @Test func whatTheHubWarnsOfIsSaid() async throws {
        let page = "{\"id\":\"org/m\",\"sha\":\"\(Commit.of("a"))\"}"
        let server = try ScriptedServer { _ in
            .json(page, headers: [("X-HF-Warning", "Deprecation; this\u{9B}2J will go")])
        }
        let test = try TestClient(server.address)
        _ = try await test.client.info(.model("org/m"))
        #expect(test.said.contains("the Hub says: Deprecation; this"))
        #expect(!test.said.unicodeScalars.contains("\u{9B}"))
    }

    /// Visible without access, unlike the files.
    @Test(
        arguments: [
            ("false", .open), ("\"auto\"", .automatic), ("\"manual\"", .manual), ("null", nil),
        ] as [(String, ModelRecord.Gating?)])
    func howARepositoryIsGatedIsRead(value: String, gating: ModelRecord.Gating?) async throws {
        let server = try ScriptedServer { _ in
            .json("{\"id\":\"org/m\",\"sha\":\"\(Commit.of("a"))\",\"gated\":\(value)}")
        }
        let test = try TestClient(server.address)
        #expect(try await test.client.info(.model("org/m")).record.gating == gating)
    }
}
