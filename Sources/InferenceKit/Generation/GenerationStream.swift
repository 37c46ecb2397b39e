public import HubCore

/// A running generation. Nothing runs until it is iterated; each iteration runs it again with the same seed.
///
/// Ending the iteration, by leaving the loop or by cancelling its task, ends the work within one forward pass. A
/// cancelled task still gets the last chunk, with ``FinishReason/cancelled`` and the result so far.
public struct GenerationStream: AsyncSequence, Sendable {
    /// A step of the generation.
    public typealias Element = GenerationChunk
    /// The error of the iteration.
    public typealias Failure = AIError

    private let begin: @Sendable () -> GenerationJob

    init(_ begin: @escaping @Sendable () -> GenerationJob) { self.begin = begin }

    /// A provider's own stream: each iteration runs `chunks` anew and gives what it gives. The last chunk should have a
    /// result. An error that is not an ``AIError`` becomes ``ErrorCode/generationFailed``.
    ///
    /// - Parameter chunks: makes the sequence of chunks; its task is cancelled when the iteration ends.
    public init<Chunks: AsyncSequence & SendableMetatype>(_ chunks: @escaping @Sendable () async throws -> Chunks)
    where Chunks.Element == GenerationChunk, Chunks.AsyncIterator: SendableMetatype {
        self.init {
            let job = GenerationJob()
            let task = Task {
                do {
                    for try await chunk in try await chunks() { job.send(chunk) }
                    job.end(.success(()))
                } catch is CancellationError {
                    job.end(.failure(AIError(.cancelled, "interrupted")))
                } catch {
                    job.end(.failure(error as? AIError ?? AIError(.generationFailed, "\(error)")))
                }
            }
            job.whenCancelled { task.cancel() }
            return job
        }
    }

    /// Starts the generation.
    public func makeAsyncIterator() -> Iterator { Iterator(begin()) }

    /// Reads one run of the generation.
    public struct Iterator: AsyncIteratorProtocol {
        /// Cancels the generation when the iterator is released.
        private final class Ticket {
            let job: GenerationJob
            init(_ job: GenerationJob) { self.job = job }
            deinit { job.cancel() }
        }
        private let ticket: Ticket

        fileprivate init(_ job: GenerationJob) { ticket = Ticket(job) }

        /// The next chunk; nil after the last.
        ///
        /// - Throws: ``AIError`` if the prompt or the configuration is invalid, or the model fails.
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

    /// Runs it to the end and returns the text.
    public func collect() async throws(AIError) -> String { try await collectWithMetadata().text }

    /// Runs it to the end and returns the result.
    ///
    /// - Parameter each: Called with each chunk.
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

    /// Runs it until the first token and returns the time that took, waiting for the model included.
    ///
    /// - Throws: ``ErrorCode/cancelled`` if it ended before.
    public func timeToFirstToken() async throws(AIError) -> Duration {
        let start = ContinuousClock.now
        var iterator = makeAsyncIterator()
        guard let chunk = try await iterator.next(isolation: nil),
            chunk.tokenId != nil || !chunk.text.isEmpty || !chunk.reasoning.isEmpty
        else {
            throw AIError(.cancelled, "interrupted")
        }
        return chunk.timestamp - start
    }
}
