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
    init(reranker configuration: ModelConfiguration) {
        let settings = configuration.settings
        let named = settings["sentence_transformers"]?["activation_fn"] ?? settings["sbert_ce_default_activation_function"]
        let isPlain = named?.string?.split(separator: ".").last == "Identity"
        self = isPlain ? .plain : .sigmoid
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
