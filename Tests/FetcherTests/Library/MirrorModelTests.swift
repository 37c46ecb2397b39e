import Catalog
import HubCore
import Support
import Testing

@testable import Fetcher

/// However runs are cut off and whatever changes on the Hub meanwhile: in the end the mirror is the Hub.
@Suite struct MirrorModelTests {
    @Test(arguments: 0..<16)
    func inTheEndTheMirrorIsTheHub(number: Int) async throws {
        var random = SeededRandom(number: number)
        let place = try TemporaryFolder()
        let path = place("catalog.sqlite3")
        let hub = try ChangingHub(models: 15 + Int(random.next() % 30), pageSize: 2 + Int(random.next() % 6))
        let test = try TestClient(hub.address, retries: 0)
        for _ in 0..<4 + random.next() % 6 {
            var options = MirrorSync.Options()
            options.isWhole = random.one(in: 3)
            if random.one(in: 4) { options.author = "odd" }
            if random.one(in: 3) { options.limit = 1 + Int(random.next() % 20) }
            try await disturbedRun(path, test, hub, options, &random)
            hub.calm()
            for _ in 0..<random.next() % 6 { hub.update { $0.change(&random) } }
        }
        // Nothing is remembered but what is on the disk.
        let sync = MirrorSync(catalog: try Catalog(path: path), client: test.client)
        try await expectDatedChanges(sync, hub)
        // The first may only have ended a walk that was cut off, whose beginning is out of date by now.
        var whole = MirrorSync.Options()
        whole.isWhole = true
        for _ in 0..<2 { try expectEnd(await sync.run(whole)) }
        try expectEqual(try Catalog(path: path), hub)
        try expectUnchanged(await sync.run(whole))
    }

    /// A run that ends by itself, by a fault, or by being cancelled, at any request.
    private func disturbedRun(
        _ path: String, _ test: TestClient, _ hub: ChangingHub, _ options: MirrorSync.Options,
        _ random: inout SeededRandom
    ) async throws {
        let started = Monitor<Task<MirrorSync.Result, Never>?>(nil)
        let cuts: [ChangingHub.Cut] = [
            .status(500), .garbage, .status(404),
            .after { started.wait(seconds: TestTimeout.seconds) { $0 }?.cancel() },
        ]
        let cut = cuts[Int(random.next() % 4)]
        hub.disturb(
            SeededRandom(state: random.next()),
            cuts: random.one(in: 3) ? [:] : [Int(random.next() % 8): cut])
        let sync = MirrorSync(catalog: try Catalog(path: path), client: test.client)
        let task = Task { await sync.run(options) }
        started.update { $0 = task }
        let result = await task.value
        #expect(result.error != nil || result.report.isComplete || options.limit != nil)
    }

    /// One run that nothing disturbs brings whatever has a date.
    private func expectDatedChanges(_ sync: MirrorSync, _ hub: ChangingHub) async throws {
        try expectEnd(await sync.run())
        for model in hub.models.values {
            let known = try #require(try sync.catalog.model(.model(model.id)), "\(model.id) is missing")
            #expect(known.record.tags == ["r\(model.revision)"], "\(model.id) is out of date")
        }
    }

    private func expectEnd(_ result: MirrorSync.Result) throws {
        #expect(result.error == nil && result.report.isComplete)
    }

    private func expectUnchanged(_ result: MirrorSync.Result) throws {
        try expectEnd(result)
        let report = result.report
        #expect(report.models == report.unchanged && report.added + report.changed + report.vanished == 0)
    }

    private func expectEqual(_ catalog: Catalog, _ hub: ChangingHub) throws {
        var query = ModelQuery()
        query.limit = -1
        let known = try catalog.search(query).map(\.record)
        let models = hub.models
        #expect(Set(known.map(\.repository.id.name)) == Set(models.keys))
        for record in known {
            let model = try #require(models[record.repository.id.name])
            #expect(record.downloads == Int64(model.downloads) && record.tags == ["r\(model.revision)"])
            #expect(record.updatedAt == Double(model.changedAt / 1000) + Double(model.changedAt % 1000) / 1000)
        }
    }
}
