import HubCore
import ModelFormats

/// T5Gemma (https://arxiv.org/abs/2504.06225): an encoder and a decoder made of Gemma 2, which may differ in all sizes, each
/// with a table of tokens.
extension Architecture {
    static let t5Gemma = Architecture(
        "T5Gemma", ["t5gemma"], gguf: [], classes: [.generator("T5GemmaForConditionalGeneration")], names: .t5Gemma
    ) { settings throws(AIError) in
        guard let part = settings.configuration.encoder else {
            throw .malformed(settings.path, "it has no encoder")
        }
        var reading = try settings.part(part)
        var encoder = try reading.gemma2()
        settings.obstacles += reading.obstacles
        (encoder.isCausal, encoder.head, encoder.task) = (false, nil, .embedding)
        encoder.embedding.isOwn = true
        encoder.eachAttention {
            // A position sees as many to both sides as the settings say, beside itself.
            if let window = $0.window { $0.window = window + 1 }
        }
        var decoder = try settings.gemma2()
        guard encoder.vocabulary == decoder.vocabulary else {
            throw .malformed(
                settings.path,
                "vocab_size is \(encoder.vocabulary) in the encoder and \(decoder.vocabulary) in the decoder")
        }
        decoder.maxPositions = min(decoder.maxPositions, encoder.maxPositions)
        for index in decoder.layers.indices {
            decoder.layers[index].crossAttention = decoder.layers[index].attention
            decoder.layers[index].crossAttention?.rotary = nil
            decoder.layers[index].crossAttention?.window = nil
        }
        if let isStored = settings.stores("lm_head.out_proj.weight") { decoder.head?.isTied = !isStored }
        decoder.encoders = [encoder]
        return decoder
    }
}

extension TensorNames {
    fileprivate static let t5Gemma: TensorNames = {
        func half(_ name: String) -> TensorNames {
            TensorNames(
                layer: "\(name).layers.",
                stems: gemmaAround.stems.merging([
                    .embedding: "\(name).embed_tokens", .finalNorm: "\(name).norm", .head: "lm_head.out_proj",
                    .attentionNorm: "pre_self_attn_layernorm", .attentionPostNorm: "post_self_attn_layernorm",
                ]) { $1 })
        }
        var names = half("decoder").with([
            .crossNorm: "pre_cross_attn_layernorm", .crossQuery: "cross_attn.q_proj",
            .crossKey: "cross_attn.k_proj", .crossValue: "cross_attn.v_proj", .crossOutput: "cross_attn.o_proj",
            .crossPostNorm: "post_cross_attn_layernorm",
        ])
        names.prefix = "model."
        names.encoders = [half("encoder")]
        return names
    }()
}
