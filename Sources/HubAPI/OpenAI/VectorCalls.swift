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
        let asked = try EmbeddingRequest(fields, try Self.texts(fields))
        let format = try fields.string("encoding_format") ?? "float"
        guard ["float", "base64"].contains(format) else {
            throw .invalid("'encoding_format' must be float or base64", param: "encoding_format")
        }
        return try Whole.answer(for: request) {
            let results = try await asked.run(shelf, runner)
            let tokens = JSON.int(Int64(results.reduce(0) { $0 + $1.tokenCount }))
            return .json(
                .object([
                    "object": "list", "model": .string(asked.model),
                    "data": .array(
                        results.enumerated().map { number, result in
                            .object([
                                "object": "embedding", "index": .int(Int64(number)),
                                "embedding": Self.vector(result.vector, format),
                            ])
                        }), "usage": .object(["prompt_tokens": tokens, "total_tokens": tokens]),
                ]))
        }
    }

    private static func texts(_ fields: Fields) throws(APIFault) -> [String] {
        // Some clients send ids of another model's tokenizer, which would make wrong vectors without a word.
        if fields.hasTokenIDs("input") {
            throw .invalid(
                "'input' must be text: ids of tokens are not taken (LangChain: check_embedding_ctx_length=False)",
                param: "input")
        }
        let texts = try fields.required("input", try fields.strings("input"))
        guard !texts.isEmpty else { throw .invalid("'input' is empty", param: "input") }
        return texts
    }

    /// Numbers, or their float32 in little-endian order as base64.
    private static func vector(_ vector: [Float], _ format: String) -> JSON {
        guard format == "base64" else { return .array(vector.map { .double(Double($0)) }) }
        let bytes = vector.flatMap { number in withUnsafeBytes(of: number.bitPattern.littleEndian) { Array($0) } }
        return .string(Base64.text(bytes))
    }

    /// `/v1/rerank`: by a reranker's scores, or by cosine with an embedding model.
    func rerank(_ request: HTTPRequest) throws(APIFault) -> HTTPResponse {
        let fields = try Fields(request)
        let name = try fields.model()
        let query = try fields.required("query", try fields.string("query"))
        var documents: [String] = []
        for document in try fields.required("documents", try fields.array("documents")) {
            guard let text = document.string ?? document["text"]?.string else {
                throw .invalid("'documents' must be texts", param: "documents")
            }
            documents.append(text)
        }
        guard !documents.isEmpty else { throw .invalid("'documents' is empty", param: "documents") }
        let most = try fields.int("top_n", from: 1) ?? documents.count
        let returnsDocuments = try fields.bool("return_documents") ?? false
        let keepAlive = try fields.keepAlive()
        return try Whole.answer(for: request) { [documents] in
            let cached = try await shelf.model(name)
            let ranked = try await runner.slots.with(1) {
                try await runner.pool.with(cached, keepAlive: keepAlive) { model in
                    try await model.language.rank(documents, for: query)
                }
            }
            let results = ranked.prefix(most).map { text in
                JSON.object([
                    "index": .int(Int64(text.index)), "relevance_score": .double(text.score),
                    "document": returnsDocuments ? .object(["text": .string(text.text)]) : nil,
                ])
            }
            return .json(.object(["object": "list", "model": .string(name), "results": .array(results)]))
        }
    }
}
