import HubCore
import HubServer
import Support
import Testing

/// The real program with a real token, checked for leaks: the token is sent only to the Hub.
@Suite struct CredentialLeakTests {
    /// Nothing else looks like it. Longer than the names of files that libraries cut short.
    static let secret = "hf_Leak-9vT2qXbZ7mKd4RwYc1JgNs8H"
    let stage: Stage

    init() throws {
        var options = LoopbackHub.Options()
        options.token = Self.secret
        stage = try Stage(options: options) { root in
            try ModelRepository.tiny("org/tiny", in: root)
            let hidden = try ModelRepository.tiny("org/hidden", in: root)
            try hidden.card(["private": true])
        }
    }

    private static let work: [[String]] = [
        ["auth", "whoami"], ["search", "hidden"], ["info", "org/hidden", "--refresh"],
        ["info", "org/hidden", "--files"],
        ["pull", "org/hidden", "--estimate"], ["pull", "org/hidden", "--progress", "json"],
        ["pull", "org/hidden", "--force"], ["pull", "org/none"], ["ls"], ["gc", "--orphans"],
        ["try", "org/hidden"], ["sync", "--limit", "1"], ["sync", "--all"],
    ]
    private static let forms: [[String]] = [["--verbose"], ["--verbose", "--json"]]

    private func hub(_ words: [String], _ variables: [String: String] = [:], input: String = "") async throws
        -> ProcessResult
    {
        let result = try await RunningProcess.run(
            BuiltProduct.path(), words, environment: stage.environment.merging(variables) { $1 },
            directory: stage.machine.path, input: Array(input.utf8))
        for (name, bytes) in [("stdout", result.outputBytes), ("stderr", result.errorBytes)] {
            #expect(!Self.holds(bytes), "\(words): \(name)")
        }
        return result
    }

    /// The token, or a distinctive part of it.
    private static func holds(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        return text.contains(secret) || text.contains(secret.dropFirst(3).prefix(12))
            || text.contains(secret.suffix(12))
    }

    /// Every file of the machine that contains it: the cache, the catalog with its journals, all that lies in the home.
    private func places() throws -> [String] {
        try stage.listing(stage.machine.path).filter { name in
            let path = stage.machine(name)
            if Self.holds(Array(name.utf8)) { return true }
            if let text = FileSystem.linkText(path) { return Self.holds(Array(text.utf8)) }
            guard try FileSystem.linkStatus(path)?.kind == .file else { return false }
            return Self.holds(try FileSystem.contents(path) ?? [])
        }
    }

    private func expectTheTokenWentToTheHubAlone() throws {
        #expect(stage.hub.requests(".", on: .hub).contains { $0.hasAuthorization }, "it was used at all")
        #expect(stage.hub.requests(".", on: .cdn).contains { !$0.hasAuthorization })
        #expect(stage.hub.requests(".", on: .cdn).allSatisfy { !$0.hasAuthorization })
        #expect(stage.hub.requests.allSatisfy { !Self.holds(Array("\($0.path)?\($0.query)\($0.headers)".utf8)) })
    }

    @Test func aTokenOfTheEnvironmentIsLeftNowhere() async throws {
        for words in Self.work {
            for form in Self.forms { _ = try await hub(words + form, ["HF_TOKEN": Self.secret]) }
        }
        #expect(try await hub(["path", "org/hidden"]).status == 0, "what the token opens was fetched")
        #expect(FileSystem.exists(stage.catalog))
        #expect(try places() == [])
        try expectTheTokenWentToTheHubAlone()
    }

    @Test func aTokenThatIsKeptIsInItsFileAlone() async throws {
        for form in Self.forms {
            let login = try await hub(["auth", "login"] + form, input: Self.secret + "\n")
            #expect(login.status == 0)
        }
        for words in Self.work { for form in Self.forms { _ = try await hub(words + form) } }
        #expect(try await hub(["path", "org/hidden"]).status == 0)
        #expect(FileSystem.exists(stage.catalog))
        #expect(try places() == ["hf/stored_tokens", "hf/token"])
        try expectTheTokenWentToTheHubAlone()
        for form in Self.forms { _ = try await hub(["auth", "logout"] + form) }
        #expect(try places() == [])
    }

