import HubCore
import HubServer
import Support
import Testing

@testable import Fetcher

/// What a transfer falls over who takes the Hub's answers at their word: redirects, lengths, encodings, limits.
@Suite struct TransferTrapTests {
    private let bench: PullBench
    private let weights: [UInt8]
    private let text: [UInt8]
    private static let other = String(repeating: "9", count: 40)

    init() throws {
        var options = LoopbackHub.Options()
        options.xetHash = { $0.path == "w.safetensors" ? String(repeating: "c", count: 64) : nil }
        bench = try PullBench(options: options)
        let repository = try ModelRepository("org/m", in: bench.served)
        text = try repository.write("notes.txt", "some words\n")
        weights = try repository.noise("w.safetensors", size: 300_000, seed: 11)
    }

    private func pull(record: PullBench.Record = .init()) async throws -> Puller.Result {
        let puller = try bench.puller(record: record).quick()
        let plan = try await puller.plan(ModelReference(parsing: "org/m"), .init())
        return try await puller.pull(plan, .init()) { record.hear($0) }
    }

    private func expectWhole(_ result: Puller.Result) throws {
        #expect(result.error == nil, "\(result.error?.message ?? "")")
        try expectContent(bench.place("notes.txt", result), text)
        try expectContent(bench.place("w.safetensors", result), weights)
        #expect(try PullBench.leftovers(result.plan.folder).isEmpty)
    }

    private func commit() async throws -> String {
        try await bench.puller().commit(of: ModelReference(parsing: "org/m")).hash
    }

    private func failure(_ path: String, _ result: Puller.Result) throws -> AIError {
        try #require(result.files.first { $0.path == path }?.error)
    }

    // MARK: Redirects

    /// Trap 12: the redirect's own ETag and Content-Length are those of the note in its body. They look like a blob's
    /// name here, as they may.
    @Test func aRedirectsOwnEtagAndLengthAreNotTheFiles() async throws {
        let commit = try await commit()
        bench.hub.fail(
            "/resolve/.*notes",
            .status(
                307,
                headers: [
                    "Location": "/api/resolve-cache/models/org/m/\(commit)/notes.txt", "X-Repo-Commit": commit,
                    "ETag": "\"\(Self.other)\"",
                ], body: "a note of another length"))
        let record = PullBench.Record()
        try expectWhole(try await pull(record: record))
        #expect(record.retries.isEmpty)
    }

    /// Traps 12 and 16: what the first hop says of the file is all that is said of it, for the CDN knows neither
    /// repository nor commit. Where it contradicts the tree, nothing is fetched.
    @Test(arguments: [
        ("X-Linked-Etag", "\"\(String(repeating: "9", count: 64))\"", "has the digest 9999"),
        ("X-Linked-Size", "299999", "has 299999 bytes, not the 300000"),
        ("X-Linked-Size", "many", "has many bytes"),
        ("X-Repo-Commit", other, "comes from commit 9999"),
    ])
    func aFirstHopThatSpeaksOfAnotherFileIsNotFollowed(name: String, value: String, says: String) async throws {
        var headers = HTTPHeaders()
        headers.add("Location", "\(bench.hub.cdnAddress)/elsewhere")
        headers.add(name, value)
        bench.hub.fail("/resolve/.*safetensors", .status(302, headers: headers), times: nil)
        let error = try failure("w.safetensors", try await pull())
        #expect(error.code == .protocolViolation)
        #expect(error.message.contains(says), "\(error.message)")
        #expect(bench.hub.requests("/elsewhere").isEmpty)
    }

    /// Trap 17: `Location: /api/resolve-cache/...` is the Hub's own, and so is the token that opens a private repository.
    @Test func aPrivateRepositoryIsFetchedAlongItsOwnRedirects() async throws {
        let hidden = try ModelRepository("org/hidden", in: bench.served)
        try hidden.write("notes.txt", text)
        try hidden.write("w.safetensors", weights)
        try hidden.card(["private": true])
        let result = try await bench.pull("org/hidden", token: PullBench.token)
        try expectWhole(result)
        await #expect(throws: AIError.self) { try await bench.pull("org/hidden") }
    }

    /// Trap 19: Xet is another way to the same bytes. The ordinary one is complete, and asks for no Xet token, least of
    /// all at the address that a mirror passes on.
    @Test func aXetFileComesTheOrdinaryWay() async throws {
        let result = try await pull()
        try expectWhole(result)
        #expect(result.plan.files[1].file.xetHash == String(repeating: "c", count: 64))
        #expect(bench.hub.requests("/resolve/.*safetensors").first?.responseHeaders["X-Xet-Hash"] != nil)
        #expect(bench.hub.requests("xet").isEmpty)
    }

