import HubCore
import HubMedia
import InferenceKit

/// What a model says of pictures.
extension TryCommand {
    static func see(
        _ files: [String], _ target: ModelPlace, _ request: Request, _ report: inout TryReport, _ context: Context
    ) async throws {
        // A file that cannot be read is reported before a weight is.
        let first = try await picture(files[0], context)
        let folder = try await ModelFolder.read(target.path)
        report.read = folder.inspection
        context.output.document(report.json)
        guard folder.sees else {
            throw AIError(
                .unsupportedModel, "\(report.id) reads no pictures",
                advice: "hub search --task image-classification --runs finds models that do")
        }
        if let flag = request.generating.first {
            throw AIError(.invalidInput, "--\(flag) is for models that generate text")
        }
        if let tasks = request.tasks, !tasks.contains(.imageClassification) {
            throw sees(request, report)
        }
        let model: PictureModel
        do throws(AIError) { model = try await folder.openPictureModel(request.options) } catch {
            throw try ModelPlace.refusal(of: target, folder.inspection, because: error, context)
        }
        report.opening = SmokeTest.openingChecks(model)
        context.output.document(report.json)
        for (place, file) in files.enumerated() {
            let picture = place == 0 ? first : try await picture(file, context)
            if model.labels.isEmpty, request.tasks != nil {
                throw AIError(
                    .unsupportedModel, "\(report.id) has no labels: it \(ModelTask.imageEmbedding.purpose)",
                    advice: ModelTask.imageEmbedding.example(request.model, mask: nil))
            }
            if model.labels.isEmpty || request.task == .imageEmbedding {
                report.embeddings.append((file, try await model.embed([picture])[0]))
            } else {
                report.pictures.append((file, try await model.classify([picture])[0]))
            }
        }
        report.show(context)
    }

    /// Pictures are large, so they are read one after the other.
    static func picture(_ file: String, _ context: Context) async throws -> Picture {
        let (bytes, _) = try await context.input(file, limit: PictureLimits().fileBytes)
        return try await Blocking.run { try PictureFile.read(bytes, name: file) }
    }

    /// What is asked of a model that reads pictures alone.
    static func sees(_ request: Request, _ report: TryReport) -> AIError {
        AIError(
            .invalidInput, "\(report.id) reads pictures, and no text",
            advice: ModelTask.imageClassification.example(request.model, mask: nil))
    }
}