    /// Servers, gateways and proxies quote what they were sent.
    @Test(arguments: [401, 403, 404, 302, 418]) func whatAServerQuotesIsLeftNowhere(status: Int)
        async throws
    {
        let quoted = "Authorization: Bearer \(Self.secret)"
        stage.hub.fail(
            "^GET /(api|org)/",
            .status(
                status,
                headers: [
                    "X-Error-Message": quoted, "X-HF-Warning": "token; \(quoted)",
                    "Location": "/api/\(Self.secret)",
                ], body: #"{"error":"\#(quoted)"}"#), times: nil)
        for words in [["auth", "whoami"], ["search", "x"], ["info", "org/hidden"], ["pull", "org/hidden"]] {
            for form in Self.forms {
                let result = try await hub(words + form, ["HF_TOKEN": Self.secret])
                #expect(result.status >= 3)
            }
        }
        let login = try await hub(["auth", "login", "--verbose"], input: Self.secret)
        #expect(login.status >= 3)
        #expect(try places() == [])
    }

    /// In the heads and names that a transfer goes by, escaped or not.
    @Test(arguments: [
        ["X-Repo-Commit": secret], ["X-Linked-Size": secret], ["Content-Encoding": secret],
        ["ETag": "\"\(secret)\""],
        ["Content-Range": "bytes \(secret)"], [secret: "1"],
    ])
    func whatAHeadQuotesIsLeftNowhere(headers: [String: String]) async throws {
        var quoting = HTTPHeaders()
        for (name, value) in headers { quoting.add(name, value) }
        stage.hub.fail("/resolve", .status(206, headers: quoting, body: "x"), times: nil)
        _ = try await hub(["pull", "org/hidden", "-v"], ["HF_TOKEN": Self.secret])
        for target in ["ftp://x/\(Self.secret)", "\(Self.secret)://x", "http://127.0.0.1:1/\(Self.secret)"] {
            stage.hub.clearFaults()
            stage.hub.fail("^GET /(api|org)/", .redirect(to: target), times: nil)
            _ = try await hub(["info", "org/hidden", "-v"], ["HF_TOKEN": Self.secret])
        }
        #expect(try places() == [])
    }

    @Test(arguments: [secret, secret.replacing("_", with: "\\u005f")])
    func whatAnAnswerQuotesIsLeftNowhere(quoted: String) async throws {
        func json(_ body: String) -> Fault.Kind {
            .status(200, headers: ["Content-Type": "application/json"], body: body)
        }
        let digest = String(repeating: "a", count: 40)
        let members = ["id", "sha", "author", "pipeline_tag", "library_name", "lastModified", "gated"]
        let infos =
            members.map { #""\#($0)":"o/\#(quoted)""# }
            + [#""tags":["\#(quoted)"]"#, #""cardData":{"license":"\#(quoted)"}"#]
        for member in infos {
            stage.hub.clearFaults()
            stage.hub.fail(
                "/api/models/", json("{\"id\":\"org/hidden\",\"sha\":\"\(digest)\",\(member)}"), times: nil)
            for form in Self.forms { _ = try await hub(["info", "org/hidden"] + form, ["HF_TOKEN": Self.secret]) }
            stage.hub.clearFaults()
            stage.hub.fail("/api/models$", json("[{\"id\":\"org/hidden\",\(member)}]"), times: nil)
            _ = try await hub(["search", "--json"], ["HF_TOKEN": Self.secret])
        }
        for entry in [
            #""oid":"\#(digest)","size":1,"path":"a/\#(quoted)""#,
            #""oid":"\#(digest)","size":1,"path":"../\#(quoted)""#,
            #""oid":"\#(quoted)","size":1,"path":"a""#, #""oid":"\#(digest)","size":"\#(quoted)","path":"a""#,
            #""oid":"\#(digest)","size":1,"path":"a","lfs":{"oid":"\#(quoted)","size":5}"#,
        ] {
            stage.hub.clearFaults()
            stage.hub.fail("/tree/", json("[{\"type\":\"file\",\(entry)}]"), times: nil)
            for form in Self.forms { _ = try await hub(["pull", "org/hidden"] + form, ["HF_TOKEN": Self.secret]) }
        }
        #expect(try places() == [])
    }

    /// The same where only the files are quoted from: the way of a transfer is another than that of the metadata.
    @Test(arguments: [403, 418]) func whatAServerQuotesOfATransferIsLeftNowhere(status: Int) async throws {
        let quoted = "Authorization: Bearer \(Self.secret)"
        stage.hub.fail(
            "/resolve",
            .status(status, headers: ["X-Error-Message": quoted], body: #"{"error":"\#(quoted)"}"#), times: nil)
        for form in Self.forms {
            let result = try await hub(["pull", "org/hidden"] + form, ["HF_TOKEN": Self.secret])
            #expect(result.status >= 3 && stage.hub.requests("resolve").contains { $0.hasAuthorization })
        }
        #expect(try places() == [])
    }
}
