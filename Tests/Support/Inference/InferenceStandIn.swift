package import HubCore
package import HubServer

/// A server of inference whose every byte a test writes itself, and whose every silence: for what no honest provider
/// does. One thread for each connection; stopped when the last reference goes.
package final class InferenceStandIn: Sendable {
    /// A request as it came.
    package struct Request: Sendable {
        package var method: String
        /// Path and query.
        package var target: String
        package var headers: HTTPHeaders
        /// The body's beginning, at most 8 MiB.
        package var body: [UInt8]
        /// Bytes of the whole body.
        package var bodyBytes: Int64
        /// Of the whole body.
        package var sha256: String
        /// Its place among all requests, from 0.
        package var index: Int

        /// The first value of a header.
        package func header(_ name: String) -> String? { headers[name] }
        package var path: String { String(target.prefix { $0 != "?" }) }
        package var text: String { String(decoding: body, as: UTF8.self) }
        /// The body as JSON; null if it is none.
        package var json: JSON { (try? JSON.parse(body)) ?? .null }
    }

    /// A step of an answer's body.
    package enum Step: Sendable {
        case send([UInt8])
        /// Waits for a test.
        case wait(Gate)
        /// Says nothing until the client closes.
        case silence
        /// Comments without end, until the client closes.
        case comments
        /// Closes with what is missing missing.
        case cut
        /// Closes with a reset.
        case reset

        package static func text(_ text: String) -> Step { .send(Array(text.utf8)) }
    }

    /// An answer.
    package struct Reply: Sendable {
        package var status: Int
        package var headers: [(String, String)]
        package var steps: [Step]
        /// Whether nothing at all is sent, not even a head.
        package var hasHead: Bool

        package init(_ status: Int = 200, headers: [(String, String)] = [], steps: [Step], hasHead: Bool = true) {
            self.hasHead = hasHead
            self.status = status
            self.headers = headers
            self.steps = steps
        }
    }

    /// `http://127.0.0.1:PORT`
    package let address: String
    private let listener: Int32
    private let state = Monitor(State())

    private struct State {
        var requests: [Request] = []
        var connections = 0
        /// Connections that the client closed while an answer was under way.
        var abandoned = 0
    }

    package init(_ answer: @escaping @Sendable (Request) -> Reply) throws {
        let (listener, port) = try LoopbackSocket.listening()
        self.listener = listener
        address = "http://127.0.0.1:\(port)"
        let state = state
        Thread.start {
            while let client = LoopbackSocket.next(listener) {
                state.update { $0.connections += 1 }
                Thread.start { Connection(client, state, answer).serve() }
            }
        }
    }

    deinit { LoopbackSocket.stopListening(listener) }

    /// Every request so far.
    package var requests: [Request] { state.update { $0.requests } }
    /// The number of connections so far.
    package var connections: Int { state.update { $0.connections } }

    /// Waits until the client has closed so many connections in the middle of an answer.
    package func abandoned(_ count: Int = 1) async throws {
        _ = try await state.value("the client closing \(count) connections") { $0.abandoned >= count ? true : nil }
    }

    /// Waits for so many requests.
    package func asked(_ count: Int = 1) async throws {
        _ = try await state.value("\(count) requests") { $0.requests.count >= count ? true : nil }
    }

    // MARK: A connection

    private struct Connection {
        private let socket: Int32
        private let state: Monitor<State>
        private let answer: @Sendable (Request) -> Reply

        init(_ socket: Int32, _ state: Monitor<State>, _ answer: @escaping @Sendable (Request) -> Reply) {
            self.socket = socket
            self.state = state
            self.answer = answer
        }

        func serve() {
            var reader = RequestReader(socket)
            while let request = reader.next() {
                let known = state.update { state in
                    var known = request
                    known.index = state.requests.count
                    state.requests.append(known)
                    return known
                }
                guard send(answer(known)) else { return }
            }
            LoopbackSocket.drop(socket)
        }

        /// Whether the connection stays open.
        private func send(_ reply: Reply) -> Bool {
            if reply.hasHead {
                var head = "HTTP/1.1 \(reply.status) Reply\r\n"
                for (name, value) in reply.headers { head += "\(name): \(value)\r\n" }
                LoopbackSocket.send(Array((head + "\r\n").utf8), to: socket)
            }
            for step in reply.steps {
                switch step {
                case .send(let bytes): if !LoopbackSocket.send(bytes, to: socket) { return abandon() }
                case .wait(let gate): gate.pass()
                case .silence:
                    while !LoopbackSocket.receive(socket).isEmpty {}
                    return abandon()
                case .comments:
                    while LoopbackSocket.send(Array(": ping\n\n".utf8), to: socket) {
                        _ = Self.rest.wait(seconds: 0.02) { _ in Bool?.none }
                    }
                    return abandon()
                case .cut:
                    LoopbackSocket.drop(socket)
                    return false
                case .reset:
                    LoopbackSocket.reset(socket)
                    return false
                }
            }
            return true
        }

        private static let rest = Monitor(())

        private func abandon() -> Bool {
            state.update { $0.abandoned += 1 }
            LoopbackSocket.drop(socket)
            return false
        }
    }
}

