import Fetcher
import HubCore
import Support
import Testing

/// A clock that only moves when someone sleeps.
private final class FakeClock: Sendable {
    private let state = Lock((now: 1000.0, slept: [Double]()))
    /// What happens while someone sleeps, by the number of the sleep from 1.
    let during: @Sendable (Int) -> Void

    init(during: @escaping @Sendable (Int) -> Void = { _ in }) { self.during = during }

    var slept: [Double] { state.withLock { $0.slept } }
    var now: Double { state.withLock { $0.now } }

    func sleep(_ seconds: Double) {
        let count = state.withLock { state in
            state.now += seconds
            state.slept.append(seconds)
            return state.slept.count
        }
        during(count)
    }
}

/// Trap 23.
@Suite struct DeviceSignInTests {
    private func device(_ bench: SignInBench, _ clock: FakeClock, id: String? = nil) throws -> DeviceSignIn {
        DeviceSignIn(try bench.client(id: id), now: { clock.now }, sleep: { clock.sleep($0) })
    }

    @Test func withoutAnIntervalItIsFiveSecondsAndPendingIs400() async throws {
        let bench = try SignInBench()
        let clock = FakeClock { if $0 == 4 { bench.server.allow() } }
        let device = try device(bench, clock)
        let code = try await device.begin()
        #expect(code.userCode == "ABCD-1234" && code.address == "https://hf.co/oauth/device")
        #expect(code.completeAddress == nil && code.expiresIn == 300)
        let grant = try await device.token(for: code)
        #expect(clock.slept == [5, 5, 5, 5])
        #expect(grant.accessToken.secret.hasPrefix("hf_oauth_") && grant.refreshToken != nil)
        #expect(grant.expiresIn == 28_800 && grant.scope == "openid profile read-repos")
        let asked = bench.server.log
        #expect(asked.map(\.path) == ["/oauth/device"] + Array(repeating: "/oauth/token", count: 4))
        #expect(asked[0].form == ["client_id": "hub-tests-app"] && asked.allSatisfy { $0.query.isEmpty })
        #expect(Set(asked[1].form.keys) == ["grant_type", "device_code", "client_id"])
    }

    @Test func eachSlowDownAddsFiveSecondsForGood() async throws {
        let bench = try SignInBench()
        let slow = #"{"error":"slow_down"}"#
        bench.server.script(.json(400, slow), .json(400, slow), .usual)
        let clock = FakeClock { if $0 == 4 { bench.server.allow() } }
        let device = try device(bench, clock)
        _ = try await device.token(for: try await device.begin())
        #expect(clock.slept == [5, 10, 15, 15])
    }

    @Test func theHubsIntervalIsKept() async throws {
        var options = OAuthServer.Options()
        options.device = [
            "interval": 2, "expires_in": 7, "verification_uri_complete": "https://hf.co/d?c=ABCD-1234",
        ]
        let bench = try SignInBench(options)
        let clock = FakeClock()
        let device = try device(bench, clock)
        let code = try await device.begin()
        #expect(code.completeAddress == "https://hf.co/d?c=ABCD-1234")
        let error = await AIError.of { _ = try await device.token(for: code) }
        #expect(error?.code == .timedOut && error?.exitStatus == 5)
        #expect(error?.message == "the code has expired before anyone confirmed it")
        #expect(clock.slept == [2, 2, 2, 1], "the last wait ends with the code")
        #expect(bench.server.log.count == 4, "and then nobody is asked any more")
    }

