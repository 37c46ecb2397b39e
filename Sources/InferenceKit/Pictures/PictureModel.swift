public import HubCore
public import HubMedia
import ModelFormats

/// A model that sees, on the CPU: pictures become labels or vectors, where it has a side for texts too in one space with
/// them, or objects are found in them, or they become maps that say something of each pixel.
public final class PictureModel: Sendable {
    /// What the headers say.
    public let inspection: ModelInspection
    /// What it is for.
    public let task: ModelTask
    /// All that it can do, what it is for first.
    public var tasks: [ModelTask] { takesLabels ? [task, .imageEmbedding] : [task] }
    /// The labels of a classifier, or of what finds objects or segments, in the order of its outputs; empty for another model.
    public let labels: [String]
    /// Seconds that opening took.
    public let loadSeconds: Double
    /// The side that turns texts into vectors of the same space; nil for a model of pictures alone.
    public let texts: LanguageModel?

    /// Whether activations are float32 and weights dequantised.
    let isExact: Bool
    /// The files of its weights.
    let weightFiles: [String]
    let engine: any PictureEngine
    private let scores: LabelScores?
    // That of the side for texts, too: both compute with one team of threads, which admits one caller at a time.
    private let queue: ComputeQueue

    /// - Parameter texts: the side for texts, where it is open already.
    init(_ reading: FolderReading, options: ModelOptions, texts open: LanguageModel? = nil) throws(AIError) {
        let began = Clock.seconds
        queue = open?.model.queue ?? ComputeQueue()
        isExact = options.isExact
        weightFiles = reading.sources.weights?.files.map(\.path) ?? []
        let labels: LabelSettings?
        if let (net, weights) = try reading.runnableNet() {
            switch net {
            case .convolutions(let net): engine = try NetEngine(reading, net, weights, options)
            case .windows(let net): engine = try WindowEngine(reading, net, weights, options)
            }
            (labels, texts) = (net.labels, nil)
            task = net.task
            inspection = ModelInspection(reading)
        } else {
            let (_, described, names, weights) = try reading.runnable()
            let team: ComputeTeam
            if described.encoder?.pixels == nil {
                let tower = try TowerEngine(reading, described, names, weights, options, team: open?.model.team)
                (engine, team) = (tower, tower.team)
            } else {
                let detector = try DetectorEngine(reading, described, names, weights, options)
                (engine, team) = (detector, detector.team)
            }
            (labels, task) = ((described.tower ?? described).labels, described.task)
            inspection = ModelInspection(reading)
            if described.tower == nil {
                texts = nil
            } else if let open {
                texts = open
            } else {
                let loaded = try LoadedModel(reading, options: options, queue: queue, team: team)
                texts = LanguageModel(loaded, inspection, options)
            }
        }
        self.labels = labels?.names ?? []
        scores = task.seesParts ? nil : labels.map(LabelScores.init)
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
        guard let scores else {
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
    /// - Throws: ``ErrorCode/unsupportedModel`` for a model of parts of pictures, ``ErrorCode/invalidInput`` for a picture of
    ///   which no square of pixels is left, or more than the model has room for, ``ErrorCode/cancelled``.
    public func embed(_ pictures: [Picture], normalizes: Bool = false) async throws(AIError) -> [EmbeddingResult] {
        guard !task.seesParts else {
            throw .unsupported(inspection.folder, "the model is for \(task.rawValue); it gives pictures no vectors")
        }
        return try await queue.run { [self] isCancelled throws(AIError) in
            var results: [EmbeddingResult] = []
            for vector in try engine.vectors(pictures, isCancelled: isCancelled) {
                let checked = try vector.checkedFinite()
                results.append(EmbeddingResult(vector: normalizes ? SentenceLayers.unit(checked) : checked))
            }
            return results
        }
    }

    /// What the head makes of pictures.
    ///
    /// - Throws: ``ErrorCode/generationFailed`` for numbers that are not finite, and what the engine throws.
    func outputs(_ pictures: [Picture]) async throws(AIError) -> [[Float]] {
        try await compute { [self] isCancelled throws(AIError) in
            try engine.outputs(pictures, isCancelled: isCancelled).map { outputs throws(AIError) in
                try outputs.checkedFinite()
            }
        }
    }

    /// Runs what only the model's queue may.
    func compute<Value: Sendable>(
        _ work: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws(AIError) -> Value
    ) async throws(AIError) -> Value { try await queue.run(work) }
}

extension ModelFolder {
    /// Opens a model that sees.
    ///
    /// - Throws: What ``PictureModel/open(folder:options:)`` throws.
    public func openPictureModel(_ options: ModelOptions = ModelOptions()) async throws(AIError) -> PictureModel {
        try await openPictureModel(options, texts: nil)
    }

    /// - Parameter texts: the side for texts of the same folder, where it is open with the same options.
    func openPictureModel(_ options: ModelOptions, texts: LanguageModel?) async throws(AIError) -> PictureModel {
        // Opening computes, and the threads of an open side admit one caller at a time.
        try await (texts?.model.queue ?? ComputeQueue()).run { [self] isCancelled throws(AIError) in
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            return try PictureModel(reading, options: options, texts: texts)
        }
    }
}
