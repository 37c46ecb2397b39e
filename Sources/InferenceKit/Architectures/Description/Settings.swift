import HubCore
import ModelFormats

/// A configuration as an architecture reads it: `config.json`, or the metadata of a GGUF file under the same names.
struct Settings: SettingValues {
    let configuration: ModelConfiguration
    let members: JSONObject
    /// What cannot be run.
    var obstacles: [RunObstacle] = []

    /// The names of the stored tensors; nil if unknown.
    private let stored: Set<String>?
    private let noted: FaultList

    init(
        _ configuration: ModelConfiguration, stored: Set<String>?, noted: FaultList = FaultList(),
        members: JSONObject? = nil
    ) {
        self.configuration = configuration
        self.stored = stored
        self.noted = noted
        self.members = members ?? configuration.settings
    }

    /// What the file says beside the settings of its parts.
    var outer: Settings { Settings(configuration, stored: stored, noted: noted, members: configuration.outer) }

    var path: String { configuration.path }
    /// Whether it is a GGUF file: some facts are in other places, or said by tensors.
    var isGGUF: Bool { configuration.isGGUF }

    /// The first fault of a value that was read; nil for none.
    var fault: String? { noted.faults.first }

    func note(_ fault: String) { noted.faults.append(fault) }

    /// Notes a setting that is not implemented.
    ///
    /// - Parameter value: nil where the setting alone says it.
    mutating func refuse(_ name: String, _ value: String? = nil) { obstacles.append(.setting(name, value)) }

    /// An object among them; nil if there is none.
    func scope(_ key: String) -> SettingScope? { object(key).map { SettingScope(key, $0, noted) } }

    /// The settings of the rotary embedding, under their name since transformers 5 or the one before; empty if there are none.
    var rope: SettingScope {
        scope("rope_parameters") ?? scope("rope_scaling") ?? SettingScope("rope_parameters", [:], noted)
    }

    /// The settings of a part, such as an encoder, whose faults are noted here.
    ///
    /// - Throws: ``ErrorCode/malformedModel``.
    func part(_ members: JSONObject) throws(AIError) -> Settings {
        Settings(try ModelConfiguration(.object(members), path: path), stored: nil, noted: noted)
    }

    /// Whether the file has a tensor; nil if unknown.
    func stores(_ tensor: String) -> Bool? { stored?.contains(tensor) }

    /// Whether the head is the embedding table. GGUF does not say: there is no such tensor then.
    func isTied(default usual: Bool) -> Bool {
        isGGUF ? stores("output.weight") == false : configuration.tiedEmbeddings ?? usual
    }

    /// A size that a description must have.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` if there is none.
    func need(_ value: Int?, _ name: String) throws(AIError) -> Int {
        guard let value else { throw .malformed(path, "it has no \(name)") }
        return value
    }

    /// A size of one layer, which a setting lists or has for all; nil if the file has none.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for what is not a size, or a list that is too short.
    func listed(_ key: String, _ layer: Int) throws(AIError) -> Int? {
        guard let value = value(key) else { return nil }
        guard let list = value.array else { return try size(value, key) }
        guard list.indices.contains(layer) else { throw .malformed(path, "\(key) has no layer \(layer)") }
        return try size(list[layer], key)
    }

    /// A size; nil if there is none.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for what is not a size.
    func size(_ value: JSON?, _ name: String) throws(AIError) -> Int? {
        guard let value, !value.isNull else { return nil }
        guard let size = value.whole(in: SettingLimits.sizes) else {
            throw .malformed(path, "\(name) is not a size")
        }
        return size
    }

    /// More layers than any model has; a configuration that asks for more is not described.
    private static let mostLayers = 10_000

    /// The number of layers.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` if there is none, or more than any model has.
    func layerCount(_ name: String) throws(AIError) -> Int { try layerCount(configuration.layers, name) }

    func layerCount(_ told: Int?, _ name: String) throws(AIError) -> Int {
        let count = try need(told, name)
        guard count <= Self.mostLayers else {
            throw .malformed(path, "\(name) is \(count), more than \(Self.mostLayers)")
        }
        return count
    }

    /// The activation that a setting names; the obstacle list gets an unknown one.
    mutating func activation(_ named: String?, default usual: ModelDescription.Activation)
        -> ModelDescription.Activation
    {
        guard let named else { return usual }
        guard let known = Self.activations[named] else {
            refuse("activation", named)
            return usual
        }
        return known
    }

    /// https://github.com/huggingface/transformers/blob/main/src/transformers/activations.py (`ACT2CLS`)
    private static let activations: [String: ModelDescription.Activation] = [
        "silu": .silu, "swish": .silu, "gelu": .gelu, "gelu_new": .geluTanh, "gelu_pytorch_tanh": .geluTanh,
        "gelu_fast": .geluTanh, "gelu_python": .gelu, "quick_gelu": .quickGelu, "relu": .relu,
        "relu2": .squaredRelu, "tanh": .tanh,
    ]
}

extension Settings {
    /// More labels than any model has.
    private static let mostLabels = 1 << 20

    /// `id2label`, or else `num_labels`, by default two.
    /// https://huggingface.co/docs/transformers/main_classes/configuration
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for a number of labels that no model has.
    func labels() throws(AIError) -> LabelSettings {
        let outer = self.outer
        let listed = outer.object("id2label")?.members ?? []
        let count = listed.isEmpty ? outer.count("num_labels") ?? 2 : listed.count
        guard count <= Self.mostLabels else { throw .malformed(path, "num_labels is \(count)") }
        var names = (0..<count).map { "LABEL_\($0)" }
        for (key, value) in listed {
            guard let id = Int(key), names.indices.contains(id), let name = value.string else { continue }
            names[id] = name
        }
        return LabelSettings(names: names, problem: outer.text("problem_type").flatMap(LabelSettings.Problem.init))
    }
}
