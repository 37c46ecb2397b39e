import HubCore
import HubTokenizers
import InferenceKit

/// Texts that are to become vectors.
struct EmbeddingRequest: Sendable {
    var model: String
    var texts: [String]
    var options: EmbeddingOptions
    var keepAlive: KeepAlive?
    /// Whether a text that is too long is cut.
    var cuts: Bool

    init(_ fields: Fields, _ texts: [String]) throws(APIFault) {
        model = try fields.required("model", try fields.string("model", "name"))
        self.texts = texts
        options = EmbeddingOptions(
            promptName: try fields.string("prompt_name"), dimensions: try fields.int("dimensions", from: 1))
        keepAlive = try fields.keepAlive()
        cuts = try fields.bool("truncate") ?? true
    }

    /// The vectors, in the order of the texts.
    func run(_ shelf: Shelf, _ runner: TurnRunner) async throws -> [EmbeddingResult] {
        let cached = try await shelf.model(model)
        return try await runner.slots.with(1) {
            try await runner.pool.with(cached, keepAlive: keepAlive) { model in
                guard model.language.embeds else {
                    throw APIFault.invalid(
                        "\(cached.id) does not turn texts into vectors: it is for \(model.language.task.rawValue)",
                        param: "model", code: "unsupported_model")
                }
                if !cuts { try check(model) }
                guard !texts.isEmpty else { return [] }
                let results = try await model.language.embed(texts, options: options)
                runner.counters.read(results.reduce(0) { $0 + $1.tokenCount })
                return results
            }
        }
    }

    private func check(_ model: OpenModel) throws {
        let most = min(model.language.context, model.language.tokenizer.maxTokens ?? .max)
        for (number, text) in texts.enumerated() {
            let count = try model.language.tokenizer.encode(text).count
            guard count <= most else {
                throw APIFault.invalid(
                    "This model's maximum context length is \(most) tokens, but text \(number) has \(count) tokens",
                    param: "input", code: "context_length_exceeded")
            }
        }
    }
}
