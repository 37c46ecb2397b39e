import HubCore
import ModelFormats

/// ESM-1b and ESM-2 (https://doi.org/10.1126/science.ade2574), of proteins: norms before each half, biases, rotary or
/// learned positions, and masks that count as dropped tokens.
extension Architecture {
    static let esm = Architecture(
        "ESM", ["esm"], gguf: [],
        classes: [
            .base("EsmModel"),
            .masked(
                "EsmForMaskedLM", dense: "lm_head.dense", norm: "lm_head.layer_norm", head: "lm_head.decoder",
                bias: "lm_head", activation: .gelu),
            .labels("EsmForSequenceClassification", dense: "classifier.dense", head: "classifier.out_proj"),
            .tokenLabels("EsmForTokenClassification"),
        ], names: .esm
    ) { settings throws(AIError) in
        var model = try settings.rotaryEncoder(base: 10_000, types: nil)
        let norm = model.layers[0].norm
        model.embedding.norm = settings.flag("emb_layer_norm_before") == true ? norm : nil
        model.embedding.types = nil
        model.finalNorm = norm
        for index in model.layers.indices { model.layers[index].norms = .before }
        switch settings.text("position_embedding_type") ?? "absolute" {
        case "rotary": break
        case "absolute":
            // Positions are counted from the one behind the padding's.
            let offset = (settings.place("pad_token_id") ?? 1) + 1
            model.embedding.positions = model.maxPositions
            model.embedding.positionOffset = offset
            model.maxPositions = max(1, model.maxPositions - offset)
            model.eachAttention { $0.rotary = nil }
        case let kind: settings.refuse("position_embedding_type", kind)
        }
        if settings.flag("token_dropout") == true {
            let mask = settings.place("mask_token_id")
            model.embedding.masking = .init(id: try settings.need(mask, "mask_token_id"))
        }
        settings.refuse(["is_folding_model", "is_decoder"]) { $0.flag($1) == true }
        return model
    }
}

extension TensorNames {
    fileprivate static let esm = TensorNames(
        prefix: "esm.", layer: "encoder.layer.",
        stems: [
            .embedding: "embeddings.word_embeddings", .positions: "embeddings.position_embeddings",
            .embeddingNorm: "embeddings.layer_norm", .finalNorm: "encoder.emb_layer_norm_after",
            .attentionNorm: "attention.LayerNorm", .query: "attention.self.query", .key: "attention.self.key",
            .value: "attention.self.value", .attentionOutput: "attention.output.dense",
            .feedForwardNorm: "LayerNorm", .up: "intermediate.dense", .down: "output.dense",
        ],
        // Files of rotary models have learned positions too, which nothing reads.
        ignored: ["embeddings.position_ids", "embeddings.position_embeddings.weight"],
        heads: ["pooler.", "contact_head."])
}
