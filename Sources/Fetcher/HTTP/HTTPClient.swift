package import HubCore

/// Small exchanges: the whole answer in memory, redirects followed with the token kept to its origin.
package struct HTTPClient: Sendable {
    package let engine: HTTPEngine
    /// The only origin the token is ever sent to.
    package let origin: Origin
    let token: AccessToken?

    package init(engine: HTTPEngine, origin: Origin, token: AccessToken?) {
        self.engine = engine
        self.origin = origin
        self.token = token
    }

    /// Adds the token if the address has its origin, and that origin is safe.
    package func authorise(_ request: inout HTTPRequest) {
        request.token = token
        request.fields["Authorization"] = nil
        guard let token, let target = Origin(request.address), target == origin, target.isSafeForCredentials else {
            return
        }
        request.fields["Authorization"] = "Bearer \(token.secret)"
    }

    /// Takes the next bytes of a body; an error ends the exchange.
    package typealias Intake = @Sendable (UnsafeRawBufferPointer) -> AIError?

    /// Sends a request, follows at most ten redirects, and returns the last response, whatever its status.
    ///
    /// - Parameters:
    ///   - limit: a longer response is an error,
    ///   - cutsOff: or, if set, cut off there: a server may send a whole file instead of its beginning.
    ///   - followsRedirects: false returns a redirect like any other response.
    ///   - intake: receives the body of a successful response on the engine's thread; the response then has none.
    package func response(
        to request: HTTPRequest, limit: Int = 16 << 20, cutsOff: Bool = false, followsRedirects: Bool = true,
        intake: Intake? = nil
    ) async throws -> HTTPResponse {
        var request = request
        for _ in 0...10 {
            authorise(&request)
            let answer = try await exchange(request, limit: limit, cutsOff: cutsOff, intake: intake)
            guard followsRedirects, answer.head.isRedirect else { return answer }
            request.address = try answer.head.redirectTarget()
            if answer.status == 303 { request.method = .get }
        }
        let shown = SafeAddress.shown(request.address)
        throw AIError(.protocolViolation, "\(shown): more than ten redirects", context: .init(address: shown))
    }

    /// One request, one answer. Cancelling the task ends the transfer.
    private func exchange(_ request: HTTPRequest, limit: Int, cutsOff: Bool, intake: Intake?) async throws
        -> HTTPResponse
    {
        let exchange = Exchange(engine: engine, request: request, limit: limit, cutsOff: cutsOff, intake: intake)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in exchange.start(continuation) }
        } onCancel: {
            exchange.cancel()
        }
    }
}

/// One exchange's state. Everything but the two entry points happens on the engine's thread.
private final class Exchange: @unchecked Sendable {
    private let engine: HTTPEngine
    private let request: HTTPRequest
    private var limit: Int
    private var cutsOff: Bool
    private var intake: HTTPClient.Intake?
    private var transfer: HTTPTransfer?
    private var received = 0
    private var body: [UInt8] = []
    private var continuation: CheckedContinuation<HTTPResponse, any Error>?
    private var isCancelled = false

    /// Maximum bytes kept of an error's or redirect's body.
    private static let noteLimit = 64 << 10

    init(engine: HTTPEngine, request: HTTPRequest, limit: Int, cutsOff: Bool, intake: HTTPClient.Intake?) {
        self.engine = engine
        self.request = request
        self.limit = limit
        self.cutsOff = cutsOff
        self.intake = intake
    }

    func start(_ continuation: CheckedContinuation<HTTPResponse, any Error>) {
        engine.perform { [self] in
            guard !isCancelled else { return continuation.resume(throwing: CancellationError()) }
            self.continuation = continuation
            let transfer = HTTPTransfer(request)
            transfer.onHead = { [self] head in
                if !head.isSuccess { (limit, cutsOff, intake) = (Self.noteLimit, true, nil) }
                return .go
            }
            transfer.onBody = { [self] bytes in take(bytes) }
            transfer.onEnd = { [self] result in
                switch result {
                case .success(let head): finish(.success(HTTPResponse(head: head, body: body)))
                case .failure(let error): finish(.failure(error))
                }
            }
            self.transfer = transfer
            engine.start(transfer)
        }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) -> HTTPTransfer.Verdict {
        engine.assertOnThread()
        let isTooMuch = bytes.count > limit - received
        if isTooMuch, !cutsOff {
            let shown = SafeAddress.shown(request.address)
            return .abort(
                AIError(.protocolViolation, "\(shown) sends more than \(ByteCount(Int64(limit)))"))
        }
        let taken = isTooMuch ? UnsafeRawBufferPointer(rebasing: bytes[..<(limit - received)]) : bytes
        received += taken.count
        if let intake {
            if let error = intake(taken) { return .abort(error) }
        } else {
            body.append(contentsOf: taken)
        }
        return isTooMuch ? .enough : .go
    }

    func cancel() {
        engine.perform { [self] in
            isCancelled = true
            if let transfer { engine.cancel(transfer) }
            finish(.failure(CancellationError()))
        }
    }

    private func finish(_ result: Result<HTTPResponse, any Error>) {
        engine.assertOnThread()
        transfer = nil
        continuation?.resume(with: result)
        continuation = nil
    }
}
