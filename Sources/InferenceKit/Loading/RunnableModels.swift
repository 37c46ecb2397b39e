package import HubCore
package import ModelFormats

/// The models that this version runs, judged by card, file names and `config.json`.
package enum RunnableModels {
    /// The formats of weights that run, the preferred first.
    static let formats: [WeightFormat] = [.safetensors, .gguf, .mlx, .pickle]

    /// The ways of packing weights in safetensors that run.
    static let methods: Set<QuantizationConfiguration.Method> = [.mlx]

    /// All of it as a value, with the families whose files are only checked.
    package static let supported: SupportedModels = {
        let running = Architectures.all.flatMap { architecture in
            architecture.modelTypes.map { family($0, of: architecture) }
        }
        let known = Set(running.map(\.modelType))
        let checked = TensorPlan.transformers.keys.filter { !known.contains($0) }.map { modelType in
            let ggufName = TensorPlan.ggufName(of: modelType)
            return SupportedModels.Family(
                modelType: modelType, ggufName: ggufName, classes: [:], tasks: [],
                formats: names(formats.filter { $0 != .gguf || ggufName != nil }), runs: false)
        }
        let packed = methods.map { $0.rawValue.lowercased() }
        return SupportedModels(
            families: running + checked, formats: names(formats),
            quantizations: ["none"] + (packed + (formats.contains(.gguf) ? ["gguf"] : [])).sorted())
    }()

    private static func family(_ modelType: String, of architecture: Architecture) -> SupportedModels.Family {
        let ggufName =
            architecture.ggufNames.first { $0 == modelType } ?? architecture.ggufNames.first
            ?? (architecture.runsAsGGUF ? Architecture.llama.ggufNames.first : nil)
        return SupportedModels.Family(
            modelType: modelType, ggufName: ggufName,
            classes: Dictionary(
                architecture.classes.map { ($0.name, $0.task.rawValue) }, uniquingKeysWith: { first, _ in first }),
            tasks: tasks(of: architecture).map(\.rawValue),
            formats: names(formats.filter { $0 != .gguf || ggufName != nil }), runs: true)
    }

    /// The usual one first. A classifier with one label ranks.
    private static func tasks(of architecture: Architecture) -> [ModelTask] {
        var tasks: [ModelTask] = []
        for task in architecture.classes.map(\.task) {
            for task in task == .classification ? [task, .ranking] : [task] where !tasks.contains(task) {
                tasks.append(task)
            }
        }
        return tasks
    }

    private static func names(_ formats: [WeightFormat]) -> [String] { formats.map(\.supportedName) }

    /// The obstacles to running a model, memory aside. Unread headers may add more.
    package static func obstacles(_ sources: ModelSources) -> [String] { FolderReading.obstacles(sources) }

    /// Bytes needed to run, as ``LanguageModel/open(folder:options:)`` counts them, and the number of positions.
    ///
    package static func memory(weightsBytes: Int64, _ configuration: ModelConfiguration, _ options: ModelOptions)
        -> (
            bytes: Int64, context: Int
        )
    {
        let context = options.context ?? min(configuration.maxPositions ?? 2048, ModelOptions.defaultContext)
        let estimate = MemoryEstimate(
            weightsBytes: weightsBytes, configuration: configuration, batch: Workspace.usualRows)
        return (estimate.bytes(context: context, cacheBits: options.usedCacheFormat.bits), context)
    }
}
