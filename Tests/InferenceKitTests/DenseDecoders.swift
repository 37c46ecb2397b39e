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
        // Of scripts/goldens_kin.py.
        "lfm2", "lfm2-biases", "lfm2-moe", "granite", "granitemoe", "granitemoe-shared", "granite4", "granite4-moe",
        "smollm3", "smollm3-windows", "olmoe", "phimoe", "phimoe-long",
        "gguf-lfm2", "gguf-lfm2-moe", "gguf-granite", "gguf-granitemoe", "gguf-granite4", "gguf-granite4-moe",
        "gguf-smollm3", "gguf-olmoe",
        "glm", "glm4", "ernie4_5", "ernie4_5-moe", "seed-oss", "hunyuan", "nemotron", "ministral", "ministral3",
        "apertus", "arcee",
        "gguf-glm", "gguf-glm4", "gguf-ernie4_5", "gguf-ernie4_5-moe", "gguf-seed-oss", "gguf-hunyuan",
        "gguf-nemotron", "gguf-ministral3", "gguf-arcee",
    ].map { "micro-" + $0 }

    /// Those with a mechanism of their own.
    static let steps = [
        "gpt-neox", "gptj", "falcon-groups", "falcon-rw", "bloom", "gpt-neo", "olmo3", "cohere-norms", "cohere2",
        "mpt", "lfm2", "lfm2-biases", "lfm2-moe", "granitemoe-shared", "smollm3-windows", "phimoe",
        "glm4", "ernie4_5-moe", "hunyuan", "nemotron", "ministral3", "apertus", "arcee",
    ].map { "micro/" + $0 }
}
