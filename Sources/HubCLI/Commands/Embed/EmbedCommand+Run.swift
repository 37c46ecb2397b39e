import HubCore
import HubMedia
import InferenceKit

extension EmbedCommand {
    static func run(_ context: Context, _ request: Request) async throws {
        let texts = request.texts + (try await TryCommand.texts(request.file, context))
        guard !texts.isEmpty || !request.attach.isEmpty else {
            throw AIError(.invalidInput, "\((request.file ?? "").printable) has no text to embed")
        }
        let (source, reasons) = try await ModelSource.choose(request.wish, context)
        reasons.tell(context.output)
        context.output.document(["model": .string(source.name), "provider": .string(source.label)])
        var (names, changes) = (texts, PictureIndex.Changes?.none)
        let vectors: [EmbeddingResult]
        if request.attach.isEmpty {
            vectors = try await self.vectors(of: texts, source, request, context)
        } else {
            (names, vectors, changes) = try await self.vectors(
                of: texts, pictures: request.attach, source, request, context)
        }
        var document = json(vectors, source)
        document["index"] = changes.map { $0.json(request.index ?? "") }
        context.output.render(
            json: document, quiet: vectors.map { $0.vector.map { "\($0)" }.joined(separator: " ") }
        ) {
            for (text, result) in zip(names, vectors) {
                TryReport.show(result, of: text, context.output)
            }
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
            try request.wish.checkLocal()
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

    /// Of texts, which a model that also reads them takes, then of pictures.
    private static func vectors(
        of texts: [String], pictures files: [String], _ source: ModelSource, _ request: Request, _ context: Context
    ) async throws -> (names: [String], [EmbeddingResult], PictureIndex.Changes?) {
        // A file that cannot be read is reported before a weight is.
        var first: Picture?
        if request.index == nil {
            first = try await TryCommand.picture(files[0], context)
        } else {
            try await TryCommand.checkFiles(files, context)
        }
        guard case .local(let place) = source else {
            throw AIError(
                .invalidInput, "pictures become vectors on this machine alone, and \(source.label) was asked",
                advice: "leave out --provider")
        }
        let folder = try await ModelFolder.read(place.path)
        guard folder.sees else {
            throw AIError(
                .unsupportedModel, "\(place.id) reads no pictures",
                advice: "hub search --task image-feature-extraction --runs finds models that do",
                context: .init(path: place.path))
        }
        guard texts.isEmpty || folder.readsTexts else {
            throw AIError(
                .unsupportedModel, "\(place.id) reads pictures, and no text",
                advice: "hub search --task zero-shot-image-classification --runs finds models with vectors of both")
        }
        try request.wish.checkLocal()
        let model = try await TryCommand.pictureModel(folder, request.wish.demand.options, place, context)
        let read = texts.isEmpty ? [] : try await model.embed(texts: texts, options: request.options)
        let (seen, changes) = try await TryCommand.vectors(
            of: files, first, model, index: request.index, place, context)
        let dimensions = request.options.dimensions
        let vectors = try seen.map { try $0.vector.shortened(to: dimensions) }
        return (texts + seen.map { $0.file }, read + vectors, changes)
    }

    private static func json(_ vectors: [EmbeddingResult], _ source: ModelSource) -> JSONObject {
        [
            "model": .string(source.name), "provider": .string(source.label),
            "dimensions": vectors.first.map { .int(Int64($0.dimensions)) },
            "embeddings": .array(vectors.map { .array($0.vector.map { .double(Double($0)) }) }),
        ]
    }
}
