import HubCore
import ModelFormats

/// Gemma 3n, the text side (https://ai.google.dev/gemma/docs/gemma-3n, transformers' `Gemma3nTextModel`): four residual
/// streams, rows of tokens for each layer, a matrix of low rank beside attention, gates of which most are cut off in the
/// first layers, and last layers that read the keys and values of earlier ones.
extension Architecture {
    static let gemma3n = Architecture(
        "Gemma 3n", ["gemma3n_text", "gemma3n"], gguf: [],
        classes: [
            .generator("Gemma3nForCausalLM"), .generator("Gemma3nForConditionalGeneration"),
            .base("Gemma3nTextModel"),
        ], names: .gemma3n
    ) { settings throws(AIError) in
        var model = try settings.gemma(normOffset: 0, isUneven: true)
        try settings.shapeAttention(&model)
        try settings.shapeFeedForwards(&model)
        let rank = try settings.size(settings.value("laurel_rank"), "laurel_rank") ?? 64
        for index in model.layers.indices {
            model.layers[index].norms = .around
            model.layers[index].detourRank = rank
        }
        model.layerInputs = try settings.layerInputs(model, width: 256)
        model.streams = try settings.streams(model)
        model.head?.cap = Float(settings.number("final_logit_softcapping", orNone: 30) ?? 0)
        return model
    }
}

extension TensorNames {
    fileprivate static let gemma3n: TensorNames = {
        var names = gemmaInputs.with([
            .detourLeft: "laurel.linear_left", .detourRight: "laurel.linear_right",
            .detourNorm: "laurel.post_laurel_norm", .streamRouter: "altup.modality_router",
            .streamRouterNorm: "altup.router_norm", .streamPrediction: "altup.prediction_coefs",
            .streamCorrection: "altup.correction_coefs", .streamScale: "altup.correct_output_scale",
        ])
        for stream in 1..<ModelDescription.Streams.most {
            names.stems[.streamInput(stream)] = "altup_projections.\(stream - 1)"
            names.stems[.streamOutput(stream)] = "altup_unembed_projections.\(stream - 1)"
        }
        names.plain = [.streamScale]
        names.ignored += sharedKeys
        return names
    }()
}

extension Settings {
    fileprivate mutating func shapeAttention(_ model: inout ModelDescription) throws(AIError) {
        let kinds = layerKinds(model.layers.count, period: 5)
        let sources = try sources(kinds, shared: 15)
        let headSize = model.layers.first?.attention?.headSize ?? 0
        let (full, sliding) = try gemmaRotaries(headSize: headSize)
        let (norm, window) = (model.finalNorm, window(orNone: 512))
        for (index, kind) in kinds.enumerated() {
            let slides = kind == "sliding_attention"
            model.layers[index].attention?.scale = 1
            model.layers[index].attention?.headNorm = norm
            model.layers[index].attention?.valueNorm = norm?.epsilon
            model.layers[index].attention?.rotary = slides ? sliding : full
            model.layers[index].attention?.window = slides ? window : nil
            model.layers[index].attention?.source = sources[index]
        }
    }

    /// Their widths, and the shares of gates that are cut off.
    fileprivate func shapeFeedForwards(_ model: inout ModelDescription) throws(AIError) {
        let count = model.layers.count
        let usual = (0..<count).map { $0 < 10 && count > 10 ? 0.95 : 0 }
        let shares = numbers("activation_sparsity_pattern") ?? usual
        guard shares.count == count, shares.allSatisfy({ (0..<1).contains($0) }) else {
            throw .malformed(path, "activation_sparsity_pattern is not a list of \(count) shares")
        }
        for (index, share) in shares.enumerated() {
            model.layers[index].feedForward?.sparsity = share
            if let width = try listed("intermediate_size", index) { model.layers[index].feedForward?.width = width }
        }
    }

    fileprivate mutating func streams(_ model: ModelDescription) throws(AIError) -> ModelDescription.Streams? {
        guard let norm = model.finalNorm else { return nil }
        var count = try size(value("altup_num_inputs"), "altup_num_inputs") ?? 4
        if !(2...ModelDescription.Streams.most).contains(count) {
            refuse("altup_num_inputs", "\(count)")
            count = 4
        }
        if let active = place("altup_active_idx"), active != 0 { refuse("altup_active_idx", "\(active)") }
        return .init(count: count, norm: norm, scalesCorrection: flag("altup_correct_scale") ?? true)
    }
}
