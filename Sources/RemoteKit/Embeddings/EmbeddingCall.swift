import HubCore
import InferenceKit

/// Asks for the vectors of texts, in batches.
struct EmbeddingCall: Sendable {
    enum Form: Sendable {
        /// The Hub's own.
        case pipeline
        /// OpenAI's, with the model's name.
        case openAI(String)
    }

    let client: RemoteClient
    let address: String
    let form: Form
    /// The model, for errors.
    let model: String

    /// Servers of text-embeddings-inference take 32 texts and 2 MB at once; others may take less (413).
    private static let (mostTexts, mostBytes) = (32, 1 << 20)

    /// The vectors, in the order of the texts.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for options that the provider cannot be asked for.
    func run(_ texts: [String], _ options: EmbeddingOptions) async throws(AIError) -> [EmbeddingResult] {
        try check(texts, options)
        let deadline = Deadline(client.limits)
        var vectors: [[Float]] = []
        var rest = texts[...]
        while !rest.isEmpty {
            let batch = Self.batch(rest)
            vectors += try await ask(batch, options, deadline)
            rest = rest.dropFirst(batch.count)
        }
        guard Set(vectors.map(\.count)).count <= 1 else {
            throw violation("returns vectors of different lengths")
        }
        return vectors.map { EmbeddingResult(vector: options.normalizes ? Self.normalized($0) : $0) }
    }

    private func check(_ texts: [String], _ options: EmbeddingOptions) throws(AIError) {
        guard !texts.contains("") else { throw AIError(.invalidInput, "a text is empty") }
        if case .openAI = form, options.promptName != nil {
            throw AIError(
                .invalidInput, "\(client.name) cannot be given the name of a prompt",
                advice: "write the prompt before the texts")
        }
        if let count = options.dimensions, count < 1 {
            throw AIError(.invalidInput, "the number of dimensions must be at least 1, not \(count)")
        }
    }

    private static func batch(_ texts: ArraySlice<String>) -> [String] {
        var bytes = 0
        var batch: [String] = []
        for text in texts.prefix(mostTexts) {
            bytes += text.utf8.count
            if bytes > mostBytes, !batch.isEmpty { break }
            batch.append(text)
        }
        return batch
    }

    /// A batch that is too large for the server is halved: nothing was computed for it.
    private func ask(_ texts: [String], _ options: EmbeddingOptions, _ deadline: Deadline) async throws(AIError)
        -> [[Float]]
    {
        do throws(AIError) {
            let json = try await client.json(.post(address, body(texts, options), model: model), by: deadline)
            return try EmbeddingAnswer(name: client.name, count: texts.count).vectors(json)
        } catch {
            guard error.code == .requestTooLarge, texts.count > 1 else { throw error }
            let half = texts.count / 2
            let first = try await ask(Array(texts[..<half]), options, deadline)
            return first + (try await ask(Array(texts[half...]), options, deadline))
        }
    }

    private func body(_ texts: [String], _ options: EmbeddingOptions) -> JSON {
        let dimensions = options.dimensions.map { JSON.int(Int64($0)) }
        switch form {
        case .pipeline:
            return .object([
                "inputs": .array(texts.map { .string($0) }), "normalize": options.normalizes ? true : nil,
                "prompt_name": options.promptName.map { .string($0) }, "dimensions": dimensions,
            ])
        case .openAI(let model):
            return .object([
                "model": .string(model), "input": .array(texts.map { .string($0) }), "encoding_format": "float",
                "dimensions": dimensions,
            ])
        }
    }

    private static func normalized(_ vector: [Float]) -> [Float] {
        let length = vector.reduce(0.0) { $0 + Double($1) * Double($1) }.squareRoot()
        return length > 0 ? vector.map { Float(Double($0) / length) } : vector
    }

    private func violation(_ what: String) -> AIError {
        AIError(.protocolViolation, "\(client.name) \(what)", context: .init(repository: model))
    }
}
