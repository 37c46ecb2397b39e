import HubCore
import InferenceKit

/// What a model says of parts of a picture, and its file.
extension TryCommand {
    /// How it is written, by the ending of a file's name.
    enum OutputFormat: String, Sendable {
        /// Objects or segments on the picture, or depth in 16 bits.
        case png
        /// Numbers of NumPy.
        case npy

        /// - Throws: ``ErrorCode/invalidInput`` for another ending.
        init(_ name: String) throws(AIError) {
            let ending = name.lowercased().split(separator: ".", omittingEmptySubsequences: false).last
            guard name.contains("."), let format = ending.flatMap({ OutputFormat(rawValue: String($0)) }) else {
                throw AIError(
                    .invalidInput, "\(name.printable) ends neither in .png nor in .npy",
                    advice: "-o x.png writes a picture, -o x.npy numbers for NumPy")
            }
            self = format
        }
    }

    /// Whether what was asked is what a model does, and whether there is a place for the file; before a weight is read.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` or ``ErrorCode/invalidInput`` for what it does not do, and what
    ///   ``OutputFile/check(isForced:kept:_:)`` throws.
    static func checkParts(
        _ folder: ModelFolder, _ request: Request, _ report: TryReport, _ context: Context
    ) async throws {
        guard let task = folder.task else { return }
        if request.threshold != nil, task != .objectDetection {
            throw AIError(
                .unsupportedModel, "\(report.id) finds no objects in pictures, which --threshold is about",
                advice: finders(.objectDetection))
        }
        guard task.seesParts else {
            guard request.output != nil else { return }
            throw AIError(
                .unsupportedModel, "\(report.id) makes nothing that -o writes: it \(task.purpose)",
                advice: finders(.objectDetection))
        }
        let example = task.example(request.model, mask: nil)
        // `hub classify`, whose labels are of a picture as a whole.
        if request.tasks != nil {
            throw AIError(
                .unsupportedModel, "\(report.id) \(task.purpose); it gives a picture no labels as a whole",
                advice: example)
        }
        if let asked = request.task, asked != task {
            throw AIError(
                .invalidInput, "--task \(asked.rawValue) does not fit; \(report.id) \(task.purpose)",
                advice: example)
        }
        guard let output = request.output else { return }
        if task == .objectDetection, try OutputFormat(output) == .npy {
            throw AIError(
                .invalidInput, "\(output.printable) does not end in .png, and objects are drawn on the picture",
                advice: "-o found.png draws them; --json has their numbers")
        }
        try await OutputFile(output, context).check(
            isForced: request.force, kept: "nothing was computed", context)
    }

    private static func finders(_ task: ModelTask) -> String {
        "hub search --task \(task.rawValue) --runs finds models that do"
    }

    /// Writes what a model made of a picture. Making that is much work for large pictures.
    static func write(
        _ name: String, _ report: inout TryReport, _ context: Context,
        _ make: @escaping @Sendable (OutputFormat) throws(AIError) -> [UInt8]
    ) async throws {
        let (format, file) = (try OutputFormat(name), OutputFile(name, context))
        try await file.write(try await Blocking.run { try make(format) })
        report.written = file.path
    }
}
