import HubServer

/// The addresses of the API.
struct APIRoutes: Sendable {
    struct Route: Sendable {
        var method: String
        /// The name in metrics.
        var name: String
        /// Whether it changes what is on this machine.
        var changes = false
        var answer: @Sendable (HTTPRequest) throws(APIFault) -> HTTPResponse
    }

    /// By path, without the slash at the beginning.
    private var routes: [String: Route] = [:]
    /// What begins the paths of models.
    private let models = "v1/models"
    private let openAI: OpenAICalls

    init(_ shelf: Shelf, _ runner: TurnRunner) {
        openAI = OpenAICalls(shelf: shelf, runner: runner)
        addOpenAI(shelf, runner)
        addOllama(shelf, runner)
        let other = "no model here does that yet"
        for path in [
            "v1/messages", "v1/messages/count_tokens", "v1/audio/transcriptions", "v1/audio/translations",
            "v1/audio/speech", "v1/images/generations", "v1/images/edits", "v1/images/variations", "v1/moderations",
        ] {
            routes[path] = Route(method: "POST", name: "unsupported") { _ throws(APIFault) in
                throw .notSupported("/\(path): \(other)")
            }
        }
        for path in ["api/create", "api/copy", "api/push"] {
            routes[path] = Route(method: "POST", name: "unsupported") { _ throws(APIFault) in
                throw .notSupported("/\(path): models come from the Hub, and go to it with its own tools")
            }
        }
    }

    private mutating func addOpenAI(_ shelf: Shelf, _ runner: TurnRunner) {
        let (openAI, vectors) = (openAI, VectorCalls(shelf: shelf, runner: runner))
        let labels = LabelCalls(shelf: shelf, runner: runner)
        let (tokens, responses) = (TokenCalls(shelf: shelf, runner: runner), ResponsesCalls(calls: openAI))
        func add(
            _ path: String, _ name: String,
            _ answer: @escaping @Sendable (HTTPRequest) throws(APIFault) -> HTTPResponse
        ) {
            routes[path] = Route(method: "POST", name: name, answer: answer)
        }
        routes[models] = Route(method: "GET", name: "models", answer: openAI.models)
        add("v1/chat/completions", "chat", openAI.chat)
        add("v1/completions", "completions", openAI.complete)
        add("v1/responses", "responses", responses.respond)
        add("v1/embeddings", "embeddings", vectors.embeddings)
        add("embedding", "embeddings", vectors.embedding)
        add("embeddings", "embeddings", vectors.embedding)
        add("v1/rerank", "rerank", vectors.rerank)
        add("classify", "classify", labels.classify)
        add("v1/classify", "classify", labels.classify)
        add("tokenize", "tokenize", tokens.tokenize)
        add("detokenize", "detokenize", tokens.detokenize)
        add("apply-template", "apply-template", tokens.applyTemplate)
    }

    private mutating func addOllama(_ shelf: Shelf, _ runner: TurnRunner) {
        let (ollama, storage) = (
            OllamaCalls(shelf: shelf, runner: runner), OllamaStorage(shelf: shelf, pool: runner.pool)
        )
        routes["api/version"] = Route(method: "GET", name: "version", answer: ollama.version)
        routes["api/tags"] = Route(method: "GET", name: "tags", answer: ollama.tags)
        routes["api/ps"] = Route(method: "GET", name: "ps", answer: ollama.running)
        routes["api/show"] = Route(method: "POST", name: "show", answer: ollama.show)
        routes["api/chat"] = Route(method: "POST", name: "chat", answer: ollama.chat)
        routes["api/generate"] = Route(method: "POST", name: "generate", answer: ollama.generate)
        routes["api/embed"] = Route(method: "POST", name: "embeddings", answer: ollama.embed)
        routes["api/embeddings"] = Route(method: "POST", name: "embeddings", answer: ollama.embeddings)
        routes["api/pull"] = Route(method: "POST", name: "pull", changes: true, answer: storage.pull)
        routes["api/delete"] = Route(method: "DELETE", name: "delete", changes: true, answer: storage.delete)
    }

    /// Whether a path is the API's; the Hub's own `/api/models` is not.
    func knows(_ parts: [String]) -> Bool { parts.first == "v1" || routes[Self.path(parts)] != nil }

    func route(_ parts: [String]) -> Route? {
        let path = Self.path(parts)
        if let found = routes[path] { return found }
        guard path.hasPrefix(models + "/") else { return nil }
        return Route(method: "GET", name: "models") { [openAI, models] request throws(APIFault) in
            try openAI.model(String(path.dropFirst(models.count + 1)), request)
        }
    }

    /// The name of a path in metrics.
    func name(_ parts: [String]) -> String { parts == [""] ? "root" : route(parts)?.name ?? "other" }

    private static func path(_ parts: [String]) -> String { parts.joined(separator: "/") }
}
