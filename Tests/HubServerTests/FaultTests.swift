import HubCore
import HubServer
import Support
import Testing

/// Each fault does what its name says, and nothing else.
@Suite struct FaultTests {
    private let folder: TemporaryFolder
    private let hub: LoopbackHub
    private let weights = ModelRepository.randomBytes(300_000, seed: 1)

    init() throws {
        folder = try TemporaryFolder()
        try ModelRepository.tiny("org/tiny", in: folder)
        hub = try LoopbackHub(folder)
    }

    private func location() async throws -> String {
        let head = try await HTTPClient.head("\(hub.endpoint)/org/tiny/resolve/main/model.safetensors")
        return try #require(head.headers["Location"])
    }

    private func fetch(range: String? = nil) async throws -> HTTPReply {
        var headers = HTTPHeaders()
        headers["Range"] = range
        return try await HTTPClient.get(try await location(), headers: headers)
    }

    @Test(arguments: [0, 1, 65_536, 299_999] as [Int64])
    func drop(_ bytes: Int64) async throws {
        hub.fail("^GET /repos/", .drop(after: bytes))
        let cut = try await fetch()
        #expect(cut.status == 200)
        #expect(!cut.isComplete)
        #expect(cut.body == Array(weights.prefix(Int(bytes))))
        #expect(hub.requests("^GET", on: .cdn).last?.bytesSent == bytes)
        // Once, unless said otherwise.
        let whole = try await fetch()
        #expect(whole.isComplete)
        #expect(whole.body == weights)
    }

    @Test func truncate() async throws {
        hub.fail("^GET /repos/", .truncate(by: 10))
        let cut = try await fetch(range: "bytes=0-99")
        #expect(cut.headers["Content-Length"] == "100")
        #expect(cut.body == Array(weights.prefix(90)))
        #expect(!cut.isComplete)
    }

    /// Nothing comes between the bytes and the end of the stall: the gate's twin for clients that have a patience.
    @Test func stall() async throws {
        hub.fail("^GET /repos/", .stall(after: 100, seconds: 3600))
        let target = try await location()
        let (hub, weights) = (hub, weights)
        try await Thread.run {
            let origin = try #require(Origin(target)).description
            let connection = try HTTPConnection(origin)
            try connection.sendRequest("GET", String(target.dropFirst(origin.count)))
            #expect(try connection.head().status == 200)
            #expect(try connection.take(100) == Array(weights.prefix(100)))
            // Stopping ends the stall, and then it is seen that nothing more was sent.
            hub.stop()
            #expect(try connection.isAtEnd())
        }
    }

    @Test func hold() async throws {
        let gate = hub.hold("^GET /repos/", after: 1000)
        async let reply = fetch()
        try await gate.reached()
        #expect(gate.arrivals == 1)
        let held = try await hub.waitForRequest(matching: "^GET /repos/")
        #expect(held.status == 200)
        #expect(hub.requests("^GET /repos/").last?.bytesSent == 1000)
        #expect(hub.requests("^GET /repos/").last?.isFinished == false)
        gate.release()
        #expect(try await reply.body == weights)
    }

    @Test func holdHead() async throws {
        let gate = Gate()
        hub.fail("^GET /api/models$", .holdHead(gate))
        async let reply = HTTPClient.get("\(hub.endpoint)/api/models")
        try await gate.reached()
        #expect(hub.requests.last?.status == 0)
        gate.release()
        #expect(try await reply.status == 200)
    }

    @Test func stoppingLetsGo() async throws {
        let gate = hub.hold("^GET /repos/", after: 1000)
        async let reply = fetch()
        try await gate.reached()
        hub.stop()
        let cut = try await reply
        #expect(!cut.isComplete)
        #expect(cut.body == Array(weights.prefix(1000)))
    }

    @Test func status() async throws {
        hub.fail("^GET /api/models$", .status(429, headers: ["Retry-After": "7"], body: "slow down"), times: 2)
        for _ in 0..<2 {
            let reply = try await HTTPClient.get("\(hub.endpoint)/api/models")
            #expect(reply.status == 429)
            #expect(reply.headers["Retry-After"] == "7")
            #expect(reply.text == "slow down")
        }
        #expect(try await HTTPClient.get("\(hub.endpoint)/api/models").status == 200)
    }

    @Test func corrupt() async throws {
        hub.fail("^GET /repos/", .corrupt(at: 5))
        let reply = try await fetch(range: "bytes=100-199")
        var expected = Array(weights[100..<200])
        expected[5] ^= 1
        #expect(reply.body == expected)
        #expect(reply.isComplete)
    }

    @Test func corruptFile() async throws {
        hub.fail("^GET /repos/", .corruptFile(at: 150), times: 1)
        #expect(try await fetch(range: "bytes=0-99").body == Array(weights[0..<100]))
        #expect(try await fetch(range: "bytes=151-199").body == Array(weights[151..<200]))
        var expected = Array(weights[100..<200])
        expected[50] ^= 1
        #expect(try await fetch(range: "bytes=100-199").body == expected)
        #expect(try await fetch().body == weights)
    }

    @Test func noRange() async throws {
        hub.fail("^GET /repos/", .noRange)
        let reply = try await fetch(range: "bytes=100-199")
        #expect(reply.status == 200)
        #expect(reply.headers["Content-Range"] == nil)
        #expect(reply.body == weights)
        #expect(try await fetch(range: "bytes=100-199").status == 206)
    }

