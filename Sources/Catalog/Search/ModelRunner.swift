package import HubCore

/// An engine on a machine, as far as it takes to judge models by their metadata.
package struct ModelRunner: Sendable, Hashable {
    package let engine: SupportedModels
    /// Maximum bytes of weights.
    package let mostWeightBytes: Int64
    /// What the curated list says of models, by their repositories' ids.
    package var entries: [String: RegistryEntry] = [:]

    package init(engine: SupportedModels, mostWeightBytes: Int64) {
        (self.engine, self.mostWeightBytes) = (engine, mostWeightBytes)
    }

    /// Whether a model runs, memory aside; nil if too little is known of it.
    ///
    /// - Parameter formats: those of its weights; nil for what its tags say.
    package func judge(_ record: ModelRecord, formats: [String]? = nil) -> SupportedModels.Judgement? {
        guard record.repository.kind == .model else { return nil }
        if record.isAdapter { return .fails(.adapter) }
        var facts = record.facts(with: entries[record.repository.id.name])
        if let formats { facts.formats = formats }
        guard facts.quantizations == ModelRecord.unnamed else { return engine.judge(facts) }
        // That weights are packed says nothing of whether they can be read; what else keeps them from running does.
        facts.quantizations = []
        let judgement = engine.judge(facts)
        guard case .runs(let format, _)? = judgement else { return judgement }
        return ["gguf", "mlx"].contains(format) ? judgement : nil
    }

    /// Whether a model is known to run, if its weights have so many bytes; nil if that is unknown.
    func runs(_ record: ModelRecord, weightBytes: Int64?) -> Bool {
        (weightBytes ?? 0) <= mostWeightBytes && judge(record)?.isPossible == true
    }
}

extension RegistryEntry {
    /// What the list says.
    package var facts: SupportedModels.Facts {
        var facts = SupportedModels.Facts()
        facts.modelType = architecture
        facts.formats = format.map { [$0.rawValue] } ?? []
        return facts
    }
}

extension ModelRecord {
    /// What the Hub and the curated list say.
    ///
    /// The Hub tags a repository with formats, quantizations and, if it has a `config.json`, its `model_type`.
    package func facts(with entry: RegistryEntry? = nil) -> SupportedModels.Facts {
        var facts = entry?.facts ?? SupportedModels.Facts()
        if let modelType { facts.modelType = modelType }
        (facts.modelClass, facts.ggufName, facts.task) = (modelClass, ggufArchitecture, task)
        facts.tags = isOfKnownLibrary ? derivedTags : []
        facts.isTagged = library == "transformers"
        if !formats.isEmpty { facts.formats = formats }
        facts.quantizations = quantizations
        return facts
    }

    /// The Hub puts the tags that it derives from files before that of the task, and its users' own behind it.
    private var derivedTags: [String] {
        guard let tags else { return [] }
        return Array(tags.prefix(task.flatMap { tags.firstIndex(of: $0) } ?? tags.count))
    }

    /// Weights that only change another model's.
    fileprivate var isAdapter: Bool {
        library == "peft" || tags?.contains { $0.hasPrefix("base_model:adapter:") } == true
    }

    /// The formats of its weights, as far as tags and library say.
    private var formats: [String] {
        let isMLX = isOffered(in: "mlx") || library?.hasPrefix("mlx-") == true
        var formats = isMLX ? ["mlx"] : isOffered(in: "safetensors") ? ["safetensors"] : []
        formats += ["gguf", "onnx", "openvino", "coreml"].filter(isOffered)
        // Of a repository of several formats the tag may mean only the library.
        if !isMLX, isOffered(in: "pytorch") { formats.append("pickle") }
        return formats
    }

    /// Whether a tag that is the name of an architecture means that of its `config.json`.
    private var isOfKnownLibrary: Bool {
        guard let library else { return true }
        let known = [
            "transformers", "sentence-transformers", "mlx", "gguf", "llama.cpp", "pytorch", "safetensors", "vllm",
            "chronos-forecasting",
        ]
        return known.contains(library) || library.hasPrefix("mlx-") || hasTag("transformers")
            || hasTag("sentence-transformers")
    }

    /// How its weights are quantized, as far as tags and name say.
    private var quantizations: [String] {
        let named = (tags ?? []).map { $0.lowercased() }.filter(Self.packings.contains)
        if !named.isEmpty { return named }
        let inName = ModelName.words(repository.id.name).map(String.init).filter(Self.packings.contains)
        if !inName.isEmpty { return inName }
        return isPacked || ["4-bit", "8-bit"].contains(where: hasTag) ? Self.unnamed : []
    }

    /// Weights that are packed in a way that nothing names.
    fileprivate static let unnamed = ["quantized"]

    /// The tags of quantized weights in safetensors and pickles.
    private static let packings: Set<String> = [
        "awq", "gptq", "fp8", "nvfp4", "mxfp4", "mxfp8", "modelopt", "compressed-tensors", "bitsandbytes", "int8",
        "auto-round", "exl2", "exl3", "hqq", "eetq", "quanto", "torchao", "aqlm", "vptq", "bitnet", "fbgemm_fp8",
    ]
}
