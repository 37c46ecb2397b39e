import Catalog
import HubCore
import Support
import Testing

@testable import Fetcher

/// The Hub's limit on requests is kept, not run into.
@Suite struct MirrorLimitTests {
    private let place: TemporaryFolder
    private let catalog: Catalog
    private let waits = Monitor<[Double]>([])

    init() throws {
        place = try TemporaryFolder()
        catalog = try Catalog(path: place("catalog.sqlite3"))
    }

    /// Pages of one model each; `headers` go with the page of each number.
    private func server(pages: Int, _ headers: @escaping @Sendable (Int) -> [(String, String)]) throws
        -> ScriptedServer
    {
        try ScriptedServer { asked in
            let page = asked.target.split(separator: "cursor=").dropFirst().first.flatMap { Int($0) } ?? 0
            let link = page + 1 < pages ? [("Link", "</api/models?cursor=\(page + 1)>; rel=\"next\"")] : []
            return .json(
                "[{\"id\":\"org/m\(page)\",\"lastModified\":\"2024-01-01T00:00:0\(9 - page).000Z\"}]",
                headers: link + headers(page))
        }
    }

    private func run(_ server: ScriptedServer) async throws -> MirrorSync.Result {
        let test = try TestClient(server.address)
        let sync = MirrorSync(
            catalog: catalog, client: test.client, pause: { [waits] seconds in waits.update { $0.append(seconds) } }
        )
        return await sync.run()
    }

    @Test func fewRequestsLeftAreAReasonToWait() async throws {
        let policy = ("RateLimit-Policy", "\"fixed window\";\"api\";q=500;w=300")
        let server = try server(pages: 5) { page in
            [policy, ("RateLimit", "\"api\";r=\([11, 10, 0, 400, 0][page]);t=\(page)")]
        }
        let result = try await run(server)
        #expect(result.error == nil && result.report.isComplete)
        // Ten of five hundred are left to others; behind the last page nothing is waited for.
        #expect(waits.update { $0 } == [2, 3])
    }

    @Test(arguments: [
        "\"api\";r=0;t=86400", "\"api\";r=0;t=-5", "\"api\";r=0;t=9223372036854775807", "\"api\";r=0",
        "\"api\";t=9",
        "nonsense",
    ])
    func whatCannotBeIsNoReasonToWait(field: String) async throws {
        let result = try await run(try server(pages: 3) { _ in [("RateLimit", field)] })
        #expect(result.error == nil && result.report.pages == 3)
        #expect(waits.update { $0 }.isEmpty)
    }

    @Test func aLimitOfAbsurdSizeLeavesSomeRequests() async throws {
        let server = try server(pages: 3) { _ in
            [("RateLimit", "\"api\";r=101;t=1"), ("RateLimit-Policy", "\"api\";q=9223372036854775807;w=300")]
        }
        #expect(try await run(server).error == nil)
        #expect(waits.update { $0 }.isEmpty)
    }

    @Test func aWaitEndsAtOnceWhenItIsCancelled() async throws {
        let server = try server(pages: 3) { $0 == 1 ? [("RateLimit", "\"api\";r=0;t=300")] : [] }
        let test = try TestClient(server.address)
        let told = Monitor<Double?>(nil)
        let sync = MirrorSync(catalog: catalog, client: test.client)
        let task = Task { await sync.run { if case .waiting(let seconds) = $0 { told.update { $0 = seconds } } } }
        #expect(try await told.value("the wait") { $0 } == 301)
        task.cancel()
        let result = await task.value
        #expect(result.error?.code == .cancelled && result.report.models == 2)
        #expect(test.said.contains("0 requests are left; waiting 301 s for more"))
        // What came is kept, and the next run asks for the third page alone before it looks above.
        let next = await sync.run()
        #expect(next.error == nil && next.report.added == 1)
        #expect(server.requests.dropFirst(2).first?.target.hasSuffix("cursor=2") == true)
    }
}
