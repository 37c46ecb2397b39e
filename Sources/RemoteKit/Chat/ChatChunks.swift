import HubCore
import InferenceKit

/// The chunks of one answer: sends the call when it is iterated.
struct ChatChunks: AsyncSequence, Sendable {
    typealias Element = GenerationChunk
    let client: RemoteClient
    let call: RemoteCall
    let seed: UInt64?
    /// Who serves, if the call says so.
    let servedBy: String?

    func makeAsyncIterator() -> Iterator { Iterator(reader: ChatReader(self)) }

    struct Iterator: AsyncIteratorProtocol {
        var reader: ChatReader

        mutating func next() async throws -> GenerationChunk? { try await reader.next() }
    }
}

/// Reads one answer, whether it comes as a stream of events or as one document.
struct ChatReader {
    private let chunks: ChatChunks
    private var answer: RemoteAnswer?
    private var parser = SSEParser()
    private var accumulator: ChatAccumulator
    private var ready: [GenerationChunk] = []
    private var isEnded = false
    /// What ends the stream, when the chunks that came with it are out.
    private var failure: AIError?
    /// When an event last came, by ``Clock/seconds``: comments do not count.
    private var lastEvent = 0.0

    init(_ chunks: ChatChunks) {
        self.chunks = chunks
        accumulator = ChatAccumulator(seed: chunks.seed, servedBy: chunks.servedBy)
    }

    /// The next chunk; nil after the last. A cancelled task gets a last chunk with what has come.
    mutating func next() async throws(AIError) -> GenerationChunk? {
        while true {
            if !ready.isEmpty { return ready.removeFirst() }
            if let failure {
                self.failure = nil
                isEnded = true
                throw withPartial(failure)
            }
            guard !isEnded else { return nil }
            do throws(AIError) { try await advance() } catch {
                guard error.code != .cancelled else {
                    isEnded = true
                    return accumulator.cancelledChunk()
                }
                failure = error
            }
        }
    }

    private mutating func advance() async throws(AIError) {
        guard let answer else { return try await open() }
        let bytes: [UInt8]?
        do throws(AIError) { bytes = try await answer.next(since: lastEvent) } catch {
            // After the reason for its end an answer is whole, whatever happens to the connection.
            guard accumulator.finishReason != nil, error.code != .cancelled else { throw error }
            return try finish()
        }
        guard let bytes else { return try ended() }
        for event in try parser.take(bytes) {
            lastEvent = Clock.seconds
            if try take(event) { return try finish() }
        }
    }

    private mutating func open() async throws(AIError) {
        let deadline = Deadline(chunks.client.limits)
        let answer = try await chunks.client.send(chunks.call, by: deadline)
        accumulator.servedBy = answer.servedBy ?? chunks.servedBy
        lastEvent = Clock.seconds
        let type = answer.mediaType
        if type == "text/event-stream" {
            self.answer = answer
            return
        }
        // Some name no type, or a wrong one: the first byte tells.
        var beginning: [UInt8] = []
        while !beginning.contains(where: { $0 > 0x20 }), let bytes = try await answer.next(since: lastEvent) {
            beginning += bytes
        }
        let first = beginning.first { $0 > 0x20 }
        let isDocument = first == UInt8(ascii: "{") || first == UInt8(ascii: "<") || type.contains("json")
        guard isDocument || type.contains("html") else {
            self.answer = answer
            for event in try parser.take(beginning) where try take(event) { return try finish() }
            return
        }
        let body = beginning + (try await answer.body(limit: 64 << 20))
        try takeDocument(try answer.json(of: body), answer, body)
    }

    /// An answer in one piece.
    private mutating func takeDocument(_ json: JSON, _ answer: RemoteAnswer, _ body: [UInt8]) throws(AIError) {
        if let error = chunks.client.fault.error(in: json) { throw error }
        guard json["choices"]?.array?.isEmpty == false else {
            throw answer.unexpected(body, "JSON that holds no answer")
        }
        ready += accumulator.take(json)
        try finish()
    }

    /// Whether the event ends the stream.
    private mutating func take(_ event: SSEParser.Event) throws(AIError) -> Bool {
        let data = event.data.trimmed
        if data.hasPrefix("[DONE]") { return true }
        guard !data.isEmpty else { return false }
        let json: JSON
        do { json = try JSON.parse(Array(data.utf8), mostWords: 1 << 20) } catch {
            throw AIError(
                .protocolViolation, "\(chunks.client.name) sends an event that is \(error.description)",
                advice: "try again, or choose another provider")
        }
        if let error = chunks.client.fault.error(in: json, code: .streamInterrupted) { throw error }
        if event.name == "error" {
            throw AIError(
                .streamInterrupted,
                "\(chunks.client.name) reports an error: \((RemoteFault.words(json) ?? data).printable)")
        }
        ready += accumulator.take(json)
        return false
    }

    /// The end of the connection.
    private mutating func ended() throws(AIError) {
        let isDone = parser.unclosed?.trimmed.hasPrefix("[DONE]") ?? false
        guard isDone || accumulator.finishReason != nil || accumulator.isEmpty else {
            throw AIError(
                .streamInterrupted, "\(chunks.client.name) ended the stream before the end of the answer")
        }
        try finish()
    }

    private mutating func finish() throws(AIError) {
        guard accumulator.finishReason != nil || !accumulator.isEmpty else {
            throw AIError(.streamInterrupted, "\(chunks.client.name) ended the stream without an answer")
        }
        isEnded = true
        ready.append(try accumulator.lastChunk())
    }

    private func withPartial(_ error: AIError) -> AIError {
        guard !accumulator.isEmpty, error.cause == nil else { return error }
        var error = error
        error.cause = accumulator.partial
        return error
    }
}
