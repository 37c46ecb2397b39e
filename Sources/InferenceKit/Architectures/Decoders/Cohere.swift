import HubCore
import ModelFormats

/// Command R (https://huggingface.co/CohereLabs/c4ai-command-r-v01): halves in parallel behind one layer norm without a bias,
/// adjacent pairs rotate, logits have a factor. Command R7B (Cohere 2) has windows in three of four layers, and only those
/// rotate.
extension Architecture {
    static let cohere = Architecture("Command R", ["cohere"], gguf: ["command-r"], classes: .decoder("Cohere")) {
        settings throws(AIError) in try settings.cohere()
    }

    static let cohere2 = Architecture("Command R7B", ["cohere2"], gguf: ["cohere2"], classes: .decoder("Cohere2")) {
        settings throws(AIError) in
        var model = try settings.cohere()
        let kinds = settings.layerKinds(model.layers.count, usual: 4)
        let window = settings.window(orNone: 4096)
        for index in model.layers.indices {
            if kinds[index] == "sliding_attention" {
                model.layers[index].attention?.window = window
            } else {
                model.layers[index].attention?.rotary = nil
            }
        }
        return model
    }
}

extension Settings {
    fileprivate mutating func cohere() throws(AIError) -> ModelDescription {
        var model = try decoder(isTied: true)
        let norm = ModelDescription.Norm(kind: .layer(hasBias: false), epsilon: Float(layerNormEpsilon ?? 1e-5))
        model.setNorms(norm)
        model.placeNorms(.parallel(sharesNorm: true))
        let hasHeadNorms = isGGUF ? stores("blk.0.attn_q_norm.weight") ?? false : flag("use_qk_norm") ?? false
        model.eachAttention {
            $0.rotary?.isAdjacent = true
            if hasHeadNorms { ($0.headNorm, $0.headNormSpan) = (norm, .each) }
        }
        model.head?.scale = Float(number("logit_scale") ?? 0.0625)
        return model
    }
}
