import Catalog
import HubCore
import Support
import Testing

@testable import Fetcher

/// A sync whose catalog becomes another under it, or is filled from two Hubs: what it says of models stays true.
@Suite struct MirrorExchangeTests {
    private let place: TemporaryFolder
    private let catalog: Catalog
    private let hub: ChangingHub
    private let test: TestClient

    init() throws {
        place = try TemporaryFolder()
        catalog = try Catalog(path: place("catalog.sqlite3"))
        hub = try ChangingHub(models: 12, pageSize: 5)
        test = try TestClient(hub.address, retries: 0)
    }

    private func run(
        whole: Bool, _ client: TestClient? = nil, hear: @escaping @Sendable (MirrorSync.Event) -> Void = { _ in }
    )
        async throws -> MirrorSync.Report
    {
        var options = MirrorSync.Options()
        options.isWhole = whole
        let sync = MirrorSync(catalog: try Catalog(path: catalog.path), client: (client ?? test).client)
        let result = await sync.run(options, hear: hear)
        #expect(result.error == nil && result.report.isComplete)
        return result.report
    }

    private func known() throws -> Set<String> {
        var query = ModelQuery()
        query.limit = -1
        return Set(try catalog.search(query).map(\.record.repository.id.name))
    }

    // MARK: Another file

    /// Puts a catalog that was made again into the place; it knows some of the models, as it does of those in the cache.
    private func exchange() {
        do {
            let records = hub.models.keys.sorted().prefix(9).map { ModelRecord(.model($0)) }
            _ = try CatalogRebuild.run(catalog.path) { try $0.remember(records, at: 1) }
        } catch { Issue.record(error) }
    }

    @Test(arguments: [
        (false, 2, 0), (false, 8, 0), (false, 8, 1), (true, 8, 0), (true, 8, 1), (true, 8, 2), (true, 8, 4),
    ])
    func aCatalogThatIsMadeAgainMeanwhileKnowsAllInTheEnd(whole: Bool, new: Int, request: Int) async throws {
        #expect(try await run(whole: whole).added == 12)
        hub.update { state in for _ in 0..<new { state.add() } }
        hub.update { ($0.cuts, $0.asked) = ([request: .after { exchange() }], 0) }
        #expect(try await run(whole: whole).vanished == 0)
        hub.calm()
        #expect(try known() == Set(hub.models.keys))
        // What is said to be known without a gap is.
        let next = try await run(whole: false)
        #expect(next.added == 0 && next.changed == 0)
    }

    // MARK: Another walk

    /// As where the file system has no flock.
    @Test(arguments: [(false, 0), (false, 1), (true, 0), (true, 1), (true, 2), (true, 4)])
    func twoWalksAtOnceHaveOnePlace(whole: Bool, request: Int) async throws {
        #expect(try await run(whole: whole).added == 12)
        hub.update { state in
            for _ in 0..<8 { state.add() }
            state.remove(2)
        }
        let gate = Gate()
        hub.update { ($0.cuts, $0.asked) = ([request: .after { gate.pass() }], 0) }
        let overtaken = Monitor(false)
        let first = Task {
            try await run(whole: whole) { if case .overtaken = $0 { overtaken.update { $0 = true } } }
        }
        try await gate.reached()
        try FileSystem.remove(place("sync.lock"))
        let second = try await run(whole: whole)
        gate.release()
        let vanished = try await first.value.vanished + second.vanished
        #expect(vanished == (whole ? 1 : 0))
        #expect(try known().subtracting(hub.models.keys) == (whole ? [] : ["even/m2"]))
        #expect(try known().isSuperset(of: hub.models.keys))
        // Before its first page a walk stands nowhere, and none can be in its way.
        #expect(overtaken.update { $0 } == (request > (whole ? 1 : 0)))
    }

    // MARK: Another Hub

    @Test func anotherHubsModelsAreNotGone() async throws {
        let other = try ChangingHub(models: 14, pageSize: 5)
        let there = try TestClient(other.address, retries: 0)
        hub.update { state in [1, 2].forEach { state.remove($0) } }
        other.update { state in [3, 4].forEach { state.remove($0) } }
        let all = Set(hub.models.keys).union(other.models.keys)
        #expect(try await run(whole: true).added == 10)
        #expect(try await run(whole: true, there).vanished == 0)
        #expect(try await run(whole: true).vanished == 0)
        #expect(try known() == all && all.count == 14)
        // The fourth is this Hub's alone, the fifth the other's as well.
        hub.update { state in [4, 5].forEach { state.remove($0) } }
        #expect(try await run(whole: true).vanished == 1)
        #expect(try known() == all.subtracting(["even/m4"]))
        other.update { state in [5, 13].forEach { state.remove($0) } }
        #expect(try await run(whole: true, there).vanished == 2)
        #expect(try known() == all.subtracting(["even/m4", "odd/m5", "odd/m13"]))
    }
}
