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

    /// The width of one expert, which old files of GGUF do not have: then all that are used are as wide as a block.
    var expertWidth: Int? {
        if let told = count("moe_intermediate_size") { return told }
        guard isGGUF, let all = configuration.intermediateSize else { return nil }
        return configuration.expertsPerToken.map { all / $0 }
    }

    /// Whether a layer of Qwen's mixtures has experts: each `decoder_sparse_step`-th one but for `mlp_only_layers`.
    func isSparse(_ layer: Int) -> Bool {
        if isGGUF { return stores("blk.\(layer).ffn_gate_inp.weight") ?? true }
        let step = number("decoder_sparse_step").flatMap { Int(exactly: $0) } ?? 1
        return !numbers("mlp_only_layers").contains(layer) && step > 0 && (layer + 1) % step == 0
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
