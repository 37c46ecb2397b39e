/// Why a model does not run, with the facts that tell.
///
/// What is found before a download and in a folder is the same value. Code compares these values; the words are for people
/// alone, and ``text`` and ``clause`` make all of them.
public enum RunObstacle: Sendable, Hashable {
    /// No family of this `model_type` runs; nil if the name is unknown.
    case architecture(String?)
    /// Its family runs, but not this class of `config.json`.
    case modelClass(String)
    /// `config.json` has no `model_type`.
    case noModelType
    /// There is no `config.json`.
    case noConfiguration
    /// There are no weights.
    case noWeights
    /// Weights of a format that does not run, by its name in `hub help architectures --json`, and the first file of them.
    case format(String, file: String? = nil)
    /// Weights of a format that runs under names that no loader looks for, and the first file of them.
    case otherNames(file: String? = nil)
    /// Weights that are packed in a way that does not run: the method, how it packs (`4-bit`), and its layout, as far as
    /// they are known.
    case quantization(String, packing: String? = nil, layout: String? = nil)
    /// Numbers of a type without kernels: `I16`.
    case elementType(String)
    /// A setting with a value that is not implemented; nil where the setting alone says it.
    case setting(String, String? = nil)
    /// Weights that change another model's.
    case adapter
    /// The weights hold fewer layers than a file says.
    case missingLayers(held: Int, told: Int, file: String)
    /// None of the files is there that a tokenizer is read from.
    case noTokenizer
    /// A file that breaks its format or contradicts itself.
    case broken(file: String?, fault: String)
    /// A sound file that holds what is not read here.
    case unreadable(file: String?, fault: String)
    /// It needs more bytes than this machine has.
    case memory(needed: Int64, total: Int64)
}

// MARK: Its words

extension RunObstacle {
    /// A noun phrase: `architecture xlstm`, or what is broken.
    public var text: String {
        switch self {
        case .architecture(let name?): "architecture \(name.printable)"
        case .architecture(nil): "its architecture"
        case .modelClass(let name): "model class \(name.printable)"
        case .noModelType: "no model_type in config.json"
        case .noConfiguration: "no config.json"
        case .noWeights: "no weights"
        case .format(let name, let file): "\(SupportedModels.title(ofFormat: name)) weights" + Self.note(file)
        case .otherNames(let file): "weights \(Self.elsewhere)" + Self.note(file)
        case .quantization(let method, nil, nil): "\(method.printable) weights"
        case .quantization(let method, let packing, let layout):
            Self.packed(method, packing, "quantisation", layout)
        case .elementType(let name): "\(name.printable) weights"
        case .setting(let name, let value): [name, value].compactMap { $0?.printable }.joined(separator: " ")
        case .adapter: "an adapter for another model"
        case .missingLayers(let held, let told, let file):
            "the weights have \(held) layer\(held == 1 ? "" : "s"); \(file.printable) says \(told)"
        case .noTokenizer: "no tokenizer.json or tokenizer.model"
        case .broken(let file, let fault), .unreadable(let file, let fault):
            [file, fault].compactMap { $0?.printable }.joined(separator: ": ")
        case .memory(let needed, let total):
            "about \(ByteCount(needed)) of memory, where there are \(ByteCount(total))"
        }
    }

    /// A clause about the model: `the architecture xlstm is not supported yet`.
    public var clause: String {
        switch self {
        case .architecture(nil): "its architecture is not supported yet"
        case .architecture, .modelClass: "the \(text) is not supported yet"
        // Which file it is matters only where several things stand in the way.
        case .format(let name, _): "\(Self.format(name).text) are not supported yet"
        case .otherNames: "its weights are \(Self.elsewhere)"
        case .quantization(let method, let packing, let layout):
            "\(Self.packed(method, packing, "weights", layout)) are not supported yet"
        case .elementType: "\(text) are not supported yet"
        case .adapter: "it is \(text), which is not supported yet"
        case .memory(let needed, let total):
            "it needs about \(ByteCount(needed)) of memory, and this machine has \(ByteCount(total))"
        case .noModelType, .noConfiguration, .noWeights, .setting, .missingLayers, .noTokenizer, .broken,
            .unreadable:
            "it cannot be run yet: \(text)"
        }
    }

    private static let elsewhere = "under other names than transformers gives them"

    private static func note(_ file: String?) -> String { file.map { " (\($0.printable))" } ?? "" }

    private static func packed(_ method: String, _ packing: String?, _ noun: String, _ layout: String?) -> String {
        [method, packing, noun, layout.map { "in the layout \($0)" }].compactMap { $0?.printable }
            .joined(separator: " ")
    }
}

extension Collection<RunObstacle> {
    /// Noun phrases after each other.
    package var text: String { map(\.text).joined(separator: "; ") }

    /// A clause about the model; nil if nothing stands in the way.
    package var clause: String? {
        guard let first else { return nil }
        return count == 1 ? first.clause : "it cannot be run yet: \(text)"
    }
}

// MARK: Its error

extension RunObstacle {
    /// The code of the error where nothing else stands in the way.
    package var code: ErrorCode {
        switch self {
        case .missingLayers, .noTokenizer, .broken: .malformedModel
        case .memory: .insufficientMemory
        case .architecture, .modelClass, .noModelType, .noConfiguration, .noWeights, .format, .otherNames,
            .quantization, .elementType, .setting, .adapter, .unreadable:
            .unsupportedModel
        }
    }
}
