import HubCore
import Libc
import ModelFormats

/// How outputs become scores, in the order of the outputs.
enum LabelScores: Sendable, Hashable {
    /// One of the labels is true.
    case softmax
    /// Each label is true or not.
    case sigmoid
    /// The outputs are what the model was trained to give.
    case plain

    /// As transformers' pipeline for text classification chooses.
    init(_ labels: LabelSettings) {
        switch labels.problem {
        case .regression: self = .plain
        case .several: self = .sigmoid
        case .single, nil: self = labels.count == 1 ? .sigmoid : .softmax
        }
    }

    /// As sentence-transformers' cross encoders choose for one label.
    /// https://sbert.net/docs/package_reference/cross_encoder/cross_encoder.html
    ///
    /// - Parameters:
    ///   - configuration: says which function in older models.
    ///   - folder: holds the file that says it in newer ones; nil for a model in one file.
    init(reranker configuration: ModelConfiguration, folder: String?) throws(AIError) {
        let settings = configuration.settings
        var named =
            settings["sentence_transformers"]?["activation_fn"] ?? settings["sbert_ce_default_activation_function"]
        if let folder, let newer = try JSONFile.read(Path.join(folder, "config_sentence_transformers.json")) {
            named = newer["activation_fn"] ?? named
        }
        self = named?.string?.split(separator: ".").last == "Identity" ? .plain : .sigmoid
    }

    func callAsFunction(_ outputs: [Double]) -> [Double] {
        switch self {
        case .plain: return outputs
        case .sigmoid: return outputs.map { 1 / (1 + exp(-$0)) }
        case .softmax:
            let largest = outputs.max() ?? 0
            let weights = outputs.map { exp($0 - largest) }
            let sum = weights.reduce(0, +)
            return weights.map { $0 / sum }
        }
    }
}
