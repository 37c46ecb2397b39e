import HubCore
import HubServer
import InferenceKit

/// Calls for vectors and scores.
struct VectorCalls: Sendable {
    let shelf: Shelf
    let runner: TurnRunner

    /// `/v1/embeddings`
    func embeddings(_ request: HTTPRequest) throws(APIFault) -> HTTPResponse {
        let fields = try Fields(request)
        let asked = try EmbeddingRequest(fields, try ModelInput.inputs(fields, "input"))
        let format = try fields.string("encoding_format") ?? "float"
        guard ["float", "base64"].contains(format) else {
            throw .invalid("'encoding_format' must be float or base64", param: "encoding_format")
        }
        return try Whole.answer(for: request) {
            let results = try await asked.run(shelf, runner)
            return .json(
                .object([
                    "object": "list", "model": asked.model.map { .string($0) },
                    "data": .array(
                        results.enumerated().map { number, result in
                            .object([
                                "object": "embedding", "index": .int(Int64(number)),
                                "embedding": Self.vector(result.vector, format),
                            ])
                        }), "usage": Self.usage(results.reduce(0) { $0 + $1.tokenCount }),
                ]))
        }
    }

    /// llama.cpp's `/embedding` and `/embeddings`: of length 1 unless it is asked for otherwise, and without `model` of
    /// the only one that is open. https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
    func embedding(_ request: HTTPRequest) throws(APIFault) -> HTTPResponse {
        let fields = try Fields(request)
        var asked = try EmbeddingRequest(
            fields, try ModelInput.inputs(fields, "content", "input"), needsModel: false)
        switch try fields.number("embd_normalize", in: -1...1e9) {
        case nil, 2: asked.options.normalizes = true
        case -1: asked.options.normalizes = false
        default:
            throw .invalid(
                "'embd_normalize' can be 2, for length 1, and -1, for vectors as they are", param: "embd_normalize",
                code: "unsupported_value")
        }
        return try Whole.answer(for: request) { [asked] in
            let results = try await asked.run(shelf, runner)
            return .json(
                .array(
                    results.enumerated().map { number, result in
                        .object([
                            "index": .int(Int64(number)),
                            "embedding": .array([Self.vector(result.vector, "float")]),
                        ])
                    }))
        }
    }

    private static func usage(_ tokens: Int) -> JSON {
        .object(["prompt_tokens": .int(Int64(tokens)), "total_tokens": .int(Int64(tokens))])
    }

    /// Numbers, or their float32 in little-endian order as base64.
    private static func vector(_ vector: [Float], _ format: String) -> JSON {
        guard format == "base64" else { return .array(vector.map { .double(Double($0)) }) }
        let bytes = vector.flatMap { number in withUnsafeBytes(of: number.bitPattern.littleEndian) { Array($0) } }
        return .string(Base64.text(bytes))
    }

    // MARK: Ranking

    /// `/v1/rerank`: by a reranker's scores, or by cosine with a model that has vectors; of pictures always by cosine.
    func rerank(_ request: HTTPRequest) throws(APIFault) -> HTTPResponse {
        let fields = try Fields(request)
        let name = try fields.model()
        let query = try ModelInput.input(try fields.required("query", fields["query"]), "query")
        let documents = try Self.documents(fields)
        let most = try fields.int("top_n", from: 1) ?? documents.count
        let returnsDocuments = try fields.bool("return_documents") ?? false
        let keepAlive = try fields.keepAlive()
        let sees = query.isPicture || documents.contains(where: \.isPicture)
        return try Whole.answer(for: request) {
            let cached = try await shelf.model(name)
            let ranked = try await runner.slots.with(1) {
                try await runner.pool.with(cached, keepAlive: keepAlive, seeing: sees) { model in
                    try await Self.rank(documents, for: query, model)
                }
            }
            let results = ranked.prefix(most).map { place, score in
                let text = returnsDocuments ? documents[place].text : nil
                return JSON.object([
                    "index": .int(Int64(place)), "relevance_score": .double(score),
                    "document": text.map { .object(["text": .string($0)]) },
                ])
            }
            return .json(.object(["object": "list", "model": .string(name), "results": .array(results)]))
        }
    }

    /// Texts, pictures, or vLLM's one object whose `content` has a document a part.
    private static func documents(_ fields: Fields) throws(APIFault) -> [ModelInput] {
        let value = try fields.required("documents", fields["documents"])
        var documents: [ModelInput] = []
        if let content = value["content"] {
            documents = try ModelInput.parts(content, "documents.content")
        } else {
            for (number, json) in (try fields.array("documents") ?? []).enumerated() {
                documents.append(try ModelInput.input(json, "documents[\(number)]"))
            }
        }
        try ModelInput.check(documents, "documents")
        return documents
    }

    /// The places of documents and their scores, the best first.
    private static func rank(
        _ documents: [ModelInput], for query: ModelInput, _ model: OpenModel
    ) async throws -> [(place: Int, score: Double)] {
        let texts = documents.compactMap(\.text)
        if let words = query.text, texts.count == documents.count {
            return try await model.language.rank(texts, for: words).map { ($0.index, $0.score) }
        }
        let vectors = try await model.vectors(of: [query] + documents, EmbeddingOptions())
        let index = try EmbeddingIndex(vectors.dropFirst())
        return try index.nearest(to: vectors[0], count: documents.count).map { ($0.index, $0.cosine) }
    }
}
