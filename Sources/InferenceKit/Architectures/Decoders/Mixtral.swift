import HubCore
import ModelFormats

/// Mixtral (https://arxiv.org/abs/2401.04088): Mistral with two experts of eight. In GGUF it is a Llama with experts.
extension Architecture {
    static let mixtral = Architecture(
        "Mixtral", ["mixtral"], gguf: [], classes: .decoder("Mixtral"), names: .mixtral
    ) { settings throws(AIError) in
        var model = try settings.decoder()
        let window = settings.window()
        model.eachAttention { $0.window = window }
        try settings.mixLikeMixtral(&model)
        return model
    }
}

extension Settings {
    mutating func mixLikeMixtral(_ model: inout ModelDescription) throws(AIError) {
        model.mix(try experts(width: configuration.intermediateSize, .init(scores: .softmaxOfChosen)))
    }
}

extension TensorNames {
    static let mixtral: TensorNames = {
        var names = llama.with([.router: "block_sparse_moe.gate"])
        names.experts = [.mixtral, .mlx("block_sparse_moe")]
        return names
    }()
}
