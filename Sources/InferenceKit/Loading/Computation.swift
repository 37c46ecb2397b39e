import HubCore
import ModelFormats

/// A model that is open, the threads that compute it, and how they do. What is done with it (texts, vectors, labels,
/// forecasts, pictures) reads this.
struct Computation: Sendable {
    let model: Model
    let team: ComputeTeam
    /// Whether activations are float32 and weights dequantised.
    let isExact: Bool
    /// How keys and values are cached.
    let cacheFormat: KeyValueFormat
    /// The most positions of a text, prompt included.
    let context: Int

    /// Maps and checks the files of a folder.
    ///
    /// - Parameters:
    ///   - d: the description, with the head that is wanted.
    ///   - context: the most positions of a text.
    ///   - isTower: whether it is the one of two sides that reads pictures.
    ///   - team: the threads of the model's other side, which share its queue; its opening checked the memory of both.
    /// - Throws: ``ErrorCode/insufficientMemory``, and what ``Model/init(_:_:_:_:)`` throws.
    init(
        _ reading: FolderReading, _ d: ModelDescription, _ names: TensorNames, _ weights: StoredWeights,
        _ options: ModelOptions, context: Int, isTower: Bool = false,
        team: ComputeTeam? = nil
    ) throws(AIError) {
        if let team {
            self.team = team
        } else {
            try reading.checkMemory(options, context: context)
            self.team = try ComputeTeam(threads: options.threads, kernels: options.kernels)
        }
        (isExact, cacheFormat, self.context) = (options.isExact, options.usedCacheFormat, context)
        model = try Model(
            d, names, try TensorSource(weights, reading.configuration?.quantization), self.team,
            isTower: isTower)
    }

    /// The scratch memory of its steps.
    ///
    /// - Parameter isShared: whether others may come meanwhile, who wait for a step.
    func workspace(isShared: Bool = false) -> Workspace {
        Workspace(model.description, team: team, isExact: isExact, isShared: isShared)
    }

    /// A text of its own, which nothing else uses.
    func session() -> Session { Session(model, context: context, format: cacheFormat) }
}
