import HubCore
import ModelFormats

/// BERT (https://arxiv.org/abs/1810.04805) and the encoders that keep its layers: RoBERTa
/// (https://arxiv.org/abs/1907.11692) with XLM-RoBERTa and CamemBERT, ELECTRA (https://arxiv.org/abs/2003.10555),
/// DistilBERT (https://arxiv.org/abs/1910.01108), ALBERT (https://arxiv.org/abs/1909.11942) and MPNet
/// (https://arxiv.org/abs/2004.09297).
extension Architecture {
    static let bert = Architecture(
        "BERT", ["bert"], gguf: ["bert"],
        classes: [
            .base("BertModel"), .words("BertForMaskedLM"), .words("BertForPreTraining"),
            .labels("BertForSequenceClassification", pooler: "pooler.dense"),
            .tokenLabels("BertForTokenClassification"), .base("Contriever"),
            .lateInteraction,
        ], names: .bert, ggufTensors: .bertGGUF
    ) { settings throws(AIError) in
        settings.refuse(["is_decoder"]) { $0.flag($1) == true }
        return try settings.encoder()
    }

    static let roberta = roberta("RoBERTa", "roberta", "Roberta")
    static let xlmRoberta = roberta("XLM-RoBERTa", "xlm-roberta", "XLMRoberta")
    static let camembert = roberta("CamemBERT", "camembert", "Camembert")

    /// Positions count from the id of padding on; heads have a layer of their own.
    private static func roberta(_ name: String, _ type: String, _ stem: String) -> Architecture {
        Architecture(
            name, [type], gguf: [],
            classes: [
                .base("\(stem)Model"),
                .masked(
                    "\(stem)ForMaskedLM", dense: "lm_head.dense", norm: "lm_head.layer_norm",
                    head: "lm_head.decoder", bias: "lm_head", activation: .gelu),
                .labels(
                    "\(stem)ForSequenceClassification", dense: "classifier.dense", head: "classifier.out_proj"),
                .tokenLabels("\(stem)ForTokenClassification"),
            ], names: .bert("roberta."), otherNames: [.flash]
        ) { settings throws(AIError) in
            settings.refuse(["is_decoder"]) { $0.flag($1) == true }
            var model = try settings.encoder()
            let padding = settings.place("pad_token_id") ?? 1
            guard padding < model.maxPositions - 1 else {
                throw .malformed(
                    settings.path, "pad_token_id \(padding) leaves none of \(model.maxPositions) positions")
            }
            model.embedding.positionOffset = padding + 1
            model.maxPositions -= padding + 1
            return model
        }
    }

    /// The embedding may be narrower than the layers. What tells real words from others
    /// (`ElectraForPreTraining`) is a base model here: its head gives no label that anybody asks for.
    static let electra = Architecture(
        "ELECTRA", ["electra"], gguf: [],
        classes: [
            .base("ElectraModel"), .base("ElectraForPreTraining"),
            .masked(
                "ElectraForMaskedLM", dense: "generator_predictions.dense", norm: "generator_predictions.LayerNorm",
                head: "generator_lm_head", activation: .gelu),
            .labels(
                "ElectraForSequenceClassification", dense: "classifier.dense", activation: .gelu,
                head: "classifier.out_proj"),
            .tokenLabels("ElectraForTokenClassification"),
        ],
        names: .bert(
            "electra.", [.embeddingProjection: "embeddings_project"], heads: ["discriminator_predictions."])
    ) { settings throws(AIError) in
        settings.refuse(["is_decoder"]) { $0.flag($1) == true }
        var model = try settings.encoder()
        let narrow = settings.count("embedding_size") ?? 128
        if narrow != model.width { model.embedding.projection = .last(from: narrow) }
        return model
    }

    static let distilbert = Architecture(
        "DistilBERT", ["distilbert"], gguf: [],
        classes: [
            .base("DistilBertModel"),
            .masked(
                "DistilBertForMaskedLM", dense: "vocab_transform", norm: "vocab_layer_norm", head: "vocab_projector"
            ),
            .labels("DistilBertForSequenceClassification", dense: "pre_classifier", activation: .relu),
            .tokenLabels("DistilBertForTokenClassification"),
        ], names: .distilbert
    ) { settings throws(AIError) in
        var model = try settings.encoder(activation: settings.text("activation"))
        model.embedding.types = nil
        return model
    }

    /// All layers share the tensors of one, or those of a group share one's.
    static let albert = Architecture(
        "ALBERT", ["albert"], gguf: [],
        classes: [
            .base("AlbertModel"), .predictions("AlbertForMaskedLM"), .predictions("AlbertForPreTraining"),
            .labels("AlbertForSequenceClassification", pooler: "pooler"),
            .tokenLabels("AlbertForTokenClassification"),
        ], names: .albert
    ) { settings throws(AIError) in
        var model = try settings.encoder(activation: settings.configuration.activation ?? "gelu_new")
        model.embedding.projection = .last(from: settings.count("embedding_size") ?? 128)
        let groups = settings.count("num_hidden_groups") ?? 1
        guard groups <= model.layers.count else {
            throw .malformed(settings.path, "num_hidden_groups is \(groups) of \(model.layers.count) layers")
        }
        if let inner = settings.count("inner_group_num"), inner > 1 {
            settings.refuse("inner_group_num", "\(inner)")
        }
        // As the reference rounds.
        let size = Double(model.layers.count) / Double(groups)
        model.places = model.layers.indices.map { Int(Double($0) / size) }
        return model
    }

