public import HubCore
public import HubMedia
import ModelFormats

/// A model that sees, on the CPU: pictures become labels or vectors, where it has a side for texts too in one space with
/// them, or maps that say something of each pixel.
public final class PictureModel: Sendable {
    /// What the headers say.
    public let inspection: ModelInspection
    /// What it is for.
    public let task: ModelTask
    /// All that it can do, what it is for first.
    public var tasks: [ModelTask] { takesLabels ? [task, .imageEmbedding] : [task] }
    /// The labels of a classifier, in the order of its outputs; empty for another model.
    public let labels: [String]
    /// Seconds that opening took.
    public let loadSeconds: Double
    /// The side that turns texts into vectors of the same space; nil for a model of pictures alone.
    public let texts: LanguageModel?

    let engine: any PictureEngine
    private let scores: LabelScores?
    let queue = ComputeQueue()

    init(_ reading: FolderReading, options: ModelOptions) throws(AIError) {
        let began = Clock.seconds
        let labels: LabelSettings?
        if let (net, weights) = try reading.runnableNet() {
            engine = try NetEngine(reading, net, weights, options)
            (labels, texts) = (net.labels, nil)
            task = net.task
            inspection = ModelInspection(reading)
        } else {
            let (_, described, names, weights) = try reading.runnable()
            engine = try TowerEngine(reading, described, names, weights, options)
            (labels, task) = ((described.tower ?? described).labels, described.task)
            inspection = ModelInspection(reading)
            texts =
                described.tower == nil
                ? nil : LanguageModel(try LoadedModel(reading, options: options), inspection, options)
        }
        (self.labels, scores) = (labels?.names ?? [], labels.map(LabelScores.init))
        loadSeconds = Clock.seconds - began + reading.seconds
    }

    /// Opens a model folder.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for a model that sees nothing or that cannot be run,
    ///   ``ErrorCode/malformedModel`` for a broken file or a missing tensor, ``ErrorCode/insufficientMemory``.
    public static func open(folder: String, options: ModelOptions = ModelOptions()) async throws(AIError)
        -> PictureModel
    {
        try await ModelFolder.read(folder).openPictureModel(options)
    }

    /// The labels of pictures, of each all of them, best first.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for a model without labels, ``ErrorCode/invalidInput`` for a picture of
    ///   which no square of pixels is left, or more than the model has room for, ``ErrorCode/cancelled``.
    public func classify(_ pictures: [Picture]) async throws(AIError) -> [[TextLabel]] {
        guard let scores, task != .imageSegmentation else {
            throw .unsupported(inspection.folder, "the model is for \(task.rawValue); it gives pictures no labels")
        }
        return try await outputs(pictures).map { outputs in
            LanguageModel.labels(labels, outputs.map(Double.init), scores)
        }
    }

    /// Pictures as vectors, in their order: in the space of the other side if there is one, else what labels are made of,
    /// or the first row after the last norm.
    ///
    /// - Parameter normalizes: whether vectors get length 1.
    /// - Throws: ``ErrorCode/invalidInput`` for a picture of which no square of pixels is left, or more than the model has
    ///   room for, ``ErrorCode/cancelled``.
    public func embed(_ pictures: [Picture], normalizes: Bool = false) async throws(AIError) -> [EmbeddingResult] {
        try await queue.run { [self] isCancelled throws(AIError) in
            var results: [EmbeddingResult] = []
            for vector in try engine.vectors(pictures, isCancelled: isCancelled) {
                let checked = try vector.checkedFinite()
                results.append(EmbeddingResult(vector: normalizes ? SentenceLayers.unit(checked) : checked))
            }
            return results
        }
    }

    /// What the head makes of pictures.
    func outputs(_ pictures: [Picture]) async throws(AIError) -> [[Float]] {
        try await queue.run { [self] isCancelled throws(AIError) in
            try engine.outputs(pictures, isCancelled: isCancelled)
        }
    }
}

extension ModelFolder {
    /// Opens a model that sees.
    ///
    /// - Throws: What ``PictureModel/open(folder:options:)`` throws.
    public func openPictureModel(_ options: ModelOptions = ModelOptions()) async throws(AIError) -> PictureModel {
        try await ComputeQueue().run { [self] isCancelled throws(AIError) in
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            return try PictureModel(reading, options: options)
        }
    }
}
