import Catalog
import HubCore
import Support
import Testing

@testable import Fetcher

/// The requests, stored data and reports of a sync.
@Suite struct MirrorSyncTests {
    private let place: TemporaryFolder
    private let catalog: Catalog
    private let hub: ChangingHub
    private let test: TestClient
    private let whole: MirrorSync.Options

    init() throws {
        place = try TemporaryFolder()
        catalog = try Catalog(path: place("catalog.sqlite3"))
        hub = try ChangingHub(models: 12, pageSize: 5)
        test = try TestClient(hub.address, retries: 0)
        var whole = MirrorSync.Options()
        whole.isWhole = true
        self.whole = whole
    }

    private var sync: MirrorSync { MirrorSync(catalog: catalog, client: test.client) }

    private func limited(_ limit: Int, whole: Bool = false) -> MirrorSync.Options {
        var options = MirrorSync.Options()
        options.limit = limit
        options.isWhole = whole
        return options
    }

    /// The ids that the catalog finds.
    private func known() throws -> Set<String> {
        var query = ModelQuery()
        query.limit = -1
        return Set(try catalog.search(query).map(\.record.repository.id.name))
    }

    /// What the requests asked for since some number of them.
    private func asked(since count: Int, _ key: String) -> [String?] {
        hub.requests.dropFirst(count).map { request in
            request.target.split(whereSeparator: { $0 == "?" || $0 == "&" })
                .first { $0.hasPrefix(key + "=") }.map { String($0.dropFirst(key.count + 1)) }
        }
    }

    // MARK: Incremental

    @Test func whatIsKnownIsAskedForOnce() async throws {
        let first = await sync.run()
        #expect(first.error == nil && first.report.isComplete)
        #expect(first.report.models == 12 && first.report.added == 12 && first.report.requests == 3)
        let second = await sync.run()
        #expect(second.report.isComplete && second.report.pages == 1)
        #expect(second.report.unchanged == 5)
        hub.update { $0.touch(3) }
        let third = await sync.run()
        #expect(third.report.changed == 1 && third.report.pages == 1)
    }

    /// Changes during an interruption are listed before the pages seen, unseen ones after.
    @Test func noGapIsForgotten() async throws {
        #expect(await sync.run().error == nil)
        hub.update { state in for _ in 0..<18 { state.add() } }
        hub.update { ($0.cuts, $0.asked) = ([2: .garbage], 0) }
        let cut = await sync.run()
        #expect(cut.error?.code == .protocolViolation && !cut.report.isComplete)
        #expect(cut.report.models == 10 && cut.report.requests == 3)
        hub.calm()
        hub.update { state in for _ in 0..<3 { state.add() } }
        let before = hub.requests.count
        let next = await sync.run()
        #expect(next.error == nil && next.report.isComplete)
        #expect(try known() == Set(hub.models.keys))
        let cursors = asked(since: before, "cursor")
        #expect(cursors.first != .some(nil) && cursors.contains(nil), "it goes on first, and then begins above")
    }

    @Test func aLimitIsKeptAndTheNextRunGoesOn() async throws {
        var seen = 0
        for limit in [1, 2, 7] {
            let result = await sync.run(limited(limit))
            #expect(result.error == nil && !result.report.isComplete)
            #expect(result.report.models == limit && result.report.added == limit)
            seen += limit
            #expect(try known().count == seen)
        }
        let last = await sync.run()
        #expect(last.report.isComplete && last.report.added == 12 - seen)
        // A small limit of one run does not limit the next one's pages.
        #expect(asked(since: 0, "limit").last == "1000")
    }

    @Test func anAuthorHasAPlaceOfTheirOwn() async throws {
        var odd = MirrorSync.Options()
        odd.author = "odd"
        #expect(await sync.run(odd).report.added == 6)
        #expect(await sync.run().report.added == 6)
        // Who knows all models knows theirs.
        hub.update { $0.touch(5) }
        #expect(await sync.run().report.changed == 1)
        let again = await sync.run(odd)
        #expect(again.report.isComplete && again.report.pages == 1)
    }

    /// Were it believed, all that changes until then would pass for known.
    @Test func aDateInTheFutureHidesNothing() async throws {
        hub.update { $0.models[4]?.changedAt = 250_000_000_000_000 }
        #expect(await sync.run().report.isComplete)
        hub.update { state in for _ in 0..<9 { state.add() } }
        #expect(await sync.run().report.added == 9)
    }

    @Test func aListInNoOrderIsReadToItsEnd() async throws {
        let models = hub.models.values.sorted { $0.number < $1.number }
        let server = try ScriptedServer { asked in
            let half = asked.target.contains("cursor") ? models.suffix(6) : models.prefix(6)
            let link = ("Link", "</api/models?cursor=2>; rel=\"next\"")
            return .json(
                "[\(half.map(\.json).joined(separator: ","))]",
                headers: asked.target.contains("cursor") ? [] : [link])
        }
        let test = try TestClient(server.address)
        let sync = MirrorSync(catalog: catalog, client: test.client)
        for _ in 0..<2 {
            let report = await sync.run().report
            #expect(report.isComplete && report.models == 12)
        }
    }

