package import HubCore
import ModelFormats

extension RunnableModels {
    /// What runs as a value, with the families whose files are only checked.
    package static let supported: SupportedModels = {
        let running = Architectures.all.flatMap { architecture in
            // One that config.json calls like another has its own name in GGUF only.
            let isGGUFOnly = architecture.modelTypes.isEmpty
            return (isGGUFOnly ? architecture.ggufNames : architecture.modelTypes).map {
                family($0, of: architecture, isGGUFOnly)
            }
        }
        let nets = Nets.all.flatMap { family in family.types.map { net($0, of: family) } }
        let known = Set((running + nets).map(\.modelType))
        let checked = TensorPlan.transformers.keys.filter { !known.contains($0) }.map { modelType in
            let ggufName = TensorPlan.ggufName(of: modelType)
            return SupportedModels.Family(
                modelType: modelType, ggufName: ggufName, classes: [:], tasks: [],
                formats: names(formats.filter { $0 != .gguf || ggufName != nil }), runs: false)
        }
        return SupportedModels(
            families: running + nets + checked, formats: names(formats),
            quantizations: ["none"]
                + (Architectures.quantizations + (formats.contains(.gguf) ? ["gguf"] : [])).sorted())
    }()

    private static func family(
        _ modelType: String, of architecture: Architecture, _ isGGUFOnly: Bool
    ) -> SupportedModels.Family {
        let ggufName =
            architecture.ggufNames.first { $0 == modelType } ?? architecture.ggufNames.first
            ?? (architecture.runsAsGGUF ? Architecture.llama.ggufNames.first : nil)
        return SupportedModels.Family(
            modelType: modelType, calledLike: architecture.calledLike, ggufName: ggufName,
            classes: Dictionary(
                architecture.classes.map { ($0.name, $0.task.rawValue) }, uniquingKeysWith: { first, _ in first }),
            tasks: tasks(of: architecture).map(\.rawValue),
            formats: names(formats.filter { $0 == .gguf ? ggufName != nil : !isGGUFOnly }), runs: true)
    }

    private static func net(_ modelType: String, of family: NetFamily) -> SupportedModels.Family {
        let classes = family.classes.filter { !$0.name.isEmpty }.map { ($0.name, $0.task.rawValue) }
        return SupportedModels.Family(
            modelType: modelType, ggufName: nil,
            classes: Dictionary(classes, uniquingKeysWith: { first, _ in first }),
            tasks: family.classes.map(\.task.rawValue), formats: names(formats.filter { $0 != .gguf }), runs: true)
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
}
