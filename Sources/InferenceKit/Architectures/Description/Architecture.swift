import HubCore
import ModelFormats

/// A family of models that run: its names, where its files keep each tensor, and its description.
///
/// Loading, the check of tensors, memory estimates and obstacles read this and nothing else.
struct Architecture: Sendable {
    /// As people call it.
    let name: String
    /// `model_type` in `config.json`.
    let modelTypes: [String]
    /// The `model_type` that their own code reads, where that is another family's: T5's, of Chronos.
    let calledLike: String?
    /// `general.architecture` in GGUF files.
    let ggufNames: [String]
    /// The classes in `config.json` that run; the first is the usual one.
    let classes: [ModelClass]
    /// The tensors' names in transformers.
    let names: TensorNames
    /// Other names that published files have.
    let otherNames: [TensorNames]
    /// The tensors' names in GGUF.
    let ggufTensors: TensorNames
    /// Other names that converters have written.
    let otherGGUF: [TensorNames]
    /// Whether texts become lower case, whatever the files of the tokenizer say.
    let lowercases: Bool
    private let describing: @Sendable (inout Settings) throws(AIError) -> ModelDescription

    init(
        _ name: String, _ modelTypes: [String], calledLike: String? = nil, gguf: [String], classes: [ModelClass],
        names: TensorNames = .llama,
        otherNames: [TensorNames] = [], ggufTensors: TensorNames = .gguf,
        otherGGUF: [TensorNames] = [], lowercases: Bool = false,
        describe: @escaping @Sendable (inout Settings) throws(AIError) -> ModelDescription
    ) {
        (self.name, self.modelTypes, ggufNames, self.classes) = (name, modelTypes, gguf, classes)
        (self.names, self.otherNames, describing) = (names, otherNames, describe)
        (self.ggufTensors, self.otherGGUF) = (ggufTensors, otherGGUF)
        (self.calledLike, self.lowercases) = (calledLike, lowercases)
    }

    /// Whether llama.cpp's converter writes models of this family; some under another's name.
    var runsAsGGUF: Bool { !ggufNames.isEmpty || [["mistral"], ["mixtral"]].contains(modelTypes) }

    /// What a configuration describes, the names of its tensors, and what of it cannot be run.
    ///
    /// - Parameter stored: the names of the stored tensors, which say some facts in GGUF; nil if unknown.
    /// - Throws: ``ErrorCode/malformedModel`` for sizes that are missing or contradict each other.
    func describe(_ configuration: ModelConfiguration, stored: Set<String>?) throws(AIError) -> (
        description: ModelDescription, names: TensorNames, obstacles: [RunObstacle]
    ) {
        var settings = Settings(configuration, stored: stored)
        do throws(AIError) {
            let (description, names) = try describe(&settings, stored)
            // A description that was made without an unreadable value is discarded, and so is an error that came of it.
            if let fault = settings.fault { throw .malformed(settings.path, fault) }
            return (description, names, settings.obstacles)
        } catch {
            throw settings.fault.map { .malformed(settings.path, $0) } ?? error
        }
    }

    private func describe(_ settings: inout Settings, _ stored: Set<String>?) throws(AIError) -> (
        ModelDescription, TensorNames
    ) {
        let configuration = settings.configuration
        var chosen = classes[0]
        if let named = configuration.architectures.first {
            let known = classes.filter { $0.name == named }
            if let first = known.first {
                chosen = known.reduce(first) { $1.parts(in: stored) > $0.parts(in: stored) ? $1 : $0 }
            } else {
                // An unknown class without a head of its own is the family's base model.
                let mayBeBase = !configuration.isGGUF && chosen.task == .embedding
                if !mayBeBase || stored.map({ self.names($0, isGGUF: false).isAlone(in: $0) }) != true {
                    settings.obstacles.append(.modelClass(named))
                }
            }
        }
        var description = try describing(&settings)
        var names = names(stored, isGGUF: configuration.isGGUF)
        try chosen.complete(&description, &settings)
        if description.isCausal, description.encoders.isEmpty, settings.flag("is_causal") == false {
            description.seeBothSides(&settings)
        }
        if let head = description.head, head.hasTensors, head.hasMatrix, let stored, !configuration.isGGUF,
            isBare(stored, configuration, names)
        {
            (description.head, description.task) = (nil, chosen.task.sees ? .imageEmbedding : .embedding)
        }
        names = chosen.names(names, stored: stored)
        names.heads += classes.flatMap(\.stems).map { $0 + "." }
        // Layers behind the last one guess further tokens. They are not run.
        for behind
            in 0..<min(8, settings.place("num_nextn_predict_layers") ?? settings.place("num_mtp_layers") ?? 0)
        {
            names.heads.append("\(names.layer)\(description.layers.count + behind).")
        }
        names = names.choosingExperts(stored)
        try description.check(settings.path)
        return (description, names)
    }

    /// The names of which a file's first layer has most.
    private func names(_ stored: Set<String>?, isGGUF: Bool) -> TensorNames {
        let (usual, others) = isGGUF ? (ggufTensors, otherGGUF) : (names, otherNames)
        guard let stored else { return usual }
        func count(_ names: TensorNames) -> Int {
            names.marks.count { role in
                guard names.stems[role] != nil else { return true }
                let mark = names.name(role, layer: 0, isBias: false, prefix: "")
                return stored.contains { $0.hasSuffix(mark) }
            }
        }
        return others.reduce(usual) { count($1) > count($0) ? $1 : $0 }
    }

    /// Whether a checkpoint is that of the model without any head: its names have no prefix, whatever class its
    /// configuration names, or that names none.
    private func isBare(_ stored: Set<String>, _ configuration: ModelConfiguration, _ names: TensorNames) -> Bool {
        let isPlain = stored.contains(names.name(names.firstRole, layer: nil, isBias: false, prefix: ""))
        guard configuration.architectures.isEmpty || isPlain && !names.prefix.isEmpty else { return false }
        let heads = classes.flatMap(\.outside.values) + [names.stems[.head]].compactMap { $0 }
        // Those that stand within the model.
        let (prefix, roles) = (names.prefix(in: stored), [TensorRole.head, .poolingProbe])
        let own = roles.filter { names.stems[$0] != nil }
            .map { names.name($0, layer: nil, isBias: false, prefix: prefix) }
        return !stored.contains { name in own.contains(name) || heads.contains { name.hasPrefix($0 + ".") } }
    }
}
