import HubCore
import HubServer
import Support
import Testing

/// Who may ask: the Host check against DNS rebinding, and the token where others can reach the server.
@Suite struct AccessTests {
    private func status(_ access: HubAccess, host: String, token: String? = nil) throws -> Int {
        let folder = try TemporaryFolder()
        try ModelRepository.tiny("org/tiny", in: folder, weights: 100)
        let hub = try ServedFolderHub(folder, access: access)
        var headers: HTTPHeaders = ["Host": host]
        if let token { headers["Authorization"] = token }
        return try hub.get("/api/models/org/tiny", headers: headers).status
    }

    @Test(arguments: [
        "localhost", "localhost:8080", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:8080", "127.1.2.3:80", "[::1]",
        "[::1]:8080",
    ])
    func loopbackServesItsOwnNames(_ host: String) throws {
        #expect(try status(HubAccess(.loopback), host: host) == 200)
    }

    @Test(arguments: [
        "evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "127.evil.example",
        "192.168.0.1", "[fe80::1]", "0.0.0.0", "xlocalhost",
    ])
    func loopbackRefusesOtherNames(_ host: String) throws {
        #expect(try status(HubAccess(.loopback), host: host) == 421)
    }

    @Test(arguments: ["", ":80", "[::1", "localhost:x", "[::1]x", "[127.0.0.1]"])
    func badHosts(_ host: String) throws {
        #expect(try status(HubAccess(.loopback), host: host) == 400)
    }

    @Test func twoHostsOrNone() throws {
        let hub = try ServedFolderHub(try TemporaryFolder())
        var two: HTTPHeaders = ["Host": "localhost"]
        two.add("Host", "localhost")
        for headers in [two, [:]] {
            #expect(hub.service.respond(to: HTTPRequest("GET", "/api/models", headers: headers)).status == 400)
        }
    }

    @Test func offLoopbackNeedsTheToken() throws {
        let access = try HubAccess.serving(on: "0.0.0.0", token: "hf_good", names: ["Box.lan"])
        #expect(access.policy == .token)
        #expect(try status(access, host: "192.168.0.5:80") == 401)
        #expect(try status(access, host: "192.168.0.5:80", token: "Bearer hf_bad") == 401)
        #expect(try status(access, host: "192.168.0.5:80", token: "Bearer hf_goo") == 401)
        #expect(try status(access, host: "192.168.0.5:80", token: "hf_good") == 401)
        #expect(try status(access, host: "192.168.0.5:80", token: "Bearer hf_good") == 200)
        #expect(try status(access, host: "box.lan:80", token: "bearer hf_good") == 200)
        #expect(try status(access, host: "[fe80::1]", token: "Bearer hf_good") == 200)
        // The right token through a stranger's name: a page that was rebound, with the token it was given elsewhere.
        #expect(try status(access, host: "evil.example", token: "Bearer hf_good") == 421)
    }

    @Test func offLoopbackWithoutATokenIsRefused() {
        for host in ["0.0.0.0", "::", "192.168.0.5", "box.lan"] {
            for token in [nil, ""] {
                #expect(throws: AIError.self) { try HubAccess.serving(on: host, token: token) }
            }
        }
    }

    @Test func loopbackNeedsNone() throws {
        for host in ["127.0.0.1", "localhost", "::1"] {
            #expect(try HubAccess.serving(on: host, token: nil).policy == .loopback)
        }
    }

    /// Without a token no client can authenticate.
    @Test func noTokenOpensNothing() throws {
        let folder = try TemporaryFolder()
        let repository = try ModelRepository("org/private", in: folder)
        try repository.write("a.txt", "a")
        try repository.card(["private": true])
        let hub = try ServedFolderHub(folder, access: HubAccess(.loopback))
        for token in ["Bearer ", "Bearer x", "Bearer nil"] {
            #expect(try hub.get("/org/private/resolve/main/a.txt", headers: ["Authorization": token]).status == 404)
        }
    }
}
