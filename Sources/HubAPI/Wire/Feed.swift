import HubCore
import HubServer

/// A body that is written while it is made: events, or lines of JSON. One task writes it, the connection's thread sends it.
final class Feed: BodyProducer {
    enum Form: Sendable {
        /// Server-sent events.
        case events
        /// A JSON document a line.
        case lines
    }

    private struct State {
        var bytes: [UInt8] = []
        var sent = 0
        var isOver = false
        /// Whether the status is on its way, so that an error can only be a part of the body.
        var isCommitted = false
        var fault: APIFault?
    }

    private let state = Awaited(State())
    private let form: Form
    private let dialect: Dialect
    private let client: ClientConnection?
    private let work = Lock<Task<Void, Never>?>(nil)

    /// How often the connection is looked at while nothing comes.
    static let glance = 0.1
    /// Seconds of silence after which a comment keeps proxies and clients waiting.
    private let silence: Double

    init(_ form: Form, _ dialect: Dialect, client: ClientConnection?, silence: Double = 10) {
        (self.form, self.dialect, self.client, self.silence) = (form, dialect, client, silence)
    }

    // MARK: The task

    /// Sends a document.
    func send(_ json: JSON, event: String? = nil) { append(text(of: json, event: event)) }

    private func text(of json: JSON, event: String? = nil) -> String {
        switch form {
        case .events: (event.map { "event: \($0)\n" } ?? "") + "data: \(json.text())\n\n"
        case .lines: json.lineText + "\n"
        }
    }

    /// Sends OpenAI's mark of a whole answer.
    func sendDone() { append("data: [DONE]\n\n") }

    private func append(_ text: String) { state.change { $0.bytes += text.utf8 } }

    /// Starts what writes; an error is the end of the body.
    func write(_ body: @escaping @Sendable (Feed) async throws -> Void) {
        let task = Task.detached {
            do {
                try await body(self)
                self.state.change { $0.isOver = true }
            } catch { self.fail(APIFault(error)) }
        }
        work.withLock { $0 = task }
    }

    /// An error behind the first byte is a part of the body, and nothing follows it: the mark of a whole answer is missing.
    private func fail(_ fault: APIFault) {
        let text = text(of: dialect.document(fault))
        state.change { state in
            if state.isCommitted || !state.bytes.isEmpty { state.bytes += text.utf8 } else { state.fault = fault }
            state.isOver = true
        }
    }

    // MARK: The connection's thread

    /// The response, once something is to be sent.
    ///
    /// - Parameter patience: seconds after which it begins in any case; nil to wait for the first byte.
    func response(patience: Double?) throws(APIFault) -> HTTPResponse {
        let start = Clock.seconds
        while true {
            let ready = state.wait(seconds: Self.glance) { state -> Bool? in
                guard !state.bytes.isEmpty || state.isOver else { return nil }
                state.isCommitted = true
                return true
            }
            if ready != nil { break }
            if client?.isGone == true {
                cancel()
                throw .gone
            }
            if let patience, Clock.seconds - start > patience {
                state.withLock { $0.isCommitted = true }
                break
            }
        }
        if let fault = state.withLock({ $0.fault }) { throw fault }
        return HTTPResponse(
            200,
            headers: [
                "Content-Type": form == .events ? "text/event-stream; charset=utf-8" : "application/x-ndjson",
                "Cache-Control": "no-cache", "X-Accel-Buffering": "no",
            ], body: .stream(length: nil, self))
    }

    func produce(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) -> BodyStep {
        let start = Clock.seconds
        while true {
            let step = state.wait(seconds: Self.glance) { state -> BodyStep? in
                state.isCommitted = true
                let waiting = state.bytes.count - state.sent
                guard waiting > 0 else { return state.isOver ? .end : nil }
                let count = min(waiting, buffer.count)
                buffer.copyBytes(from: state.bytes[state.sent..<state.sent + count])
                state.sent += count
                if state.sent == state.bytes.count { (state.bytes, state.sent) = ([], 0) }
                return .bytes(count)
            }
            if let step { return step }
            if client?.isGone == true { return .abort }
            if form == .events, Clock.seconds - start > silence {
                let comment = Array(": still at work\n\n".utf8)
                buffer.copyBytes(from: comment)
                return .bytes(comment.count)
            }
        }
    }

    func finished() { cancel() }

    private func cancel() { work.withLock { $0 }?.cancel() }
}

extension APIFault {
    /// The client left; nobody reads this. nginx's status for it.
    static let gone = APIFault(status: 499, message: "the client has left", type: "server_error")
}

extension JSON {
    /// The document for a line of its own: readers of lines also break at these three.
    var lineText: String {
        let text = text()
        guard text.unicodeScalars.contains(where: { [0x85, 0x2028, 0x2029].contains($0.value) }) else {
            return text
        }
        return text.replacing("\u{85}", with: "\\u0085").replacing("\u{2028}", with: "\\u2028")
            .replacing("\u{2029}", with: "\\u2029")
    }
}

/// An answer in one piece.
enum Whole {
    /// Runs work and waits for it on the connection's thread; a client that leaves ends it.
    static func answer(
        for request: HTTPRequest, _ body: @escaping @Sendable () async throws -> HTTPResponse
    ) throws(APIFault) -> HTTPResponse {
        let result = Awaited<Result<HTTPResponse, APIFault>?>(nil)
        let task = Task.detached {
            let found: Result<HTTPResponse, APIFault>
            do { found = .success(try await body()) } catch { found = .failure(APIFault(error)) }
            result.change { $0 = found }
        }
        while true {
            if let found = result.wait(seconds: Feed.glance, { $0 }) { return try found.get() }
            if request.connection?.isGone == true {
                task.cancel()
                throw .gone
            }
        }
    }
}