    /// Trap 32: the Hub leads from an old name, or another spelling, to its own. The cache keeps the name asked by.
    @Test func aRenamedRepositoryIsFetchedUnderTheNameItWasAskedBy() async throws {
        let commit = try await commit()
        bench.hub.fail("^GET /api/models/org/old$", .redirect(to: "/api/models/org/m"))
        bench.hub.fail(
            "^GET /api/models/org/old/tree/",
            .redirect(to: "/api/models/org/m/tree/\(commit)?recursive=true&expand=false"))
        for name in ["notes.txt", "w.safetensors"] {
            bench.hub.fail("^GET /org/old/resolve/.*\(name)", .redirect(to: "/org/m/resolve/\(commit)/\(name)"))
        }
        let result = try await bench.pull("org/old", token: PullBench.token)
        try expectWhole(result)
        #expect(result.plan.folder.name == "models--org--old")
        for request in bench.hub.requests("org/old", on: .hub) {
            #expect(request.hasAuthorization, "\(request.line)")
        }
    }

    /// Trap 21, its other half: an address may lead to a place that cannot be reached (any more). The Hub has several, and
    /// names another one when it is asked again.
    @Test func anAddressThatCannotBeReachedIsAskedForAgain() async throws {
        bench.hub.fail("/resolve/.*safetensors", .redirect(to: "\(ClosedPort.address)/x"))
        let result = try await pull()
        try expectWhole(result)
    }

    // MARK: Ranges and lengths

    /// Trap 15: a packed answer could not be put in its place, nor measured.
    @Test func filesAreAskedForAsTheyAreAndTheAPIMayPack() async throws {
        try expectWhole(try await pull())
        for request in bench.hub.requests {
            let encoding = request.headers["Accept-Encoding"] ?? ""
            if request.path.contains("/resolve") || request.listener == .cdn {
                #expect(encoding == "identity", "\(request.line)")
            } else {
                #expect(encoding.contains("gzip"), "\(request.line)")
            }
        }
    }

    /// Trap 20: a range is that one, and of that file; or else the file comes without one.
    @Test(arguments: [
        "bytes 0-299999/300001", "bytes 1-300000/300000", "bytes */300000", "0-299999", "",
    ])
    func aRangeThatCannotBeUsedIsNotTaken(contentRange: String) async throws {
        var headers = HTTPHeaders()
        if !contentRange.isEmpty { headers.add("Content-Range", contentRange) }
        let body = String(repeating: "x", count: 300_000)
        bench.hub.fail("^GET", .status(206, headers: headers, body: body), on: .cdn)
        let record = PullBench.Record()
        try expectWhole(try await pull(record: record))
        #expect(record.retries.count == 1)
        #expect(record.retries.first?.contains("the server ignores ranges") == true)
    }

    /// Trap 20: an unsatisfiable range gets 416. Ours are never past the end, so the server is wrong.
    @Test func aRefusedRangeIsTriedAgainAndThenAnError() async throws {
        let refusal = Fault.Kind.status(416, headers: ["Content-Range": "bytes */300000"])
        bench.hub.fail("^GET", refusal, on: .cdn)
        try expectWhole(try await pull())
        try FileSystem.removeTree(bench.layout.root)
        bench.hub.fail("^GET", refusal, times: nil, on: .cdn)
        let error = try failure("w.safetensors", try await pull())
        #expect(error.code == .protocolViolation)
        #expect(error.message.contains("416"))
    }

    /// Trap 20: if only the verification is missing, there is no range left to request.
    @Test func aPartialThatIsWholeIsProvenWithoutAQuestion() async throws {
        let plan = try await bench.puller().plan(ModelReference(parsing: "org/m"), .init())
        let digest = plan.files[1].file.digest
        try FileSystem.createDirectories(plan.folder.blobs)
        let partial = plan.folder.partial(digest.hex)
        try FileSystem.replace(partial, with: weights)
        let inode = try #require(try FileSystem.linkStatus(partial)).inode
        try RangeMap(digest: digest, size: 300_000, inode: inode, nonce: "1", safe: IntervalSet([0..<300_000]))
            .write(plan.folder.partialMap(digest.hex))
        try expectWhole(try await pull())
        #expect(bench.hub.requests("safetensors").isEmpty)
    }

