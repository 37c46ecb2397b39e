/// The part of a model that a tensor belongs to, by its name.
package enum TensorPart: String, Sendable, Hashable, CaseIterable {
    case embedding
    case attention
    case feedForward = "feed_forward"
    /// Experts of a mixture.
    case experts
    case norm
    case head
    case vision
    case audio
    case other
    /// Not a parameter: a mask, positions, frequencies.
    case buffer

    package init(_ name: String) {
        // DBRX's attention is in a block named after its norms.
        let name = name.lowercased().replacing("norm_attn_norm.", with: "")
        func has(_ marks: [String]) -> Bool { marks.contains { name.holds($0) } }
        func ends(_ marks: [String]) -> Bool { marks.contains { name.hasSuffix($0) } }
        let cached = ["rotary_emb.cos_cached", "rotary_emb.sin_cached"]
        if ends(
            [".inv_freq", ".masked_bias", ".position_ids", ".num_batches_tracked", "rope_freqs.weight"] + cached)
            || ends([".attn.bias", ".attention.bias"]) && !name.contains("proj")
        {
            self = .buffer
        } else if name.hasPrefix("input_patch_embedding.") {
            // Chronos reads patches of series.
            self = .embedding
        } else if name.hasPrefix("output_patch_embedding.") {
            self = .head
        } else if has(["vision", "visual", "v.blk.", "image_", "img_", "mm.", "patch_embed"]) {
            self = .vision
        } else if has(["audio_tower", "audio_encoder", "embed_audio", "speech_", "a.blk."]) {
            self = .audio
        } else if has([".experts.", "_exps.", ".experts_", "moe.input_linear", "moe.output_linear"])
            && !has(["shared_expert"])
        {
            self = .experts
        } else if has(["lm_head", "embed_out", "classifier", "score.weight"]) || name == "output.weight" {
            self = .head
        } else if has(["norm", "ln_", ".ln", "layer_norm"]) {
            self = .norm
        } else if has([
            "embed_tokens", "wte", "wpe", "word_embeddings", "token_embd", "tok_embeddings", "embeddings.",
            "embed_in",
            "embed_positions", "position_embd", "token_types",
        ]) || name == "shared.weight" || ends([".shared.weight"]) {
            self = .embedding
        } else if has(["attn", "attention", "q_proj", "k_proj", "v_proj", "o_proj", "qkv", "self_attn"]) {
            self = .attention
        } else if has([
            "mlp", "ffn", "feed_forward", "fc1", "fc2", "gate", "up_proj", "down_proj", "intermediate.dense",
            "output.dense", "dense_h_to_4h", "dense_4h_to_h", "block_sparse_moe", "wi_", "densereludense",
        ]) {
            self = .feedForward
        } else {
            self = .other
        }
    }
}
