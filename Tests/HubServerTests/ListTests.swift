import HubCore
import HubServer
import Support
import Testing

/// `/api/models` and its like.
@Suite struct ListTests {
    private func hub(pages: Int = 1000) throws -> ServedFolderHub {
        let folder = try TemporaryFolder()
        func make(_ id: String, _ fields: JSONObject) throws {
            let repository = try ModelRepository(id, in: folder)
            try repository.write("model.safetensors", "weights of \(id)")
            try repository.card(fields)
        }
        try make(
            "acme/alpha",
            [
                "downloads": 10, "likes": 3, "trendingScore": 1, "pipeline_tag": "text-generation",
                "library_name": "transformers", "tags": .array(["mlx", "en"]),
                "lastModified": "2026-01-01T00:00:00.000Z",
                "createdAt": "2025-03-01T00:00:00.000Z", "safetensors": .object(["total": 7_000_000_000]),
            ])
        try make(
            "acme/beta",
            [
                "downloads": 30, "likes": 1, "trendingScore": 2, "pipeline_tag": "fill-mask",
                "tags": .array(["mlx"]),
                "lastModified": "2026-03-01T00:00:00.000Z", "createdAt": "2025-01-01T00:00:00.000Z",
                "gated": "auto",
                "gguf": .object(["total": 500_000_000]),
            ])
        try make(
            "other/Alphabet",
            [
                "downloads": 20, "likes": 2, "trendingScore": 3, "lastModified": "2026-02-01T00:00:00.000Z",
                "createdAt": "2025-02-01T00:00:00.000Z",
            ])
        try make("other/secret", ["private": true, "downloads": 99])
        try ModelRepository("org/data", in: folder, kind: .dataset).write("data.csv", "1,2\n")
        var sizes = HubService.PageSizes()
        sizes.models = pages
        return try ServedFolderHub(folder, pages: sizes)
    }

    @Test(arguments: [
        ("", ["other/Alphabet", "acme/beta", "acme/alpha"]),
        ("search=alpha", ["other/Alphabet", "acme/alpha"]),
        ("search=ALPHA", ["other/Alphabet", "acme/alpha"]),
        ("search=nothing", []),
        ("author=acme", ["acme/beta", "acme/alpha"]),
        ("author=acm", []),
        ("filter=mlx", ["acme/beta", "acme/alpha"]),
        ("filter=mlx&filter=en", ["acme/alpha"]),
        ("filter=mlx,en", ["acme/alpha"]),
        ("filter=transformers", ["acme/alpha"]),
        ("filter=fill-mask", ["acme/beta"]),
        ("pipeline_tag=text-generation", ["acme/alpha"]),
        ("sort=downloads", ["acme/beta", "other/Alphabet", "acme/alpha"]),
        ("sort=downloads&direction=-1", ["acme/beta", "other/Alphabet", "acme/alpha"]),
        ("sort=likes", ["acme/alpha", "other/Alphabet", "acme/beta"]),
        ("sort=lastModified", ["acme/beta", "other/Alphabet", "acme/alpha"]),
        ("sort=createdAt", ["acme/alpha", "other/Alphabet", "acme/beta"]),
        ("sort=trendingScore", ["other/Alphabet", "acme/beta", "acme/alpha"]),
        ("gated=true", ["acme/beta"]),
        ("gated=false", ["other/Alphabet", "acme/alpha"]),
        ("num_parameters=min:1B", ["acme/alpha"]),
        ("num_parameters=min:400M,max:600M", ["acme/beta"]),
        ("limit=1&sort=likes", ["acme/alpha"]),
    ])
    func finds(_ query: String, _ ids: [String]) throws {
        let reply = try hub().get("/api/models?\(query)")
        #expect(reply.status == 200)
        #expect(try reply.json().ids == ids)
    }

    @Test func privateOnesNeedTheToken() throws {
        let hub = try hub()
        #expect(try hub.get("/api/models?author=other", .bad).json().ids == ["other/Alphabet"])
        #expect(try hub.get("/api/models?author=other", .good).json().ids == ["other/Alphabet", "other/secret"])
    }

    @Test func plainItemsAreShort() throws {
        let items = try hub().get("/api/models?search=acme/alpha").json().array
        #expect(
            items?.first?.keys == [
                "_id", "id", "modelId", "likes", "trendingScore", "private", "downloads", "tags", "pipeline_tag",
                "library_name", "createdAt",
            ])
    }

    @Test func fullAddsFilesAndCommit() throws {
        let hub = try hub()
        let item = try hub.get("/api/models?search=acme/alpha&full=true").json().array?.first
        let info = try hub.get("/api/models/acme/alpha").json()
        #expect(item?["sha"] != nil)
        #expect(item?["sha"] == info["sha"])
        #expect(item?["siblings"] == .array([.object(["rfilename": "model.safetensors"])]))
        #expect(item?["lastModified"] == "2026-01-01T00:00:00.000Z")
    }

    @Test(arguments: [
        "expand=likes&expand=sha", "expand[]=likes&expand[]=sha", "expand%5B%5D=likes&expand=sha",
        "expand=likes,sha",
    ])
    func expandNamesWhatComesBack(_ query: String) throws {
        let item = try hub().get("/api/models?search=acme/alpha&\(query)").json().array?.first
        #expect(item?.keys == ["_id", "id", "likes", "sha"])
    }

    @Test func pagesFollowTheLink() throws {
        let hub = try hub(pages: 2)
        let one = try hub.get("/api/models?sort=downloads&limit=2")
        #expect(try one.json().ids == ["acme/beta", "other/Alphabet"])
        let two = try hub.get(try #require(one.nextTarget))
        #expect(try two.json().ids == ["acme/alpha"])
        #expect(two.next == nil)
        // The server's own page size holds where the client asks for more.
        #expect(try hub.get("/api/models?limit=1000").json().ids.count == 2)
        #expect(try hub.get("/api/models?limit=2&cursor=99").json().ids.isEmpty)
    }

    @Test(arguments: [
        "sort=size", "limit=0", "limit=-1", "limit=x", "cursor=-1", "cursor=x", "num_parameters=6B",
        "num_parameters=min:lots", "inference=warm", "apps=ollama", "search=%zz", "search=%ff",
    ])
    func badQueries(_ query: String) throws {
        let reply = try hub().get("/api/models?\(query)")
        #expect(reply.status == 400)
        #expect(try reply.json()["error"]?.string?.isEmpty == false)
    }

    @Test func otherKinds() throws {
        let hub = try hub()
        #expect(try hub.get("/api/datasets").json().ids == ["org/data"])
        #expect(try hub.get("/api/spaces").json() == .array([]))
        #expect(try hub.get("/api/datasets/org/data").json()["modelId"] == nil)
        #expect(try hub.get("/datasets/org/data/resolve/main/data.csv").text == "1,2\n")
        #expect(try hub.get("/org/data/resolve/main/data.csv").status == 401)
    }

    /// A bad side file hides its own repository and says so; the others are still there.
    @Test func oneBadRepositoryDoesNotHideTheOthers() throws {
        let hub = try hub()
        try hub.folder.write("acme/alpha/.hub.json", "{")
        #expect(try hub.get("/api/models").json().ids == ["other/Alphabet", "acme/beta"])
        #expect(hub.reports.messages.contains { $0.contains("acme/alpha/.hub.json") })
        let reply = try hub.get("/api/models/acme/alpha")
        #expect(reply.status == 500)
        #expect(!reply.text.contains(hub.folder.path))
    }
}
