import HubCore
import ModelFormats

/// State spaces alone: Mamba (https://arxiv.org/abs/2312.00752), Mamba 2 (https://arxiv.org/abs/2405.21060), and Falcon
/// Mamba (https://arxiv.org/abs/2410.05355), which normalises what steps are made of, what writes and what reads.
extension Architecture {
    static let mamba = Architecture(
        "Mamba", ["mamba"], gguf: ["mamba"], classes: .decoder("Mamba"), names: .mamba, ggufTensors: .mambaGGUF
    ) { settings throws(AIError) in
        var model = try settings.recurrentDecoder(isTied: true)
        // As GGUF, Falcon Mamba has the same name.
        let isNormed = settings.isGGUF && settings.flag("ssm_dt_b_c_rms") == true
        let norm = ModelDescription.Norm(epsilon: model.finalNorm?.epsilon ?? 1e-5, hasWeight: false)
        let space = try settings.selectiveSpace(width: model.width, norm: isNormed ? norm : nil)
        for index in model.layers.indices { model.layers[index].recurrence = .selective(space) }
        return model
    }

    static let falconMamba = Architecture(
        "Falcon Mamba", ["falcon_mamba"], gguf: [], classes: .decoder("FalconMamba"), names: .mamba
    ) { settings throws(AIError) in
        var model = try settings.recurrentDecoder(isTied: true)
        let epsilon = Float(settings.epsilon("mixer_rms_eps") ?? 1e-6)
        let space = try settings.selectiveSpace(
            width: model.width, norm: ModelDescription.Norm(epsilon: epsilon, hasWeight: false))
        for index in model.layers.indices { model.layers[index].recurrence = .selective(space) }
        return model
    }

    static let mamba2 = Architecture(
        "Mamba 2", ["mamba2"], gguf: ["mamba2"], classes: .decoder("Mamba2"), names: .mamba2,
        ggufTensors: .mamba2GGUF
    ) { settings throws(AIError) in
        var model = try settings.recurrentDecoder(isTied: false)
        let norm = ModelDescription.Norm(epsilon: model.finalNorm?.epsilon ?? 1e-5)
        let space = try settings.stateSpace(norm, .mamba2)
        for index in model.layers.indices { model.layers[index].recurrence = .space(space) }
        return model
    }
}

extension TensorNames {
    private static let spaces: TensorNames = {
        var names = TensorNames(
            prefix: "backbone.", layer: "layers.",
            stems: [
                .embedding: "embeddings", .finalNorm: "norm_f", .head: "lm_head", .attentionNorm: "norm",
                .recurrentInput: "mixer.in_proj", .convolution: "mixer.conv1d", .recurrentRate: "mixer.A_log",
                .recurrentSkip: "mixer.D", .recurrentOutput: "mixer.out_proj",
            ])
        names.plain = [.recurrentRate, .recurrentStepBias, .recurrentSkip]
        return names
    }()

    fileprivate static let mamba: TensorNames = {
        var names = spaces
        names.stems[.recurrentParts] = "mixer.x_proj"
        names.stems[.recurrentStep] = "mixer.dt_proj"
        return names
    }()

    fileprivate static let mamba2: TensorNames = {
        var names = spaces
        names.stems[.recurrentStepBias] = "mixer.dt_bias"
        names.stems[.recurrentNorm] = "mixer.norm"
        return names
    }()

    // https://github.com/ggml-org/llama.cpp/blob/master/conversion/mamba.py
    private static let spacesGGUF: TensorNames = {
        var names = gguf.with([
            .recurrentInput: "ssm_in", .convolution: "ssm_conv1d", .recurrentRate: "ssm_a", .recurrentSkip: "ssm_d",
            .recurrentOutput: "ssm_out",
        ])
        names.plain.formUnion([.recurrentRate, .recurrentSkip])
        return names
    }()

    /// In GGUF, with Mamba's state spaces.
    static let mambaGGUF = spacesGGUF.with([
        .recurrentParts: "ssm_x", .recurrentStep: "ssm_dt", .recurrentStepNorm: "ssm_dt_norm",
        .recurrentWriteNorm: "ssm_b_norm", .recurrentReadNorm: "ssm_c_norm",
    ])

    /// In GGUF, with those of Mamba 2.
    static let mamba2GGUF: TensorNames = {
        var names = spacesGGUF.with([.recurrentStepBias: "ssm_dt.bias", .recurrentNorm: "ssm_norm"])
        names.plain.insert(.recurrentStepBias)
        return names
    }()
}
