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
                    .invalidInput, "\(name.printable) ends neither in .png nor in .npy",
                    advice: "-o x.png writes a picture, -o x.npy numbers for NumPy")
            }
            self = format
        }
    }

    static func map(
        _ files: [String], _ first: Picture, _ model: PictureModel, _ request: Request, _ report: inout TryReport,
        _ context: Context
    ) async throws {
        if let task = request.task, !model.tasks.contains(task) {
            throw AIError(.invalidInput, "\(report.id) is for \(model.task.rawValue), not for \(task.rawValue)")
        }
        for (place, file) in files.enumerated() {
            let picture = place == 0 ? first : try await picture(file, context)
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
                let output = OutputFile(name, context)
                try await output.write(bytes)
                entry.output = output.path
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

    /// Whether there is a place for the file, before a weight is read.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for more than one picture, and what ``OutputFile/check(isForced:kept:_:)``
    ///   throws.
    static func checkOutput(_ files: [String], _ request: Request, _ context: Context) async throws {
        guard let name = request.output else { return }
        _ = try MapFormat(name)
        guard files.count == 1 else {
            throw AIError(.invalidInput, "-o takes one file, and there are \(files.count) pictures")
        }
        try await OutputFile(name, context).check(
            isForced: request.isForced, kept: "nothing was computed", context)
    }

    /// A file is asked for that the model does not make.
    static func makesNoMap(_ model: PictureModel, _ report: TryReport) -> AIError {
        AIError(
            .invalidInput, "\(report.id) makes nothing for -o: it \(model.task.purpose)",
            advice: "hub search --task depth-estimation --runs finds models that do")
    }
}
