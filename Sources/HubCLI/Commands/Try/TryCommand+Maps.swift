import HubCore
import HubMedia
import InferenceKit

/// What a model says of each pixel of pictures.
extension TryCommand {
    /// How a map is written, by the ending of a file's name.
    enum MapFormat: String, CaseIterable {
        /// Depth in 16 bits, or segments drawn over the picture.
        case png
        /// Numbers of NumPy.
        case npy

        /// - Throws: ``ErrorCode/invalidInput`` for another ending.
        init(_ name: String) throws(AIError) {
            let ending = name.lowercased().split(separator: ".", omittingEmptySubsequences: false).last
            guard name.contains("."), let format = ending.flatMap({ MapFormat(rawValue: String($0)) }) else {
                throw AIError(
                    .invalidInput, "\(name.printable) does not end in .png or .npy",
                    advice: "a picture is written as PNG: -o found.png; numbers of each pixel for NumPy: -o x.npy")
            }
            self = format
        }
    }

    static func map(
        _ files: [String], _ first: Picture?, _ model: PictureModel, _ request: Request, _ report: inout TryReport,
        _ context: Context
    ) async throws {
        if let task = request.task, !model.tasks.contains(task) {
            throw AIError(.invalidInput, "\(report.id) is for \(model.task.rawValue), not for \(task.rawValue)")
        }
        for (place, file) in files.enumerated() {
            let picture = if place == 0, let first { first } else { try await picture(file, context) }
            var entry = TryReport.PictureMap(file: file)
            let bytes: [UInt8]?
            if model.task == .depthEstimation {
                let depth = try await model.depth(picture)
                entry.depth = .init(width: depth.width, height: depth.height, min: depth.min, max: depth.max)
                bytes = try await written(request.output) { format throws(AIError) in
                    switch format {
                    case .png: try Picture.png(levels: depth.levels, width: depth.width, height: depth.height)
                    case .npy: NumPyFile.bytes(depth.values, width: depth.width, height: depth.height)
                    }
                }
            } else {
                let segments = try await model.segments(picture)
                entry.segments = segments.map { .init(label: $0.label, score: $0.score, pixels: $0.pixels) }
                bytes = try await written(request.output) { format throws(AIError) in
                    switch format {
                    case .png: try picture.opaque.drawn(masks: segments.map(\.mask)).png()
                    case .npy:
                        NumPyFile.bytes(places(segments), width: picture.width, height: picture.height)
                    }
                }
            }
            if let bytes, let name = request.output {
                let path = context.environment.expand(name)
                try await Blocking.run { try FileSystem.replace(path, with: bytes) }
                report.drawn = path
            }
            report.maps.append(entry)
        }
    }

    /// What goes into a file; nil without one. That is much work for large pictures.
    private static func written(
        _ name: String?, _ make: @escaping @Sendable (MapFormat) throws(AIError) -> [UInt8]
    ) async throws -> [UInt8]? {
        guard let name else { return nil }
        let format = try MapFormat(name)
        return try await Blocking.run { try make(format) }
    }

    /// The place of each pixel's segment in the list.
    private static func places(_ segments: [PictureSegment]) -> [Float] {
        var places = [Float](repeating: 0, count: segments.first?.mask.count ?? 0)
        for (number, segment) in segments.enumerated() {
            for (place, isIn) in segment.mask.enumerated() where isIn { places[place] = Float(number) }
        }
        return places
    }

    /// Whether what was asked is what a model with maps does, and whether a file may be written; before a weight is read.
    static func checkMaps(_ request: Request, _ report: TryReport, _ context: Context) async throws {
        if request.threshold != nil {
            throw AIError(
                .unsupportedModel, "\(report.id) finds no objects in pictures, which --threshold is about",
                advice: "hub search --task \(ModelTask.objectDetection.rawValue) --runs finds models that do")
        }
        // `hub classify`, whose labels are of a picture as a whole.
        if request.tasks != nil {
            throw AIError(
                .unsupportedModel,
                "\(report.id) says something of each pixel; it gives a picture no labels as a whole",
                advice: ModelTask.imageSegmentation.example(request.model, mask: nil))
        }
        guard let name = request.output else { return }
        try await ImageCommand.checkPlace(
            name, context.environment.expand(name), force: request.force, kept: "nothing was computed", context)
    }
}
