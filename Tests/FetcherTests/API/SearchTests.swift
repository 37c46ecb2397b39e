import Catalog
import Fetcher
import HubCore
import HubServer
import Support
import Testing

/// What the Hub cannot filter or sort by is done with its answers.
@Suite struct SearchTests {
    private func query(_ change: (inout ModelQuery) -> Void) -> ModelQuery {
        var query = ModelQuery()
        change(&query)
        return query
    }

    private static func model(_ id: String, downloads: Int64, _ more: JSONObject = [:]) -> JSONObject {
        var fields: JSONObject = ["id": .string(id), "downloads": .int(downloads)]
        for member in more.members { fields[member.key] = member.value }
        return fields
    }

    private func hub(page: Int = 1000, _ models: [JSONObject]) throws -> (hub: LoopbackHub, client: TestClient) {
        var options = LoopbackHub.Options()
        options.pages.models = page
        options.listedModels = models
        let hub = try LoopbackHub(try TemporaryFolder(), options: options)
        return (hub, try TestClient(hub.endpoint, keeping: hub))
    }

    /// The parameters of the address of the first request, without those that name what is to come back.
    private func asked(_ change: (inout ModelQuery) -> Void) async throws -> [String] {
        let server = try ScriptedServer { _ in .json("[]") }
        let test = try TestClient(server.address)
        _ = try await test.client.find(query(change))
        let target = try #require(server.requests.first?.target)
        return target.split(separator: "?").last?.split(separator: "&").map(String.init).filter {
            !$0.hasPrefix("expand=") && !$0.hasPrefix("sort=")
        } ?? []
    }