    /// A number for each distance counts in all layers' scores.
    static let mpnet = Architecture(
        "MPNet", ["mpnet"], gguf: [],
        classes: [
            .base("MPNetModel"),
            .masked(
                "MPNetForMaskedLM", dense: "lm_head.dense", norm: "lm_head.layer_norm", head: "lm_head.decoder",
                bias: "lm_head", activation: .gelu),
            .labels("MPNetForSequenceClassification", dense: "classifier.dense", head: "classifier.out_proj"),
            .tokenLabels("MPNetForTokenClassification"),
        ],
        names: .bert(
            "mpnet.",
            [
                .query: "attention.attn.q", .key: "attention.attn.k", .value: "attention.attn.v",
                .attentionOutput: "attention.attn.o", .attentionPostNorm: "attention.LayerNorm",
                .distances: "encoder.relative_attention_bias",
            ])
    ) { settings throws(AIError) in
        var model = try settings.encoder()
        model.embedding.types = nil
        // Positions begin at 2, whatever the id of padding is, and there are 32 buckets, whatever the table has.
        (model.embedding.positionOffset, model.maxPositions) = (2, model.maxPositions - 2)
        guard model.maxPositions > 0 else {
            throw .malformed(settings.path, "max_position_embeddings leaves no positions")
        }
        let (rows, buckets) = (settings.count("relative_attention_num_buckets") ?? 32, 32)
        if rows < buckets { settings.refuse("relative_attention_num_buckets", "\(rows)") }
        model.distances = .init(rows: rows, buckets: .halves(count: buckets, furthest: 128))
        return model
    }
}

extension ModelClass {
    fileprivate static func words(_ name: String) -> ModelClass {
        .masked(
            name, dense: "cls.predictions.transform.dense", norm: "cls.predictions.transform.LayerNorm",
            head: "cls.predictions.decoder", bias: "cls.predictions")
    }

    fileprivate static func predictions(_ name: String) -> ModelClass {
        .masked(
            name, dense: "predictions.dense", norm: "predictions.LayerNorm", head: "predictions.decoder",
            bias: "predictions")
    }
}

extension TensorNames {
    fileprivate static let bert = bert("bert.", heads: ["cls.seq_relationship."])

    /// - Parameters:
    ///   - stems: names that differ from BERT's.
    ///   - heads: those that are not run, besides the pooler.
    static func bert(
        _ prefix: String, _ stems: [TensorRole: String] = [:], heads: [String] = []
    ) -> TensorNames {
        TensorNames(
            prefix: prefix, layer: "encoder.layer.",
            stems: [
                .embedding: "embeddings.word_embeddings", .positions: "embeddings.position_embeddings",
                .tokenTypes: "embeddings.token_type_embeddings", .embeddingNorm: "embeddings.LayerNorm",
                .query: "attention.self.query", .key: "attention.self.key", .value: "attention.self.value",
                .attentionOutput: "attention.output.dense", .attentionPostNorm: "attention.output.LayerNorm",
                .up: "intermediate.dense", .down: "output.dense", .feedForwardPostNorm: "output.LayerNorm",
            ],
            ignored: ["embeddings.position_ids"], heads: ["pooler."] + heads
        ).with(stems)
    }

    fileprivate static let distilbert: TensorNames = {
        var names = bert(
            "distilbert.",
            [
                .query: "attention.q_lin", .key: "attention.k_lin", .value: "attention.v_lin",
                .attentionOutput: "attention.out_lin", .attentionPostNorm: "sa_layer_norm", .up: "ffn.lin1",
                .down: "ffn.lin2", .feedForwardPostNorm: "output_layer_norm",
            ], heads: ["qa_outputs."])
        names.layer = "transformer.layer."
        return names
    }()

    fileprivate static let albert: TensorNames = {
        var names = bert(
            "albert.",
            [
                .embeddingProjection: "encoder.embedding_hidden_mapping_in",
                .query: "albert_layers.0.attention.query", .key: "albert_layers.0.attention.key",
                .value: "albert_layers.0.attention.value", .attentionOutput: "albert_layers.0.attention.dense",
                .attentionPostNorm: "albert_layers.0.attention.LayerNorm", .up: "albert_layers.0.ffn",
                .down: "albert_layers.0.ffn_output",
                .feedForwardPostNorm: "albert_layers.0.full_layer_layer_norm",
            ], heads: ["sop_classifier."])
        names.layer = "encoder.albert_layer_groups."
        return names
    }()

    fileprivate static let bertGGUF = gguf.with([
        .attentionPostNorm: "attn_output_norm", .feedForwardPostNorm: "layer_output_norm",
    ])
}
