import Catalog
import Fetcher
import HubCore
import HubServer
import Support
import Testing

/// The Hub's data of repositories is read completely: details, trees, refs, searches.
@Suite struct RepositoryQueryTests {
    private func hub(pages: Int? = nil, token: String? = nil) throws -> (hub: LoopbackHub, client: TestClient) {
        let folder = try TemporaryFolder()
        let tiny = try ModelRepository.tiny("org/tiny", in: folder)
        try tiny.card([
            "pipeline_tag": "text-generation", "library_name": "transformers",
            "tags": .array(["license:mit", "pytorch"]), "downloads": 7, "likes": 3,
            "createdAt": "2024-01-02T03:04:05.000Z", "gated": false, "private": false,
        ])
        try ModelRepository("org/tiny", in: folder, revision: "pr1").write("config.json", "{}")
        try ModelRepository("org/tiny", in: folder, revision: "feature/x").write("other.json", "{}")
        let gated = try ModelRepository("org/gated", in: folder)
        try gated.write("config.json", "{}")
        try gated.card([
            "gated": "manual", "downloads": 5, "tags": .array(["pytorch"]), "pipeline_tag": "fill-mask",
        ])
        let hidden = try ModelRepository("org/hidden", in: folder)
        try hidden.write("config.json", "{}")
        try hidden.card(["private": true, "downloads": 9])
        try ModelRepository("org/data", in: folder, kind: .dataset).write("rows.csv", "1\n")
        var options = LoopbackHub.Options()
        if let pages {
            options.pages.models = pages
            options.pages.tree = pages
        }
        options.xetHash = { $0.path == "model.safetensors" ? String(repeating: "c", count: 64) : nil }
        let hub = try LoopbackHub(folder, options: options)
        return (hub, try TestClient(hub.endpoint, token: token, keeping: hub))
    }

    @Test func infoNamesTheCommitAndWhatTheCardSays() async throws {
        let (hub, test) = try hub()
        let info = try await test.client.info(.model("org/tiny"))
        #expect(info.record.task == "text-generation")
        #expect(info.record.library == "transformers")
        #expect(info.record.license == "mit")
        #expect(info.record.downloads == 7)
        #expect(info.record.likes == 3)
        #expect(info.record.gating == .open)
        #expect(info.record.createdAt == 1_704_164_645)
        let pinned = try await test.client.info(.model("org/tiny"), revision: info.commit.hash)
        #expect(pinned.commit == info.commit)
        #expect(hub.requests("GET /api/models/org/tiny").count == 2)
    }

    /// Trap 2: asked for as one encoded segment.
    @Test(arguments: ["refs/pr/1", "feature/x"])
    func aRevisionWithSlashesIsFound(revision: String) async throws {
        let (_, test) = try hub()
        let main = try await test.client.info(.model("org/tiny")).commit
        #expect(try await test.client.info(.model("org/tiny"), revision: revision).commit != main)
    }

    /// Trap 13: the digest of an LFS file is `lfs.oid` here.
    @Test(arguments: [1, 2, 3, 1000])
    func aTreeIsTheSameWhateverThePageSizeAndHoldsNoFolders(size: Int) async throws {
        let (hub, test) = try hub(pages: size)
        let commit = try await test.client.info(.model("org/tiny")).commit
        let tree = try await test.client.tree(.model("org/tiny"), at: commit)
        #expect(tree.files.map(\.path) == ["config.json", "empty.txt", "model.safetensors", "sub/dir/vocab.txt"])
        #expect(tree.files.map(\.size) == [22, 0, 300_000, 4])
        #expect(tree.files[0].oid == "9ad7b74e4cba7355811a595a2e179963435b6384")
        #expect(tree.files[1].oid == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
        #expect(tree.files[3].digest == .gitSHA1("422c2b7ab3b3c668038da977e4e93a5fc623169c"))
        let weights = ModelRepository.randomBytes(300_000, seed: 1)
        // The hash of the content is `lfs.oid`; the entry's own `oid` is that of git's pointer.
        #expect(tree.files[2].digest == ContentHasher.digest(of: weights, like: .sha256("")))
        #expect(tree.files[2].xetHash == String(repeating: "c", count: 64))
        // Four files and two folders.
        #expect(hub.requests("GET /api/models/org/tiny/tree").count == (6 + size - 1) / size)
    }

    @Test func refsAreReadWithTheirCommits() async throws {
        let (_, test) = try hub()
        let revisions = try await test.client.revisions(.model("org/tiny"))
        #expect(Set(revisions.map(\.name)) == ["main", "feature/x"])
        let main = try await test.client.info(.model("org/tiny")).commit
        #expect(revisions.first { $0.name == "main" }?.commit == main)
        #expect(revisions.allSatisfy { $0.kind == .branch })
    }

    @Test func whoamiNamesTheTokensOwner() async throws {
        let (hub, _) = try hub()
        let owner = try TestClient(hub.endpoint, token: "hf_loopback")
        let known = try await owner.client.whoami()
        #expect(known.name == "local" && known.fullName == "The owner of this Hub" && known.organizations == [])
        #expect(known.tokenName == "hub serve" && known.role == "read")
        let asked = hub.requests.count
        let stranger = try TestClient(hub.endpoint, token: TestClient.secret)
        let refused = await stranger.error { try await $0.whoami() }
        #expect(refused?.code == .unauthorized)
        #expect(refused?.message.contains("refuses the token") == true)
        #expect(hub.requests.count == asked + 1, "a token that is refused is not shown again")
        let anonymous = await (try TestClient(hub.endpoint)).error { try await $0.whoami() }
        #expect(anonymous?.code == .unauthorized)
        #expect(anonymous?.message.contains("asks for a token") == true)
    }

