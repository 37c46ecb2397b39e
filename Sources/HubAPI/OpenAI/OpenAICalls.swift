import HubCore
import HubServer
import InferenceKit

/// The calls of OpenAI's protocol.
struct OpenAICalls: Sendable {
    let shelf: Shelf
    let runner: TurnRunner

    /// Seconds until a stream begins though nothing is known yet: from then on comments keep the client waiting, and an
    /// error is an event.
    private static let patience = 10.0

    func models(_ request: HTTPRequest) throws(APIFault) -> HTTPResponse {
        try Whole.answer(for: request) { .json(ModelList.list(try await shelf.models())) }
    }

    func model(_ name: String, _ request: HTTPRequest) throws(APIFault) -> HTTPResponse {
        try Whole.answer(for: request) { .json(ModelList.entry(try await shelf.model(name, isUse: false))) }
    }

    func chat(_ request: HTTPRequest) throws(APIFault) -> HTTPResponse {
        let asked = try ChatRequest(try Fields(request))
        return try generate(asked, ChatAnswer(asked), request)
    }

    func complete(_ request: HTTPRequest) throws(APIFault) -> HTTPResponse {
        let asked = try CompletionRequest(try Fields(request))
        return try generate(asked, CompletionAnswer(asked), request)
    }

    private func generate(_ asked: some GenerationRequest, _ answer: some GenerationAnswer, _ request: HTTPRequest)
        throws(APIFault) -> HTTPResponse
    {
        guard asked.isStream else {
            return try Whole.answer(for: request) {
                let turn = asked.turn(try await shelf.model(asked.model))
                return .json(answer.document(try await runner.run(turn) { answer.note($0, $1, $2) }))
            }
        }
        return try stream(request) { feed in
            let turn = asked.turn(try await shelf.model(asked.model))
            answer.end(try await runner.run(turn) { answer.send($0, $1, $2, to: feed) }, feed)
        }
    }

    /// An answer in events.
    func stream(
        _ request: HTTPRequest, _ body: @escaping @Sendable (Feed) async throws -> Void
    ) throws(APIFault) -> HTTPResponse {
        let feed = Feed(.events, .openAI, client: request.connection)
        feed.write(body)
        return try feed.response(patience: Self.patience)
    }
}

/// What a client asks a model to write.
protocol GenerationRequest: Sendable {
    var model: String { get }
    var isStream: Bool { get }
    func turn(_ cached: CachedModel) -> Turn
}

/// How it is answered: in one document, or in events.
protocol GenerationAnswer: Sendable {
    /// Takes from a piece what the document needs besides the results.
    func note(_ model: OpenModel, _ number: Int, _ chunk: GenerationChunk)
    func document(_ results: [GenerationResult]) -> JSON
    func send(_ model: OpenModel, _ number: Int, _ chunk: GenerationChunk, to feed: Feed)
    func end(_ results: [GenerationResult], _ feed: Feed)
}
