import Fetcher
import HubCore
import Support
import Testing

/// What may change is asked again, what will not is not.
@Suite struct RetryTests {
    private static let page = "{\"id\":\"org/m\",\"sha\":\"\(Commit.of("a"))\"}"

    @Test(
        arguments: [
            .status(500), .status(502), .status(504), .status(408), .status(503, headers: [("Retry-After", "0")]),
            .status(429, headers: [("RateLimit", "\"api\";r=0;t=0"), ("Retry-After", "0")]),
            .status(429, headers: [("Retry-After", "0")]), .status(429, headers: [("Retry-After", "-3")]),
        ] as [ScriptedServer.Answer])
    func aPassingFaultIsAskedAgain(answer: ScriptedServer.Answer) async throws {
        let server = try ScriptedServer { $0.index == 0 ? answer : .json(Self.page) }
        let test = try TestClient(server.address)
        #expect(try await test.client.info(.model("org/m")).commit == .of("a"))
        #expect(server.requests.count == 2)
        #expect(test.said.contains("trying again"))
    }

    @Test func theNumberOfRetriesIsKept() async throws {
        let server = try ScriptedServer { _ in .status(500, "oops") }
        let test = try TestClient(server.address, retries: 2)
        let error = await test.error { try await $0.info(.model("org/m")) }
        #expect(error?.code == .serverError)
        #expect(error?.isRetryable == true)
        #expect(server.requests.count == 3)
    }

    /// The Hub's windows are five minutes; a server that names hours is not waited for.
    @Test(arguments: ["86400", "9223372036854775807"])
    func aWaitThatNobodyMeansIsNotBegun(seconds: String) async throws {
        let server = try ScriptedServer { _ in .status(429, headers: [("Retry-After", seconds)]) }
        let test = try TestClient(server.address)
        #expect(await test.error { try await $0.info(.model("org/m")) }?.code == .rateLimited)
        #expect(server.requests.count == 1)
    }

    @Test func aConnectionThatBreaksIsTriedAgain() async throws {
        let folder = try TemporaryFolder()
        try ModelRepository.tiny("org/tiny", in: folder, weights: 10)
        let hub = try LoopbackHub(folder)
        hub.fail("GET /api/models/org/tiny", .drop(after: 10))
        let test = try TestClient(hub.endpoint)
        _ = try await test.client.info(.model("org/tiny"))
        #expect(hub.requests.count == 2)
    }

    @Test func aRefusedConnectionIsNotTriedAgain() async throws {
        let test = try TestClient(ClosedPort.address)
        let error = await test.error { try await $0.info(.model("org/m")) }
        #expect(error?.code == .unreachable)
        #expect(!test.said.contains("trying again"))
    }

    @Test func anEngineThatHasStoppedRefusesInsteadOfHanging() async throws {
        let engine = try HTTPEngine(HTTPEngine.Settings(HubEnvironment([:])))
        let origin = try #require(Origin("http://127.0.0.1:9"))
        let http = HTTPClient(engine: engine, origin: origin, token: nil)
        engine.stop()
        engine.stop()
        for _ in 0..<3 {
            await #expect(throws: (any Error).self) {
                try await http.response(to: HTTPRequest(.get, "http://127.0.0.1:9/"))
            }
        }
    }

    @Test func aCancelledCallEndsAtOnce() async throws {
        let folder = try TemporaryFolder()
        try ModelRepository.tiny("org/tiny", in: folder, weights: 10)
        let hub = try LoopbackHub(folder)
        let gate = hub.hold("GET /api/models/org/tiny", after: 0)
        let test = try TestClient(hub.endpoint)
        let task = Task { try await test.client.info(.model("org/tiny")) }
        try await hub.waitForRequest(matching: "GET /api/models/org/tiny")
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        gate.release()
    }
}
