@testable import Fetcher
import HubCore
import Support
import Testing

/// What only TLS can show, against OpenSSL's own little server.
@Suite(.enabled("there is no OpenSSL", { await findOpenSSL() != nil })) struct TLSTests {
    private let openssl: String

    init() async throws { openssl = try #require(await findOpenSSL()) }

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
        let stranger = await (try TestClient(endpoint)).error { try await $0.info(.model("org/m")) }
        #expect(stranger?.code == .unreachable)
        #expect(stranger?.message.hasPrefix("the certificate of \(endpoint) is not trusted: ") == true)
        #expect(stranger?.recoverySuggestion?.contains("SSL_CERT_FILE") == true)
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

    /// What switches it off elsewhere. Set but empty is how Python's requests was told to.
    @Test func noVariableSwitchesTheCheckOff() async throws {
        let folder = try TemporaryFolder()
        try answer(folder, "api/models/org/m", "200 OK", Self.page)
        let server = try await server(folder)
        for (name, value) in [
            ("REQUESTS_CA_BUNDLE", ""), ("CURL_CA_BUNDLE", ""), ("SSL_CERT_FILE", ""), ("PYTHONHTTPSVERIFY", "0"),
            ("GIT_SSL_NO_VERIFY", "1"), ("NODE_TLS_REJECT_UNAUTHORIZED", "0"), ("HF_HUB_DISABLE_SSL_VERIFY", "1"),
            ("HF_HUB_DISABLE_SSL_VERIFICATION", "1"), ("CURL_INSECURE", "1"), ("SSL_VERIFY", "false"),
        ] {
            let test = try TestClient(
                "https://127.0.0.1:\(server.port)", token: TestClient.secret, variables: [name: value], retries: 0)
            let error = await test.error { try await $0.info(.model("org/m")) }
            #expect(error?.code == .unreachable, "\(name)")
            #expect(error?.message.contains("is not trusted") == true, "\(name)")
        }
    }

    @Test func aTrustedCertificateOfAnotherNameIsRefused() async throws {
        let folder = try TemporaryFolder()
        try answer(folder, "api/models/org/m", "200 OK", Self.page)
        let server = try await server(folder)
        // localhost is the same machine, and not in the certificate.
        let test = try TestClient(
            "https://localhost:\(server.port)", variables: ["SSL_CERT_FILE": server.certificate], retries: 0)
        let error = await test.error { try await $0.info(.model("org/m")) }
        #expect(error?.code == .unreachable)
        #expect(
            error?.message.hasPrefix("the certificate of https://localhost:\(server.port) is not trusted") == true)
    }

    @Test func aFolderOfCertificatesIsTakenInsteadOfTheSystems() async throws {
        let folder = try TemporaryFolder()
        try answer(folder, "api/models/org/m", "200 OK", Self.page)
        let server = try await server(folder)
        let trusted = try TemporaryFolder("trusted")
        try trusted.write("hub.pem", try FileSystem.contents(server.certificate) ?? [])
        let endpoint = "https://127.0.0.1:\(server.port)"
        let variables = ["REQUESTS_CA_BUNDLE": trusted.path]
        // As long as nothing is indexed nothing is trusted.
        let before = await (try TestClient(endpoint, variables: variables)).error {
            try await $0.info(.model("org/m"))
        }
        #expect(before?.message.contains("is not trusted") == true)
        try #require(try await RunningProcess.run(openssl, ["rehash", trusted.path]).status == 0)
        let trusting = try TestClient(endpoint, variables: variables)
        #expect(try await trusting.client.info(.model("org/m")).commit == .of("a"))
    }

    /// As curl, Go and Python's own client do; together with a file, both count.
    @Test func theFolderOfOpenSSLsVariableIsTrusted() async throws {
        let folder = try TemporaryFolder()
        try answer(folder, "api/models/org/m", "200 OK", Self.page)
        let server = try await server(folder)
        let trusted = try TemporaryFolder("trusted")
        try trusted.write("hub.pem", try FileSystem.contents(server.certificate) ?? [])
        try #require(try await RunningProcess.run(openssl, ["rehash", trusted.path]).status == 0)
        let elsewhere = try TemporaryFolder("other")
        let other = try await self.server(elsewhere, name: "other.test")
        let endpoint = "https://127.0.0.1:\(server.port)"
        for variables in [
            ["SSL_CERT_DIR": trusted.path], ["SSL_CERT_DIR": "/nowhere:\(trusted.path)"],
            ["SSL_CERT_DIR": trusted.path, "SSL_CERT_FILE": other.certificate],
        ] {
            let test = try TestClient(endpoint, variables: variables)
            #expect(try await test.client.info(.model("org/m")).commit == .of("a"))
        }
        // The variables of requests and curl come first, as there.
        let test = try TestClient(
            endpoint, variables: ["SSL_CERT_DIR": trusted.path, "REQUESTS_CA_BUNDLE": other.certificate], retries: 0
        )
        #expect(await test.error { try await $0.info(.model("org/m")) }?.message.contains("is not trusted") == true)
        let missing = #expect(throws: AIError.self) {
            try HTTPEngine.Settings(HubEnvironment(["SSL_CERT_DIR": "/nowhere/a:/nowhere/b"]))
        }
        #expect(missing?.code == .invalidInput && missing?.message.contains("/nowhere/a") == true)
    }

    /// The certificate of the proxy is another matter than that of the Hub.
    @Test func aProxyWhoseCertificateIsNotTrustedIsNamed() async throws {
        let folder = try TemporaryFolder()
        let server = try await server(folder)
        let test = try TestClient(
            "https://hub.invalid", variables: ["HTTPS_PROXY": "https://127.0.0.1:\(server.port)"], retries: 0)
        let error = await test.error { try await $0.info(.model("org/m")) }
        #expect(error?.code == .unreachable)
        #expect(
            error?.message.hasPrefix("the certificate of the proxy 127.0.0.1:\(server.port) is not trusted") == true
        )
    }

    @Test func certificatesThatAreNoneAreAMistakeOfTheUser() async throws {
        let folder = try TemporaryFolder()
        try answer(folder, "api/models/org/m", "200 OK", Self.page)
        let server = try await server(folder)
        let path = try folder.write("garbage.pem", "not a certificate\n")
        let test = try TestClient("https://127.0.0.1:\(server.port)", variables: ["SSL_CERT_FILE": path])
        let error = await test.error { try await $0.info(.model("org/m")) }
        #expect(error?.code == .invalidInput)
        #expect(error?.message.contains(path) == true)
        #expect(error?.recoverySuggestion?.contains("SSL_CERT_FILE") == true)
    }

    @Test func aCertificateFileThatIsNotThereIsAMistakeOfTheUser() {
        let error = #expect(throws: AIError.self) {
            try HTTPEngine.Settings(HubEnvironment(["REQUESTS_CA_BUNDLE": "/nowhere/ca.pem"]))
        }
        #expect(error?.code == .invalidInput)
        #expect(error?.message.contains("/nowhere/ca.pem") == true)
    }

    /// The Hub is as it should be; the CDN that it names is not to be trusted.
    @Test func aCDNThatIsNotTrustedIsNamed() async throws {
        let folder = try TemporaryFolder()
        let server = try await server(folder)
        let bench = try PullBench()
        try ModelRepository("org/m", in: bench.served).noise("w.safetensors", size: 300_000)
        let cdn = "https://127.0.0.1:\(server.port)"
        bench.hub.fail("resolve/", .redirect(to: "\(cdn)/w?Signature=s3cret"), times: nil)
        let puller = try bench.puller().quick()
        let plan = try await puller.plan(ModelReference(parsing: "org/m"), .init())
        let result = try await puller.pull(plan, .init())
        #expect(result.error?.code == .unreachable)
        #expect(result.error?.message.hasPrefix("the certificate of \(cdn) is not trusted: ") == true)
        #expect(try PullBench.leftovers(plan.folder).isEmpty)
    }
}

/// The program of OpenSSL. macOS has LibreSSL under that name, which takes other words.
private func findOpenSSL() async -> String? {
    for folder in ["/usr/bin", "/opt/homebrew/opt/openssl@3/bin", "/usr/local/opt/openssl@3/bin"] {
        let path = "\(folder)/openssl"
        let version = try? await RunningProcess.run(path, ["version"])
        if version?.output.hasPrefix("OpenSSL ") == true { return path }
    }
    return nil
}
