import Fetcher
import HubCore

/// The answer to a call, as it arrives.
struct RemoteAnswer: Sendable {
    private let stream: HTTPStream
    private let client: RemoteClient
    let deadline: Deadline

    init(stream: HTTPStream, client: RemoteClient, deadline: Deadline) {
        self.stream = stream
        self.client = client
        self.deadline = deadline
    }

    var head: HTTPHead { stream.head }
    /// The media type without parameters, in lower case; empty if not told.
    var mediaType: String { head.fields["Content-Type"]?.prefix { $0 != ";" }.trimmed.lowercased() ?? "" }
    /// Who answered, if told.
    var servedBy: String? { head.fields["x-inference-provider"]?.printable }

    /// The next bytes; nil at the end.
    ///
    /// - Parameter since: when something that counts last came, by ``Clock/seconds``.
    /// - Throws: ``ErrorCode/timedOut``, and ``ErrorCode/streamInterrupted`` where the connection breaks.
    func next(since: Double) async throws(AIError) -> [UInt8]? {
        let idleEnd = since + client.limits.idle
        do throws(HTTPStream.Fault) { return try await stream.next(until: min(idleEnd, deadline.end)) } catch {
            switch error {
            case .cancelled: throw AIError(.cancelled, "interrupted")
            case .failed(let error, _):
                if error.code == .cancelled { throw error }
                throw AIError(
                    .streamInterrupted, "the answer broke off: \(error.masking(client.credential).message)",
                    context: error.context)
            case .silent:
                guard deadline.end > idleEnd else { throw deadline.error(client.name) }
                throw AIError(
                    .timedOut, "\(client.name) sent nothing for \(Deadline.shown(client.limits.idle)) s",
                    advice: "try again later, or choose another provider")
            }
        }
    }

    /// The whole body.
    ///
    /// - Parameters:
    ///   - limit: a longer body is an error,
    ///   - cutsOff: or, if set, cut off there.
    func body(limit: Int, cutsOff: Bool = false) async throws(AIError) -> [UInt8] {
        var body: [UInt8] = []
        while let bytes = try await next(since: Clock.seconds) {
            body += bytes
            guard body.count > limit else { continue }
            if cutsOff { return Array(body.prefix(limit)) }
            throw AIError(.protocolViolation, "\(client.name) sends more than \(ByteCount(Int64(limit)))")
        }
        return body
    }

    /// Of the parser's tape: 32 vectors of 16,384 numbers need half of them.
    private static let mostWords = 1 << 21

    /// The body as one JSON document.
    func json(limit: Int) async throws(AIError) -> JSON { try json(of: try await body(limit: limit)) }

    /// A body as JSON. Python's servers write NaN, which only ``JSON/parsePython(_:mostWords:)`` reads.
    func json(of body: [UInt8]) throws(AIError) -> JSON {
        do { return try JSON.parsePython(body, mostWords: Self.mostWords) } catch {
            throw unexpected(body, "something that is \(error.description)")
        }
    }

    /// The error of an answer of the wrong kind.
    func unexpected(_ body: [UInt8], _ what: String) -> AIError {
        let isPage = body.first { $0 > 0x20 } == UInt8(ascii: "<")
        return AIError(
            .protocolViolation, "\(client.name) answers with \(isPage ? "a web page" : what)",
            advice: "is \(SafeAddress.shown(head.address)) the address of an inference provider?",
            context: .init(status: head.status, address: SafeAddress.shown(head.address)))
    }
}