    @Test func whoamiTakesWhatTheHubSays() async throws {
        let server = try ScriptedServer { _ in
            .json(
                #"""
                {"type":"user","name":"ada","fullname":"","orgs":[{"name":"engines"},{"id":1},{"name":"no\u001btes"}],
                "auth":{"type":"access_token","accessToken":{"displayName":"lap\u001b[2Jtop","role":"fineGrained"}}}
                """#)
        }
        let test = try TestClient(server.address, token: TestClient.secret)
        let known = try await test.client.whoami()
        #expect(known.name == "ada" && known.fullName == nil)
        #expect(known.organizations == ["engines", #"no\u{1B}tes"#])
        #expect(known.tokenName == #"lap\u{1B}[2Jtop"# && known.role == "fineGrained")
    }

    /// A token of a browser's login has no name, an older Hub said less.
    @Test(arguments: [#"{"name":"ada"}"#, #"{"name":"ada","orgs":"none","auth":7}"#, #"{"name":"ada","auth":{}}"#])
    func whoamiNeedsNoMoreThanAName(body: String) async throws {
        let server = try ScriptedServer { _ in .json(body) }
        let test = try TestClient(server.address, token: TestClient.secret)
        let known = try await test.client.whoami()
        #expect(known.name == "ada" && known.organizations == [] && known.tokenName == nil && known.role == nil)
    }

    @Test(arguments: ["{}", #"{"name":""}"#, #"{"name":7}"#, "[]"])
    func anAnswerThatNamesNobodyIsNone(body: String) async throws {
        let server = try ScriptedServer { _ in .json(body) }
        let test = try TestClient(server.address, token: TestClient.secret)
        #expect(await test.error { try await $0.whoami() }?.code == .protocolViolation)
    }

    @Test func datasetsHaveAddressesOfTheirOwn() async throws {
        let (hub, test) = try hub()
        let data = Repository(.dataset, try RepositoryID("org/data"))
        let info = try await test.client.info(data)
        #expect(info.record.repository == data)
        #expect(try await test.client.tree(data, at: info.commit).files.map(\.path) == ["rows.csv"])
        #expect(hub.requests("GET /api/datasets/org/data").count == 2)
    }

    private static func query(_ change: (inout ModelQuery) -> Void) -> ModelQuery {
        var query = ModelQuery()
        change(&query)
        return query
    }
    private static let searches: [(ModelQuery, [String])] = [
        (ModelQuery(), ["org/tiny", "org/gated"]), (query { $0.text = "GATE" }, ["org/gated"]),
        (query { $0.author = "nobody" }, []), (query { $0.task = "text-generation" }, ["org/tiny"]),
        (query { $0.library = "transformers" }, ["org/tiny"]), (query { $0.license = "mit" }, ["org/tiny"]),
        (query { $0.tags = ["pytorch"] }, ["org/tiny", "org/gated"]),
        (query { $0.tags = ["pytorch", "license:mit"] }, ["org/tiny"]), (query { $0.gated = true }, ["org/gated"]),
        (query { $0.gated = false }, ["org/tiny"]), (query { $0.limit = 1 }, ["org/tiny"]),
        (query { $0.limit = 0 }, []), (query { $0.limit = -5 }, []),
    ]

    @Test(arguments: searches)
    func aSearchFilters(query: ModelQuery, expected: [String]) async throws {
        let (_, test) = try hub()
        #expect(try await test.client.search(query).map(\.repository.id.name) == expected)
    }

    @Test func aSearchReadsPagesUntilTheLimit() async throws {
        let folder = try TemporaryFolder()
        var options = LoopbackHub.Options()
        options.pages.models = 10
        options.listedModels = (0..<35).map { ["id": .string("org/m\($0)"), "downloads": .int(Int64(100 - $0))] }
        let hub = try LoopbackHub(folder, options: options)
        let test = try TestClient(hub.endpoint)
        var query = ModelQuery()
        query.limit = 25
        #expect(try await test.client.search(query).map(\.repository.id.name) == (0..<25).map { "org/m\($0)" })
        #expect(hub.requests.count == 3)
        query.limit = Int.max
        #expect(try await test.client.search(query).count == 35)
        #expect(hub.requests.count == 7)
    }

    @Test func aSearchWithATokenFindsWhatIsPrivate() async throws {
        let (_, test) = try hub(token: "hf_loopback")
        #expect(try await test.client.search(ModelQuery()).first?.repository.id.name == "org/hidden")
    }

    @Test func anEntryWithANameThatIsNoneHidesNoOther() async throws {
        let server = try ScriptedServer { _ in
            .json(#"[{"id":"../../etc"},{"id":"org/good"},{"likes":1},"text",{"id":"a/b/c"}]"#)
        }
        let test = try TestClient(server.address)
        #expect(try await test.client.search(ModelQuery()).map(\.repository.id.name) == ["org/good"])
    }

    /// Trap 32: the Hub leads from any spelling to its own.
    @Test func aRenamedRepositoryKeepsTheNameItWasAskedBy() async throws {
        let server = try ScriptedServer { asked in
            asked.target == "/api/models/old/name"
                ? .redirect("/api/models/new/name", status: 307)
                : .json("{\"id\":\"new/name\",\"sha\":\"\(Commit.of("a"))\"}")
        }
        let test = try TestClient(server.address)
        let info = try await test.client.info(.model("old/name"))
        #expect(info.record.repository == .model("old/name"))
        #expect(info.commit == .of("a"))
    }
}
