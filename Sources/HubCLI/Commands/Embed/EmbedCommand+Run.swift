import HubCore
import InferenceKit

extension EmbedCommand {
    static func run(_ context: Context, _ request: Request) async throws {
        let texts = request.texts + (try await TryCommand.texts(request.file, context))
        guard !texts.isEmpty else {
            throw AIError(.invalidInput, "\((request.file ?? "").printable) has no text to embed")
        }
        let (source, reasons) = try await ModelSource.choose(request.wish, context)
        reasons.tell(context.output)
        context.output.document(["model": .string(source.name), "provider": .string(source.label)])
        let vectors = try await vectors(of: texts, source, request, context)
        context.output.render(
            json: json(vectors, source), quiet: vectors.map { $0.vector.map { "\($0)" }.joined(separator: " ") }
        ) {
            for (text, result) in zip(texts, vectors) { TryReport.show(result, of: text, context.output) }
        }
    }

    private static func vectors(
        of texts: [String], _ source: ModelSource, _ request: Request, _ context: Context
    ) async throws -> [EmbeddingResult] {
        switch source {
        case .remote(let model):
            if let flag = request.computing {
                throw AIError(
                    .invalidInput, "--\(flag) is about computing on this machine, and \(model.label) answers",
                    advice: "leave it out, or write --provider local")
            }
            return try await model.provider.embed(texts, options: request.options)
        case .local(let place):
            if request.wish.timeout != nil {
                throw AIError(
                    .invalidInput, "--timeout is about a provider's answer, and this machine answers",
                    advice: "leave it out")
            }
            let model = try await place.open(request.wish.demand, context)
            guard model.embeds else {
                throw AIError(
                    .unsupportedModel, "\(place.id) \(model.task.purpose); it does not turn texts into vectors",
                    advice: "hub search --task sentence-similarity finds models that do",
                    context: .init(path: place.path))
            }
            return try await model.embed(texts, options: request.options)
        }
    }

    private static func json(_ vectors: [EmbeddingResult], _ source: ModelSource) -> JSONObject {
        [
            "model": .string(source.name), "provider": .string(source.label),
            "dimensions": vectors.first.map { .int(Int64($0.dimensions)) },
            "embeddings": .array(vectors.map { .array($0.vector.map { .double(Double($0)) }) }),
        ]
    }
}
