public import HubCore

/// A model's folder whose headers and small files are read, and nothing else: what it is, and the way to open it without
/// reading it again.
public struct ModelFolder: Sendable {
    /// What the headers say.
    public let inspection: ModelInspection
    let reading: FolderReading

    /// Reads a folder or a single file.
    ///
    /// - Throws: What ``ModelInspection/inspect(folder:)`` throws, ``ErrorCode/cancelled``.
    public static func read(_ folder: String) async throws(AIError) -> ModelFolder {
        try await ComputeQueue().run { isCancelled throws(AIError) in
            let reading = try FolderReading(folder)
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            return ModelFolder(inspection: ModelInspection(reading), reading: reading)
        }
    }

    /// Whether it reads series of numbers, and no text: ``openForecaster(_:)`` opens it.
    public var forecasts: Bool { reading.forecasts }
    /// Whether it reads pictures: ``openPictureModel(_:)`` opens it.
    public var sees: Bool { reading.sees }
    /// What it is for, as its configuration says; nil where that is not known.
    public var task: ModelTask? { reading.configuration.flatMap(Architectures.task) }
    /// Whether it reads texts: ``open(_:)`` opens it, or its side of texts.
    public var readsTexts: Bool { inspection.readsTexts }

    /// Opens the model.
    ///
    /// - Throws: What ``LanguageModel/open(folder:options:)`` throws.
    public func open(_ options: ModelOptions = ModelOptions()) async throws(AIError) -> LanguageModel {
        try await ComputeQueue().run { [self] isCancelled throws(AIError) in
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            return LanguageModel(try LoadedModel(reading, options: options), inspection, options)
        }
    }
}