/// Reads requests from a connection, bodies of any size.
private struct RequestReader {
    private let socket: Int32
    private var buffer: [UInt8] = []
    private static let kept = 8 << 20

    init(_ socket: Int32) { self.socket = socket }

    mutating func next() -> InferenceStandIn.Request? {
        guard let head = head() else { return nil }
        var lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)[...]
        let first = lines.removeFirst().split(separator: " ")
        guard first.count == 3 else { return nil }
        var headers = HTTPHeaders()
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers.add(String(line[..<colon]), String(line[line.index(after: colon)...].drop { $0 == " " }))
        }
        let length = headers["Content-Length"].flatMap { Int64($0) } ?? 0
        let hasher = ContentHasher()
        var body: [UInt8] = []
        var left = length
        while left > 0 {
            if buffer.isEmpty {
                buffer = LoopbackSocket.receive(socket, atMost: 256 << 10)
                if buffer.isEmpty { return nil }
            }
            let piece = Array(buffer.prefix(Int(min(left, Int64(buffer.count)))))
            buffer.removeFirst(piece.count)
            left -= Int64(piece.count)
            hasher.update(piece)
            if body.count < Self.kept { body += piece.prefix(Self.kept - body.count) }
        }
        return InferenceStandIn.Request(
            method: String(first[0]), target: String(first[1]), headers: headers, body: body, bodyBytes: length,
            sha256: hasher.finish().hex, index: 0)
    }

    private mutating func head() -> String? {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let place = buffer.firstRange(of: end) {
                let head = String(decoding: buffer[..<place.lowerBound], as: UTF8.self)
                buffer.removeFirst(place.upperBound)
                return head
            }
            let more = LoopbackSocket.receive(socket)
            if more.isEmpty { return nil }
            buffer += more
        }
    }
}

extension InferenceStandIn.Reply {
    /// A whole body.
    package static func bytes(
        _ bytes: [UInt8], type: String?, status: Int = 200, headers: [(String, String)] = []
    ) -> Self {
        let own = (type.map { [("Content-Type", $0)] } ?? []) + [("Content-Length", String(bytes.count))]
        return Self(status, headers: headers + own, steps: [.send(bytes)])
    }

    /// A JSON document as written.
    package static func json(_ text: String, status: Int = 200, headers: [(String, String)] = []) -> Self {
        bytes(Array(text.utf8), type: "application/json", status: status, headers: headers)
    }

    /// A web page.
    package static func html(_ text: String, status: Int = 200) -> Self {
        bytes(Array(text.utf8), type: "text/html", status: status)
    }

    /// A redirect.
    package static func redirect(_ target: String, status: Int = 302) -> Self {
        bytes([], type: nil, status: status, headers: [("Location", target)])
    }

    /// A stream of events, as written, to the end of the connection.
    package static func events(_ steps: [InferenceStandIn.Step], headers: [(String, String)] = []) -> Self {
        Self(
            headers: headers + [("Content-Type", "text/event-stream"), ("Connection", "close")],
            steps: steps + [.cut])
    }

    /// The same as one text.
    package static func events(_ text: String) -> Self { events([.text(text)]) }

    /// A stream of JSON documents, one for each event, and the mark of the end.
    package static func chunks(_ documents: [String], done: Bool = true) -> Self {
        events((documents + (done ? ["[DONE]"] : [])).map { "data: \($0)\n\n" }.joined())
    }

    /// No answer at all until the client closes.
    package static var silence: Self { Self(steps: [.silence], hasHead: false) }
}
