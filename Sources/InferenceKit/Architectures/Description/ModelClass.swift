import HubCore

/// A class of transformers that `config.json` names: what it is for, and the head that it puts on a family's model.
struct ModelClass: Sendable {
    typealias Head = ModelDescription.Head

    /// Which of the two sides it is, where a family has one for texts and one for pictures.
    enum Side: Sendable { case both, texts, pictures }

    /// `BertForTokenClassification`.
    let name: String
    let task: ModelTask
    /// The names of the head's tensors, as in ``TensorNames/stems``: without the model's prefix,
    let outside: [TensorRole: String]
    /// and with it.
    let inside: [TensorRole: String]
    /// The stems of biases that need not be beside their weights.
    let biases: [TensorRole: String]
    let side: Side
    private let making: @Sendable (inout Settings, ModelDescription) throws(AIError) -> Head?

    /// - Parameter head: of a described model, which comes with the head of a decoder that generates.
    init(
        _ name: String, _ task: ModelTask, _ outside: [TensorRole: String] = [:],
        inside: [TensorRole: String] = [:], biases: [TensorRole: String] = [:], side: Side = .both,
        head: @escaping @Sendable (inout Settings, ModelDescription) throws(AIError) -> Head?
    ) {
        (self.name, self.task, self.outside, self.inside, self.biases) = (name, task, outside, inside, biases)
        self.side = side
        making = head
    }

    /// All of these stems.
    var stems: Set<String> { Set(outside.values).union(inside.values).union(biases.values) }

    /// How many parts of this head a file has.
    func parts(in stored: Set<String>?) -> Int {
        guard let stored else { return 0 }
        return outside.values.count { stem in stored.contains { $0.hasPrefix(stem + ".") } }
    }

    /// Puts the head on a model, and says what the model is then for.
    func complete(_ d: inout ModelDescription, _ settings: inout Settings) throws(AIError) {
        d = d.side(side)
        d.head = try making(&settings, d)
        d.task = task
        if case .labels(let labels) = d.head?.outputs, labels.count == 1, task == .classification {
            d.task = .ranking
        }
    }

    /// The names of a family's tensors with those of the head.
    ///
    /// - Parameter stored: the names in the file, which may say where a bias is; nil if unknown.
    func names(_ family: TensorNames, stored: Set<String>?) -> TensorNames {
        var names = family.side(side).with(outside).with(inside)
        names.outside.formUnion(outside.keys)
        names.outside.subtract(inside.keys)
        for role in outside.keys { names.plainBiases[role] = nil }
        for (role, stem) in biases {
            let usual = (names.stems[role] ?? "") + ".bias"
            names.ignored += [usual, stem + ".bias"]
            if stored?.contains(usual) != true { names.biases[role] = stem }
        }
        return names
    }

    // MARK: Decoders

    /// Continues texts, with the head that the family describes.
    static func generator(_ name: String) -> ModelClass {
        ModelClass(name, .textGeneration) { settings, d throws(AIError) in d.head }
    }

    /// Continues series, with what the family describes.
    static func forecaster(_ name: String, _ outside: [TensorRole: String] = [:]) -> ModelClass {
        ModelClass(name, .forecasting, outside) { settings, d throws(AIError) in d.head }
    }

    /// The model without a head.
    static func base(_ name: String) -> ModelClass {
        ModelClass(name, .embedding) { settings, d throws(AIError) in nil }
    }
}

extension [ModelClass] {
    /// `LlamaForCausalLM`, `LlamaModel`, and the classes with labels: of the last row, or of each.
    static func decoder(_ stem: String) -> [ModelClass] {
        [
            .generator("\(stem)ForCausalLM"), .base("\(stem)Model"),
            ModelClass("\(stem)ForSequenceClassification", .classification, [.head: "score"]) {
                settings, d throws(AIError) in
                .init(rows: .last, outputs: .labels(try settings.labels()))
            },
            ModelClass("\(stem)ForTokenClassification", .tokenClassification, [.head: "score"]) {
                settings, d throws(AIError) in
                .init(hasBias: true, outputs: .labels(try settings.labels()))
            },
        ]
    }
}
