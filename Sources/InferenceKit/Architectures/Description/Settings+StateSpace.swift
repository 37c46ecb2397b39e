import HubCore
import ModelFormats

/// What a family calls the sizes of its state spaces; the first name that a configuration has counts.
struct SpaceNames {
    var heads: [String]
    var headSize: [String]
    var groups: [String]
    var stateSize: [String]
    var taps: [String]
    var convolutionBias: [String]
    /// Whether the matrices around it have biases.
    var bias: String
    var activation: String
    /// The least time step.
    var leastStep: [String] = []

    static let nemotronH = SpaceNames(
        heads: ["mamba_num_heads"], headSize: ["mamba_head_dim"], groups: ["n_groups", "mamba_n_groups"],
        stateSize: ["ssm_state_size"], taps: ["conv_kernel", "mamba_d_conv"],
        convolutionBias: ["use_conv_bias", "mamba_conv_bias"], bias: "use_bias", activation: "mamba_hidden_act",
        leastStep: ["time_step_min", "mamba_dt_min"])
    static let mamba2 = SpaceNames(
        heads: ["num_heads"], headSize: ["head_dim"], groups: ["n_groups"], stateSize: ["state_size"],
        taps: ["conv_kernel"], convolutionBias: ["use_conv_bias"], bias: "use_bias", activation: "hidden_act")
    /// Of decoders that have attention, too.
    static let hybrid = SpaceNames(
        heads: ["mamba_n_heads"], headSize: ["mamba_d_head"], groups: ["mamba_n_groups"],
        stateSize: ["mamba_d_state"],
        taps: ["mamba_d_conv"], convolutionBias: ["mamba_conv_bias"], bias: "mamba_proj_bias",
        activation: "hidden_act")
}

/// What a family calls the sizes of Mamba's state spaces.
struct SelectiveNames {
    var (expand, rank, stateSize, taps) = ("expand", "time_step_rank", "state_size", "conv_kernel")
    var (convolutionBias, bias) = ("use_conv_bias", "use_bias")
}

extension Settings {
    /// Mamba 2's state space. Where no least time step has a name, `time_step_limit` has it and the greatest one. GGUF
    /// has one name for each size, and no limits.
    mutating func stateSpace(
        _ norm: ModelDescription.Norm, _ usual: SpaceNames
    ) throws(AIError) -> ModelDescription.StateSpace {
        let names = isGGUF ? .mamba2 : usual
        expect(names.activation, "silu")
        let heads = try spaceSize(isGGUF ? ["time_step_rank"] : names.heads)
        let headSize = try isGGUF ? spaceSize(["inner_size"]) / heads : spaceHead(names, heads)
        if headSize * heads == 0 || isGGUF && count("inner_size") != heads * headSize {
            throw .malformed(path, "inner_size is not divisible by time_step_rank \(heads)")
        }
        let (groups, stateSize) = (try spaceSize(names.groups), try spaceSize(names.stateSize))
        return ModelDescription.StateSpace(
            heads: heads, groups: groups, headSize: headSize, stateSize: stateSize,
            convolution: .init(
                channels: heads * headSize + 2 * groups * stateSize, taps: try spaceSize(names.taps),
                hasBias: names.convolutionBias.compactMap { flag($0) }.first ?? true,
                layout: isGGUF ? .plain : .torch),
            norm: norm, steps: try steps(names), hasBias: flag(names.bias) ?? false, isGGUF: isGGUF)
    }

    /// Numbers in a head: a setting, or by the width that `mamba_expand` makes.
    private func spaceHead(_ names: SpaceNames, _ heads: Int) throws(AIError) -> Int {
        if names.headSize.contains(where: { has($0) && value($0)?.string != "auto" }) {
            return try spaceSize(names.headSize)
        }
        let width = try need(configuration.hiddenSize, "hidden_size")
        let all = count("mamba_d_ssm") ?? width * (count("mamba_expand") ?? 2)
        guard all % heads == 0, all > 0 else {
            throw .malformed(path, "\(all) channels are not divisible by \(heads) heads")
        }
        return all / heads
    }

    /// The time steps that there may be.
    private func steps(_ names: SpaceNames) throws(AIError) -> ClosedRange<Float> {
        if !names.leastStep.isEmpty {
            return Float(names.leastStep.compactMap { epsilon($0) }.first ?? 0.001)...(.infinity)
        }
        guard let limit = list("time_step_limit") else { return 0...(.infinity) }
        // transformers 5 writes infinity as an object.
        let ends = limit.compactMap { $0.double ?? $0["__float__"]?.string.flatMap(Double.init) }.map { Float($0) }
        guard limit.count == 2, ends.count == 2, ends[0] <= ends[1] else {
            throw .malformed(path, "time_step_limit is not a range")
        }
        return ends[0]...ends[1]
    }

