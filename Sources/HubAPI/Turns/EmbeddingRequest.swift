import HubCore
import HubTokenizers
import InferenceKit

/// Texts and pictures that are to become vectors.
struct EmbeddingRequest: Sendable {
    /// Nil where the protocol allows that: the only model that is open.
    var model: String?
    var inputs: [ModelInput]
    var options: EmbeddingOptions
    var keepAlive: KeepAlive?
    /// Whether a text that is too long is cut.
    var cuts: Bool

    /// - Parameter needsModel: whether the request must name a model.
    init(_ fields: Fields, _ inputs: [ModelInput], needsModel: Bool = true) throws(APIFault) {
        let name = try fields.string("model", "name")
        model = needsModel ? try fields.required("model", name) : name
        self.inputs = inputs
        options = EmbeddingOptions(
            promptName: try fields.string("prompt_name"), dimensions: try fields.int("dimensions", from: 1))
        for key in ["normalize", "normalized"] {
            if let normalizes = try fields.bool(key) { options.normalizes = normalizes }
        }
        keepAlive = try fields.keepAlive()
        cuts = try fields.bool("truncate") ?? true
    }

    /// The vectors, in the order of the inputs.
    func run(_ shelf: Shelf, _ runner: TurnRunner) async throws -> [EmbeddingResult] {
        let cached = try await runner.model(model, of: shelf)
        return try await runner.slots.with(1) {
            try await runner.pool.with(
                cached, keepAlive: keepAlive, seeing: inputs.contains(where: \.isPicture)
            ) { model in
                if !cuts { try check(model) }
                let results = try await model.vectors(of: inputs, options)
                runner.counters.read(results.reduce(0) { $0 + $1.tokenCount })
                return results
            }
        }
    }

    private func check(_ model: OpenModel) throws {
        let language = try model.language
        let most = min(language.context, language.tokenizer.maxTokens ?? .max)
        for (number, text) in inputs.map(\.text).enumerated() {
            guard let text else { continue }
            let count = try language.tokenizer.encode(text).count
            guard count <= most else {
                throw APIFault.invalid(
                    "This model's maximum context length is \(most) tokens, but text \(number) has \(count) tokens",
                    param: "input", code: "context_length_exceeded")
            }
        }
    }
}
