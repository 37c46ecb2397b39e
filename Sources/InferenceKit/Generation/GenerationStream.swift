public import HubCore

/// A generation as it happens. Nothing runs until it is iterated; each iteration runs it again with the same seed.
///
/// Ending the iteration, by leaving the loop or by cancelling its task, ends the work within one forward pass. A
/// cancelled task still gets the last chunk, with ``FinishReason/cancelled`` and what there was until then.
public struct GenerationStream: AsyncSequence, Sendable {
    /// A step of the generation.
    public typealias Element = GenerationChunk
    /// The error that the iteration can throw.
    public typealias Failure = AIError

    private let begin: @Sendable () -> GenerationJob

    init(_ begin: @escaping @Sendable () -> GenerationJob) { self.begin = begin }

    /// Starts the generation.
    public func makeAsyncIterator() -> Iterator { Iterator(begin()) }

    /// Reads one run of the generation.
    public struct Iterator: AsyncIteratorProtocol {
        /// Whoever lets go of the iterator wants no more.
        private final class Ticket {
            let job: GenerationJob
            init(_ job: GenerationJob) { self.job = job }
            deinit { job.cancel() }
        }
        private let ticket: Ticket

        fileprivate init(_ job: GenerationJob) { ticket = Ticket(job) }

        /// The next chunk; nil after the last.
        ///
        /// - Throws: ``AIError`` when the prompt or the configuration is refused, or the model fails.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(AIError)
            -> GenerationChunk?
        {
            try await ticket.job.next()
        }
    }

    /// The text alone, in pieces of whole characters.
    public var text: AsyncMapSequence<AsyncFilterSequence<GenerationStream>, String> {
        filter { !$0.text.isEmpty }.map { $0.text }
    }

    /// Runs it to the end and gives the text.
    public func collect() async throws(AIError) -> String { try await collectWithMetadata().text }

    /// Runs it to the end and gives everything.
    ///
    /// - Parameter each: Called with each chunk as it comes.
    public func collectWithMetadata(
        isolation actor: isolated (any Actor)? = #isolation, _ each: (GenerationChunk) -> Void = { _ in }
    ) async throws(AIError) -> GenerationResult {
        var iterator = makeAsyncIterator()
        while let chunk = try await iterator.next(isolation: actor) {
            each(chunk)
            if let result = chunk.result { return result }
        }
        throw AIError(.generationFailed, "the generation ended without a result")
    }

    /// Runs it until the first token and gives how long that took, the wait for the model included.
    ///
    /// - Throws: ``ErrorCode/cancelled`` where it ended before.
    public func timeToFirstToken() async throws(AIError) -> Duration {
        let start = ContinuousClock.now
        var iterator = makeAsyncIterator()
        guard let chunk = try await iterator.next(isolation: nil), chunk.tokenId != nil else {
            throw AIError(.cancelled, "interrupted")
        }
        return chunk.timestamp - start
    }
}
