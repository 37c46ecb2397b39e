import HubCore
import HubServer
import InferenceKit

/// The calls of Ollama's protocol.
struct OllamaCalls: Sendable {
    /// The release whose protocol this is.
    private static let version = "0.12.0"

    let shelf: Shelf
    let runner: TurnRunner

    func tags(_ request: HTTPRequest) throws(APIFault) -> HTTPResponse {
        try Whole.answer(for: request) { .json(OllamaModels.tags(try await shelf.models())) }
    }

    func running(_ request: HTTPRequest) throws(APIFault) -> HTTPResponse {
        try Whole.answer(for: request) { .json(OllamaModels.running(await runner.pool.entries())) }
    }

    func version(_ request: HTTPRequest) -> HTTPResponse { .json(.object(["version": .string(Self.version)])) }

    func show(_ request: HTTPRequest) throws(APIFault) -> HTTPResponse {
        let fields = try Fields(request)
        let name = try fields.required("model", try fields.string("model", "name"))
        return try Whole.answer(for: request) {
            let model = try await shelf.model(name, isUse: false)
            return .json(try await model.read(OllamaModels.show))
        }
    }

    // MARK: Text

    func chat(_ request: HTTPRequest) throws(APIFault) -> HTTPResponse {
        let asked = try OllamaRequest(chat: try Fields(request))
        return try answer(request, .chat, isStream: asked.isStream) { _ in asked }
    }

    func generate(_ request: HTTPRequest) throws(APIFault) -> HTTPResponse {
        let fields = try Fields(request)
        return try answer(request, .generate, isStream: try fields.bool("stream") ?? true) { model in
            let talks = try await model.read { try ChatAbilities(model: $0.path) != nil }
            return try OllamaRequest(generate: fields, talks: talks)
        }
    }

    private func answer(
        _ request: HTTPRequest, _ form: OllamaAnswer.Form, isStream: Bool,
        _ read: @escaping @Sendable (CachedModel) async throws -> OllamaRequest
    ) throws(APIFault) -> HTTPResponse {
        let fields = try Fields(request)
        let name = try fields.required("model", try fields.string("model", "name"))
        @Sendable func run(_ send: @escaping @Sendable (JSON) -> Void) async throws -> JSON {
            let cached = try await shelf.model(name)
            let asked = try await read(cached)
            var answer = OllamaAnswer(form, model: name, logprobs: asked.logprobs)
            guard let turn = asked.turn(cached) else { return try await open(cached, asked, answer) }
            answer.opens = !(await runner.pool.isOpen(cached.path))
            let results = try await runner.run(turn) { [answer] model, _, chunk in
                guard isStream else { return answer.note(model, chunk) }
                if let line = answer.line(model, chunk) { send(line) }
            }
            if isStream, let calls = try answer.calls(results[0]) { send(calls) }
            return try answer.last(results[0], isWhole: !isStream)
        }
        guard isStream else { return try Whole.answer(for: request) { .json(try await run { _ in }) } }
        let feed = Feed(.lines, .ollama, client: request.connection)
        feed.write { feed in feed.send(try await run { feed.send($0) }) }
        // Lines know no comments: nothing is sent before there is something to say.
        return try feed.response(patience: nil)
    }

    /// Opens a model, or closes it, for a request that asks for no text.
    private func open(_ cached: CachedModel, _ asked: OllamaRequest, _ answer: OllamaAnswer) async throws -> JSON {
        if asked.keepAlive?.seconds == 0 {
            await runner.pool.unload(cached)
            return answer.loaded("unload")
        }
        try await runner.pool.with(cached, keepAlive: asked.keepAlive) { _ in }
        return answer.loaded("load")
    }

    // MARK: Vectors

    /// `/api/embed`
    func embed(_ request: HTTPRequest) throws(APIFault) -> HTTPResponse {
        let fields = try Fields(request)
        // Ollama's call has texts alone, and an empty list is none.
        let texts = try fields.required("input", try fields.strings("input"))
        let (start, asked) = (Clock.seconds, try EmbeddingRequest(fields, texts.map(ModelInput.text)))
        return try Whole.answer(for: request) {
            let results = try await asked.run(shelf, runner)
            return .json(
                .object([
                    "model": asked.model.map { .string($0) },
                    "embeddings": .array(results.map { .array($0.vector.map { .double(Double($0)) }) }),
                    "total_duration": OllamaTime.nanoseconds(Clock.seconds - start),
                    "load_duration": 0,
                    "prompt_eval_count": .int(Int64(results.reduce(0) { $0 + $1.tokenCount })),
                ]))
        }
    }

    /// `/api/embeddings`, the older call.
    func embeddings(_ request: HTTPRequest) throws(APIFault) -> HTTPResponse {
        let fields = try Fields(request)
        let text = try fields.required("prompt", try fields.string("prompt"))
        let asked = try EmbeddingRequest(fields, [.text(text)])
        return try Whole.answer(for: request) {
            let vector = try await asked.run(shelf, runner)[0].vector
            return .json(.object(["embedding": .array(vector.map { .double(Double($0)) })]))
        }
    }
}
