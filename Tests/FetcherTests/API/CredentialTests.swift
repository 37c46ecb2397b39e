import Catalog
import Fetcher
import HubCore
import Support
import Testing

/// A credential never leaves the origin of the endpoint, and is never shown.
@Suite struct CredentialTests {
    private static let page = "{\"id\":\"org/m\",\"sha\":\"\(Commit.of("a"))\"}"
    private static let bearer = "Bearer " + TestClient.secret

    /// Trap 17: without it on the Hub's own redirects private files would be out of reach.
    @Test func theTokenGoesToTheEndpointAndAlongItsOwnRedirects() async throws {
        let server = try ScriptedServer { $0.index == 0 ? .redirect("/moved", status: 307) : .json(Self.page) }
        let test = try TestClient(server.address, token: TestClient.secret)
        _ = try await test.client.info(.model("org/m"))
        #expect(server.requests.map(\.authorization) == [Self.bearer, Self.bearer])
    }

    /// Trap 17: another port is another origin.
    @Test(arguments: [301, 302, 303, 307, 308])
    func theTokenStaysBehindWhereARedirectLeavesTheOrigin(status: Int) async throws {
        let other = try ScriptedServer { _ in .json(Self.page) }
        let server = try ScriptedServer { _ in .redirect(other.address + "/x", status: status) }
        let test = try TestClient(server.address, token: TestClient.secret)
        _ = try await test.client.info(.model("org/m"))
        #expect(server.requests.map(\.authorization) == [Self.bearer])
        #expect(other.requests.map(\.authorization) == [nil], "another port is another origin")
    }

    @Test func theTokenStaysBehindWhereOnlyTheNameOfTheHostDiffers() async throws {
        let server = try ScriptedServer { $0.index == 0 ? .status(302) : .json(Self.page) }
        let redirecting = try ScriptedServer { _ in .redirect("http://localhost:\(server.port)/x") }
        _ = server
        let test = try TestClient(redirecting.address, token: TestClient.secret)
        _ = await test.error { try await $0.info(.model("org/m")) }
        #expect(server.requests.allSatisfy { $0.authorization == nil })
    }

    @Test func theTokenComesBackWithTheOrigin() async throws {
        let home = Monitor<String>("")
        let other = try ScriptedServer { _ in .redirect(home.update { $0 } + "/back") }
        let server = try ScriptedServer { asked in
            asked.target == "/back" ? .json(Self.page) : .redirect(other.address)
        }
        home.update { $0 = server.address }
        let test = try TestClient(server.address, token: TestClient.secret)
        _ = try await test.client.info(.model("org/m"))
        #expect(server.requests.map(\.authorization) == [Self.bearer, Self.bearer])
        #expect(other.requests.map(\.authorization) == [nil])
    }

    /// Trap 18: a mirror passes the Hub's own absolute links on.
    @Test func theTokenStaysBehindWhereTheNextPageIsElsewhere() async throws {
        let entry = #"[{"type":"file","oid":"\#(Commit.of("b"))","size":1,"path":"second"}]"#
        let other = try ScriptedServer { _ in .json(entry) }
        let server = try ScriptedServer { _ in
            .json("[]", headers: [("Link", "<\(other.address)/api/models/org/m/tree/x?cursor=1>; rel=\"next\"")])
        }
        let test = try TestClient(server.address, token: TestClient.secret)
        let tree = try await test.client.tree(.model("org/m"), at: .of("a"))
        #expect(tree.files.map(\.path) == ["second"])
        #expect(server.requests.map(\.authorization) == [Self.bearer])
        #expect(other.requests.map(\.authorization) == [nil])
    }

