/// The models of scripts/goldens_decoders.py.
enum DenseDecoders {
    /// Their goldens.
    static let goldens = [
        "gpt-neox", "gpt-neox-serial", "gptj", "phi", "phi-norms",
        "falcon", "falcon-groups", "falcon-rw", "stablelm", "stablelm-parallel", "bloom", "gpt-neo", "gpt-bigcode",
        "gpt-bigcode-heads", "starcoder2", "mpt", "olmo", "olmo2", "olmo3", "exaone4", "cohere", "cohere-norms",
        "cohere2",
        "gguf-gpt-neox", "gguf-phi", "gguf-falcon", "gguf-falcon-groups", "gguf-stablelm", "gguf-stablelm-parallel",
        "gguf-bloom", "gguf-gpt-bigcode", "gguf-starcoder2", "gguf-olmo", "gguf-olmo2", "gguf-olmo3",
        "gguf-exaone4",
        "gguf-cohere", "gguf-cohere-norms", "gguf-cohere2",
    ].map { "micro-" + $0 }

    /// Those with a mechanism of their own.
    static let steps = [
        "gpt-neox", "gptj", "falcon-groups", "falcon-rw", "bloom", "gpt-neo", "olmo3", "cohere-norms", "cohere2",
        "mpt",
    ].map { "micro/" + $0 }
}
