import Catalog
import HubCore
import Support
import Testing

@testable import Fetcher

/// Pages that come faster than they can be kept.
@Suite struct MirrorGatheringTests {
    private let place: TemporaryFolder
    private let catalog: Catalog
    private let whole: MirrorSync.Options

    init() throws {
        place = try TemporaryFolder()
        catalog = try Catalog(path: place("catalog.sqlite3"))
        var whole = MirrorSync.Options()
        whole.isWhole = true
        self.whole = whole
    }

    /// How many models the catalog finds.
    private func known() throws -> Int {
        var query = ModelQuery()
        query.limit = -1
        return try catalog.search(query).count
    }

    /// A Hub of four pages, of which more than one is kept at once.
    private func gathering() throws -> (hub: ChangingHub, test: TestClient, sync: MirrorSync) {
        let hub = try ChangingHub(models: 1600, pageSize: 500)
        let test = try TestClient(hub.address, retries: 0)
        var sync = MirrorSync(catalog: catalog, client: test.client)
        sync.gathering = .seconds(3600)
        return (hub, test, sync)
    }

    @Test(arguments: [nil, 1200, 500])
    func pagesThatComeQuicklyAreKeptTogether(_ limit: Int?) async throws {
        let (hub, test, sync) = try gathering()
        defer { withExtendedLifetime(test) {} }
        let pages = Monitor<[Int]>([])
        var options = whole
        options.limit = limit
        let result = await sync.run(options) { event in
            if case .page(let report) = event { pages.update { $0.append(report.pages) } }
        }
        #expect(result.error == nil && result.report.isComplete == (limit == nil))
        #expect(result.report.models == limit ?? 1600)
        // Beside the question for the last change.
        let count = (result.report.models + 499) / 500
        #expect(pages.update { $0 } == [count])
        #expect(hub.requests.count == count + 1)
        #expect(try known() == result.report.models)
        // And it continues from there.
        let again = await sync.run(whole)
        #expect(again.error == nil && again.report.isComplete && again.report.vanished == 0)
        #expect(try known() == 1600)
    }

    @Test func whatWasGatheredBeforeAFailureIsKept() async throws {
        let (hub, test, sync) = try gathering()
        defer { withExtendedLifetime(test) {} }
        hub.update { $0.cuts[3] = .status(500) }
        let result = await sync.run(whole)
        #expect(result.error != nil && result.report.pages == 2 && result.report.models == 1000)
        #expect(try known() == 1000)
        hub.calm()
        let resumed = await sync.run(whole)
        #expect(resumed.error == nil && resumed.report.isComplete && resumed.report.models == 600)
        #expect(try known() == 1600)
    }

    /// It is forgotten as where pages come one by one, and does not pass for a catalog that was exchanged.
    @Test func aCircleOfGatheredPagesEnds() async throws {
        let server = try ScriptedServer { asked in
            let place = asked.target.contains("cursor=1") ? 1 : asked.target.contains("cursor=2") ? 2 : 0
            let models = (0..<500).map {
                "{\"id\":\"org/m\(place)-\($0)\",\"lastModified\":\"2024-01-01T00:00:00.000Z\"}"
            }
            let next = "</api/models?limit=500&cursor=\(place == 1 ? 2 : 1)>; rel=\"next\""
            return .json("[\(models.joined(separator: ","))]", headers: [("Link", next)])
        }
        let test = try TestClient(server.address, retries: 0)
        var sync = MirrorSync(catalog: catalog, client: test.client)
        sync.gathering = .seconds(3600)
        for _ in 0..<2 {
            let result = await sync.run(whole)
            #expect(result.error?.code == .protocolViolation)
            #expect(result.error?.message.contains("runs in a circle") == true)
            let scope = MirrorScope(endpoint: test.client.endpoint.address)
            #expect(try catalog.interruptedWalk(.whole, scope) == nil)
            #expect(try known() == 1500)
        }
        #expect(server.requests.count < 12)
    }
}
