import HubCore
import ModelFormats

/// OLMo 1 (https://arxiv.org/abs/2402.00838): layer norms without weights, limited queries, keys and values. 2
/// (https://arxiv.org/abs/2501.00656): norms of what a half adds alone, and of all queries and all keys. 3 has windows in
/// three of four layers; only the fourth's rotary embedding is scaled.
extension Architecture {
    static let olmo = Architecture("OLMo 1", ["olmo"], gguf: ["olmo"], classes: .decoder("Olmo")) {
        settings throws(AIError) in
        var model = try settings.decoder()
        model.setNorms(.init(kind: .layer(hasBias: false), epsilon: 1e-5, hasWeight: false))
        let limit = settings.positive("clip_qkv").map { Float($0) }
        model.eachAttention {
            $0.limit = limit
            // llama.cpp's files have permuted rows of queries and keys.
            $0.rotary?.isAdjacent = settings.isGGUF
        }
        return model
    }

    static let olmo2 = Architecture(
        "OLMo 2 and 3", ["olmo2", "olmo3"], gguf: ["olmo2"],
        classes: .decoder("Olmo2") + .decoder("Olmo3"), names: .normsInside
    ) { settings throws(AIError) in
        var model = try settings.decoder()
        model.placeNorms(.inside)
        let norm = model.finalNorm
        model.eachAttention { ($0.headNorm, $0.headNormSpan) = (norm, .width) }
        let isThird = settings.configuration.modelType == "olmo3"
        guard isThird || settings.isGGUF, let window = settings.window(orNone: isThird ? 4096 : nil)
        else { return model }
        let headSize = model.layers.first?.attention?.headSize ?? 0
        let kinds = settings.layerKinds(model.layers.count, period: 4)
        let full = try settings.rotary(headSize: headSize, kind: "full_attention", base: 500_000)
        var sliding = try settings.rotary(headSize: headSize, kind: "sliding_attention", base: 500_000)
        if settings.scope("rope_parameters")?.has("sliding_attention") != true { sliding.scaling = .none }
        for index in model.layers.indices {
            let slides = kinds[index] == "sliding_attention"
            model.layers[index].attention?.window = slides ? window : nil
            model.layers[index].attention?.rotary = slides ? sliding : full
        }
        return model
    }

    /// OLMoE (https://arxiv.org/abs/2409.02060): norms of all queries and all keys, 64 experts.
    static let olmoe = Architecture("OLMoE", ["olmoe"], gguf: ["olmoe"], classes: .decoder("Olmoe")) {
        settings throws(AIError) in
        var model = try settings.decoder()
        let (norm, limit) = (model.finalNorm, settings.positive("clip_qkv").map { Float($0) })
        model.eachAttention { ($0.headNorm, $0.headNormSpan, $0.limit) = (norm, .width, limit) }
        let routing = ModelDescription.Routing(renormalizes: settings.flag("norm_topk_prob") ?? false)
        model.mix(try settings.experts(width: settings.configuration.intermediateSize, routing))
        return model
    }
}
