import HubCore
import HubMedia
import InferenceKit

/// Objects in pictures.
extension TryCommand {
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
            let boxes = objects.map { $0.drawn(model.labels) }
            try await write(output, &report, context) { _ throws(AIError) in try picture.drawing(boxes).png() }
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
