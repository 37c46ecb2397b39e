import HubCore
import ModelFormats

/// T5 (https://arxiv.org/abs/1910.10683) and its multilingual kin: RMS norms, no scale of scores, buckets of distances
/// that the first layer of each half has for all. Version 1.1 and FLAN have gates and a head of their own.
extension Architecture {
    static let t5 = Architecture(
        "T5", ["t5", "mt5"], gguf: [],
        classes: [.generator("T5ForConditionalGeneration"), .generator("MT5ForConditionalGeneration")],
        names: .t5(isGated: false), otherNames: [.t5(isGated: true)]
    ) { settings throws(AIError) in try settings.t5() }
}

extension Settings {
    mutating func t5() throws(AIError) -> ModelDescription {
        let c = configuration
        let width = try need(c.hiddenSize, "d_model")
        let heads = try need(c.heads, "num_heads")
        let norm = ModelDescription.Norm(
            kind: .rms(offset: 0), epsilon: Float(epsilon("layer_norm_epsilon") ?? 1e-6))
        let attention = ModelDescription.Attention(
            heads: heads, kvHeads: heads, headSize: try need(c.headSize, "d_kv"), scale: 1)
        let projection = text("feed_forward_proj") ?? "relu"
        let isGated = projection.hasPrefix("gated-")
        let named = isGated ? String(projection.dropFirst("gated-".count)) : projection
        let feedForward = ModelDescription.FeedForward(
            width: try need(c.intermediateSize, "d_ff"),
            activation: projection == "gated-gelu" ? .geluTanh : activation(named, default: .relu),
            isGated: isGated)
        var layer = ModelDescription.Layer(
            attention: attention, feedForward: feedForward, norms: .before, norm: norm)
        // Distances have no end; this is what the models were trained with.
        let positions = c.maxPositions ?? 512
        let buckets = count("relative_attention_num_buckets") ?? 32
        let furthest = count("relative_attention_max_distance") ?? 128
        guard buckets >= 4, furthest > buckets / 2 else {
            throw .malformed(
                path,
                "relative_attention_num_buckets is \(buckets) and relative_attention_max_distance \(furthest)")
        }
        let isScaled = c.tiedEmbeddings ?? true
        var encoder = ModelDescription(
            vocabulary: try need(c.vocabulary, "vocab_size"), width: width, maxPositions: positions,
            distances: .init(rows: buckets, buckets: .halves(count: buckets, furthest: furthest)),
            layers: Array(repeating: layer, count: try layerCount(count("num_layers"), "num_layers")),
            finalNorm: norm, isCausal: false)
        encoder.task = .embedding
        layer.crossAttention = attention
        var d = ModelDescription(
            vocabulary: encoder.vocabulary, width: width, maxPositions: positions,
            distances: .init(rows: buckets, buckets: .before(count: buckets, furthest: furthest)),
            layers: Array(repeating: layer, count: try layerCount("num_decoder_layers")), finalNorm: norm,
            head: .init(
                isTied: stores("lm_head.weight").map { !$0 } ?? isScaled,
                scale: isScaled ? 1 / Float(width).squareRoot() : 1),
            encoders: [encoder])
        d.languages = phrases
        return d
    }

    /// The phrases for translations among `task_specific_params`; nil if there are none.
    private var phrases: Languages? {
        let found = object("task_specific_params")?.members.compactMap { name, task -> Languages.Phrase? in
            guard let match = name.wholeMatch(of: /translation_([a-z]+)_to_([a-z]+)/),
                let text = task["prefix"]?.string
            else { return nil }
            return .init(source: String(match.output.1), target: String(match.output.2), text: text)
        }
        return found.flatMap { $0.isEmpty ? nil : .phrases($0) }
    }
}

extension TensorNames {
    /// - Parameter isGated: whether the feed-forward block has a gate.
    static func t5(isGated: Bool) -> TensorNames {
        func half(_ name: String, feedForward: Int) -> TensorNames {
            TensorNames(
                layer: "\(name).block.",
                stems: [
                    .finalNorm: "\(name).final_layer_norm", .attentionNorm: "layer.0.layer_norm",
                    .distances: "\(name).block.0.layer.0.SelfAttention.relative_attention_bias",
                    .query: "layer.0.SelfAttention.q", .key: "layer.0.SelfAttention.k",
                    .value: "layer.0.SelfAttention.v", .attentionOutput: "layer.0.SelfAttention.o",
                    .feedForwardNorm: "layer.\(feedForward).layer_norm",
                    .gate: "layer.\(feedForward).DenseReluDense.wi_0",
                    .up: "layer.\(feedForward).DenseReluDense.wi\(isGated ? "_1" : "")",
                    .down: "layer.\(feedForward).DenseReluDense.wo",
                ])
        }
        var names = half("decoder", feedForward: 2).with([
            .embedding: "shared", .head: "lm_head", .crossNorm: "layer.1.layer_norm",
            .crossQuery: "layer.1.EncDecAttention.q", .crossKey: "layer.1.EncDecAttention.k",
            .crossValue: "layer.1.EncDecAttention.v", .crossOutput: "layer.1.EncDecAttention.o",
        ])
        names.encoders = [half("encoder", feedForward: 1)]
        // The table of tokens once more, and what early files have and no version reads.
        names.ignored = [
            "encoder.embed_tokens.weight", "decoder.embed_tokens.weight",
            "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",
        ]
        return names
    }
}
