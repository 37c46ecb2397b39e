import HubCore
import HubMedia
import InferenceKit

/// What a model says of each pixel of pictures.
extension TryCommand {
    static func map(
        _ files: [String], _ first: Picture?, _ model: PictureModel, _ request: Request, _ report: inout TryReport,
        _ context: Context
    ) async throws {
        for (place, file) in files.enumerated() {
            let picture = if place == 0, let first { first } else { try await picture(file, context) }
            var entry = TryReport.PictureMap(file: file)
            if model.task == .depthEstimation {
                let depth = try await model.depth(picture)
                entry.depth = .init(width: depth.width, height: depth.height, min: depth.min, max: depth.max)
                if let output = request.output {
                    try await write(output, &report, context) { format throws(AIError) in
                        switch format {
                        case .png: try Picture.png(levels: depth.levels, width: depth.width, height: depth.height)
                        case .npy: NumPyFile.bytes(depth.values, width: depth.width, height: depth.height)
                        }
                    }
                }
            } else {
                let segments = try await model.segments(picture)
                entry.segments = segments.map { .init(label: $0.label, score: $0.score, pixels: $0.pixels) }
                if let output = request.output {
                    try await write(output, &report, context) { format throws(AIError) in
                        switch format {
                        case .png: try picture.drawing(masks: segments.lazy.map(\.mask)).png()
                        case .npy:
                            NumPyFile.bytes(places(segments), width: picture.width, height: picture.height)
                        }
                    }
                }
            }
            report.maps.append(entry)
        }
    }

    /// The place of each pixel's segment in the list.
    private static func places(_ segments: [PictureSegment]) -> [Float] {
        var places = [Float](repeating: 0, count: segments.first?.mask.count ?? 0)
        for (number, segment) in segments.enumerated() {
            for (place, isIn) in segment.mask.enumerated() where isIn { places[place] = Float(number) }
        }
        return places
    }
}