    @Test func wrongContentRange() async throws {
        hub.fail("^GET /repos/", .wrongContentRange)
        let reply = try await fetch(range: "bytes=100-199")
        #expect(reply.status == 206)
        #expect(reply.headers["Content-Range"] == "bytes 101-200/300000")
        #expect(reply.body == Array(weights[100..<200]))
    }

    @Test func expire() async throws {
        hub.fail("^GET", .expire, on: .cdn)
        #expect(try await fetch().status == 403)
        #expect(try await fetch().status == 200)
    }

    /// Fifty minutes' worth, of which the log shows the first steps; stopping spares the rest.
    @Test func trickle() async throws {
        hub.fail("^GET /repos/", .trickle(bytesPerSecond: 100))
        async let reply = fetch(range: "bytes=0-299999")
        let log = try await hub.waitForLog("a part of a slow body") { log in
            log.contains { $0.listener == .cdn && $0.bytesSent > 0 }
        }
        let sent = try #require(log.last?.bytesSent)
        #expect(sent % 5 == 0)
        #expect(sent < 300_000)
        hub.stop()
        let cut = try await reply
        #expect(!cut.isComplete)
        #expect(cut.body == Array(weights.prefix(cut.body.count)))
    }

    @Test func garbageAndPages() async throws {
        hub.fail("^GET /api/models/org/tiny$", .garbage)
        hub.fail("^GET /api/models/org/tiny$", .html)
        let garbage = try await HTTPClient.get("\(hub.endpoint)/api/models/org/tiny")
        #expect(garbage.status == 200)
        #expect(throws: JSONError.self) { try garbage.json() }
        let page = try await HTTPClient.get("\(hub.endpoint)/api/models/org/tiny")
        #expect(page.status == 200)
        #expect(page.headers["Content-Type"] == "text/html")
        #expect(page.text.hasPrefix("<!DOCTYPE html>"))
        #expect(page.headers["X-Repo-Commit"] == nil)
    }

    @Test func gzip() async throws {
        hub.fail("^GET /api/resolve-cache/", .gzip)
        let first = try await HTTPClient.get("\(hub.endpoint)/org/tiny/resolve/main/config.json")
        let reply = try await HTTPClient.get(hub.endpoint + (try #require(first.headers["Location"])))
        #expect(reply.headers["Content-Encoding"] == "gzip")
        #expect(reply.headers["Content-Length"] == nil)
        #expect(reply.headers["Transfer-Encoding"] == "chunked")
        // One stored block: 10 bytes of header, 5 of the block, the content, check sum and length.
        #expect(reply.body.prefix(3) == [0x1F, 0x8B, 8])
        #expect(Array(reply.body.dropFirst(15).dropLast(8)) == Array("{\"model_type\":\"tiny\"}\n".utf8))
        // zlib.crc32 of the content, little-endian, and 22.
        #expect(Array(reply.body.suffix(8)) == [187, 63, 207, 232, 22, 0, 0, 0])
    }

    @Test func changedEtag() async throws {
        hub.fail("^HEAD .*model", .changedEtag("other"))
        let head = try await HTTPClient.head("\(hub.endpoint)/org/tiny/resolve/main/model.safetensors")
        #expect(head.headers["X-Linked-Etag"] == "\"other\"")
    }

    @Test func redirects() async throws {
        hub.fail("resolve/main/config.json", .redirectLoop, times: nil)
        hub.fail("resolve/main/empty.txt", .redirect(to: "file:///etc/passwd"))
        for _ in 0..<3 {
            let reply = try await HTTPClient.get("\(hub.endpoint)/org/tiny/resolve/main/config.json")
            #expect(reply.status == 302)
            #expect(reply.headers["Location"] == "/org/tiny/resolve/main/config.json")
        }
        let reply = try await HTTPClient.get("\(hub.endpoint)/org/tiny/resolve/main/empty.txt")
        #expect(reply.headers["Location"] == "file:///etc/passwd")
    }

    @Test func theFirstThatMatchesHappens() async throws {
        hub.fail("^GET /api/models$", .status(500, body: "first"))
        hub.fail("^GET", .status(503, body: "second"))
        #expect(try await HTTPClient.get("\(hub.endpoint)/api/models").text == "first")
        #expect(try await HTTPClient.get("\(hub.endpoint)/api/models").text == "second")
        hub.fail("^GET", .status(500), times: nil)
        hub.clearFaults()
        #expect(try await HTTPClient.get("\(hub.endpoint)/api/models").status == 200)
    }

    @Test func aLimitForEachConnection() async throws {
        var options = LoopbackHub.Options()
        options.bytesPerSecond = 1_000_000
        let slow = try LoopbackHub(folder, options: options)
        let head = try await HTTPClient.head("\(slow.endpoint)/org/tiny/resolve/main/model.safetensors")
        let target = try #require(head.headers["Location"])
        let clock = ContinuousClock()
        let start = clock.now
        #expect(try await HTTPClient.get(target, headers: ["Range": "bytes=0-99999"]).body.count == 100_000)
        // Never faster than told; how much slower is the machine's affair.
        #expect(clock.now - start >= .milliseconds(99))
    }
}
