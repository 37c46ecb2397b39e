import ModelFormats

/// The tensors that an architecture needs, by name and shape, as transformers names them, or GGUF.
/// https://github.com/huggingface/transformers/tree/main/src/transformers/models
struct TensorNeeds {
    struct Need: Hashable {
        let name: String
        /// nil for a dimension that the configuration does not tell.
        let shape: [Int?]
        let isOptional: Bool
    }

    var needs: [Need] = []
    /// What stands before the names in this checkpoint: `model.`, `transformer.`, nothing.
    private var prefix = ""

    /// nil for an architecture that is not described here, or a configuration without its sizes.
    init?(_ c: ModelConfiguration, names: some Sequence<String>) {
        guard let h = c.hiddenSize, let layers = c.layers, layers <= 10_000, let heads = c.heads,
            let v = c.vocabulary, let type = c.modelType
        else { return nil }
        let names = Set(names)
        switch type {
        case "llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "gemma3", "phi3", "mixtral",
            "smollm3":
            prefix = Self.prefix(names, "embed_tokens.weight") ?? "model."
            guard let intermediate = c.intermediateSize, let size = c.headSize, let kv = c.kvHeads else {
                return nil
            }
            need("embed_tokens.weight", [v, h])
            for layer in 0..<layers {
                block("layers.\(layer).", c, h: h, i: intermediate, q: heads * size, k: kv * size, size: size)
            }
            need("norm.weight", [h])
            head(c, names, [v, h])
        case "gpt2":
            prefix = Self.prefix(names, "wte.weight") ?? ""
            need("wte.weight", [v, h])
            need("wpe.weight", [c.maxPositions, h])
            for layer in 0..<layers { gpt2("h.\(layer).", h: h, i: c.intermediateSize ?? 4 * h) }
            pair("ln_f", h)
        case "bert":
            prefix = Self.prefix(names, "embeddings.word_embeddings.weight") ?? ""
            guard let intermediate = c.intermediateSize else { return nil }
            need("embeddings.word_embeddings.weight", [v, h])
            need("embeddings.position_embeddings.weight", [c.maxPositions, h])
            need("embeddings.token_type_embeddings.weight", [nil, h])
            pair("embeddings.LayerNorm", h)
            for layer in 0..<layers { bert("encoder.layer.\(layer).", h: h, i: intermediate) }
            need("pooler.dense.weight", [h, h], isOptional: true)
            need("pooler.dense.bias", [h], isOptional: true)
        default: return nil
        }
    }

    private static func prefix(_ names: Set<String>, _ ending: String) -> String? {
        names.filter {
            $0.hasSuffix(ending) && ($0.count == ending.count || $0.dropLast(ending.count).hasSuffix("."))
        }
        .map { String($0.dropLast(ending.count)) }.min { ($0.count, $0) < ($1.count, $1) }
    }

    mutating func need(_ name: String, _ shape: [Int?], isOptional: Bool = false) {
        needs.append(Need(name: prefix + name, shape: shape, isOptional: isOptional))
    }

    /// A matrix of `out` rows and its bias.
    mutating func dense(_ name: String, _ out: Int, _ columns: Int) {
        need(name + ".weight", [out, columns])
        need(name + ".bias", [out])
    }

    mutating func pair(_ name: String, _ size: Int) {
        need(name + ".weight", [size])
        need(name + ".bias", [size])
    }

    /// A block of the Llama family.
    private mutating func block(_ p: String, _ c: ModelConfiguration, h: Int, i: Int, q: Int, k: Int, size: Int) {
        let type = c.modelType ?? ""
        need(p + "input_layernorm.weight", [h])
        need(p + "post_attention_layernorm.weight", [h])
        if ["gemma2", "gemma3_text", "gemma3"].contains(type) {
            need(p + "pre_feedforward_layernorm.weight", [h])
            need(p + "post_feedforward_layernorm.weight", [h])
        }
        if ["qwen3", "gemma3_text", "gemma3"].contains(type) {
            need(p + "self_attn.q_norm.weight", [size])
            need(p + "self_attn.k_norm.weight", [size])
        }
        if type == "phi3" {
            need(p + "self_attn.qkv_proj.weight", [q + 2 * k, h])
            need(p + "mlp.gate_up_proj.weight", [2 * i, h])
        } else {
            for (name, rows) in [("q", q), ("k", k), ("v", k)] {
                need(p + "self_attn.\(name)_proj.weight", [rows, h])
                if c.attentionBias || type == "qwen2" { need(p + "self_attn.\(name)_proj.bias", [rows]) }
            }
        }
        need(p + "self_attn.o_proj.weight", [h, q])
        if c.attentionBias, type == "llama" { need(p + "self_attn.o_proj.bias", [h]) }
        if type == "mixtral" { return experts(p + "block_sparse_moe.", c, h: h, i: i) }
        if type != "phi3" {
            need(p + "mlp.gate_proj.weight", [i, h])
            need(p + "mlp.up_proj.weight", [i, h])
        }
        need(p + "mlp.down_proj.weight", [h, i])
        need(p + "self_attn.rotary_emb.inv_freq", [nil], isOptional: true)
        for name in c.mlpBias ? ["gate_proj", "up_proj"] : [] { need(p + "mlp.\(name).bias", [i]) }
        if c.mlpBias { need(p + "mlp.down_proj.bias", [h]) }
    }

    private mutating func experts(_ p: String, _ c: ModelConfiguration, h: Int, i: Int) {
        let count = min(c.experts ?? 0, 4096)
        need(p + "gate.weight", [count, h])
        for expert in 0..<count {
            need(p + "experts.\(expert).w1.weight", [i, h])
            need(p + "experts.\(expert).w2.weight", [h, i])
            need(p + "experts.\(expert).w3.weight", [i, h])
        }
    }

    /// The head is not needed where it is the embedding; a converter may have written it all the same.
    private mutating func head(_ c: ModelConfiguration, _ names: Set<String>, _ shape: [Int?]) {
        let isTied = c.tiedEmbeddings ?? (c.modelType?.hasPrefix("gemma") == true)
        let isGenerator = c.architectures.first?.hasSuffix("ForCausalLM") ?? false
        let name = names.first { $0 == "lm_head.weight" || $0.hasSuffix(".lm_head.weight") } ?? "lm_head.weight"
        needs.append(Need(name: name, shape: shape, isOptional: isTied || !isGenerator))
    }

    /// GPT-2's linear layers lie transposed.
    private mutating func gpt2(_ p: String, h: Int, i: Int) {
        pair(p + "ln_1", h)
        pair(p + "ln_2", h)
        for (name, columns, out) in [
            ("attn.c_attn", h, 3 * h), ("attn.c_proj", h, h), ("mlp.c_fc", h, i), ("mlp.c_proj", i, h),
        ] {
            need(p + name + ".weight", [columns, out])
            need(p + name + ".bias", [out])
        }
    }

    private mutating func bert(_ p: String, h: Int, i: Int) {
        for name in ["query", "key", "value"] { dense(p + "attention.self.\(name)", h, h) }
        dense(p + "attention.output.dense", h, h)
        pair(p + "attention.output.LayerNorm", h)
        dense(p + "intermediate.dense", i, h)
        dense(p + "output.dense", h, i)
        pair(p + "output.LayerNorm", h)
    }
}
