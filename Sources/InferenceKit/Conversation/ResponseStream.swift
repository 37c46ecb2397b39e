public import HubCore

/// What happens during a request of a ``ModelSession``. It can be read once.
///
/// Leaving the loop, releasing the stream or cancelling the task that reads it cancels the request. A cancelled task still
/// gets the last event, with what had come.
public struct ResponseStream: AsyncSequence, Sendable {
    /// What happens.
    public typealias Element = ModelSession.Event
    /// The error of the request.
    public typealias Failure = AIError

    /// Cancels the request when the last reference goes.
    fileprivate final class Ticket: Sendable {
        let job: StreamJob<Element>
        init(_ job: StreamJob<Element>) { self.job = job }
        deinit { job.cancel() }
    }
    private let ticket: Ticket

    init(_ job: StreamJob<ModelSession.Event>) { ticket = Ticket(job) }

    /// Reads the events.
    public func makeAsyncIterator() -> Iterator { Iterator(ticket, Ticket(ticket.job)) }

    /// Reads the events.
    public struct Iterator: AsyncIteratorProtocol {
        private let ticket: Ticket
        /// Of this iterator alone: leaving the loop ends the request, even if the stream is kept.
        private let own: Ticket

        fileprivate init(_ ticket: Ticket, _ own: Ticket) { (self.ticket, self.own) = (ticket, own) }

        /// The next event; nil after the last.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(AIError)
            -> ModelSession.Event?
        {
            try await own.job.next()
        }
    }

    /// The text alone, in pieces of whole characters. What is said before a tool is called is a part of it.
    public var text: AsyncCompactMapSequence<ResponseStream, String> {
        compactMap { event in
            guard case .chunk(let chunk) = event, !chunk.text.isEmpty else { return nil }
            return chunk.text
        }
    }

    /// Reads to the end and returns the answer.
    ///
    /// - Parameter each: called with each event.
    public func response(
        isolation actor: isolated (any Actor)? = #isolation, _ each: (ModelSession.Event) -> Void = { _ in }
    ) async throws(AIError) -> ModelSession.Response {
        var iterator = makeAsyncIterator()
        while let event = try await iterator.next(isolation: actor) {
            each(event)
            if case .response(let response) = event { return response }
        }
        throw AIError(.generationFailed, "the request ended without an answer")
    }
}