    /// Trap 22: of nothing there is nothing to ask for, whichever digest names it.
    @Test func emptyFilesAreMadeWithoutAQuestion() async throws {
        let repository = try ModelRepository("org/empty", in: bench.served)
        try repository.write("a.txt", [])
        try repository.write("sub/b.safetensors", [])
        let result = try await bench.pull("org/empty")
        #expect(result.error == nil)
        #expect(bench.hub.requests("/resolve").isEmpty)
        #expect(result.plan.files.map(\.file.isLFS) == [false, true])
        for (path, digest) in [("a.txt", PullBench.git([])), ("sub/b.safetensors", PullBench.sha256([]))] {
            #expect(Path.name(FileSystem.linkText(bench.place(path, result)) ?? "") == digest)
            try expectContent(bench.place(path, result), [])
        }
    }

    // MARK: Limits

    /// Trap 24: the headers are on every answer. A pull that obeyed them on a success would wait five minutes here.
    @Test func anAnswerThatUsesUpTheLimitIsAnAnswer() async throws {
        let commit = try await commit()
        bench.hub.fail(
            "resolve-cache/.*notes",
            .status(
                200,
                headers: [
                    "RateLimit": "\"resolvers\";r=0;t=290", "Retry-After": "290",
                    "X-Repo-Commit": commit,
                ], body: String(decoding: text, as: UTF8.self)))
        let record = PullBench.Record()
        try expectWhole(try await pull(record: record))
        #expect(record.retries.isEmpty)
    }

    /// Trap 24: a refusal says how long to wait, by either header, and one second more is waited.
    @Test(
        arguments: [
            (["RateLimit": "\"resolvers\";r=0;t=250"], 251), (["Retry-After": "250"], 251),
            (["RateLimit": "\"resolvers\";r=0;t=250", "Retry-After": "100"], 251),
            (["RateLimit": "\"resolvers\";r=7;t=250", "Retry-After": "100"], 101),
        ] as [(HTTPHeaders, Double)])
    func aRefusalSaysHowLongToWait(headers: HTTPHeaders, seconds: Double) async throws {
        bench.hub.fail("/resolve/.*notes", .status(429, headers: headers), times: nil)
        let record = PullBench.Record()
        let result = try await bench.interrupted("org/m", record: record) {
            try await record.waitForEvent("the wait") {
                if case .retrying("notes.txt", _, seconds) = $0 { true } else { false }
            }
        }
        #expect(try failure("notes.txt", result).code == .cancelled)
    }

    /// A program must not sleep longer than the Hub's windows.
    @Test(arguments: ["310", "311", "999999999"]) func aWaitThatIsTooLongIsAnError(seconds: String) async throws {
        bench.hub.fail("/resolve/.*notes", .status(429, headers: ["Retry-After": seconds]), times: nil)
        let record = PullBench.Record()
        let error = try failure("notes.txt", try await pull(record: record))
        #expect(error.code == .rateLimited)
        #expect(error.recoverySuggestion?.contains("try again in") == true)
        #expect(bench.hub.requests("/resolve/.*notes").count == 1)
        #expect(record.retries.isEmpty)
    }

    @Test func aFileThatIsAwayForTooLongFailsAlone() async throws {
        bench.hub.fail("/resolve/.*notes", .status(503, headers: ["Retry-After": "400"]), times: nil)
        let result = try await pull()
        #expect(try failure("notes.txt", result).code == .serverError)
        #expect(bench.hub.requests("/resolve/.*notes").count == 1)
        #expect(result.files.filter { $0.path != "notes.txt" }.allSatisfy { $0.error == nil })
    }

    @Test func aFailureOfTheCDNIsNotTheHubs() async throws {
        bench.hub.fail("^GET", .status(500), times: nil, on: .cdn)
        let error = try failure("w.safetensors", try await pull())
        #expect(error.message == "\(bench.hub.cdnAddress) returned HTTP 500")
    }

    /// Trap 49: a HEAD or a GET counts as a download. An estimate needs the file list alone.
    @Test func aPlanAsksForNoFile() async throws {
        _ = try await bench.puller().plan(ModelReference(parsing: "org/m"), .init())
        #expect(bench.hub.requests.map(\.method) == ["GET", "GET"])
        #expect(bench.hub.requests("^GET /api/models/org/m").count == 2)
    }
}
