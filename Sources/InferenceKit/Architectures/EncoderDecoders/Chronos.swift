import HubCore
import ModelFormats

/// Chronos, Chronos-Bolt and Chronos-2: T5 over series of numbers (https://arxiv.org/abs/2403.07815,
/// https://arxiv.org/abs/2510.15821). Their config.json says `t5`, and has a `chronos_config`.
extension Architecture {
    static let chronos = Architecture(
        "Chronos", ["chronos"], calledLike: "t5", gguf: [],
        classes: [
            .forecaster("T5ForConditionalGeneration"), .forecaster("ChronosBoltModelForForecasting", values),
            .forecaster("Chronos2Model", values),
        ],
        names: .bolt(isGated: false), otherNames: [.bolt(isGated: true), .chronos2]
    ) { settings throws(AIError) in try settings.chronos() }

    private static let values: [TensorRole: String] = [
        .headDense: "output_patch_embedding.hidden_layer", .head: "output_patch_embedding.output_layer",
        .headResidual: "output_patch_embedding.residual_layer",
    ]
}

extension Settings {
    fileprivate mutating func chronos() throws(AIError) -> ModelDescription {
        let forecast = try ForecastSettings(&self)
        var d: ModelDescription
        switch forecast.method {
        case .paths(let paths):
            d = try t5()
            guard paths.tokens <= d.vocabulary else {
                throw .malformed(path, "n_tokens is \(paths.tokens), more than vocab_size, \(d.vocabulary)")
            }
            // A series and its end.
            d.maxPositions = max(forecast.contextLength, forecast.horizon) + 1
            d.encoders[0].maxPositions = d.maxPositions
        case .quantiles(let quantiles):
            d = quantiles.hasDecoder ? try t5() : try chronos2()
            let width = try need(configuration.intermediateSize, "d_ff")
            let named = text("feed_forward_proj") ?? "relu"
            let activation = activation(named.split(separator: "-").last.map(String.init), default: .relu)
            let patches = ModelDescription.Patches(count: quantiles.count, width: width, activation: activation)
            // The row that a decoder starts with, or none; then that of the register.
            d.vocabulary = quantiles.hasRegister ? 2 : 1
            let values = quantiles.levels.count * (quantiles.hasDecoder ? forecast.horizon : quantiles.size)
            d.head = .init(
                dense: .init(width: width, activation: activation), hasBias: true, hasResidual: true,
                outputs: .values(values))
            let rows = (forecast.contextLength + quantiles.size - 1) / quantiles.size + 1
            if quantiles.hasDecoder {
                d.encoders[0].embedding.patches = patches
                (d.encoders[0].vocabulary, d.encoders[0].maxPositions) = (d.vocabulary, rows)
            } else {
                d.embedding.patches = patches
                d.maxPositions = rows + forecast.horizon / quantiles.size
            }
        }
        d.forecast = forecast
        return d
    }

    /// An encoder like T5's with rotary embeddings, and attention between series after each layer's own.
    private mutating func chronos2() throws(AIError) -> ModelDescription {
        let c = configuration
        let norm = ModelDescription.Norm(
            kind: .rms(offset: 0), epsilon: Float(epsilon("layer_norm_epsilon") ?? 1e-6))
        let heads = try need(c.heads, "num_heads")
        let size = try need(c.headSize, "d_kv")
        var attention = ModelDescription.Attention(heads: heads, kvHeads: heads, headSize: size, scale: 1)
        var layer = ModelDescription.Layer(
            attention: attention,
            feedForward: .init(
                width: try need(c.intermediateSize, "d_ff"),
                activation: activation(text("feed_forward_proj") ?? "relu", default: .relu), isGated: false),
            norms: .before, norm: norm)
        layer.groupAttention = attention
        attention.rotary = .init(base: positive("rope_theta") ?? 10_000, rotated: size)
        layer.attention = attention
        return ModelDescription(
            vocabulary: 1, width: try need(c.hiddenSize, "d_model"), maxPositions: 1,
            layers: Array(repeating: layer, count: try layerCount("num_layers")), finalNorm: norm, isCausal: false)
    }
}

extension TensorNames {
    private static let patches: [TensorRole: String] = [
        .patchHidden: "input_patch_embedding.hidden_layer", .patchOutput: "input_patch_embedding.output_layer",
        .patchResidual: "input_patch_embedding.residual_layer",
    ]

    /// T5's names, which Chronos has, with those of Chronos-Bolt's patches.
    fileprivate static func bolt(isGated: Bool) -> TensorNames {
        var names = t5(isGated: isGated)
        names.encoders[0] = names.encoders[0].with(patches)
        return names
    }

    fileprivate static let chronos2 = TensorNames(
        layer: "encoder.block.",
        stems: [
            .embedding: "shared", .finalNorm: "encoder.final_layer_norm", .attentionNorm: "layer.0.layer_norm",
            .query: "layer.0.self_attention.q", .key: "layer.0.self_attention.k",
            .value: "layer.0.self_attention.v", .attentionOutput: "layer.0.self_attention.o",
            .groupNorm: "layer.1.layer_norm", .groupValue: "layer.1.self_attention.v",
            .groupOutput: "layer.1.self_attention.o", .feedForwardNorm: "layer.2.layer_norm",
            .up: "layer.2.mlp.wi", .down: "layer.2.mlp.wo",
        ],
        // A series alone does not ask which others matter.
        ignored: ["layer.1.self_attention.q.weight", "layer.1.self_attention.k.weight"]
    ).with(patches)
}
