package import HubCore

/// An exchange whose answer is read while it arrives. At most half a megabyte waits unread; then the server waits.
/// Cancelling the task, or releasing the stream, closes the connection at once.
package final class HTTPStream: Sendable {
    /// Why an exchange gave no answer, or an answer no end.
    package enum Fault: Error {
        /// The transfer failed.
        ///
        /// - Parameter mayHaveRun: whether the server may have the request.
        case failed(AIError, mayHaveRun: Bool)
        /// The time is over.
        case silent(mayHaveRun: Bool)
        case cancelled
    }

    /// Status and header fields.
    package let head: HTTPHead
    private let reader: Reader

    private init(_ head: HTTPHead, _ reader: Reader) {
        self.head = head
        self.reader = reader
    }

    deinit { reader.cancel() }

    /// Sends a request and waits for the head of its answer. Redirects are answers like others.
    ///
    /// - Parameters:
    ///   - patience: seconds without progress: to connect, while sending, and until the head comes.
    ///   - end: when the time is over, by ``Clock/seconds``.
    package static func open(
        _ request: HTTPRequest, on engine: HTTPEngine, patience: Double, until end: Double
    ) async throws(Fault) -> HTTPStream {
        let reader = Reader(engine)
        let result: Result<HTTPHead, Fault> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                engine.perform { reader.start(request, patience, end, continuation) }
            }
        } onCancel: {
            reader.cancel()
        }
        return HTTPStream(try result.get(), reader)
    }

    /// The next bytes of the answer; nil at its end.
    ///
    /// - Parameter end: when the time is over, by ``Clock/seconds``.
    package func next(until end: Double) async throws(Fault) -> [UInt8]? {
        let result: Result<[UInt8]?, Fault> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                reader.engine.perform { [reader] in reader.next(end, continuation) }
            }
        } onCancel: { [reader] in
            reader.cancel()
        }
        return try result.get()
    }
}

/// The state of one exchange. Everything but ``cancel()`` happens on the engine's thread.
private final class Reader: @unchecked Sendable {
    typealias Fault = HTTPStream.Fault
    let engine: HTTPEngine
    private var transfer: HTTPTransfer?
    private var pending: [UInt8] = []
    private var isPaused = false
    private var headWaiter: CheckedContinuation<Result<HTTPHead, Fault>, Never>?
    private var waiter: CheckedContinuation<Result<[UInt8]?, Fault>, Never>?
    /// How it ended; success is the end of the answer.
    private var outcome: Result<Void, Fault>?
    private var (patience, end) = (0.0, 0.0)
    /// When the armed timer rings; infinity if none is armed.
    private var ring = Double.infinity

    private static let mostPending = 512 << 10

    init(_ engine: HTTPEngine) { self.engine = engine }

    func start(
        _ request: HTTPRequest, _ patience: Double, _ end: Double,
        _ continuation: CheckedContinuation<Result<HTTPHead, Fault>, Never>
    ) {
        engine.assertOnThread()
        if case .failure(let fault) = outcome { return continuation.resume(returning: .failure(fault)) }
        headWaiter = continuation
        (self.patience, self.end) = (patience, end)
        let transfer = HTTPTransfer(request)
        transfer.onHead = { [self] head in
            headWaiter?.resume(returning: .success(head))
            headWaiter = nil
            return .go
        }
        transfer.onBody = { [self] bytes in
            guard pending.count < Self.mostPending else {
                isPaused = true
                return .pause
            }
            pending.append(contentsOf: bytes)
            deliver()
            return .go
        }
        transfer.onEnd = { [self, unowned transfer] result in
            switch result {
            case .success: finish(.success(()))
            case .failure(let error): finish(.failure(.failed(error, mayHaveRun: transfer.mayHaveRun)))
            }
        }
        self.transfer = transfer
        engine.start(transfer)
        arm()
    }

    func next(_ end: Double, _ continuation: CheckedContinuation<Result<[UInt8]?, Fault>, Never>) {
        engine.assertOnThread()
        precondition(waiter == nil, "two tasks read one answer")
        self.end = end
        waiter = continuation
        deliver()
        if waiter != nil { arm() }
    }

    func cancel() {
        engine.perform { [self] in abort(.cancelled) }
    }

    private func deliver() {
        guard let waiting = waiter else { return }
        if !pending.isEmpty {
            waiter = nil
            let bytes = pending
            pending = []
            waiting.resume(returning: .success(bytes))
            if isPaused, let transfer {
                isPaused = false
                engine.resume(transfer)
            }
        } else if let outcome {
            waiter = nil
            waiting.resume(returning: outcome.map { nil })
        }
    }

    /// When the time of the current wait is over.
    private var deadline: Double? {
        if headWaiter != nil, let transfer { return min(end, transfer.lastSent + patience) }
        return waiter == nil ? nil : end
    }

    private func arm() {
        guard outcome == nil, let deadline, deadline < ring else { return }
        ring = deadline
        engine.after(deadline - Clock.seconds) { [weak self] in self?.wake(deadline) }
    }

    private func wake(_ due: Double) {
        if due == ring { ring = .infinity }
        guard outcome == nil, let deadline else { return }
        guard Clock.seconds >= deadline else { return arm() }
        abort(.silent(mayHaveRun: transfer?.mayHaveRun ?? true))
    }

    private func abort(_ fault: Fault) {
        engine.assertOnThread()
        guard outcome == nil else { return }
        if let transfer { engine.cancel(transfer) }
        finish(.failure(fault))
    }

    private func finish(_ result: Result<Void, Fault>) {
        engine.assertOnThread()
        guard outcome == nil else { return }
        outcome = result
        transfer = nil
        if let waiting = headWaiter {
            headWaiter = nil
            switch result {
            case .success: waiting.resume(returning: .failure(.silent(mayHaveRun: true)))
            case .failure(let fault): waiting.resume(returning: .failure(fault))
            }
        }
        deliver()
    }
}
