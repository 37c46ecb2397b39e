import HubCore

/// A request that is sent once, with its whole answer, whatever that is; a redirect is an answer, too. ``HTTPClient``
/// follows redirects, and would take the body along.
final class OneExchange: @unchecked Sendable {
    private let engine: HTTPEngine
    private let request: HTTPRequest
    // Used on the engine's thread alone.
    private var transfer: HTTPTransfer?
    private var body: [UInt8] = []
    private var continuation: CheckedContinuation<HTTPResponse, any Error>?
    private var isCancelled = false

    /// More is no answer of OAuth.
    private static let limit = 64 << 10

    private init(_ request: HTTPRequest, _ engine: HTTPEngine) { (self.request, self.engine) = (request, engine) }

    /// Cancelling the task ends the transfer.
    static func answer(to request: HTTPRequest, by engine: HTTPEngine) async throws -> HTTPResponse {
        let exchange = OneExchange(request, engine)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { exchange.start($0) }
        } onCancel: {
            exchange.cancel()
        }
    }

    private func start(_ continuation: CheckedContinuation<HTTPResponse, any Error>) {
        engine.perform { [self] in
            guard !isCancelled else { return continuation.resume(throwing: CancellationError()) }
            self.continuation = continuation
            let transfer = HTTPTransfer(request)
            transfer.onBody = { [self] bytes in
                body.append(contentsOf: bytes.prefix(Self.limit - body.count))
                return body.count < Self.limit ? .go : .enough
            }
            transfer.onEnd = { [self] result in finish(result.map { HTTPResponse(head: $0, body: body) }) }
            self.transfer = transfer
            engine.start(transfer)
        }
    }

    private func cancel() {
        engine.perform { [self] in
            isCancelled = true
            if let transfer { engine.cancel(transfer) }
            transfer = nil
            continuation?.resume(throwing: CancellationError())
            continuation = nil
        }
    }

    private func finish(_ result: Result<HTTPResponse, AIError>) {
        transfer = nil
        continuation?.resume(with: result.mapError { $0 as any Error })
        continuation = nil
    }
}
