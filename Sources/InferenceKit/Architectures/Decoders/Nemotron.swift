import HubCore
import ModelFormats

/// Nemotron 3 and 4, and Minitron (https://arxiv.org/abs/2402.16819): layer norms with 1 + weight, squared ReLU without gates,
/// half of a head rotates.
extension Architecture {
    static let nemotron = Architecture(
        "Nemotron 3 and 4", ["nemotron"], gguf: ["nemotron"], classes: .decoder("Nemotron")
    ) { settings throws(AIError) in
        var model = try settings.decoder()
        // llama.cpp's converter has added the 1.
        model.setNorms(
            .init(
                kind: .layer(hasBias: true, offset: settings.isGGUF ? 0 : 1),
                epsilon: Float(settings.layerNormEpsilon ?? 1e-5)))
        let rotary = try settings.rotary(headSize: model.layers[0].attention?.headSize ?? 0, share: 0.5)
        model.eachAttention { $0.rotary = rotary }
        let activation = settings.activation(settings.configuration.activation, default: .squaredRelu)
        model.eachFeedForward { ($0.isGated, $0.activation) = (false, activation) }
        return model
    }
}
