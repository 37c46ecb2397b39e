import HubCore
import HubServer
import Libc
import Support
import Testing

/// Answers that take longer than a connection may be silent, and clients that do not wait for them.
@Suite struct SilenceTests {
    private final class Slow: HTTPHandler, BodyProducer {
        let isStream: Bool
        let isGone = Monitor(false)

        init(isStream: Bool) { self.isStream = isStream }

        func respond(to request: HTTPRequest) -> HTTPResponse {
            if request.rawPath == "/leave" {
                while request.connection?.isGone != true { usleep(1000) }
                isGone.update { $0 = true }
                return HTTPResponse(200)
            }
            if isStream { return HTTPResponse(200, body: .stream(length: 4, self)) }
            usleep(Self.microseconds)
            return HTTPResponse(200, body: .bytes(Array("late".utf8)))
        }

        func produce(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) -> BodyStep {
            guard position < 4 else { return .end }
            usleep(Self.microseconds)
            buffer.copyBytes(from: Array("late".utf8))
            return .bytes(4)
        }

        private static let microseconds: UInt32 = 1_500_000
    }

    /// libmicrohttpd counts the time in which a handler works as silence.
    @Test(arguments: [false, true]) func anAnswerMayTakeLongerThanAConnectionMayBeSilent(isStream: Bool)
        async throws
    {
        var limits = ServerLimits()
        limits.idleSeconds = 1
        let server = try HubServer(limits: limits, handler: Slow(isStream: isStream))
        let reply = try await HTTPClient.get("\(server.address)/")
        #expect(reply.status == 200 && reply.text == "late")
    }

    @Test func aHandlerSeesThatItsClientLeft() async throws {
        let handler = Slow(isStream: false)
        let server = try HubServer(handler: handler)
        let address = server.address
        try await Thread.run {
            let connection = try HTTPConnection(address)
            try connection.send("GET /leave HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        }
        _ = try await handler.isGone.value("the client left") { $0 ? true : nil }
    }

    @Test func aHistogramCountsWhatIsBelowItsBounds() {
        let metrics = ServerMetrics()
        metrics.declare("hub_wait_seconds", bounds: [0.5, 1, 10], "Waits.")
        for value in [0.2, 0.7, 20] { metrics.observe("hub_wait_seconds", value) }
        let lines = metrics.text().split(separator: "\n").filter { $0.hasPrefix("hub_wait_seconds") }
        #expect(
            lines == [
                #"hub_wait_seconds_bucket{le="0.5"} 1"#, #"hub_wait_seconds_bucket{le="1"} 2"#,
                #"hub_wait_seconds_bucket{le="10"} 2"#, #"hub_wait_seconds_bucket{le="+Inf"} 3"#,
                "hub_wait_seconds_count 3", "hub_wait_seconds_sum 20.9",
            ])
    }
}
