import HubCore
import ModelFormats

extension Settings {
    /// The mixture that a configuration describes, with experts like Llama's feed-forward block.
    ///
    /// - Parameters:
    ///   - width: of one expert.
    ///   - routing: what the family's is.
    /// - Throws: ``ErrorCode/malformedModel`` for a missing number.
    mutating func experts(width: Int?, _ routing: ModelDescription.Routing) throws(AIError)
        -> ModelDescription.Experts
    {
        let c = configuration
        return ModelDescription.Experts(
            count: try need(c.experts, "num_experts"), used: try need(c.expertsPerToken, "num_experts_per_tok"),
            width: try need(width, "moe_intermediate_size"), activation: activation(c.activation, default: .silu),
            routing: routing)
    }

    /// The same with shared experts, whose number a setting says: together they are one block.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for a missing number.
    mutating func experts(shared name: String, _ routing: ModelDescription.Routing) throws(AIError)
        -> ModelDescription.Experts
    {
        var experts = try experts(width: expertWidth, routing)
        if let count = countIfAny(name) {
            experts.shared = .init(width: count * experts.width)
        }
        return experts
    }

    /// Routing by sigmoids that a bias corrects for the choice (https://arxiv.org/abs/2412.19437).
    ///
    /// - Parameters:
    ///   - factor: of the weights, if the settings do not say.
    ///   - groups: the number of groups, if the settings do not say; half of them are used.
    mutating func correctedRouting(factor: Double, groups: Int) throws(AIError) -> ModelDescription.Routing {
        expect("scoring_func", "sigmoid")
        expect("topk_method", "noaux_tc")
        var routing = ModelDescription.Routing(
            scores: .sigmoid, hasChoiceBias: true, renormalizes: flag("norm_topk_prob") ?? true,
            factor: Float(number("routed_scaling_factor") ?? factor))
        let count = count("n_group") ?? groups
        if count > 1 {
            let used = self.count("topk_group") ?? (groups > 1 ? groups / 2 : nil)
            routing.groups = .init(count: count, used: try need(used, "topk_group"), counted: 2)
        }
        return routing
    }

    /// That of a GGUF file.
    ///
    /// - Parameter usual: the kind of scores, as llama.cpp numbers them, if the file does not say.
    mutating func storedRouting(usual: Int) throws(AIError) -> ModelDescription.Routing {
        let c = configuration
        var routing = try correctedRouting(factor: 1, groups: 1)
        switch count("scoring_func") ?? usual {
        case 1:
            routing.scores = .softmax
            routing.groups?.counted = 1
        case 2: routing.scores = .sigmoid
        case 3: routing.scores = .softmaxOfChosen
        case let kind: refuse("expert_gating_func", "\(kind)")
        }
        routing.renormalizes = flag("norm_topk_prob") ?? false
        routing.hasChoiceBias = (0..<(c.layers ?? 0)).contains { stores("blk.\($0).exp_probs_b.bias") ?? false }
        return routing
    }

    /// Which layers have experts: by a list of words, or all but the first, of which a list of numbers may leave out more.
    ///
    /// - Parameter dense: the first ones that have none, if the settings do not say.
    /// - Throws: ``ErrorCode/malformedModel`` for a list that is too short.
    mutating func sparseLayers(_ count: Int, dense usual: Int) throws(AIError) -> [Bool] {
        if let listed = texts("mlp_layer_types") {
            guard listed.count >= count else {
                throw .malformed(path, "mlp_layer_types has \(listed.count) layers")
            }
            if let other = listed.first(where: { !["sparse", "dense"].contains($0) }) {
                refuse("mlp_layer_types", other)
            }
            return listed.prefix(count).map { $0 == "sparse" }
        }
        let flags = value("moe_layer_freq")?.array
        if let flags, flags.count < count {
            throw .malformed(path, "moe_layer_freq has \(flags.count) layers")
        }
        for frequency in flags.map({ $0.prefix(count) }) ?? [value("moe_layer_freq") ?? 1][...]
        where frequency.double != 1 && (flags == nil || frequency.double != 0) {
            refuse("moe_layer_freq", frequency.text())
        }
        let dense = place("first_k_dense_replace") ?? (flags == nil ? usual : 0)
        return (0..<count).map { $0 >= dense && flags?[$0].double != 0 }
    }

    /// Notes a setting that must be another one to be run.
    mutating func expect(_ name: String, _ wanted: String) {
        guard !isGGUF, let told = text(name), told != wanted else { return }
        refuse(name, told)
    }

    /// The width of one expert, which old files of GGUF do not have: then all that are used are as wide as a block.
    var expertWidth: Int? {
        if let told = count("moe_intermediate_size") { return told }
        guard isGGUF, let all = configuration.intermediateSize else { return nil }
        return configuration.expertsPerToken.map { all / $0 }
    }

    /// Whether a layer of Qwen's mixtures has experts: each `decoder_sparse_step`-th one but for `mlp_only_layers`.
    func isSparse(_ layer: Int) -> Bool {
        if isGGUF { return stores("blk.\(layer).ffn_gate_inp.weight") ?? true }
        let step = count("decoder_sparse_step") ?? 1
        return places("mlp_only_layers")?.contains(layer) != true && (layer + 1) % step == 0
    }
}

extension ModelDescription {
    /// Puts experts in place of feed-forward blocks.
    mutating func mix(_ experts: Experts, where isSparse: (Int) -> Bool = { _ in true }) {
        for index in layers.indices where isSparse(index) {
            (layers[index].feedForward, layers[index].experts) = (nil, experts)
        }
    }
}
