/// What an engine runs, as a value for code that knows models only by their metadata.
package struct SupportedModels: Sendable, Hashable {
    /// One `model_type` of `config.json`.
    package struct Family: Sendable, Hashable {
        package let modelType: String
        /// What `config.json` says in its place, where that is another family's name; nil where it does not.
        package let calledLike: String?
        /// `general.architecture` of its GGUF files; nil if there are none.
        package let ggufName: String?
        /// The classes of `config.json` that run, each with the Hub's name of its task.
        package let classes: [String: String]
        /// The Hub's names of what it can be used for; empty if its files are only checked.
        package let tasks: [String]
        /// The formats of its weights, by ``SupportedModels/formats``' names.
        package let formats: [String]
        /// false if its files are only checked.
        package let runs: Bool

        package init(
            modelType: String, calledLike: String? = nil, ggufName: String?, classes: [String: String],
            tasks: [String], formats: [String],
            runs: Bool
        ) {
            (self.modelType, self.calledLike, self.ggufName) = (modelType, calledLike, ggufName)
            self.classes = classes
            (self.tasks, self.formats, self.runs) = (tasks, formats, runs)
        }
    }

    /// Sorted by model type.
    package let families: [Family]
    /// The formats of weights that run, the preferred first: `safetensors`, `gguf`, `mlx`, `pickle`.
    package let formats: [String]
    /// The quantizations that run; `none` stands for plain numbers.
    package let quantizations: [String]
    private let byModelType: [String: Int]

    package init(families: [Family], formats: [String], quantizations: [String]) {
        self.families = families.sorted { $0.modelType.utf8.lexicographicallyPrecedes($1.modelType.utf8) }
        (self.formats, self.quantizations) = (formats, quantizations)
        byModelType = Dictionary(
            self.families.enumerated().map { ($1.modelType, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The family of a `model_type`.
    package func family(_ modelType: String) -> Family? { byModelType[modelType].map { families[$0] } }

    /// The families of a GGUF file's `general.architecture`.
    package func families(ggufName: String) -> [Family] { families.filter { $0.ggufName == ggufName } }
}

// MARK: Judging a model

extension SupportedModels {
    /// What is known of a model without its headers.
    package struct Facts: Sendable, Hashable {
        /// `model_type`; nil if unknown.
        package var modelType: String?
        /// Words of which one may be its `model_type`, for where that is unknown.
        package var tags: [String] = []
        /// Whether one of them is.
        package var isTagged = false
        /// The class in `config.json`; nil if unknown.
        package var modelClass: String?
        /// `general.architecture` of its GGUF files; nil if unknown.
        package var ggufName: String?
        /// The Hub's name of its task; nil if unknown.
        package var task: String?
        /// The formats of its weights.
        package var formats: [String] = []
        /// How weights in safetensors and pickles are quantized.
        package var quantizations: [String] = []

        package init() {}
    }

    /// Whether a model runs, memory aside.
    package enum Judgement: Sendable, Hashable {
        /// - Parameters:
        ///   - format: the preferred one that runs.
        ///   - generates: whether it writes text, token by token.
        case runs(format: String, generates: Bool)
        case fails(RunObstacle)

        package var isPossible: Bool { if case .runs = self { true } else { false } }
    }

    /// nil if the facts are not enough.
    package func judge(_ facts: Facts) -> Judgement? {
        var first: Judgement?
        var isDecided = true
        // Where one format fails, another may run.
        for format in formats where facts.formats.contains(format) {
            let judgement = judge(facts, as: format)
            if judgement?.isPossible == true { return judgement }
            isDecided = isDecided && judgement != nil
            first = first ?? judgement
        }
        if !isDecided { return nil }
        if let first { return first }
        if let format = facts.formats.first { return .fails(.format(format)) }
        guard let modelType = facts.modelType, family(modelType)?.runs != true else { return nil }
        return .fails(.architecture(modelType))
    }

    private func judge(_ facts: Facts, as format: String) -> Judgement? {
        let isPacked = format == "gguf" || format == "mlx"
        if !isPacked, let found = facts.quantizations.first(where: { !quantizations.contains($0) }) {
            return .fails(.quantization(found))
        }
        let candidates: [Family]
        let name: String?
        if format == "gguf", let ggufName = facts.ggufName {
            (candidates, name) = (families(ggufName: ggufName), ggufName)
        } else if let modelType = facts.modelType {
            (candidates, name) = (named(modelType), modelType)
        } else {
            candidates = tagged(facts.tags)
            name = candidates.first?.modelType
            // Repositories of GGUF files seldom have a tag for the architecture.
            if candidates.isEmpty, format == "gguf" || !facts.isTagged { return nil }
            if Set(candidates.map(\.runs)).count > 1 { return nil }
        }
        let running = candidates.filter { $0.runs && $0.formats.contains(format) }
        guard !running.isEmpty else {
            guard candidates.contains(where: \.runs) else { return .fails(.architecture(name)) }
            return .fails(.format(format))
        }
        return judge(facts, as: format, running)
    }

    /// The families that `config.json` calls so, the one of that name first.
    private func named(_ modelType: String) -> [Family] {
        (family(modelType).map { [$0] } ?? []) + families.filter { $0.calledLike == modelType }
    }

    /// The families that tags name. People also use names such as `llama` as tags of what is derived from it, so those
    /// count only where there is no other.
    private func tagged(_ tags: [String]) -> [Family] {
        let exact = tags.filter { $0.contains { !$0.isLetter } }.flatMap(named)
        return exact.isEmpty ? tags.flatMap(named) : exact
    }

    /// By class and task, of families of which one is the model's.
    private func judge(_ facts: Facts, as format: String, _ running: [Family]) -> Judgement? {
        if format != "gguf", let modelClass = facts.modelClass {
            guard let task = running.lazy.compactMap({ $0.classes[modelClass] }).first else {
                return .fails(.modelClass(modelClass))
            }
            return .runs(format: format, generates: task == Self.generation && Self.generates(facts.task))
        }
        guard let family = running.first(where: { Self.suits($0, facts.task) }) else { return nil }
        let generates = family.tasks.first == Self.generation && Self.generates(facts.task)
        return .runs(format: format, generates: generates)
    }

    private static let generation = "text-generation"

    /// Models that see pictures too run as far as text goes.
    private static let seeing: Set<String> = ["image-text-to-text", "any-to-any"]

    private static func generates(_ task: String?) -> Bool {
        task.map { $0 == generation || seeing.contains($0) } ?? true
    }

    /// Whether a family is of use for a task of the Hub, whose names overlap.
    private static func suits(_ family: Family, _ task: String?) -> Bool {
        guard let task, !family.tasks.contains(task) else { return true }
        return switch task {
        case "sentence-similarity": family.tasks.contains("feature-extraction")
        case "zero-shot-classification", "text-ranking": family.tasks.contains("text-classification")
        case "translation", "summarization", "text2text-generation": family.tasks.contains(generation)
        case _ where seeing.contains(task):
            family.tasks.contains(generation)
                && family.classes.keys.contains { $0.hasSuffix("ForConditionalGeneration") }
        default: false
        }
    }

    /// A format's name for people.
    package static func title(ofFormat name: String) -> String { titles[name] ?? name.printable }

    /// As their makers write them, where that is another name.
    private static let titles = [
        "gguf": "GGUF", "mlx": "MLX", "pickle": "PyTorch pickle", "onnx": "ONNX", "openvino": "OpenVINO",
        "tensorflow": "TensorFlow", "flax": "Flax", "coreml": "Core ML", "numpy": "NumPy", "ggml": "GGML",
        "rust": "Rust", "nemo": "NeMo", "paddle": "Paddle", "executorch": "ExecuTorch", "litert": "LiteRT",
        "tensorrt": "TensorRT", "metal": "Metal",
    ]
}
