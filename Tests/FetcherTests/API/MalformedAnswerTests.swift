import Catalog
import HubCore
import Support
import Testing

@testable import Fetcher

/// Everything the Hub sends is untrusted: what must not be gets one clear error, never a crash and never a file name.
@Suite struct MalformedAnswerTests {
    private static let sha1 = String(repeating: "a", count: 40)
    private static let sha256 = String(repeating: "b", count: 64)

    private static func entry(
        _ path: String, size: String = "1", oid: String = sha1, more: String = ""
    ) -> String {
        #"{"type":"file","oid":"\#(oid)","size":\#(size),"path":\#(JSON.string(path).text())\#(more)}"#
    }

    private func tree(_ body: String) async throws -> (tree: RepositoryTree?, error: AIError?) {
        let server = try ScriptedServer { _ in .json(body) }
        let test = try TestClient(server.address, token: TestClient.secret)
        do { return (try await test.client.tree(.model("org/m"), at: .of("c")), nil) } catch {
            return (nil, AIError.wrapping(error))
        }
    }

    /// Trap 50: a server's names are checked before they are anybody's path.
    @Test(arguments: [
        "../../etc/passwd", "/etc/passwd", "a/../b", "a//b", "./a", "", "a\\..\\b", "C:x", "a\u{0}b", "a\u{1B}[2Jb",
        "a/", "..", String(repeating: "x", count: 256), String(repeating: "x/", count: 600) + "x",
    ])
    func aPathThatIsNoneOfARepositoryIsRefusedAndShownHarmless(path: String) async throws {
        let error = try #require(try await tree("[\(Self.entry("good.txt")),\(Self.entry(path))]").error)
        #expect(error.code == .protocolViolation)
        #expect(error.message.contains("org/m"))
        #expect(!error.message.unicodeScalars.contains { $0.value < 0x20 })
    }

