import HubCore
import ModelFormats

/// MobileBERT (https://arxiv.org/abs/2004.02984): layers of narrow halves, several feed-forward blocks in each, factors
/// and biases instead of norms, and tokens that see their neighbours before the first layer.
extension Architecture {
    static let mobileBert = Architecture(
        "MobileBERT", ["mobilebert"], gguf: [],
        classes: [
            .base("MobileBertModel"), .words("MobileBertForMaskedLM"), .words("MobileBertForPreTraining"),
            ModelClass(
                "MobileBertForSequenceClassification", .classification, [.head: "classifier"],
                inside: [.headDense: "pooler.dense"]
            ) { settings, d throws(AIError) in
                let hasDense = settings.flag("classifier_activation") ?? true
                return .init(
                    rows: .first, dense: hasDense ? .init(width: d.width, activation: .tanh) : nil, hasBias: true,
                    outputs: .labels(try settings.labels()))
            },
            .tokenLabels("MobileBertForTokenClassification"),
        ], names: .mobileBert
    ) { settings throws(AIError) in
        var model = try settings.encoder(activation: settings.configuration.activation ?? "relu")
        if let kind = settings.text("normalization_type"), kind != "no_norm" {
            settings.refuse("normalization_type", kind)
        }
        let norm = ModelDescription.Norm(kind: .affine(hasBias: true), epsilon: 0)
        let (table, hasNeighbours) = (
            settings.count("embedding_size") ?? 128, settings.flag("trigram_input") ?? true
        )
        if hasNeighbours || table != model.width {
            model.embedding.projection = .first(from: table, neighbours: hasNeighbours)
        }
        model.embedding.norm = norm
        var bottleneck: ModelDescription.Bottleneck?
        if settings.flag("use_bottleneck") ?? true {
            let isNarrow = settings.flag("use_bottleneck_attention") ?? false
            bottleneck = .init(
                width: settings.count("intra_bottleneck_size") ?? 128, hasQueries: !isNarrow)
            if !isNarrow, settings.flag("key_query_shared_bottleneck") == false {
                settings.refuse("key_query_shared_bottleneck", "false")
            }
        }
        let blocks = settings.count("num_feedforward_networks") ?? 4
        guard (1...TensorNames.mostBlocks).contains(blocks) else {
            throw .malformed(
                settings.path, "num_feedforward_networks is \(blocks), not from 1 to \(TensorNames.mostBlocks)")
        }
        let width = bottleneck?.width ?? model.width
        for index in model.layers.indices {
            model.layers[index].norm = norm
            model.layers[index].bottleneck = bottleneck
            model.layers[index].earlierFeedForwards = blocks - 1
        }
        model.eachAttention {
            $0.headSize = max(1, width / $0.heads)
            $0.scale = 1 / Float($0.headSize).squareRoot()
        }
        return model
    }
}

extension ModelClass {
    /// The table of tokens is narrower than the rows: what it lacks is a matrix of its own.
    fileprivate static func words(_ name: String) -> ModelClass {
        let stem = "cls.predictions"
        return ModelClass(
            name, .fillMask,
            [
                .headDense: stem + ".transform.dense", .headNorm: stem + ".transform.LayerNorm",
                .head: stem + ".decoder", .headRest: stem + ".dense",
            ], biases: [.head: stem]
        ) { settings, d throws(AIError) in
            .init(
                dense: .init(
                    width: d.width, activation: d.layers.first?.feedForward?.activation,
                    norm: .init(
                        kind: .layer(hasBias: true), epsilon: Float(settings.epsilon("layer_norm_eps") ?? 1e-12))),
                isTied: settings.isTied(default: true) && settings.stores(stem + ".decoder.weight") != true,
                rest: d.width - (d.embedding.width ?? d.width), hasBias: true)
        }
    }
}

extension TensorNames {
    /// Feed-forward blocks of a layer that have names here.
    fileprivate static let mostBlocks = 16

    fileprivate static let mobileBert: TensorNames = {
        var names = bert(
            "mobilebert.",
            [
                .embeddingProjection: "embeddings.embedding_transformation",
                .bottleneckInput: "bottleneck.input.dense", .bottleneckInputNorm: "bottleneck.input.LayerNorm",
                .bottleneckQuery: "bottleneck.attention.dense",
                .bottleneckQueryNorm: "bottleneck.attention.LayerNorm",
                .bottleneckOutput: "output.bottleneck.dense", .bottleneckOutputNorm: "output.bottleneck.LayerNorm",
            ], heads: ["cls.seq_relationship."])
        for block in 0..<mostBlocks {
            names.stems[.earlierUp(block)] = "ffn.\(block).intermediate.dense"
            names.stems[.earlierDown(block)] = "ffn.\(block).output.dense"
            names.stems[.earlierNorm(block)] = "ffn.\(block).output.LayerNorm"
        }
        names.turned = [.headRest]
        return names
    }()
}