    @Test func theTokenStaysBehindWhereMoreModelsAreElsewhere() async throws {
        let other = try ScriptedServer { _ in .json(#"[{"id":"org/second"}]"#) }
        let server = try ScriptedServer { _ in
            .json(#"[{"id":"org/m"}]"#, headers: [("Link", "<\(other.address)/api/models?cursor=1>; rel=\"next\"")])
        }
        let test = try TestClient(server.address, token: TestClient.secret)
        #expect(try await test.client.search(ModelQuery()).map(\.repository.id.name) == ["org/m", "org/second"])
        #expect(server.requests.map(\.authorization) == [Self.bearer])
        #expect(other.requests.map(\.authorization) == [nil])
    }

    /// What tells one parser of addresses from another must not tell the token where to go.
    @Test(arguments: [
        "http://HOME@OTHER/x", "http://HOME%40OTHER/x", "http://OTHER#@HOME/x", "http://OTHER?@HOME/x",
        "http://OTHER\\@HOME/x", "http://OTHER/\\@HOME", "//OTHER/x", "\\\\OTHER/x", "http:/\\OTHER/x",
        "http:OTHER/x", "http:///OTHER/x", "http://HOME\\@OTHER/x", "http://HOME#@OTHER/x",
        "http://user:HOME@OTHER/x",
        "http://[::ffff:127.0.0.1]:PORT/x", "http://127.1:PORT/x", "http://2130706433:PORT/x", "http://0:PORT/x",
        "http://localhost:PORT/x", "http://OTHER\t/x", "http://OTHER /x", "http://127.0.0.1:PORT%2F@HOME/x",
    ])
    func aStrangeAddressNeverTakesTheTokenElsewhere(template: String) async throws {
        let other = try ScriptedServer { _ in .json(Self.page) }
        let home = Monitor<String>("")
        let server = try ScriptedServer { asked in
            let text = template.replacing("HOME", with: home.update { $0 }).replacing(
                "OTHER", with: "127.0.0.1:\(other.port)"
            ).replacing("PORT", with: other.port)
            return asked.index == 0 ? .redirect(text) : .json(Self.page)
        }
        home.update { $0 = "127.0.0.1:\(server.port)" }
        let test = try TestClient(server.address, token: TestClient.secret, retries: 0)
        _ = await test.error { try await $0.info(.model("org/m")) }
        #expect(!server.requests.isEmpty)
        // libcurl makes a name and a password in an address into credentials: the server's own, not ours.
        #expect(other.requests.allSatisfy { $0.authorization?.contains(TestClient.secret) != true })
        #expect(other.requests.allSatisfy { $0.authorization?.hasPrefix("Bearer") != true })
    }

    @Test func theCDNNeverSeesTheToken() async throws {
        let folder = try TemporaryFolder()
        try ModelRepository.tiny("org/tiny", in: folder, weights: 300_000)
        let hub = try LoopbackHub(folder)
        let test = try TestClient(hub.endpoint, token: "hf_loopback")
        let address = test.client.fileAddress(.model("org/tiny"), revision: "main", path: "model.safetensors")
        let answer = try await test.client.http.response(to: HTTPRequest(.get, address))
        #expect(answer.body.count == 300_000)
        #expect(hub.requests("GET", on: .hub).allSatisfy { $0.hasAuthorization })
        #expect(hub.requests("GET", on: .cdn).map(\.hasAuthorization) == [false])
    }

    /// Trap 17. Python keeps the token from a mirror to the Hub; we do not.
    @Test(arguments: [
        ("https://hub.example", "https://hub.example/x", true),
        ("https://hub.example", "https://hub.example:443/x", true),
        ("https://hub.example", "HTTPS://HUB.example/x", true),
        ("https://hub.example", "http://hub.example/x", false),
        ("https://hub.example", "https://hub.example:8443/x", false),
        ("https://hub.example", "https://www.hub.example/x", false),
        ("https://hub.example", "https://hub.example.evil/x", false),
        ("https://mirror.example", "https://huggingface.co/x", false),
        ("https://huggingface.co", "https://cdn-lfs.hf.co/x", false),
        ("https://huggingface.co", "https://hf.co/x", false),
        ("https://huggingface.co", "http://huggingface.co/x", false),
        ("http://hub.example", "http://hub.example/x", false),
        ("http://192.168.1.2", "http://192.168.1.2/x", false),
        ("http://127.evil.example", "http://127.evil.example/x", false),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/x", true),
        ("http://localhost:1", "http://localhost:1/x", true),
        ("http://[::1]:1", "http://[::1]:1/x", true), ("http://127.0.0.1:1", "http://localhost:1/x", false),
        ("http://127.0.0.1:1", "http://127.0.0.1:2/x", false),
    ])
    func theTokenIsForItsOwnOriginAndNeverForPlainHTTPBeyondThisMachine(
        endpoint: String, address: String, isSent: Bool
    ) throws {
        let test = try TestClient(endpoint, token: TestClient.secret)
        var request = HTTPRequest(.get, address, fields: HTTPFields([("authorization", "left over")]))
        test.client.http.authorise(&request)
        #expect(request.fields["Authorization"] == (isSent ? Self.bearer : nil))
    }

    @Test func aTokenThatCannotBeSentIsSaid() throws {
        let plain = try TestClient("http://hub.example", token: TestClient.secret).client
        #expect(
            plain.tokenRemarks == ["the token is not sent: http://hub.example is plain http and not this machine"])
        #expect(!plain.hasToken)
        let safe = try TestClient("https://hub.example", token: TestClient.secret).client
        #expect(safe.tokenRemarks.isEmpty && safe.hasToken)
        #expect(try TestClient("http://hub.example").client.tokenRemarks.isEmpty)
    }

    @Test func aRemarkOnTheTokenIsMadeOnceForAWorkspace() async throws {
        let folder = try TemporaryFolder()
        try FileSystem.setMode(try folder.write("token", TestClient.secret), 0o644)
        let said = Monitor<[String]>([])
        func workspace(isOffline: Bool) throws -> Workspace {
            Workspace(
                environment: HubEnvironment(["HF_HOME": folder.path]),
                configuration: .endpoint(try Endpoint("https://hub.example")), isOffline: isOffline,
                opensCatalog: false, notice: { text in said.update { $0.append(text) } })
        }
        // Without the network the token is not used.
        _ = try await workspace(isOffline: true).client()
        #expect(said.update { $0 }.isEmpty)
        let one = try workspace(isOffline: false)
        _ = try await one.client()
        _ = try await one.puller()
        #expect(
            said.update { $0 } == [
                "the token file is open to others (mode 644): chmod 600 '\(folder("token"))'"
            ])
    }

    /// Whatever goes wrong, and however a server turns what it was sent back against us.
    @Test(
        arguments: [
            .status(401, headers: [("X-Error-Message", "Invalid credentials in Authorization header")]),
            .status(403, headers: [("X-Error-Code", "GatedRepo")]), .status(500, "internal"), .json("garbage"),
            .redirect("file:///etc/passwd?\(TestClient.secret)"),
            .redirect("http://x:\(TestClient.secret)@127.0.0.1:1/"),
            .redirect("/again?token=\(TestClient.secret)"), .status(418),
            .json("[]", headers: [("Link", "<ftp://h/?t=\(TestClient.secret)>; rel=\"next\"")]),
            // A gateway that quotes what it was sent.
            .status(403, "no entry for 'Authorization: \(TestClient.secret)'"),
            .status(500, #"{"error":"\#(TestClient.secret) is not known"}"#),
            .status(400, headers: [("X-Error-Message", "\(TestClient.secret)?")]),
            .json("garbage", headers: [("X-HF-Warning", "token; \(TestClient.secret) is old")]),
            .redirect("/again/\(TestClient.secret)"), .redirect("ftp://h/\(TestClient.secret)"),
            .redirect("http://127.0.0.1:1/\(TestClient.secret)"),
            .json("[]", headers: [("Link", "</\(TestClient.secret)>; rel=\"next\"")]),
        ] as [ScriptedServer.Answer])
    func theTokenIsInNoErrorAndInNoLog(answer: ScriptedServer.Answer) async throws {
        let server = try ScriptedServer { _ in answer }
        let test = try TestClient(server.address, token: TestClient.secret, retries: 1)
        var shown = test.said
        for error in [
            await test.error { try await $0.info(.model("org/m")) },
            await test.error { try await $0.tree(.model("org/m"), at: .of("a")) },
            await test.error { try await $0.whoami() }, await test.error { try await $0.search(ModelQuery()) },
        ] {
            guard let error else { continue }
            shown += "\(error) \(String(reflecting: error)) \(error.recoverySuggestion ?? "")"
        }
        var dumped = ""
        dump(test.client, to: &dumped)
        dump(test.client.configuration, to: &dumped)
        shown += test.said + dumped + "\(test.client)" + String(reflecting: test.client)
        #expect(!shown.contains(TestClient.secret))
        #expect(!shown.contains("Bearer"))
    }

    // MARK: Redirects that end badly

    @Test func aRedirectLoopEnds() async throws {
        let folder = try TemporaryFolder()
        try ModelRepository.tiny("org/tiny", in: folder, weights: 10)
        let hub = try LoopbackHub(folder)
        hub.fail("GET", .redirectLoop, times: nil)
        let test = try TestClient(hub.endpoint)
        let error = await test.error { try await $0.info(.model("org/tiny")) }
        #expect(error?.code == .protocolViolation)
        #expect(error?.message.contains("ten redirects") == true)
        #expect(hub.requests.count == 11)
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://127.0.0.1/x", "http://", "https://"])
    func aRedirectToNoPlaceIsRefused(target: String) async throws {
        let server = try ScriptedServer { _ in .redirect(target) }
        let error = await (try TestClient(server.address)).error { try await $0.info(.model("org/m")) }
        #expect(error?.code == .protocolViolation)
        #expect(server.requests.count == 1)
    }
}