    private static func pair(_ first: String, _ second: String) -> String { "\(entry(first)),\(entry(second))" }
    private static let most = "9223372036854775807"
    private static let huge = "\(entry("a", size: most)),\(entry("b", size: most))"
    private static let impossible: [(String, String)] = [
        (pair("a", "a"), "names a twice"), (pair("a", "a/b"), "as a file and as a folder"),
        (pair("d/e/f", "d"), "as a file and as a folder"),
        (entry("a", oid: "../../x"), "which is not one"), (entry("a", oid: "aa/bb"), "which is not one"),
        (entry("a", oid: sha256), "which is not one"), (entry("a", oid: sha1.uppercased()), "which is not one"),
        (entry("a", more: #","lfs":{"oid":"../x","size":1}"#), "which is not one"),
        (entry("a", more: #","lfs":{"oid":"\#(sha1)","size":1}"#), "which is not one"),
        (entry("a", more: #","lfs":{"size":1}"#), "which is not one"),
        (entry("a", size: "-1"), "no size"), (entry("a", size: "1.5"), "no size"),
        (entry("a", size: "null"), "no size"), (entry("a", size: "18446744073709551615"), "no size"),
        (huge, "bytes"),
        (#"{"type":"file","path":"a"}"#, "no size"), (#"{"path":"a"}"#, "no type or path"),
        ("7", "no type or path"),
    ]

    /// Trap 50: nor is its digest or its size taken on trust.
    @Test(arguments: impossible)
    func anEntryThatCannotBeIsRefused(entries: String, says: String) async throws {
        let error = try #require(try await tree("[\(entries)]").error)
        #expect(error.code == .protocolViolation)
        #expect(error.message.contains(says), "\(error.message)")
    }

    @Test func whatIsRedactedOrUnknownInATreeIsPassedOver() async throws {
        let body = """
            [\(Self.entry("a", more: #","xetHash":"[redacted]","lfs":null,"lastCommit":{"id":1}"#)),
            {"type":"submodule","path":"vendor","oid":"x"},{"type":"directory","path":"../x"},
            \(Self.entry("b", more: #","lfs":{"oid":"sha256:\#(Self.sha256)","size":9}"#))]
            """
        let tree = try #require(try await tree(body).tree)
        #expect(tree.files.map(\.path) == ["a", "b"])
        #expect(tree.files[0].xetHash == nil)
        #expect(tree.files[1].digest == .sha256(Self.sha256))
        #expect(tree.files[1].size == 9, "the size of an LFS file is that of its content")
    }

    private static let noDescriptions: [(String, String)] = [
        ("{\"id\": [unfinished", "not JSON"), ("", "not JSON"), ("<!DOCTYPE html><p>Sign in", "web page"),
        (String(repeating: "[", count: 5000), "not JSON"), ("[]", "names no repository"),
        ("null", "names no repository"),
        (#"{"id":"org/m"}"#, "no commit"), (#"{"id":"org/m","sha":"main"}"#, "no commit"),
        (#"{"id":"org/m","sha":"../../../../etc"}"#, "no commit"),
        (#"{"id":"../..","sha":"\#(sha1)"}"#, "no repository"),
        ("\u{FF}\u{FE}", "not JSON"),
    ]

    @Test(arguments: noDescriptions)
    func anAnswerThatIsNoDescriptionIsRefused(body: String, says: String) async throws {
        let server = try ScriptedServer { _ in .json(body) }
        let error = try #require(
            await (try TestClient(server.address)).error { try await $0.info(.model("org/m")) })
        #expect(error.code == .protocolViolation)
        #expect(error.message.contains(says), "\(error.message)")
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [Fault.Kind.garbage, .html])
    func aHubBehindACaptivePortalIsToldApart(kind: Fault.Kind) async throws {
        let folder = try TemporaryFolder()
        try ModelRepository.tiny("org/tiny", in: folder, weights: 10)
        let hub = try LoopbackHub(folder)
        hub.fail("GET", kind, times: nil)
        let test = try TestClient(hub.endpoint)
        #expect(await test.error { try await $0.info(.model("org/tiny")) }?.code == .protocolViolation)
        #expect(
            await test.error { try await $0.tree(.model("org/tiny"), at: .of("a")) }?.code == .protocolViolation)
        #expect(await test.error { try await $0.revisions(.model("org/tiny")) }?.code == .protocolViolation)
        #expect(await test.error { try await $0.search(ModelQuery()) }?.code == .protocolViolation)
        #expect(await test.error { try await $0.whoami() }?.code == .protocolViolation)
    }

    @Test(arguments: [
        #"{"branches":[{"name":"../../x","targetCommit":"\#(sha1)"}]}"#, #"{"branches":[{"name":"main"}]}"#,
        #"{"tags":[{"name":"v1","targetCommit":"HEAD"}]}"#, #"{"branches":["main"]}"#,
    ])
    func refsThatCannotBeFilesAreRefused(body: String) async throws {
        let server = try ScriptedServer { _ in .json(body) }
        let error = await (try TestClient(server.address)).error { try await $0.revisions(.model("org/m")) }
        #expect(error?.code == .protocolViolation)
    }

    // MARK: Pages

    @Test func aFileListThatRunsInACircleIsRefused() async throws {
        let server = try ScriptedServer { asked in
            .json(
                "[\(Self.entry("f\(asked.index)"))]",
                headers: [("Link", "</api/models/org/m/tree/x?page=\(asked.index % 3)>; rel=\"next\"")])
        }
        let error = await (try TestClient(server.address)).error {
            try await $0.tree(.model("org/m"), at: .of("a"))
        }
        #expect(error?.code == .protocolViolation)
        #expect(error?.message.contains("circle") == true)
        #expect(server.requests.count < 6)
    }

    @Test(arguments: [#"[{"id":"org/m"}]"#, #"[{"id":"../odd"}]"#])
    func aSearchThatRunsInACircleIsRefused(page: String) async throws {
        let server = try ScriptedServer { _ in
            .json(page, headers: [("Link", "</api/models?cursor=1>; rel=\"next\"")])
        }
        var query = ModelQuery()
        query.limit = Int.max
        let error = await (try TestClient(server.address)).error { [query] in try await $0.search(query) }
        #expect(error?.code == .protocolViolation)
        #expect(server.requests.count < 6)
    }

    @Test func aFileListWithoutAnEndEnds() async throws {
        let server = try ScriptedServer { asked in
            .json("[]", headers: [("Link", "</api/models/org/m/tree/x?page=\(asked.index)>; rel=\"next\"")])
        }
        let error = await (try TestClient(server.address)).error {
            try await $0.tree(.model("org/m"), at: .of("a"))
        }
        #expect(error?.message == "the file list of org/m continues without an entry")
        #expect(server.requests.count == ListBounds.emptyPages)
    }

    @Test func aListOfManyPagesOrEntriesIsRefused() throws {
        for (size, most) in [(1, 105), (50, 4000)] {
            var pages = ListBounds("the list")
            for page in 0..<most {
                try pages.begin("\(page)")
                try pages.add(size)
            }
            #expect(throws: AIError.self) { try pages.begin("one more") }
        }
        var entries = ListBounds("the list")
        try entries.add(ListBounds.entries)
        #expect(throws: AIError.self) { try entries.add(1) }
    }

    /// Values may need fifty times the memory of their text, and that came packed.
    @Test func whatAnAnswerMayBecomeIsBounded() async throws {
        let zeros = "[" + String(repeating: "0,", count: 600_000) + "0]"
        let objects = "[" + String(repeating: "{},", count: 120_000) + "{}]"
        let spaces = String(repeating: " ", count: 17 << 20)
        func error(_ body: String, _ ask: (HubClient) async throws -> Void) async throws -> String {
            let server = try ScriptedServer { _ in .json(body) }
            let error = try #require(await (try TestClient(server.address)).error { try await ask($0) })
            #expect(error.code == .protocolViolation && server.requests.count == 1)
            return error.message
        }
        #expect(try await error(zeros) { _ = try await $0.info(.model("org/m")) }.hasSuffix("too many values"))
        #expect(
            try await error(spaces) { _ = try await $0.info(.model("org/m")) }.hasSuffix("sends more than 16.8 MB"))
        #expect(
            try await error(objects) { _ = try await $0.search(ModelQuery()) }.hasSuffix("more than 100000 entries")
        )
        #expect(
            try await error(spaces) { _ = try await $0.tree(.model("org/m"), at: .of("a")) }.hasSuffix("is empty"))
        #expect(
            try await error("[\"" + spaces + "\"]") { _ = try await $0.tree(.model("org/m"), at: .of("a")) }
                .hasSuffix("an entry of more than 2 MB"))
    }

    /// Of a page that broke off in the middle nothing is kept.
    @Test func aPageThatIsAskedForAgainCountsOnce() async throws {
        let folder = try TemporaryFolder()
        let repository = try ModelRepository("org/m", in: folder)
        for index in 0..<20 { try repository.write("f\(index)", "x") }
        let hub = try LoopbackHub(folder)
        hub.fail("/tree/", .drop(after: 700), times: 2)
        let client = try TestClient(hub.endpoint)
        let commit = try await client.client.info(.model("org/m")).commit
        let tree = try await client.client.tree(.model("org/m"), at: commit)
        #expect(tree.files.count { $0.path.hasPrefix("f") } == 20 && hub.requests("/tree/").count == 3)
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://127.0.0.1/x"])
    func aNextPageThatIsNoHTTPAddressIsRefused(link: String) async throws {
        let server = try ScriptedServer { _ in .json("[]", headers: [("Link", "<\(link)>; rel=\"next\"")]) }
        let error = await (try TestClient(server.address)).error {
            try await $0.tree(.model("org/m"), at: .of("a"))
        }
        #expect(error?.code == .protocolViolation)
    }

    @Test func anAnswerOfMoreBytesThanAllowedIsRefused() async throws {
        let server = try ScriptedServer { _ in .json(String(repeating: " ", count: 200_000)) }
        let test = try TestClient(server.address)
        let request = HTTPRequest(.get, server.address + "/x")
        #expect(try await test.client.http.response(to: request, limit: 200_000).body.count == 200_000)
        do {
            _ = try await test.client.http.response(to: request, limit: 199_999)
            Issue.record("the answer was taken")
        } catch {
            #expect(AIError.wrapping(error).code == .protocolViolation)
            #expect(AIError.wrapping(error).message.contains("more than"))
        }
    }

    /// Unpacked bytes count, or a small answer could fill the memory.
    @Test func aPackedAnswerIsMeasuredUnpacked() async throws {
        let folder = try TemporaryFolder()
        let repository = try ModelRepository("org/m", in: folder)
        try repository.write("README.md", String(repeating: "a", count: 100_000))
        let hub = try LoopbackHub(folder)
        hub.fail("GET /api/resolve-cache", .gzip, times: nil)
        let test = try TestClient(hub.endpoint)
        let address = test.client.fileAddress(.model("org/m"), revision: "main", path: "README.md")
        let request = HTTPRequest(.get, address, acceptsCompression: true)
        #expect(try await test.client.http.response(to: request).body.count == 100_000)
        await #expect(throws: AIError.self) { try await test.client.http.response(to: request, limit: 50_000) }
    }
}