    /// Mamba's state space.
    ///
    /// - Parameter norm: of the parts; nil for none.
    mutating func selectiveSpace(
        width: Int, norm: ModelDescription.Norm?, _ usual: SelectiveNames = .init()
    ) throws(AIError) -> ModelDescription.SelectiveSpace {
        let names = isGGUF ? SelectiveNames() : usual
        expect("hidden_act", "silu")
        let expanded = ((positive(names.expand) ?? 2) * Double(width)).rounded(.down)
        let channels = try isGGUF ? spaceSize(["inner_size"]) : need(Int(exactly: expanded), "whole expand")
        guard (1...65_536).contains(channels) else {
            throw .malformed(path, "its state space has \(channels) channels, not 1 to 65536")
        }
        let rank = try value(names.rank)?.string == "auto" ? (width + 15) / 16 : spaceSize([names.rank])
        return ModelDescription.SelectiveSpace(
            stateSize: try spaceSize([names.stateSize]), stepRank: rank,
            convolution: .init(
                channels: channels, taps: try spaceSize([names.taps]), hasBias: flag(names.convolutionBias) ?? true,
                layout: isGGUF ? .plain : .torch),
            norm: norm, hasBias: flag(names.bias) ?? false, storesRates: isGGUF)
    }

    /// A size of a state space: small enough that products of three cannot overflow.
    private func spaceSize(_ names: [String]) throws(AIError) -> Int {
        let size = try need(names.compactMap { count($0) }.first, names[0])
        guard size <= 65_536 else { throw .malformed(path, "\(names[0]) is \(size), more than 65536") }
        return size
    }

    /// A decoder whose layers have one half, a recurrence after a norm.
    mutating func recurrentDecoder(isTied: Bool) throws(AIError) -> ModelDescription {
        let width = try need(configuration.hiddenSize, "hidden_size")
        let epsilon = epsilon("layer_norm_epsilon") ?? configuration.rmsNormEpsilon ?? 1e-5
        let norm = ModelDescription.Norm(epsilon: Float(epsilon))
        let layer = ModelDescription.Layer(norms: .before, norm: norm)
        return ModelDescription(
            vocabulary: try need(configuration.vocabulary, "vocab_size"), width: width,
            // A state has no end: it is the memory that a text takes elsewhere that ends.
            maxPositions: configuration.maxPositions ?? 1 << 20,
            layers: Array(repeating: layer, count: try layerCount("num_hidden_layers")), finalNorm: norm,
            head: .init(isTied: self.isTied(default: isTied)))
    }

    /// The kinds of the layers of a GGUF file, of which some have no attention.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` if there are fewer than layers.
    func storedKinds(_ count: Int) throws(AIError) -> [String] {
        let kinds = configuration.layerKinds
        guard kinds.count == count else {
            throw .malformed(path, "attention.head_count_kv has \(kinds.count) layers, not \(count)")
        }
        return kinds
    }

    /// Puts state spaces in the place of attention, where the kind of a layer says so.
    mutating func replaceAttention(of model: inout ModelDescription) throws(AIError) {
        let kinds =
            configuration.layerKinds.isEmpty
            ? Array(repeating: "linear_attention", count: model.layers.count) : configuration.layerKinds
        guard kinds.count == model.layers.count else {
            throw .malformed(path, "layer_types has \(kinds.count) kinds for \(model.layers.count) layers")
        }
        for (index, kind) in kinds.enumerated() {
            switch kind {
            case "attention", "full_attention": break
            case "mamba", "linear_attention":
                model.layers[index].attention = nil
                model.layers[index].recurrence = .space(try stateSpace(model.layers[index].norm, .hybrid))
            default: refuse("layers of", kind)
            }
        }
    }
}

extension TensorNames {
    /// The same with the tensors of state spaces, whose names begin so.
    func withStateSpaces(_ start: String) -> TensorNames {
        var names = with(
            [
                .recurrentInput: "in_proj", .convolution: "conv1d", .recurrentRate: "A_log",
                .recurrentStepBias: "dt_bias",
                .recurrentSkip: "D", .recurrentNorm: "norm", .recurrentOutput: "out_proj",
            ].mapValues { start + $0 })
        names.plain.formUnion([.recurrentRate, .recurrentStepBias, .recurrentSkip])
        return names
    }
}
