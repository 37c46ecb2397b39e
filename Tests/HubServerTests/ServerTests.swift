import HubCore
import HubServer
import Support
import Testing

/// The real server over real sockets.
@Suite struct ServerTests {
    private struct Running {
        let folder: TemporaryFolder
        let server: HubServer
    }

    private func start(_ fill: (TemporaryFolder) throws -> Void = { try ModelRepository.tiny("org/tiny", in: $0) })
        throws -> Running
    {
        let folder = try TemporaryFolder()
        try fill(folder)
        let source = try FolderSource(folder.path) { Issue.record($0) }
        let service = HubService(source, access: try .serving(on: "127.0.0.1", token: nil)) { Issue.record($0) }
        return Running(folder: folder, server: try HubServer(handler: service))
    }

    @Test func addressIsReal() async throws {
        let running = try start()
        #expect(running.server.port != 0)
        #expect(running.server.address == "http://127.0.0.1:\(running.server.port)")
        let reply = try await HTTPClient.get("\(running.server.address)/api/models")
        #expect(try reply.json().ids == ["org/tiny"])
    }

    @Test func manyRequestsOnOneConnection() async throws {
        let running = try start()
        let address = running.server.address
        try await Thread.run {
            let connection = try HTTPConnection(address)
            for _ in 0..<20 {
                #expect(
                    try connection.request("GET", "/org/tiny/resolve/main/config.json").text
                        == "{\"model_type\":\"tiny\"}\n")
                #expect(try connection.request("GET", "/org/tiny/resolve/main/none").status == 404)
                let head = try connection.request("HEAD", "/org/tiny/resolve/main/model.safetensors")
                #expect(head.status == 200)
                #expect(head.headers["Content-Length"] == "300000")
                #expect(head.body.isEmpty)
                let part = try connection.request(
                    "GET", "/org/tiny/resolve/main/model.safetensors", headers: ["Range": "bytes=1-5"])
                #expect(part.status == 206)
                #expect(part.body.count == 5)
                let none = try connection.request(
                    "GET", "/org/tiny/resolve/main/model.safetensors", headers: ["Range": "bytes=300000-"])
                #expect(none.status == 416)
                let posted = try connection.request(
                    "POST", "/api/models/org/tiny/paths-info/main", body: Array("paths=config.json".utf8))
                #expect(try posted.json().paths == ["config.json"])
            }
        }
    }

    @Test func headEqualsGet() async throws {
        let running = try start()
        for target in [
            "/api/models", "/api/models/org/tiny", "/org/tiny/resolve/main/config.json",
            "/org/tiny/resolve/main/empty.txt",
            "/org/tiny/resolve/main/none", "/none/x/resolve/main/y",
        ] {
            var get = try await HTTPClient.get(running.server.address + target)
            var head = try await HTTPClient.head(running.server.address + target)
            #expect(head.status == get.status)
            // Two requests may fall into two seconds.
            (get.headers["Date"], head.headers["Date"]) = (nil, nil)
            #expect(head.headers == get.headers)
        }
    }

    /// Two beyond what 32 bits count; the file is sparse and costs nothing.
    @Test func offsetsBeyondFourGiB() async throws {
        let size: Int64 = (4 << 30) + 4096
        let marks: [Int64] = [0, (2 << 30) - 2, (4 << 30) - 2, size - 4]
        let server = try HubServer(handler: SparseFile(size: size, marks: marks))
        for mark in marks {
            let reply = try await HTTPClient.get(
                "\(server.address)/", headers: ["Range": "bytes=\(mark)-\(mark + 3)"])
            #expect(reply.status == 206)
            #expect(reply.text == "mark")
            #expect(reply.headers["Content-Range"] == "bytes \(mark)-\(mark + 3)/\(size)")
        }
        let head = try await HTTPClient.head("\(server.address)/")
        #expect(head.headers["Content-Length"] == String(size))
        let tail = try await HTTPClient.get("\(server.address)/", headers: ["Range": "bytes=-4"])
        #expect(tail.text == "mark")
    }

    /// Serves one sparse file without a digest of it, which would read 4 GiB.
    private struct SparseFile: HTTPHandler {
        let folder: TemporaryFolder
        let file: OpenFile
        let asked: ServedFile

        init(size: Int64, marks: [Int64]) throws {
            folder = try TemporaryFolder()
            let repository = try ModelRepository("org/big", in: folder)
            try repository.sparse("big.bin", size: size, patches: marks.map { ($0, Array("mark".utf8)) })
            let path = folder("org/big/big.bin")
            file = try OpenFile(path)
            asked = ServedFile(
                path: "big.bin", digest: .sha256(String(repeating: "0", count: 64)), location: path,
                identity: FileIdentity(file.status))
        }

        func respond(to request: HTTPRequest) -> HTTPResponse {
            do {
                let file = FileRequest(
                    repository: Repository(.model, try RepositoryID("org/big")), commit: "", file: asked,
                    request: request)
                return try file.content([:]) ?? HTTPResponse(500)
            } catch {
                Issue.record(error)
                return HTTPResponse(500)
            }
        }
    }

    /// 128 connections are open at the same time: each has its head before any asks for more.
    @Test func manyConnections() async throws {
        let running = try start()
        let address = running.server.address
        let weights = ModelRepository.randomBytes(300_000, seed: 1)
        try await Thread.run {
            let connections = try (0..<128).map { _ in try HTTPConnection(address) }
            for connection in connections {
                try connection.sendRequest("GET", "/org/tiny/resolve/main/model.safetensors")
            }
            for connection in connections { #expect(try connection.head().status == 200) }
            for connection in connections { #expect(try connection.take(300_000) == weights) }
        }
    }

    @Test(arguments: [
        "GET /api/models HTTP/1.1\r\n\r\n",
        "GET /api/models HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        "GET /../x HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET http://localhost/api/models HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /api/models?search=%00%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ])
    func malformedRequests(_ text: String) async throws {
        let running = try start()
        let address = running.server.address
        let reply = try await Thread.run {
            let connection = try HTTPConnection(address)
            try connection.send(text)
            return try connection.reply()
        }
        #expect(reply.status == 400)
    }

    /// An escaped slash, a raw one and a plus sign arrive as they were sent.
    @Test func targetsArriveAsTheyWereSent() async throws {
        struct Echo: HTTPHandler {
            func respond(to request: HTTPRequest) -> HTTPResponse {
                HTTPResponse(200, body: .bytes(Array(request.target.utf8)))
            }
        }
        let server = try HubServer(handler: Echo())
        for target in ["/a%2Fb/c%20d?x=%2F&y=a+b", "/ç", "/a//b", "/?", "/a?b?c", "/%41"] {
            #expect(try await HTTPClient.get(server.address + "/").text == "/")
            let reply = try await Thread.run { try HTTPConnection(server.address).request("GET", target) }
            #expect(reply.text == target)
        }
    }

    @Test func longBodiesAreRefused() async throws {
        struct Count: HTTPHandler {
            func respond(to request: HTTPRequest) -> HTTPResponse {
                HTTPResponse(200, body: .bytes(Array("\(request.body.count)".utf8)))
            }
        }
        var limits = ServerLimits()
        limits.requestBody = 1000
        let server = try HubServer(limits: limits, handler: Count())
        let whole = try await HTTPClient.request(
            "POST", "\(server.address)/", body: Array(repeating: 65, count: 1000))
        #expect(whole.text == "1000")
        let declared = try await HTTPClient.request(
            "POST", "\(server.address)/", body: Array(repeating: 65, count: 1001))
        #expect(declared.status == 413)
        let chunked = try await Thread.run {
            let connection = try HTTPConnection(server.address)
            try connection.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in 0..<3 { try connection.send("200\r\n" + String(repeating: "a", count: 512) + "\r\n") }
            try connection.send("0\r\n\r\n")
            return try connection.reply()
        }
        #expect(chunked.status == 413)
    }

    /// JSON is read by recursion: the deepest that the parser lets through must fit on a connection's stack.
    @Test(arguments: [1000, 100_000]) func deepJSON(_ levels: Int) async throws {
        let running = try start()
        let deep = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        let reply = try await HTTPClient.request(
            "POST", "\(running.server.address)/api/models/org/tiny/paths-info/main",
            headers: ["Content-Type": "application/json"], body: Array("{\"paths\":\(deep)}".utf8))
        #expect(reply.status == 400)
    }

    /// A header that would hold a line break is never sent; the connection is cut instead.
    @Test func headersCannotBeForged() async throws {
        struct Forger: HTTPHandler {
            func respond(to request: HTTPRequest) -> HTTPResponse {
                HTTPResponse(200, headers: ["X-A": "b\r\nX-Evil: 1"])
            }
        }
        let server = try HubServer(handler: Forger())
        await #expect(throws: AIError.self) { try await HTTPClient.get("\(server.address)/") }
    }

    @Test func aTakenPortIsAnError() throws {
        let running = try start()
        let error = #expect(throws: AIError.self) {
            try HubServer(
                port: running.server.port,
                handler: HubService(
                    try FolderSource(running.folder.path) { Issue.record($0) }, access: HubAccess(.loopback)
                ) { Issue.record($0) })
        }
        #expect(error?.message.contains("127.0.0.1:\(running.server.port)") == true)
    }

    @Test func stoppingRefusesConnections() async throws {
        let running = try start()
        running.server.stop()
        running.server.stop()
        await #expect(throws: AIError.self) { try await HTTPClient.get("\(running.server.address)/") }
    }

    /// A client that goes away in the middle of a large file must not take the server with it (SIGPIPE).
    @Test func clientsMayLeave() async throws {
        let running = try start { folder in
            try ModelRepository("org/big", in: folder).sparse("big.bin", size: 64 << 20)
        }
        let address = running.server.address
        try await Thread.run {
            for _ in 0..<10 {
                let connection = try HTTPConnection(address)
                try connection.sendRequest("GET", "/org/big/resolve/main/big.bin")
                #expect(try connection.head().status == 200)
            }
            #expect(try HTTPConnection(address).request("GET", "/api/models").status == 200)
        }
    }

    @Test func aProducerMakesTheBody() async throws {
        final class Counter: BodyProducer {
            func produce(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) -> BodyStep {
                guard position < 1_000_000 else { return .end }
                let count = min(buffer.count, Int(1_000_000 - position))
                for offset in 0..<count { buffer[offset] = UInt8(truncatingIfNeeded: Int(position) + offset) }
                return .bytes(count)
            }
        }
        struct Producing: HTTPHandler {
            func respond(to request: HTTPRequest) -> HTTPResponse {
                HTTPResponse(200, body: .stream(length: request.target == "/known" ? 1_000_000 : nil, Counter()))
            }
        }
        let server = try HubServer(handler: Producing())
        let expected = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0) }
        let known = try await HTTPClient.get("\(server.address)/known")
        #expect(known.headers["Content-Length"] == "1000000")
        #expect(known.body == expected)
        let chunked = try await HTTPClient.get("\(server.address)/chunked")
        #expect(chunked.headers["Transfer-Encoding"] == "chunked")
        #expect(chunked.isComplete)
        #expect(chunked.body == expected)
    }
}
