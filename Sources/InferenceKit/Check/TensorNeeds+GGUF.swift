import ModelFormats

/// What llama.cpp loads, by the names that a GGUF file has.
/// https://github.com/ggml-org/llama.cpp/blob/master/gguf-py/gguf/constants.py (`MODEL_TENSORS`)
extension TensorNeeds {
    /// Sizes that the tensors of a block have.
    private struct Sizes {
        let hidden, inner, query, key, head: Int
    }

    /// nil for an architecture that is not described here, or a configuration without its sizes.
    init?(gguf c: ModelConfiguration, names: some Sequence<String>) {
        guard let hidden = c.hiddenSize, let layers = c.layers, layers <= 10_000, let vocabulary = c.vocabulary,
            let inner = c.intermediateSize, let heads = c.heads, let kvHeads = c.kvHeads, let head = c.headSize,
            let type = c.modelType
        else { return nil }
        let s = Sizes(hidden: hidden, inner: inner, query: heads * head, key: kvHeads * head, head: head)
        let names = Set(names)
        need("token_embd.weight", [vocabulary, hidden])
        switch type {
        case "llama", "qwen2", "qwen3", "gemma", "gemma2", "gemma3", "phi3", "smollm3":
            need("output_norm.weight", [hidden])
            for layer in 0..<layers { block("blk.\(layer).", type, s, experts: c.experts ?? 0, names) }
            for name in ["rope_freqs", "rope_factors_long", "rope_factors_short"] {
                need(name + ".weight", [nil], isOptional: true)
            }
        case "gpt2":
            need("position_embd.weight", [c.maxPositions, hidden])
            pair("output_norm", hidden)
            for layer in 0..<layers { gpt2("blk.\(layer).", s) }
        case "bert":
            need("position_embd.weight", [c.maxPositions, hidden])
            need("token_types.weight", [nil, hidden], isOptional: true)
            pair("token_embd_norm", hidden)
            for layer in 0..<layers { bert("blk.\(layer).", s, names) }
            for name in ["cls", "cls.output"] {
                need(name + ".weight", [nil, nil], isOptional: true)
                need(name + ".bias", [nil], isOptional: true)
            }
        default: return nil
        }
        // The embedding stands in for it where it is not there.
        need("output.weight", [vocabulary, hidden], isOptional: true)
    }

    /// A matrix, and a bias that files of some models have.
    private mutating func matrix(_ name: String, _ shape: [Int?]) {
        need(name + ".weight", shape)
        need(name + ".bias", [shape.first ?? nil], isOptional: true)
    }

    /// Queries, keys and values lie in one tensor or in three, as the file was made.
    private mutating func attention(_ p: String, _ s: Sizes, _ names: Set<String>, needsBias: Bool = false) {
        if names.contains(p + "attn_qkv.weight") { return matrix(p + "attn_qkv", [s.query + 2 * s.key, s.hidden]) }
        for (name, rows) in [("q", s.query), ("k", s.key), ("v", s.key)] {
            need(p + "attn_\(name).weight", [rows, s.hidden])
            need(p + "attn_\(name).bias", [rows], isOptional: !needsBias)
        }
    }

    /// A block of the Llama family; Mixtral's is a llama with experts.
    private mutating func block(_ p: String, _ type: String, _ s: Sizes, experts: Int, _ names: Set<String>) {
        need(p + "attn_norm.weight", [s.hidden])
        attention(p, s, names, needsBias: type == "qwen2")
        matrix(p + "attn_output", [s.hidden, s.query])
        need(p + "ffn_norm.weight", [s.hidden])
        if ["qwen3", "gemma3"].contains(type) {
            for name in ["q", "k"] { need(p + "attn_\(name)_norm.weight", [s.head]) }
        }
        if ["gemma2", "gemma3"].contains(type) {
            for name in ["post_attention_norm", "post_ffw_norm"] { need(p + name + ".weight", [s.hidden]) }
        }
        guard experts == 0 else { return mixture(p, s, min(experts, 4096), names) }
        let isFused = type == "phi3" && !names.contains(p + "ffn_gate.weight")
        if !isFused { matrix(p + "ffn_gate", [s.inner, s.hidden]) }
        matrix(p + "ffn_up", [isFused ? 2 * s.inner : s.inner, s.hidden])
        matrix(p + "ffn_down", [s.hidden, s.inner])
    }

    /// All experts of a layer lie in one tensor; in files from before March 2024 each has its own.
    private mutating func mixture(_ p: String, _ s: Sizes, _ count: Int, _ names: Set<String>) {
        need(p + "ffn_gate_inp.weight", [count, s.hidden])
        let shapes = [("gate", [s.inner, s.hidden]), ("up", [s.inner, s.hidden]), ("down", [s.hidden, s.inner])]
        for (name, shape) in shapes {
            guard names.contains(p + "ffn_\(name).0.weight") else {
                need(p + "ffn_\(name)_exps.weight", [count] + shape)
                continue
            }
            for expert in 0..<count { need(p + "ffn_\(name).\(expert).weight", shape) }
        }
    }

    private mutating func gpt2(_ p: String, _ s: Sizes) {
        pair(p + "attn_norm", s.hidden)
        dense(p + "attn_qkv", s.query + 2 * s.key, s.hidden)
        dense(p + "attn_output", s.hidden, s.query)
        pair(p + "ffn_norm", s.hidden)
        dense(p + "ffn_up", s.inner, s.hidden)
        dense(p + "ffn_down", s.hidden, s.inner)
    }

    private mutating func bert(_ p: String, _ s: Sizes, _ names: Set<String>) {
        attention(p, s, names)
        dense(p + "attn_output", s.hidden, s.query)
        pair(p + "attn_output_norm", s.hidden)
        dense(p + "ffn_up", s.inner, s.hidden)
        dense(p + "ffn_down", s.hidden, s.inner)
        pair(p + "layer_output_norm", s.hidden)
    }
}
