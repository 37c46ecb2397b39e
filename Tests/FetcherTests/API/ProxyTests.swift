import Fetcher
import HubCore
import Support
import Testing

/// The variables for proxies and certificates mean what they mean to Python.
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

    @Test func aProxyThatCannotBeReachedIsSaid() async throws {
        let stopped = try LoopbackHub(try TemporaryFolder())
        stopped.stop()
        let test = try TestClient("http://hub.invalid", variables: ["HTTP_PROXY": stopped.endpoint], retries: 0)
        #expect(await test.error { try await $0.info(.model("org/m")) }?.code == .unreachable)
    }

    @Test func aCertificateFileThatIsNotThereIsAMistakeOfTheUser() {
        do {
            _ = try HTTPEngine.Settings(HubEnvironment(["REQUESTS_CA_BUNDLE": "/nowhere/ca.pem"]))
            Issue.record("a file that is not there was taken")
        } catch {
            #expect(error.code == .invalidInput)
        }
    }
}

private let openssl = "/usr/bin/openssl"

/// What only TLS can show, against openssl's own little server.
@Suite(.enabled(if: FileSystem.exists(openssl))) struct TLSTests {

    /// Answers each path with the file of that name, head and all.
    private struct Server {
        let process: RunningProcess
        let port: UInt16
        let certificate: String
    }

    private func server(_ folder: TemporaryFolder, name: String = "hub.test") async throws -> Server {
        let made = try await RunningProcess.run(
            openssl,
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=\(name)", "-addext",
                "subjectAltName=DNS:\(name),IP:127.0.0.1", "-keyout", folder("key.pem"), "-out", folder("cert.pem"),
            ])
        try #require(made.status == 0, "\(made.error)")
        let process = try RunningProcess(
            openssl,
            [
                "s_server", "-accept", "127.0.0.1:0", "-key", folder("key.pem"), "-cert", folder("cert.pem"),
                "-HTTP",
            ],
            directory: folder.path, input: nil)
        let text = try await process.wait(forText: "ACCEPT ")
        let line = text.split(separator: "\n").first { $0.hasPrefix("ACCEPT ") } ?? ""
        let port = try #require(line.split(separator: ":").last.flatMap { UInt16($0.filter(\.isNumber)) })
        return Server(process: process, port: port, certificate: folder("cert.pem"))
    }

    private func answer(_ folder: TemporaryFolder, _ path: String, _ head: String, _ body: String = "") throws {
        try folder.write(
            path, "HTTP/1.0 \(head)\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    private static let page = "{\"id\":\"org/m\",\"sha\":\"\(Commit.of("a"))\"}"

    @Test(arguments: ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"])
    func aCertificateIsTrustedOnlyWhereAVariableNamesIt(variable: String) async throws {
        let folder = try TemporaryFolder()
        try answer(folder, "api/models/org/m", "200 OK", Self.page)
        let server = try await server(folder)
        let endpoint = "https://127.0.0.1:\(server.port)"
        let stranger = await (try TestClient(endpoint, retries: 0)).error { try await $0.info(.model("org/m")) }
        #expect(stranger?.code == .unreachable)
        #expect(stranger?.message.contains("certificate") == true)
        let trusting = try TestClient(endpoint, variables: [variable: server.certificate])
        #expect(try await trusting.client.info(.model("org/m")).commit == .of("a"))
    }

    /// Traps 17 and 18: neither by a redirect nor by a link to the next page.
    @Test func theWayFromHTTPSToHTTPIsRefused() async throws {
        let plain = try ScriptedServer { _ in .json(Self.page) }
        let folder = try TemporaryFolder()
        try answer(folder, "api/models/org/m", "302 Found\r\nLocation: \(plain.address)/x")
        try answer(folder, "api/models/org/n/refs", "200 OK\r\nLink: <\(plain.address)/x>; rel=\"next\"", "[]")
        let server = try await server(folder)
        let test = try TestClient(
            "https://127.0.0.1:\(server.port)", token: TestClient.secret,
            variables: ["SSL_CERT_FILE": server.certificate], retries: 0)
        let error = await test.error { try await $0.info(.model("org/m")) }
        #expect(error?.code == .protocolViolation)
        #expect(error?.message.contains("https to http") == true)
        #expect(plain.requests.isEmpty)
    }

    /// The proxy's own "200 Connection established" is not the Hub's answer.
    @Test(arguments: ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
    func theAnswerThroughATunnelIsTheHubsAndNotTheProxys(variable: String) async throws {
        let folder = try TemporaryFolder()
        try answer(folder, "api/models/org/m", "200 OK", Self.page)
        try answer(folder, "api/models/org/n", "404 Not Found\r\nX-Error-Code: RepoNotFound")
        let server = try await server(folder)
        let proxy = try TunnelProxy(to: server.port)
        let test = try TestClient(
            "https://hub.test", token: TestClient.secret,
            variables: ["SSL_CERT_FILE": server.certificate, variable: proxy.address], retries: 0)
        #expect(try await test.client.info(.model("org/m")).commit == .of("a"))
        let missing = await test.error { try await $0.info(.model("org/n")) }
        #expect(missing?.code == .repositoryNotFound)
        #expect(missing?.context.status == 404)
        #expect(proxy.requests.allSatisfy { $0 == "CONNECT hub.test:443 HTTP/1.1" })
        #expect(!proxy.requests.isEmpty)
    }
}
