import HubCore
import HubMedia
import InferenceKit

/// Objects in pictures.
extension TryCommand {
    /// Whether what was asked is what a model does, and whether a picture may be written; before a weight is read.
    static func checkObjects(
        _ folder: ModelFolder, _ request: Request, _ report: TryReport, _ context: Context
    ) async throws {
        guard folder.findsObjects else {
            for (isGiven, flag) in [(request.threshold != nil, "--threshold"), (request.output != nil, "-o")]
            where isGiven {
                throw AIError(
                    .unsupportedModel, "\(report.id) finds no objects in pictures, which \(flag) is about",
                    advice: "hub search --task \(ModelTask.objectDetection.rawValue) --runs finds models that do")
            }
            return
        }
        // `hub classify`, whose labels are of a picture as a whole.
        if request.tasks != nil {
            throw AIError(
                .unsupportedModel,
                "\(report.id) \(ModelTask.objectDetection.purpose); it gives a picture no labels as a whole",
                advice: ModelTask.objectDetection.example(request.model, mask: nil))
        }
        if let task = request.task, task != .objectDetection {
            throw AIError(
                .invalidInput,
                "--task \(task.rawValue) does not fit; \(report.id) \(ModelTask.objectDetection.purpose)",
                advice: ModelTask.objectDetection.example(request.model, mask: nil))
        }
        guard let file = request.output else { return }
        guard try MapFormat(file) == .png else {
            throw AIError(
                .invalidInput, "\(file.printable) does not end in .png",
                advice: "a picture with what was found on it is written as PNG: -o found.png")
        }
        try await ImageCommand.checkPlace(
            file, context.environment.expand(file), force: request.force, kept: "nothing was computed", context)
    }

    static func find(
        _ files: [String], _ first: Picture?, _ model: PictureModel, _ request: Request,
        _ report: inout TryReport, _ context: Context
    ) async throws {
        let threshold = request.threshold ?? PictureModel.objectThreshold
        for (place, file) in files.enumerated() {
            let picture = if place == 0, let first { first } else { try await picture(file, context) }
            let objects = try await model.objects(picture, threshold: threshold)
            report.found.append((file, objects))
            guard let output = request.output else { continue }
            let path = context.environment.expand(output)
            let boxes = objects.map { $0.drawn(model.labels) }
            try await Blocking.run { try FileSystem.replace(path, with: try picture.drawing(boxes).png()) }
            report.drawn = path
        }
    }
}

extension FoundObject {
    /// Its rectangle, in the colour of its label.
    fileprivate func drawn(_ labels: [String]) -> DrawnBox {
        DrawnBox(
            left: box.left, top: box.top, right: box.right, bottom: box.bottom,
            text: "\(label) \(TryReport.hundredths(score))", color: labels.firstIndex(of: label) ?? 0)
    }
}
