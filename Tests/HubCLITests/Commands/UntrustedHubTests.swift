import HubCore
import HubServer
import Support
import Testing

/// A malicious or broken Hub: one clear error, exit 5, nothing written where it should not be.
@Suite struct UntrustedHubTests {
    let stage: Stage

    init() throws { stage = try Stage { try ModelRepository.tiny("org/tiny", in: $0) } }

    /// What other tools would find: folders of the cache that they know, and in them no file outside its place.
    private func expectNoDebris() throws {
        let names = try stage.listing(stage.cache)
        for name in try FileSystem.entries(stage.cache) ?? [] {
            #expect([".locks", "CACHEDIR.TAG", "models--org--tiny"].contains(name))
        }
        #expect(!names.contains { name in name.contains("passwd") || name.contains("escape") })
        // A snapshot's links lead somewhere.
        for name in names where name.contains("/snapshots/") {
            #expect(FileSystem.exists(Path.join(stage.cache, name)), "\(name)")
        }
        #expect(
            try FileSystem.entries(stage.machine.path)?.sorted().filter { !["hf", "home", "state"].contains($0) }
                == [])
        #expect(try stage.listing(stage.machine("home")).isEmpty)
    }

    @Test func garbageIsSaidToBeGarbage() async throws {
        stage.hub.fail("/api/models", .garbage, times: nil)
        for words in [["info", "org/tiny"], ["pull", "org/tiny"], ["search", "tiny"]] {
            let result = try await RunningProcess.run(BuiltProduct.path(), words, environment: stage.environment)
            #expect(result.status == 5, "\(words)")
            #expect(result.error.contains("JSON") && !result.error.contains("unfinished"))
        }
        #expect(try await stage.run("pull", "org/tiny", "--json").errorCode() == "protocol_violation")
        #expect(!FileSystem.exists(stage.cache))
    }

    @Test func aPageOfAnotherNetworkIsNoHub() async throws {
        stage.hub.fail("/api/models", .html, times: nil)
        let result = try await stage.run("pull", "org/tiny")
        #expect(result.status == 5 && result.error.hasSuffix("     is HF_ENDPOINT the address of a Hub?\n"))
    }

    static let digest = String(repeating: "a", count: 40)

    /// Trap 50: a server's names are checked before they are anybody's path.
    @Test(arguments: [
        "../../etc/passwd", "/etc/passwd", "a/../../../escape", "..\\\\..\\\\escape", "a//escape", "./escape", "",
        "escape\\u0000", "esc\\u001b[2Jape",
    ])
    func aTreeThatLeavesTheSnapshotIsRefused(path: String) async throws {
        let tree = "[{\"type\":\"file\",\"oid\":\"\(Self.digest)\",\"size\":3,\"path\":\"\(path)\"}]"
        stage.hub.fail(
            "/tree/", .status(200, headers: ["Content-Type": "application/json"], body: tree), times: nil)
        for words in [["pull", "org/tiny"], ["pull", "org/tiny", "--estimate"], ["info", "org/tiny", "--files"]] {
            let result = try await RunningProcess.run(BuiltProduct.path(), words, environment: stage.environment)
            #expect(result.status == 5 && result.output.isEmpty, "\(words)")
            #expect(result.error.hasPrefix("hub: the server names the file "))
            #expect(!result.error.contains("\u{1B}"))
        }
        #expect(!FileSystem.exists(stage.cache))
        try expectNoDebris()
    }

    /// A file uploaded from Windows with its folder in its name: the others can be had.
    @Test func aNameWithABackslashIsLeftOutAndSaid() async throws {
        let repository = try ModelRepository("org/tiny", in: stage.root)
        let text = try repository.write("config.json", "{}")
        let oid = ContentHasher.digest(of: text, like: .gitSHA1("")).hex
        func file(_ path: String) -> String {
            "{\"type\":\"file\",\"oid\":\"\(oid)\",\"size\":\(text.count),\"path\":\"\(path)\"}"
        }
        let tree = "[" + ["config.json", "a\\\\b.txt", "a\\\\c.txt"].map(file).joined(separator: ",") + "]"
        stage.hub.fail(
            "/tree/", .status(200, headers: ["Content-Type": "application/json"], body: tree), times: nil)
        let result = try await stage.run("pull", "org/tiny")
        #expect(result.status == 0, "\(result.error)")
        let said = "org/tiny: left out a\\b.txt and 1 more: a name with a backslash cannot be stored"
        #expect(result.error.contains(said), "\(result.error)")
        let snapshot = try await stage.path("org/tiny")
        #expect(try FileSystem.entries(snapshot) == ["config.json"])
        #expect(try await stage.run("verify", "org/tiny").status == 0)
    }

    /// Trap 50: nor is a digest that would name a blob taken on trust.
    @Test(arguments: ["../../../../escape", "aa/aa", "", "zz", "..", String(repeating: "g", count: 40)])
    func aDigestThatIsNoneIsRefused(digest: String) async throws {
        for entry in [
            "{\"type\":\"file\",\"oid\":\"\(digest)\",\"size\":3,\"path\":\"a.txt\"}",
            """
            {"type":"file","oid":"\(Self.digest)","size":3,"path":"a.txt","lfs":{"oid":"\(digest)","size":3,"pointerSize":1}}
            """,
        ] {
            stage.hub.clearFaults()
            stage.hub.fail(
                "/tree/", .status(200, headers: ["Content-Type": "application/json"], body: "[\(entry)]"),
                times: nil)
            let result = try await stage.run("pull", "org/tiny")
            #expect(result.status == 5 && result.output.isEmpty)
            #expect(result.error.hasPrefix("hub: ") && result.error.contains("a.txt"))
        }
        #expect(!FileSystem.exists(stage.cache))
        try expectNoDebris()
    }

    @Test func aNegativeSizeIsRefused() async throws {
        let tree = "[{\"type\":\"file\",\"oid\":\"\(Self.digest)\",\"size\":-3,\"path\":\"a.txt\"}]"
        stage.hub.fail(
            "/tree/", .status(200, headers: ["Content-Type": "application/json"], body: tree), times: nil)
        #expect(try await stage.run("pull", "org/tiny").status == 5)
        #expect(!FileSystem.exists(stage.cache))
    }

    @Test func aCommitThatIsNoneIsRefused() async throws {
        stage.hub.fail(
            "/api/models/org/tiny",
            .status(
                200, headers: ["Content-Type": "application/json"],
                body: "{\"id\":\"org/tiny\",\"sha\":\"../../escape\"}"),
            times: nil)
        let result = try await stage.run("pull", "org/tiny")
        #expect(result.status == 5 && result.output.isEmpty)
        try expectNoDebris()
    }

    @Test func contentThatIsNotWhatTheTreeSaysIsExit7AndNeverKept() async throws {
        stage.hub.fail("GET /.*model.safetensors", .corrupt(at: 5), times: nil, on: .cdn)
        let result = try await stage.run("pull", "org/tiny", "--json")
        #expect(result.status == 7)
        #expect(try result.errorCode() == "digest_mismatch")
        let files = try result.document().objects("models").first?.objects("files") ?? []
        let failed = files.filter { $0["status"]?.string == "failed" }
        #expect(failed.map { $0["path"]?.string } == ["model.safetensors"])
        #expect(failed.first?["error"]?.object?["code"]?.string == "digest_mismatch")
        #expect(files.filter { $0["status"]?.string == "downloaded" }.count == 3)
        try expectNoDebris()
        stage.hub.clearFaults()
        #expect(try await stage.run("pull", "org/tiny", "-q").status == 0)
    }

    /// Trap 50: names, tags and messages of a server go to a terminal; its control characters do not.
    @Test func controlCharactersNeverReachATerminal() async throws {
        let evil = "\\u001b]0;owned\\u0007\\u001b[31mred\\u202e\\u009b2J"
        let fields =
            "\"sha\":\"\(Self.digest)\",\"tags\":[\"\(evil)\"],\"pipeline_tag\":\"\(evil)\",\"library_name\":\"\(evil)\""
        stage.hub.fail(
            "/api/models$",
            .status(200, headers: ["Content-Type": "application/json"], body: "[{\"id\":\"org/tiny\",\(fields)}]"),
            times: nil)
        stage.hub.fail(
            "/revision/|/api/models/org/tiny$",
            .status(200, headers: ["Content-Type": "application/json"], body: "{\"id\":\"org/tiny\",\(fields)}"),
            times: nil)
        stage.hub.fail(
            "/tree/", .status(200, headers: ["Content-Type": "application/json"], body: "[]"), times: nil)
        stage.hub.fail(
            "/api/models/org/none",
            .status(
                500, headers: ["X-Error-Message": "bad \u{9B}2J", "Content-Type": "application/json"],
                body: "{\"error\":\"\(evil)\"}"), times: nil)
        for words in [
            ["search"], ["info", "org/tiny"], ["info", "org/tiny\u{1B}[2J"], ["pull", "org/tiny@\u{1B}[2J"],
        ] {
            let result = try await RunningProcess.run(
                BuiltProduct.path(), words + ["--color", "never"], environment: stage.environment,
                terminal: .init(columns: 200, rows: 24))
            #expect(!result.terminal.isEmpty)
            for scalar in result.terminal.unicodeScalars {
                let isPlain =
                    scalar == "\n" || scalar == "\r"
                    || (scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value))
                #expect(isPlain && scalar != "\u{202E}", "\(words): \(scalar.value)")
            }
        }
        let info = try await stage.run("info", "org/tiny")
        #expect(info.output.contains("␛[31mred"))
        // A program gets what the server said, escaped as JSON escapes it.
        let json = try await stage.run("info", "org/tiny", "--json")
        #expect(!json.output.contains("\u{1B}"))
        #expect(try json.document().strings("tags").first?.hasPrefix("\u{1B}]0;owned\u{7}") == true)
    }
}
