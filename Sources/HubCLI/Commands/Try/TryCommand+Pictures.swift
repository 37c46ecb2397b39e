import HubCore
import HubMedia
import InferenceKit

/// What a model says of pictures.
extension TryCommand {
    static func see(
        _ files: [String], _ target: ModelPlace, _ request: Request, _ report: inout TryReport, _ context: Context
    ) async throws {
        // A file that cannot be read is reported before a weight is.
        let pictures = try await pictures(files, context)
        let folder = try await ModelFolder.read(target.path)
        report.read = folder.inspection
        context.output.document(report.json)
        guard folder.sees else {
            throw AIError(
                .invalidInput, "\(report.id) reads no pictures",
                advice: "hub search --task image-classification --runs finds models that do")
        }
        if let flag = request.generating.first {
            throw AIError(.invalidInput, "--\(flag) is for models that generate text")
        }
        do throws(AIError) {
            let model = try await folder.openPictureModel(request.options)
            report.opening = SmokeTest.openingChecks(model)
            context.output.document(report.json)
            if model.labels.isEmpty || request.task == .imageEmbedding {
                report.embeddings = zip(files, try await model.embed(pictures)).map { ($0, $1) }
            } else {
                report.pictures = zip(files, try await model.classify(pictures)).map { ($0, $1) }
            }
        } catch {
            throw try ModelPlace.refusal(of: target, folder.inspection, because: error, context)
        }
        report.show(context)
    }

    /// Pictures in the order of their files.
    static func pictures(_ files: [String], _ context: Context) async throws -> [Picture] {
        var pictures: [Picture] = []
        for file in files {
            let (bytes, _) = try await context.input(file)
            pictures.append(try await Blocking.run { try PictureFile.read(bytes, name: file) })
        }
        return pictures
    }

    /// What is asked of a model that reads pictures alone.
    static func sees(_ request: Request, _ report: TryReport) -> AIError {
        AIError(
            .invalidInput, "\(report.id) reads pictures, and no text",
            advice: ModelTask.imageClassification.example(request.model, mask: nil))
    }
}
