import HubCore
import HubMedia
import InferenceKit

/// What a model says of pictures.
extension TryCommand {
    static func see(
        _ files: [String], _ target: ModelPlace, _ request: Request, _ report: inout TryReport, _ context: Context
    ) async throws {
        // A file that cannot be read is reported before a weight is.
        var first: Picture?
        if request.index != nil {
            try await checkFiles(files, context)
        } else if let file = files.first {
            first = try await picture(file, context)
        }
        let folder = try await ModelFolder.read(target.path)
        report.read = folder.inspection
        context.output.document(report.json)
        let needsTexts = request.query != nil || !request.labels.isEmpty
        guard folder.sees else {
            throw AIError(
                .unsupportedModel, "\(report.id) reads no pictures",
                advice:
                    "hub search --task \(needsTexts ? "zero-shot-image-classification" : "image-classification") --runs finds models that do"
            )
        }
        if let flag = request.generating.first {
            throw AIError(.invalidInput, "--\(flag) is for models that generate text")
        }
        guard !needsTexts || folder.readsTexts else { throw readsNoText(request, report) }
        if let tasks = request.tasks, !tasks.contains(.imageClassification) { throw sees(request, report) }
        try await checkParts(folder, request, report, context)
        let model = try await pictureModel(folder, request.options, target, context)
        report.opening = SmokeTest.openingChecks(model)
        context.output.document(report.json)
        if model.task == .objectDetection {
            try await find(files, first, model, request, &report, context)
        } else if model.task.seesParts {
            try await map(files, first, model, request, &report, context)
        } else if let query = request.query {
            let ranking = try await rank(files, first, for: query, model, request, target, &report, context)
            report.answer = (query, .ranking(ranking))
            report.ranksPictures = true
        } else {
            try await label(files, first, model, request, &report, context)
        }
        report.show(context)
    }

    /// Opens a model that sees.
    static func pictureModel(
        _ folder: ModelFolder, _ options: ModelOptions, _ place: ModelPlace, _ context: Context
    ) async throws -> PictureModel {
        do throws(AIError) { return try await folder.openPictureModel(options) } catch {
            throw try ModelPlace.refusal(of: place, folder.inspection, because: error, context)
        }
    }

    /// Labels or vectors of pictures.
    private static func label(
        _ files: [String], _ first: Picture?, _ model: PictureModel, _ request: Request,
        _ report: inout TryReport, _ context: Context
    ) async throws {
        var tried: TriedLabels?
        if !request.labels.isEmpty {
            tried = try await model.labels(
                request.labels, template: request.labelTemplate ?? PictureModel.labelTemplate)
        }
        for (place, file) in files.enumerated() {
            let picture = if place == 0, let first { first } else { try await picture(file, context) }
            if let tried {
                report.pictures.append((file, try await model.classify([picture], as: tried)[0]))
                continue
            }
            if model.labels.isEmpty, request.tasks != nil { throw hasNoLabels(model, request, report) }
            if model.labels.isEmpty || request.task == .imageEmbedding {
                report.embeddings.append((file, try await model.embed([picture])[0]))
            } else {
                report.pictures.append((file, try await model.classify([picture])[0]))
            }
        }
    }

    /// Pictures by the cosine of their vectors with that of a text, the nearest first.
    private static func rank(
        _ files: [String], _ first: Picture?, for query: String, _ model: PictureModel, _ request: Request,
        _ place: ModelPlace, _ report: inout TryReport, _ context: Context
    ) async throws -> [RankedText] {
        let wanted = try await model.embed(texts: [query], options: request.embedding)[0]
        if let index = request.index, files.isEmpty {
            let (ranking, changes) = try await rank(index: index, by: wanted, model, place, context)
            report.index = changes.json(index)
            return ranking
        }
        let (seen, changes) = try await vectors(of: files, first, model, index: request.index, place, context)
        report.index = changes.map { $0.json(request.index ?? "") }
        let ranked = try seen.enumerated().map { number, found in
            let vector = try found.vector.shortened(to: request.embedding.dimensions)
            return RankedText(index: number, text: found.file, score: vector.cosineSimilarity(to: wanted) ?? 0)
        }
        return ranked.sorted { ($1.score, $0.index) < ($0.score, $1.index) }
    }

    /// Pictures are large, so they are read one after the other.
    static func picture(_ file: String, _ context: Context) async throws -> Picture {
        let (bytes, _) = try await context.input(file, limit: PictureLimits().fileBytes)
        return try await Blocking.run { try PictureFile.read(bytes, name: file) }
    }

    // MARK: What cannot be done

    /// What is asked of a model that reads pictures alone.
    static func sees(_ request: Request, _ report: TryReport) -> AIError {
        AIError(
            .unsupportedModel, "\(report.id) reads pictures, and no text",
            advice: ModelTask.imageClassification.example(request.model, mask: nil))
    }

    /// Labels or a query for a model of pictures alone.
    private static func readsNoText(_ request: Request, _ report: TryReport) -> AIError {
        AIError(
            .unsupportedModel,
            "\(report.id) reads pictures, and no text: it takes no \(request.query == nil ? "labels" : "query")",
            advice: "hub search --task zero-shot-image-classification --runs finds models that take them")
    }

    private static func hasNoLabels(_ model: PictureModel, _ request: Request, _ report: TryReport) -> AIError {
        guard model.takesLabels else {
            return AIError(
                .unsupportedModel, "\(report.id) has no labels: it \(model.task.purpose)",
                advice: model.task.example(request.model, mask: nil))
        }
        return AIError(
            .invalidInput, "\(report.id) has no labels of its own: it \(ModelTask.zeroShotImages.purpose)",
            advice: ModelTask.zeroShotImages.example(request.model, mask: nil))
    }
}
