import HubCore
import ModelFormats

/// EuroBERT (https://arxiv.org/abs/2503.05500): Llama that sees both sides.
extension Architecture {
    static let euroBert = Architecture(
        "EuroBERT", ["eurobert"], gguf: ["eurobert"],
        classes: [
            .base("EuroBertModel"), .euroMasked, .euroLabels, .tokenLabels("EuroBertForTokenClassification"),
        ]
    ) { settings throws(AIError) in
        var model = try settings.decoder()
        model.isCausal = false
        return model
    }
}

extension ModelClass {
    fileprivate static let euroMasked = ModelClass("EuroBertForMaskedLM", .fillMask, [.head: "lm_head"]) {
        settings, d throws(AIError) in
        Head(isTied: settings.isTied(default: false), hasBias: settings.configuration.mlpBias)
    }

    fileprivate static let euroLabels = ModelClass(
        "EuroBertForSequenceClassification", .classification, [.headDense: "dense", .head: "classifier"]
    ) { settings, d throws(AIError) in
        var head = Head(
            dense: .init(width: d.width, activation: .gelu), hasBias: true, outputs: .labels(try settings.labels()))
        switch settings.text("classifier_pooling") ?? settings.text("clf_pooling") ?? "late" {
        case "bos": head.rows = .first
        case "mean": head.rows = .mean
        case "late": head.rows = .meanOfOutputs
        case let kind: settings.refuse("classifier_pooling", kind)
        }
        return head
    }
}
