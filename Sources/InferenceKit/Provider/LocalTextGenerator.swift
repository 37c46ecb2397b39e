public import HubCore

/// A model folder as a provider; opened once, when it is first needed.
public actor LocalTextGenerator: TextGenerator {
    public nonisolated let identifier: String
    public nonisolated let displayName: String
    public nonisolated var isOnDevice: Bool { true }
    private let folder: String
    private let options: ModelOptions
    private var opening: Task<Result<LanguageModel, AIError>, Never>?

    /// A provider of a model folder; nothing is read yet.
    public init(folder: String, displayName: String? = nil, options: ModelOptions = ModelOptions()) {
        self.folder = folder
        self.options = options
        identifier = folder
        self.displayName = displayName ?? Path.name(folder)
    }

    public var availability: ProviderAvailability {
        get async { await LanguageModel.availability(folder: folder, options: options) }
    }

    public var maxContextLength: Int? {
        get async {
            if let opening, case .success(let model) = await opening.value { return model.context }
            guard let own = try? await ModelInspection.inspect(folder: folder).contextLength else { return nil }
            return options.context ?? min(own, ModelOptions.defaultContext)
        }
    }

    public func prepare() async throws(AIError) { _ = try await model() }

    public func cleanup() { opening = nil }

    public func generate(prompt: String, config: GenerateConfig) async throws(AIError) -> GenerationResult {
        try await model().generate(prompt: prompt, config: config).collectWithMetadata()
    }

    public func stream(prompt: String, config: GenerateConfig) async throws(AIError) -> GenerationStream {
        try await model().generate(prompt: prompt, config: config)
    }

    /// Callers that come while the model is being opened wait for the same one; a failure is tried again next time.
    private func model() async throws(AIError) -> LanguageModel {
        let task = opening ?? Task { [folder, options] in
            do throws(AIError) {
                return .success(try await LanguageModel.open(folder: folder, options: options))
            } catch {
                return .failure(error)
            }
        }
        opening = task
        let result = await task.value
        if case .failure = result, opening == task { opening = nil }
        return try result.get()
    }
}
