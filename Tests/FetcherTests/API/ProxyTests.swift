import Fetcher
import HubCore
import Support
import Testing

/// The variables for proxies mean what they mean to Python.
@Suite struct ProxyTests {
    private static let page = "{\"id\":\"org/m\",\"sha\":\"\(Commit.of("a"))\"}"
    private func proxy() throws -> ScriptedServer { try ScriptedServer { _ in .json(Self.page) } }

    @Test(arguments: ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
    func aPlainAddressGoesThroughTheProxyInWhateverCaseItIsNamed(variable: String) async throws {
        let proxy = try proxy()
        let test = try TestClient(
            "http://hub.invalid", token: TestClient.secret, variables: [variable: proxy.address])
        #expect(try await test.client.info(.model("org/m")).commit == .of("a"))
        #expect(proxy.requests.map(\.target) == ["http://hub.invalid/api/models/org/m"])
        #expect(
            proxy.requests.map(\.authorization) == [nil], "plain http beyond this machine never carries the token")
    }

    @Test func theLowerCaseNameAndTheNameOfTheSchemeComeFirst() async throws {
        let (wanted, other) = (try proxy(), try proxy())
        let test = try TestClient(
            "http://hub.invalid",
            variables: ["http_proxy": wanted.address, "HTTP_PROXY": other.address, "ALL_PROXY": other.address])
        _ = try await test.client.info(.model("org/m"))
        #expect(wanted.requests.count == 1)
        #expect(other.requests.isEmpty)
    }

    /// 0.0.0.0 is this machine without being its loopback.
    @Test(arguments: [("NO_PROXY", "0.0.0.0"), ("no_proxy", "other.example,0.0.0.0"), ("NO_PROXY", "*")])
    func aHostThatNeedsNoProxyIsAskedDirectly(variable: String, value: String) async throws {
        let (proxy, server) = (try proxy(), try self.proxy())
        let address = "http://0.0.0.0:\(server.port)"
        let through = try TestClient(address, variables: ["HTTP_PROXY": proxy.address])
        _ = try await through.client.info(.model("org/m"))
        #expect(proxy.requests.count == 1)
        let directly = try TestClient(
            address, token: TestClient.secret, variables: ["HTTP_PROXY": proxy.address, variable: value])
        _ = try await directly.client.info(.model("org/m"))
        #expect(proxy.requests.count == 1)
        #expect(server.requests.map(\.authorization) == [nil])
    }

    /// The token may go to this machine by plain http, so such a request must not travel to a proxy.
    @Test(arguments: ["http_proxy", "HTTP_PROXY", "ALL_PROXY"])
    func thisMachineIsNeverAskedThroughAProxy(variable: String) async throws {
        let proxy = try proxy()
        let server = try ScriptedServer { _ in .json(Self.page) }
        let test = try TestClient(server.address, token: TestClient.secret, variables: [variable: proxy.address])
        _ = try await test.client.info(.model("org/m"))
        #expect(proxy.requests.isEmpty)
        #expect(server.requests.count == 1)
    }
}