    /// The person may be confirming while a gateway is away.
    @Test func whatIsNoAnswerDoesNotEndIt() async throws {
        let bench = try SignInBench()
        bench.server.script(
            .html(502), .json(503, #"{"error":"expired_token"}"#), .cut, .json(200, "[]"), .json(400, "{}"),
            .json(429, #"{"message":"slow"}"#), .html(200), .json(200, #"{"access_token":"with space"}"#))
        let clock = FakeClock { if $0 == 9 { bench.server.allow() } }
        let device = try device(bench, clock)
        _ = try await device.token(for: try await device.begin())
        #expect(clock.slept.count == 9 && clock.slept.allSatisfy { $0 == 5 })
    }

    @Test(arguments: [
        ("access_denied", 4, "the sign-in was denied on the Hub's page"),
        ("expired_token", 5, "the code has expired before anyone confirmed it"),
        ("invalid_grant", 4, "does not accept the code of this sign-in: Words of the Hub"),
        ("invalid_client", 4, "refuses the OAuth app hub-tests-app: Words of the Hub"),
        ("teapot", 5, "refuses the sign-in: teapot: Words of the Hub"),
    ])
    func refusalsEndIt(code: String, status: Int32, message: String) async throws {
        let bench = try SignInBench()
        bench.server.script(.json(400, #"{"error":"\#(code)","error_description":"Words of the Hub"}"#))
        let device = try device(bench, FakeClock())
        let error = await AIError.of { _ = try await device.token(for: try await device.begin()) }
        #expect(error?.exitStatus == status && error?.message.hasSuffix(message) == true, "\(error?.message ?? "")")
        #expect(bench.server.log.count == 2)
    }

    @Test func anUnknownAppAndAPlaceWithoutSignInAreSaid() async throws {
        let bench = try SignInBench()
        let unknown = try device(bench, FakeClock(), id: "other")
        #expect(await AIError.of { _ = try await unknown.begin() }?.exitStatus == 4)
        let none = try ScriptedServer { _ in .status(404, "nothing") }
        let client = OAuthClient(
            engine: try HTTPEngine(HTTPEngine.Settings(bench.environment())), endpoint: try Endpoint(none.address),
            clientID: "x")
        let error = await AIError.of { _ = try await DeviceSignIn(client).begin() }
        #expect(error?.message == "\(none.address) does not offer this sign-in (404)")
    }

    @Test(arguments: [
        ["device_code": JSON.null], ["user_code": .null], ["verification_uri": .null],
        ["verification_uri": "javascript:alert(1)"],
    ])
    func ACodeThatNobodyCanUseIsAFault(members: [String: JSON]) async throws {
        var options = OAuthServer.Options()
        options.device = JSONObject(members.map { ($0.key, $0.value) })
        let bench = try SignInBench(options)
        let device = try device(bench, FakeClock())
        #expect(await AIError.of { _ = try await device.begin() }?.code == .protocolViolation)
    }

    /// The body of the question would go along.
    @Test func aRedirectIsNotFollowed() async throws {
        let other = try ScriptedServer { _ in .json(#"{"access_token":"hf_x"}"#) }
        let bench = try SignInBench()
        bench.server.script(.redirect(to: other.address + "/oauth/token"))
        let clock = FakeClock { if $0 == 2 { bench.server.allow() } }
        let device = try device(bench, clock)
        _ = try await device.token(for: try await device.begin())
        #expect(other.requests.isEmpty)
    }

    @Test func nothingIsSentByPlainHTTPElsewhere() async throws {
        let client = OAuthClient(
            engine: try HTTPEngine(HTTPEngine.Settings(HubEnvironment.test())),
            endpoint: try Endpoint("http://192.0.2.1"), clientID: "x")
        #expect(await AIError.of { _ = try await DeviceSignIn(client).begin() }?.exitStatus == 2)
    }

    @Test func whatTheHubQuotesIsMasked() async throws {
        let bench = try SignInBench()
        let device = try device(bench, FakeClock())
        let code = try await device.begin()
        bench.server.script(
            .json(400, #"{"error":"x device-code-1-0123456789","error_description":"y device-code-1-0123456789"}"#))
        let error = await AIError.of { _ = try await device.token(for: code) }
        #expect(error?.message.hasSuffix("refuses the sign-in: x (token): y (token)") == true)
        #expect(!bench.said.update { $0 }.joined().contains("device-code"))
    }

    @Test func cancellingEndsIt() async throws {
        let bench = try SignInBench()
        let waits = Monitor(false)
        let device = DeviceSignIn(try bench.client(), now: { 0 }) { _ in
            waits.update { $0 = true }
            try await Task.sleep(for: .seconds(3600))
        }
        let code = try await device.begin()
        let task = Task { try await device.token(for: code) }
        _ = try await waits.value("the wait") { $0 ? true : nil }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(bench.server.log.count == 1)
    }
}
