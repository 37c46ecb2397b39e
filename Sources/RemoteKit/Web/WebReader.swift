import Fetcher
import HubCore

/// Reads pages as text.
struct WebReader: Sendable {
    private let context: RemoteContext
    private let policy: WebPolicy

    /// Bytes of a page that are read.
    static let limit = 1 << 20
    static let mostRedirects = 5

    init(_ context: RemoteContext, policy: WebPolicy = .internet) {
        (self.context, self.policy) = (context, policy)
    }

    /// The text of a page.
    ///
    /// - Throws: what ``WebPolicy/target(of:)`` throws, here or at a redirect; ``ErrorCode/requestRejected`` for an answer
    ///   that is an error or no text, and what keeps the page from being fetched.
    func page(_ address: String) async throws -> WebPage {
        try context.requireNetwork(for: "reading \(Secrets.address(address).printable)")
        let end = Clock.seconds + policy.seconds
        var address = address
        for _ in 0...Self.mostRedirects {
            let stream = try await open(address, until: end)
            guard stream.head.isRedirect else { return try await page(stream, until: end) }
            address = try stream.head.redirectTarget()
        }
        throw AIError(.protocolViolation, "\(shown(address)) redirects more than \(Self.mostRedirects) times")
    }

    private func open(_ address: String, until end: Double) async throws -> HTTPStream {
        let policy = policy
        let target = try await Blocking.run { try policy.target(of: address) }
        var request = HTTPRequest(.get, address, acceptsCompression: true)
        request.connectsTo = target.description
        request.connectTimeout = policy.patience
        request.stallTimeout = Int(policy.patience)
        request.fields["Accept"] = "text/html, text/plain;q=0.9, text/*;q=0.8, application/json;q=0.7"
        context.log("GET \(shown(address)) at \(target)")
        return try await told(address) {
            try await HTTPStream.open(
                request, on: try context.workspace.engine(), patience: policy.patience, until: end)
        }
    }

    private func page(_ stream: HTTPStream, until end: Double) async throws -> WebPage {
        let (head, address) = (stream.head, stream.head.address)
        guard head.isSuccess else {
            throw AIError(
                .requestRejected, "\(shown(address)) answers with status \(head.status)",
                context: .init(status: head.status, address: shown(address)))
        }
        let type = MediaType(head.fields["Content-Type"])
        guard type.isText else {
            throw AIError(
                .requestRejected,
                "\(shown(address)) is \(type.name.isEmpty ? "of no known type" : type.name.printable), not a text")
        }
        var bytes: [UInt8] = []
        var isCut = false
        while !isCut, let more = try await told(address, { try await stream.next(until: end) }) {
            bytes += more
            isCut = bytes.count > Self.limit
        }
        if isCut {
            // A character that goes on behind the limit is left out whole.
            var end = Self.limit
            while end > Self.limit - 4, bytes[end] & 0xC0 == 0x80 { end -= 1 }
            bytes = Array(bytes.prefix(end))
        }
        let text = type.text(bytes)
        guard type.isHTML else { return WebPage(address: address, title: nil, text: text, isCut: isCut) }
        let page = HTMLText(text, base: address)
        return WebPage(address: address, title: page.title, text: page.text, isCut: isCut)
    }

    private func told<Value: Sendable>(
        _ address: String, _ body: () async throws -> Value
    ) async throws -> Value {
        do { return try await body() } catch let fault as HTTPStream.Fault {
            switch fault {
            case .failed(let error, _): throw error
            case .silent: throw AIError(.timedOut, "\(shown(address)) did not answer in time")
            case .cancelled: throw CancellationError()
            }
        }
    }

    private func shown(_ address: String) -> String { Secrets.address(address).printable }
}