    /// The Hub's answer for every field: missing ones are gone.
    @Test func aFieldThatIsGoneIsForgotten() async throws {
        let server = try ScriptedServer { asked in
            let rest = [
                "\"gated\":false,\"pipeline_tag\":\"fill-mask\",\"lastModified\":\"2024-01-01T00:00:00.000Z\"",
                "\"lastModified\":\"2024-01-01T00:00:00.000Z\"", "\"likes\":7",
            ]
            return .json("[{\"id\":\"org/m\",\"likes\":3,\(rest[min(asked.index, 2)])}]")
        }
        let test = try TestClient(server.address)
        let sync = MirrorSync(catalog: catalog, client: test.client)
        func record() throws -> ModelRecord { try #require(try catalog.model(.model("org/m"))).record }
        #expect(await sync.run().report.added == 1)
        #expect(try record().task == "fill-mask" && record().gating == .open)
        #expect(await sync.run().report.changed == 1)
        #expect(try record().task == nil && record().gating == nil)
        // Without a date it answers another question, and its silence says nothing.
        #expect(await sync.run().report.changed == 1)
        #expect(try record().updatedAt != nil && record().likes == 7)
    }

    // MARK: Everything

    @Test func whatIsGoneIsMarkedAndWhatComesBackIsNot() async throws {
        #expect(await sync.run(whole).report.added == 12)
        hub.update { state in
            state.remove(3)
            state.models[5]?.downloads = 9
        }
        let result = await sync.run(whole)
        #expect(result.report.vanished == 1 && result.report.changed == 1 && result.report.unchanged == 10)
        #expect(try known() == Set(hub.models.keys))
        hub.update { $0.models[3] = $0.hidden.removeValue(forKey: 3) }
        let back = await sync.run(whole)
        #expect(back.report.vanished == 0 && back.report.changed == 1)
        #expect(try known() == Set(hub.models.keys))
    }

    /// What changes during a walk moves among what changed last: in that order it would slip past.
    @Test func whatMovesDuringAWalkIsMet() async throws {
        #expect(await sync.run(whole).error == nil)
        let touch = ChangingHub.Cut.after { [hub] in hub.update { $0.touch(1) } }
        // The first request is for the newest date, the second for the first page.
        hub.update { ($0.cuts, $0.asked) = ([1: touch], 0) }
        let result = await sync.run(whole)
        #expect(result.report.isComplete && result.report.vanished == 0 && result.report.changed == 1)
        #expect(try known() == Set(hub.models.keys))
    }

    @Test func anUnfinishedWalkMarksNothing() async throws {
        #expect(await sync.run(whole).error == nil)
        hub.update { $0.remove(1) }
        for _ in 0..<2 {
            let result = await sync.run(limited(5, whole: true))
            #expect(result.error == nil && !result.report.isComplete && result.report.vanished == 0)
        }
        #expect(try known().count == 12)
        #expect(await sync.run(whole).report.vanished == 1)
    }

    /// A list does not show private models, and a walk's first pages cannot know what comes during it.
    @Test func whatAListCannotShowIsNotGone() async throws {
        var hidden = ModelRecord(.model("even/private"))
        hidden.isPrivate = true
        try catalog.remember([hidden, ModelRecord(.model("even/old"))], at: 1)
        #expect(await sync.run(limited(5, whole: true)).error == nil)
        try catalog.remember([ModelRecord(.model("even/young"))], at: 2)
        let result = await sync.run(whole)
        #expect(result.report.vanished == 1)
        #expect(try known() == Set(hub.models.keys).union(["even/private", "even/young"]))
    }

    @Test func anAuthorsWalkMarksTheirModelsAlone() async throws {
        #expect(await sync.run(whole).error == nil)
        hub.update { state in
            state.remove(1)
            state.remove(2)
        }
        var odd = whole
        odd.author = "odd"
        #expect(await sync.run(odd).report.vanished == 1)
        #expect(try known().subtracting(hub.models.keys) == ["even/m2"])
    }

    /// After it the short way is short.
    @Test func itLeavesNothingToTheShortWay() async throws {
        #expect(await sync.run(whole).error == nil)
        let next = await sync.run()
        #expect(next.report.isComplete && next.report.pages == 1)
    }

    @Test func aHubWithoutModelsIsNotBelieved() async throws {
        #expect(await sync.run(whole).error == nil)
        hub.update { $0.models = [:] }
        let result = await sync.run(whole)
        #expect(result.error?.code == .protocolViolation && result.report.vanished == 0)
        #expect(try known().count == 12)
    }

    // MARK: The place to go on

    @Test func aCursorThatTheHubForgotBeginsAnew() async throws {
        for options in [MirrorSync.Options(), whole] {
            var part = options
            part.limit = 5
            #expect(await sync.run(part).error == nil)
            // Three sizes of a page that are larger than what the place was kept with, and that one.
            let refusals = (0..<4).map { ($0, ChangingHub.Cut.status(400)) }
            hub.update { ($0.cuts, $0.asked) = (Dictionary(uniqueKeysWithValues: refusals), 0) }
            let told = Monitor(false)
            let result = await sync.run(options) { if case .restarted = $0 { told.update { $0 = true } } }
            hub.calm()
            #expect(result.error == nil && result.report.isComplete && result.report.models == 12)
            #expect(told.update { $0 })
        }
        #expect(try known().count == 12)
    }

    /// As a run with a limit leaves it, whose pages are small.
    private func interrupt(at server: ScriptedServer, size: Int) throws {
        let walk = MirrorWalk(.recent, cursor: "", at: 1)
        _ = try catalog.take(
            [], of: walk, next: "\(server.address)/api/models?sort=lastModified&limit=\(size)&cursor=1",
            in: MirrorScope(endpoint: server.address), at: 1)
    }

    private func sizes(_ server: ScriptedServer) -> [Substring] {
        server.requests.compactMap { $0.target.firstMatch(of: /limit=(\d+)/)?.output.1 }
    }

    @Test(arguments: [7, 100, 500, 1000])
    func aLimitOfOneRunIsNoneOfTheNextOnes(size: Int) async throws {
        let server = try ScriptedServer { _ in .json("[{\"id\":\"org/m\"}]") }
        try interrupt(at: server, size: size)
        let test = try TestClient(server.address)
        let result = await MirrorSync(catalog: catalog, client: test.client).run()
        #expect(result.error == nil && result.report.isComplete)
        #expect(sizes(server) == ["1000", "1000"])
        #expect(server.requests.first?.target.hasSuffix("&cursor=1") == true)
    }

    /// A server that gives fewer to a page refuses the size, not the place.
    @Test(arguments: [(50, 100, ["1000", "500", "100"]), (200, 200, ["1000", "500", "200"])])
    func aRefusalOfTheSizeIsNoneOfThePlace(size: Int, most: Int, asked: [Substring]) async throws {
        let server = try ScriptedServer { asked in
            let size = asked.target.firstMatch(of: /limit=(\d+)/).flatMap { Int($0.output.1) } ?? 0
            return size > most ? .status(400, "limit is too large") : .json("[{\"id\":\"org/m\"}]")
        }
        try interrupt(at: server, size: size)
        let told = Monitor(false)
        let test = try TestClient(server.address)
        let sync = MirrorSync(catalog: catalog, client: test.client)
        let result = await sync.run { if case .restarted = $0 { told.update { $0 = true } } }
        #expect(result.error == nil && result.report.isComplete && told.update { !$0 })
        #expect(Array(sizes(server).prefix(3)) == asked)
    }

    @Test func aHubThatGivesFewerToAPage() async throws {
        let server = try ScriptedServer { asked in
            asked.target.contains("limit=100&") ? .json("[{\"id\":\"org/m\"}]") : .status(400, "limit is too large")
        }
        let test = try TestClient(server.address)
        let result = await MirrorSync(catalog: catalog, client: test.client).run()
        #expect(result.error == nil && result.report.added == 1 && result.report.requests == 3)
    }

    @Test func aHubThatRefusesEverySizeIsAnError() async throws {
        let server = try ScriptedServer { _ in .status(400, "no") }
        let test = try TestClient(server.address)
        let result = await MirrorSync(catalog: catalog, client: test.client).run()
        #expect(result.error?.code == .protocolViolation && server.requests.count == 3)
    }

    // MARK: Together with others

    @Test func theSecondWaitsForTheFirst() async throws {
        let gate = Gate()
        hub.update { ($0.cuts, $0.asked) = ([0: .after { gate.pass() }], 0) }
        let first = Task { [sync] in await sync.run() }
        try await gate.reached()
        let queued = Monitor(false)
        let other = MirrorSync(catalog: try Catalog(path: catalog.path), client: test.client)
        let second = Task { await other.run { if case .queued = $0 { queued.update { $0 = true } } } }
        _ = try await queued.value("the second sync waiting") { $0 ? true : nil }
        #expect(hub.requests.count == 1)
        // Who only reads does not wait.
        #expect(try known().isEmpty)
        gate.release()
        #expect(await first.value.report.added == 12)
        let result = await second.value
        #expect(result.error == nil && result.report.added == 0 && result.report.pages == 1)
    }

    @Test func whoWaitsForAnotherCanBeCancelled() async throws {
        let gate = Gate()
        hub.update { ($0.cuts, $0.asked) = ([0: .after { gate.pass() }], 0) }
        let first = Task { [sync] in await sync.run() }
        try await gate.reached()
        let queued = Monitor(false)
        let second = Task { [sync] in await sync.run { if case .queued = $0 { queued.update { $0 = true } } } }
        _ = try await queued.value("the second sync waiting") { $0 ? true : nil }
        second.cancel()
        #expect(await second.value.error?.code == .cancelled)
        gate.release()
        #expect(await first.value.error == nil)
    }
}