    @Test func boundsAreAskedForRoundedOutwards() async throws {
        #expect(
            try await asked { $0.minimumParameters = 7_000_000_000 } == ["num_parameters=min%3A7B", "limit=100"])
        #expect(
            try await asked { ($0.minimumParameters, $0.maximumParameters) = (500_000_000, 1_500_000_000) }
                == ["num_parameters=min%3A500M%2Cmax%3A1500M", "limit=100"])
        #expect(
            try await asked { ($0.minimumParameters, $0.maximumParameters) = (1_234_567, 1_234_567) }
                == ["num_parameters=min%3A1234K%2Cmax%3A1235K", "limit=100"])
        #expect(try await asked { ($0.minimumParameters, $0.limit) = (0, 5) } == ["limit=100"])
        #expect(
            try await asked { $0.maximumParameters = .max } == [
                "num_parameters=max%3A9223372036854776K", "limit=100",
            ])
    }

    @Test func aFormatIsATagAndACapabilityOfOneTaskThatTask() async throws {
        #expect(try await asked { $0.format = "gguf" } == ["filter=gguf", "limit=20"])
        #expect(
            try await asked { $0.capability = .transcription } == [
                "pipeline_tag=automatic-speech-recognition", "limit=20",
            ])
        #expect(try await asked { $0.capability = .embeddings } == ["limit=1000"])
        #expect(try await asked { $0.capability = .codeGeneration } == ["limit=1000"])
        // One address has room for one task only.
        #expect(
            try await asked { ($0.capability, $0.task) = (.transcription, "x") } == [
                "pipeline_tag=x", "limit=1000",
            ])
        #expect(try await asked { $0.maximumSize = 5 } == ["limit=1000"])
        #expect(try await asked { $0.limit = .max } == ["limit=1000"])
    }

    /// Nine of ten fall through: further pages fill the limit, and everything seen is there to be remembered.
    @Test func pagesAreReadUntilTheLimitIsFull() async throws {
        let (hub, test) = try hub(
            page: 10,
            (0..<100).map { number in
                Self.model(
                    "org/m\(number)", downloads: Int64(1000 - number),
                    ["usedStorage": .int(number % 10 == 3 ? 5 : 50)])
            })
        let found = try await test.client.find(query { ($0.maximumSize, $0.limit) = (10, 4) })
        #expect(found.records.map(\.repository.id.name) == ["org/m3", "org/m13", "org/m23", "org/m33"])
        #expect(found.seen.count == 40 && found.isWhole)
        #expect(hub.requests.count == 4)
        let all = try await test.client.find(query { ($0.maximumSize, $0.limit) = (10, 99) })
        #expect(all.records.count == 10 && all.seen.count == 100 && all.isWhole)
    }

    /// A query that matches nothing but models of these pages, counted from 1, of thirty.
    private func findAmongThirtyPages(matching pages: Set<Int>) async throws -> (HubFindings, requests: Int) {
        let (hub, test) = try hub(
            page: 2,
            (0..<60).map { number in
                let isMatch = number % 2 == 0 && pages.contains(number / 2 + 1)
                return Self.model(
                    "org/m\(number)", downloads: Int64(1000 - number), ["usedStorage": isMatch ? 5 : 50])
            })
        let found = try await test.client.find(query { $0.maximumSize = 10 })
        return (found, hub.requests.count)
    }

    @Test func aSearchGivesUpAfterTenPagesWithoutAMatch() async throws {
        let (found, requests) = try await findAmongThirtyPages(matching: [])
        #expect(found.records.isEmpty && !found.isWhole)
        #expect(found.seen.count == 20 && requests == 10)
    }

    /// What was found before is returned.
    @Test func aMatchLetsASearchContinueForTenPages() async throws {
        let (found, requests) = try await findAmongThirtyPages(matching: [3, 13])
        #expect(found.records.map(\.repository.id.name) == ["org/m4", "org/m24"] && !found.isWhole)
        #expect(found.seen.count == 46 && requests == 23)
    }

    /// For a Hub that looks for the text as a whole two words are no part of any name.
    @Test func wordsAreFoundInAnyOrder() async throws {
        let (hub, test) = try hub([
            Self.model("Qwen/Qwen3-Coder", downloads: 9), Self.model("org/coder-qwen", downloads: 8),
            Self.model("org/coder", downloads: 7),
            Self.model("org/coder-two", downloads: 6, ["tags": .array(["qwen3"])]),
            Self.model("org/qwen", downloads: 5),
        ])
        let found = try await test.client.find(query { $0.text = "coder qwen" })
        #expect(found.records.map(\.repository.id.name) == ["Qwen/Qwen3-Coder", "org/coder-qwen", "org/coder-two"])
        #expect(found.seen.count == 4)
        #expect(
            hub.requests.map { $0.query.split(separator: "&").first } == ["search=coder%20qwen", "search=coder"])
        // A Hub that finds something by all of it is not asked again.
        let server = try ScriptedServer { _ in .json(#"[{"id":"org/x"}]"#) }
        let one = try TestClient(server.address)
        #expect(try await one.client.search(query { $0.text = "a b" }).count == 1 && server.requests.count == 1)
    }

    @Test func theLargestOfManyComeFirst() async throws {
        let models = (0..<30).map {
            Self.model("org/m\($0)", downloads: Int64(100 - $0), ["usedStorage": .int(Int64($0 * 7 % 30))])
        }
        let (_, test) = try hub(page: 10, models)
        let found = try await test.client.find(query { ($0.sort, $0.limit) = (.size, 3) })
        #expect(found.records.map(\.usedStorage) == [29, 28, 27])
        #expect(found.isWhole && found.seen.count == 30)
    }

    @Test func anEntryThatComesTwiceCountsOnce() async throws {
        let server = try ScriptedServer { asked in
            .json(
                #"[{"id":"org/a"},{"id":"org/a"},{"id":"org/A"}]"#,
                headers: asked.index == 0 ? [("Link", "</api/models?cursor=1>; rel=\"next\"")] : [])
        }
        let test = try TestClient(server.address)
        #expect(try await test.client.search(ModelQuery()).map(\.repository.id.name) == ["org/a", "org/A"])
    }

    @Test func chosenModelsAreAskedForByThemselves() async throws {
        let folder = try TemporaryFolder()
        for (name, downloads) in [("org/a", 1), ("org/b", 3), ("org/c", 2)] {
            let repository = try ModelRepository(name, in: folder)
            try repository.write("config.json", "{}")
            try repository.card(["downloads": .int(Int64(downloads)), "tags": .array(["x"])])
        }
        let hub = try LoopbackHub(folder)
        let test = try TestClient(hub.endpoint, keeping: hub)
        let found = try await test.client.find(query { $0.ids = ["org/a", "org/b", "org/gone", "no id"] })
        #expect(found.records.map(\.repository.id.name) == ["org/b", "org/a"] && found.isWhole)
        #expect(
            hub.requests.map(\.path).sorted() == ["/api/models/org/a", "/api/models/org/b", "/api/models/org/gone"])
        let narrow = try await test.client.find(
            query { ($0.ids, $0.text, $0.tags) = (["org/a", "org/b"], "org b", ["x"]) })
        #expect(narrow.records.map(\.repository.id.name) == ["org/b"] && narrow.seen.count == 2)
        let many = (0..<150).map { "other/m\($0)" }
        let before = hub.requests.count
        #expect(try await test.client.find(query { $0.ids = many }).isWhole == false)
        #expect(hub.requests.count == before + HubClient.mostIDs)
        #expect(try await test.client.find(query { $0.ids = [] }).records.isEmpty)
    }

    /// One model that is not shown hides no other; a Hub that fails is a failure.
    @Test func aFailureAmongChosenModelsIsTold() async throws {
        let (hub, test) = try hub([])
        hub.fail("/api/models/org/a", .garbage, times: nil)
        let query = query { $0.ids = ["org/b", "org/a"] }
        #expect(await test.error { try await $0.find(query) }?.code == .protocolViolation)
    }

    @Test func theServiceRemembersAllThatItSaw() async throws {
        let place = try ManagerPlace()
        try ModelRepository.tiny("org/large", in: place.served, weights: 200_000)
        let service = HFMetadataService(place.configuration, environment: place.environment)
        let found = try await service.search(query { $0.maximumSize = 100_000 })
        #expect(found.map(\.repository.id.name) == ["org/tiny"])
        let catalog = try Catalog(path: Catalog.path(in: place.environment.stateDirectory))
        #expect(try catalog.search(ModelQuery()).count == 2)
    }
}
