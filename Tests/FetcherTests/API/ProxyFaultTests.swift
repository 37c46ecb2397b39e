import Fetcher
import HubCore
import Support
import Testing

/// Errors name what failed on the way to the Hub: the proxy, or the unknown host.
@Suite struct ProxyFaultTests {
    private static let endpoints = ["http://hub.invalid", "https://hub.invalid"]
    private static let password = "pa55-w0rd"

    /// A client that asks everything through a proxy, which it must never name with its password.
    private func client(_ endpoint: String, through place: Substring) throws -> TestClient {
        let proxy = "http://someone:\(Self.password)@\(place)"
        return try TestClient(
            endpoint, token: TestClient.secret, variables: ["HTTP_PROXY": proxy, "HTTPS_PROXY": proxy])
    }

    /// The error of a call, after a look that neither it nor the log shows a credential.
    private func error(_ test: TestClient) async throws -> AIError {
        let error = try #require(await test.error { try await $0.info(.model("org/m")) })
        for text in ["\(error)", error.recoverySuggestion ?? "", test.said] {
            #expect(!text.contains(Self.password) && !text.contains(TestClient.secret), "\(text)")
        }
        return error
    }

    private func place(_ address: String) -> Substring { address.dropFirst("http://".count) }

    @Test(arguments: endpoints) func aProxyThatCannotBeReachedIsNamed(endpoint: String) async throws {
        let test = try client(endpoint, through: place(ClosedPort.address))
        let error = try await error(test)
        #expect(error.code == .unreachable)
        #expect(error.exitStatus == 5)
        #expect(error.message == "the proxy \(place(ClosedPort.address)) cannot be reached: Connection refused")
        #expect(error.recoverySuggestion?.contains("HTTPS_PROXY") == true)
        #expect(!test.said.contains("trying again"))
    }

    /// The proxy has nothing to do with it: the host is asked directly.
    @Test func aHostThatNeedsNoProxyIsNamedItself() async throws {
        let port = ClosedPort.address.split(separator: ":").last ?? ""
        let test = try TestClient(
            "http://0.0.0.0:\(port)", variables: ["HTTP_PROXY": "http://127.0.0.1:1", "NO_PROXY": "0.0.0.0"])
        #expect(try await error(test).message == "http://0.0.0.0:\(port) cannot be reached: Connection refused")
    }

    @Test(arguments: endpoints) func aProxyWhoseNameNobodyKnowsIsNamed(endpoint: String) async throws {
        let error = try await error(try client(endpoint, through: "proxy.invalid:3128"))
        #expect(error.code == .unreachable)
        #expect(error.message == "the proxy proxy.invalid:3128 cannot be reached: its host name cannot be resolved")
    }

    /// `HTTPS_PROXY=https://...` is a usual mistake: the scheme is that of the proxy, and most speak plain HTTP.
    @Test(arguments: endpoints) func aProxyThatDoesNotSpeakTLSIsNamed(endpoint: String) async throws {
        let proxy = try ScriptedServer { _ in .status(502) }
        let address = "https://someone:\(Self.password)@\(place(proxy.address))"
        let test = try TestClient(
            endpoint, token: TestClient.secret, variables: ["HTTP_PROXY": address, "HTTPS_PROXY": address])
        let error = try await error(test)
        #expect(error.code == .unreachable)
        #expect(error.message.hasPrefix("the proxy \(place(proxy.address)) does not answer by TLS"))
        #expect(error.recoverySuggestion?.contains("write http://\(place(proxy.address)) in HTTPS_PROXY") == true)
        #expect(!test.said.contains("trying again"))
    }

    /// As Python reads it: the last `@` ends the password.
    @Test func anAtInThePasswordIsPartOfIt() async throws {
        let proxy = try ScriptedServer { _ in .status(407, headers: [("Proxy-Authenticate", "Basic realm=\"x\"")]) }
        let error = try await error(try client("https://hub.invalid", through: "x@\(place(proxy.address))"))
        #expect(error.message == "the proxy \(place(proxy.address)) asks for a name and a password (407)")
    }

    @Test(arguments: endpoints) func aProxyThatWantsAPasswordSaysSoAndIsAskedOnce(endpoint: String) async throws {
        let proxy = try ScriptedServer { _ in
            .status(407, headers: [("Proxy-Authenticate", "Basic realm=\"x\"")], "<html>Sign in")
        }
        let error = try await error(try client(endpoint, through: place(proxy.address)))
        #expect(error.code == .unreachable)
        #expect(error.message.contains("asks for a name and a password (407)"))
        #expect(error.recoverySuggestion?.contains("name:password@host:port") == true)
        #expect(proxy.requests.count == 1)
    }

    /// The host behind the proxy may be back in a moment.
    @Test(arguments: endpoints) func aBadGatewayIsTriedAgain(endpoint: String) async throws {
        let proxy = try ScriptedServer { _ in .status(502, "<html>Bad gateway") }
        let test = try client(endpoint, through: place(proxy.address))
        let error = try await error(test)
        #expect(error.code == .serverError)
        #expect(error.message.contains("hub.invalid") && error.message.contains("502"))
        #expect(proxy.requests.count == 3)
        #expect(test.said.contains("502") && test.said.contains("trying again"))
    }

    @Test func aTunnelThatIsForbiddenIsAskedForOnce() async throws {
        let proxy = try ScriptedServer { _ in .status(403) }
        let error = try await error(try client("https://hub.invalid", through: place(proxy.address)))
        #expect(error.code == .unreachable)
        #expect(
            error.message
                == "the proxy \(place(proxy.address)) refuses to connect to https://hub.invalid (HTTP 403)")
        #expect(proxy.requests.map(\.method) == ["CONNECT"])
        #expect(proxy.requests.map(\.authorization) == [nil], "the token is for what is behind the tunnel")
    }

    /// Not tried again: what is known offline is to show at once.
    @Test(arguments: endpoints) func aNameThatNobodyKnowsIsSaid(endpoint: String) async throws {
        let test = try TestClient(endpoint)
        let error = try await error(test)
        #expect(error.code == .unreachable)
        #expect(error.message == "\(endpoint) cannot be reached: its host name cannot be resolved")
        #expect(!test.said.contains("trying again"))
    }
}
