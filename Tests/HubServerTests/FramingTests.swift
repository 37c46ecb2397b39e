import HubCore
import HubServer
import Support
import Testing

/// A request whose end could be read in two ways is answered once, and what follows it is never read as a request.
@Suite struct FramingTests {
    struct Echo: HTTPHandler {
        func respond(to request: HTTPRequest) -> HTTPResponse {
            HTTPResponse(200, body: .bytes(Array("\(request.target) \(request.body.count)".utf8)))
        }
    }

    @Test(arguments: [
        ("Content-Length: 0\r\nContent-Length: 44", 400), ("Content-Length: 5\r\nContent-Length: 5", 400),
        ("Content-Length: 5\r\nTransfer-Encoding: chunked", 400), ("Transfer-Encoding : chunked", 400),
        ("Transfer-Encoding : chunked\r\nContent-Length: 5", 400), ("Content-Length : 5", 400),
        ("Transfer-Encoding: xchunked", 501), ("Transfer-Encoding: gzip, chunked", 501),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 501),
        ("Content-Length: +5", 400), ("Content-Length: -5", 400), ("Content-Length: 5, 5", 400),
        ("Content-Length: 0x5", 400), ("Content-Length: 99999999999999999999", 400), ("X(y): z", 400),
    ])
    func doubtfulRequestsAreRefused(_ headers: String, _ status: Int) async throws {
        let server = try HubServer(handler: Echo())
        let answer = try await Thread.run {
            let connection = try HTTPConnection(server.address)
            try connection.send(
                "POST /first HTTP/1.1\r\nHost: x\r\n\(headers)\r\n\r\nGET /second HTTP/1.1\r\nHost: x\r\n\r\n")
            return String(decoding: try connection.take(.max), as: UTF8.self)
        }
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
        #expect(answer.split(separator: "HTTP/1.1 ").count == 1, "\(answer)")
        #expect(!answer.contains("second"))
    }

    /// libmicrohttpd's own refusals crash where the daemon is being stopped meanwhile.
    @Test func stoppingBesideRefusalsIsSafe() async throws {
        for _ in 0..<60 {
            let server = try HubServer(handler: Echo())
            let connections = try (0..<8).map { _ in try HTTPConnection(server.address) }
            let requests = ["Content-Length: +5", "Content-Length: 5, 5"].map { header in
                Array("POST / HTTP/1.1\r\nHost: x\r\n\(header)\r\n\r\n".utf8)
            }
            for (index, connection) in connections.enumerated() { try connection.send(requests[index % 2]) }
            try await Thread.run { server.stop() }
            for connection in connections { _ = try? connection.take(.max) }
        }
    }

    /// What is beyond doubt is served, the next request on the same connection too.
    @Test func plainRequestsAreServed() async throws {
        let server = try HubServer(handler: Echo())
        try await Thread.run {
            let connection = try HTTPConnection(server.address)
            try connection.send(
                "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloGET /b HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try connection.reply().text == "/a 5")
            #expect(try connection.reply().text == "/b 0")
            try connection.send(
                "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n")
            #expect(try connection.reply().text == "/c 2")
        }
    }
}
