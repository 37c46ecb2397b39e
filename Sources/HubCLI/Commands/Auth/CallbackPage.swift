import HubCore
import HubServer

/// Takes the one answer that the browser brings to the loopback. Any program of this machine can ask, and any page in the
/// browser: what does not carry the state of this sign-in changes nothing.
final class CallbackPage: HTTPHandler {
    typealias Query = [(key: String, value: String)]

    private struct State {
        var host = ""
        /// What the page says if the query is the answer; nil if it is not.
        var judge: @Sendable (Query) -> String? = { _ in nil }
        var isAnswered = false
    }

    private let path: String
    private let state = Lock(State())
    private let answers: AsyncStream<Query>
    private let given: AsyncStream<Query>.Continuation

    init(path: String) {
        self.path = path
        (answers, given) = AsyncStream.makeStream()
    }

    /// Says what is awaited, before the address is shown.
    func expect(at port: UInt16, _ judge: @escaping @Sendable (Query) -> String?) {
        state.withLock { ($0.host, $0.judge) = ("127.0.0.1:\(port)", judge) }
    }

    /// The query of the answer, once the browser has its page; nil if ``close()`` came first.
    func answer() async throws -> Query? {
        for await answer in answers { return answer }
        try Task.checkCancellation()
        return nil
    }

    /// Ends the waiting.
    func close() { given.finish() }

    func respond(to request: HTTPRequest) -> HTTPResponse {
        guard request.rawPath == path else { return Self.page(404, "There is nothing here.") }
        guard request.method == "GET" else { return Self.page(405, "Only a browser's GET is answered here.") }
        let (host, judge) = state.withLock { ($0.host, $0.judge) }
        // A page of another host could otherwise read what is answered here, under a name that it points to this machine.
        guard request.headers["Host"] == host, let query = try? request.query(), let text = judge(query.items)
        else {
            return Self.page(400, "This is not the answer to the sign-in.")
        }
        let isFirst = state.withLock { state in
            defer { state.isAnswered = true }
            return !state.isAnswered
        }
        guard isFirst else { return Self.page(410, "This sign-in is over.") }
        return Self.page(200, text) { [given] in
            given.yield(query.items)
            given.finish()
        }
    }

    private static func page(_ status: Int, _ text: String, sent: @escaping @Sendable () -> Void = {})
        -> HTTPResponse
    {
        let html = "<!doctype html>\n<meta charset=\"utf-8\">\n<title>hub</title>\n<p>\(text)</p>\n"
        return HTTPResponse(
            status,
            headers: [
                "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store",
                "Referrer-Policy": "no-referrer", "Content-Security-Policy": "default-src 'none'",
                "Connection": "close",
            ], body: .stream(length: Int64(html.utf8.count), SentPage(Array(html.utf8), sent)))
    }

    /// A page that tells when it is over, so that the server does not stop before.
    private final class SentPage: BodyProducer {
        private let bytes: [UInt8]
        private let sent: @Sendable () -> Void

        init(_ bytes: [UInt8], _ sent: @escaping @Sendable () -> Void) { (self.bytes, self.sent) = (bytes, sent) }

        func produce(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) -> BodyStep {
            let rest = bytes.dropFirst(Int(position)).prefix(buffer.count)
            guard !rest.isEmpty else { return .end }
            buffer.copyBytes(from: rest)
            return .bytes(rest.count)
        }

        func finished() { sent() }
    }
}
