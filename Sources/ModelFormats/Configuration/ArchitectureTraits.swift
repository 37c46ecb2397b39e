/// Defaults of an architecture that `config.json` need not contain, by `model_type` (or `general.architecture` of a
/// GGUF file), from transformers' configuration classes and llama.cpp.
/// https://github.com/huggingface/transformers/tree/main/src/transformers/models
enum ArchitectureTraits {
    // MARK: KV cache, of what no engine describes

    /// Whether the model has no KV cache.
    ///
    /// - Parameter isDecoder: `is_decoder`, which turns an encoder's class into a decoder.
    static func keepsNothing(_ type: String, isDecoder: Bool) -> Bool {
        recurrent.contains(type) || encoders.contains(type) && !isDecoder
    }

    /// Encoders: models that read all of their input at once.
    static let encoders: Set<String> = [
        // Text.
        "xlm-roberta-xl", "jina-bert-v2", "neo-bert", "nomic-bert-moe", "ernie", "convbert", "funnel", "fnet",
        "longformer", "big_bird", "squeezebert", "roformer", "nezha", "luke", "xlm", "flaubert", "canine",
        "perceiver", "layoutlm", "layoutlmv2", "layoutlmv3", "lilt", "markuplm", "tapas", "t5encoder",
        // Text with images or audio.
        "chinese_clip", "chinese_clip_text_model", "clipseg", "align", "altclip",
        "clap", "clap_text_model", "flava", "groupvit",
        "xclip",
        "owlvit", "owlv2", "grounding-dino", "vilt", "lxmert", "visual_bert",
        // Pictures.
        "ijepa", "mobilevitv2", "levit", "cvt", "pvt", "pvt_v2", "poolformer", "glpn", "zoedepth",
        "conditional_detr", "deformable_detr", "rt_detr", "rt_detr_v2", "d_fine", "maskformer", "mask2former",
        "oneformer", "sam", "sam2", "vitmatte", "vitpose", "superpoint", "timm_wrapper", "timm_backbone",
        "videomae", "timesformer", "vivit",
        // Sound.
        "wav2vec2", "wav2vec2-bert", "wav2vec2-conformer", "hubert", "wavlm", "unispeech", "unispeech-sat",
        "data2vec-audio", "data2vec-text", "sew", "sew-d", "audio-spectrogram-transformer", "encodec", "dac",
        "mimi", "vits",
    ]

    /// Architectures with the file's window in every layer.
    static let windowedThroughout: Set<String> = ["recurrent_gemma"]

    /// Every n-th layer keeps all positions, if there is a window and the file does not list layer types.
    static let windowPattern: [String: Int] = ["t5gemma2_text": 6]

    // MARK: Layers

    /// Models with a state of fixed size; their heads are those of the state.
    static let recurrent: Set<String> = [
        "mamba", "mamba2", "falcon_mamba", "rwkv", "rwkv5", "rwkv6", "rwkv7", "arwkv7", "rwkv6qwen2", "xlstm",
    ]

    /// Every n-th layer has attention, the others a recurrence, if the file does not say.
    static let attentionInterval: [String: Int] = [
        "qwen3_5": 4, "qwen3_5_text": 4, "qwen3_5_moe": 4, "qwen3_5_moe_text": 4, "qwen3_next": 4, "qwen35": 4,
        "qwen35moe": 4, "qwen3next": 4,
    ]

    /// Default number of positions in chunked layers.
    static let chunkSize: [String: Int] = ["llama4_text": 8192, "llama4": 8192]

    // MARK: Heads

    /// Architectures with tied embeddings by default.
    static let tied: Set<String> = [
        "albert", "bart", "bert", "bert-generation", "big_bird", "bigbird_pegasus", "biogpt", "blenderbot",
        "blenderbot-small", "bloom", "camembert", "cohere", "cohere2", "cohere2_moe", "convbert", "cpmant", "ctrl",
        "deberta", "deberta-v2", "distilbert", "electra", "ernie", "ernie4_5", "ernie4_5_moe", "esm", "falcon",
        "falcon_mamba", "flaubert", "fnet", "funnel", "gemma", "gemma2", "gemma3", "gemma3_text", "gemma3n",
        "gemma3n_text", "gemma4", "gemma4_text", "gemma4_unified", "gemma4_unified_text", "gpt2", "gpt-sw3",
        "gpt_bigcode", "gpt_neo", "gpt_neox_japanese",
        "hunyuan_vl_text", "jetmoe", "layoutlm", "led", "lfm2", "lfm2_moe", "longformer", "longt5", "luke",
        "m2m_100",
        "mamba", "marian", "mbart", "megatron-bert", "minicpm3", "mobilebert", "modernbert", "modernbert-decoder",
        "moonshine", "mpnet", "mpt", "mt5", "mvp", "nllb-moe", "nomic_bert", "openai-gpt", "opt", "pegasus",
        "pegasus_x", "plbart", "prophetnet", "recurrent_gemma", "roberta", "roberta-prelayernorm", "roformer",
        "smollm3", "speech_to_text", "squeezebert", "starcoder2", "switch_transformers", "t5", "t5gemma", "trocr",
        "udop", "umt5", "vaultgemma", "whisper", "xglm", "xlm", "xlm-roberta", "xlm-roberta-xl", "xlnet", "xmod",
        "zamba", "zamba2",
    ]

    // MARK: Codes

    /// Audio decoders whose embedding has an extra row for the start token after its codes.
    static let codeDecoders: Set<String> = ["musicgen_decoder", "musicgen_melody_decoder"]

    // MARK: Default values

    /// `decoder_start_token_id` of encoder-decoder models, where the file does not say: transformers' defaults, by
    /// `model_type`.
    static let decoderStarts = ["bart": 2, "m2m_100": 2, "marian": 58100, "mt5": 0, "pegasus": 0]

    /// Only constants of the class: derived head sizes and key heads are left out.
    static let defaults: [String: [String: Int]] = [
        "llama": sizes(4096, layers: 32, heads: 32, inner: 11008, vocabulary: 32000, positions: 2048),
        "mistral": sizes(
            4096, layers: 32, heads: 32, kv: 8, inner: 14336, vocabulary: 32000, positions: 131_072, window: 4096),
        "mixtral": sizes(4096, layers: 32, heads: 32, kv: 8, inner: 14336, vocabulary: 32000, positions: 131_072),
        "mllama_text_model": sizes(
            4096, layers: 40, heads: 32, kv: 8, inner: 14336, vocabulary: 128_256, positions: 131_072),
        "llama4_text": sizes(
            5120, layers: 48, heads: 40, kv: 8, size: 128, inner: 8192, vocabulary: 202_048, positions: 131_072),
        "qwen2": sizes(4096, layers: 32, heads: 32, kv: 32, inner: 22016, vocabulary: 151_936, positions: 32768),
        "qwen2_vl_text": qwenVision, "qwen2_5_vl_text": qwenVision,
        "qwen2_5_omni_text": sizes(
            3584, layers: 28, heads: 28, kv: 4, inner: 18944, vocabulary: 152_064, positions: 32768),
        "qwen3": sizes(
            4096, layers: 32, heads: 32, kv: 32, size: 128, inner: 22016, vocabulary: 151_936, positions: 32768),
        "qwen3_vl_text": sizes(
            4096, layers: 32, heads: 32, kv: 32, size: 128, inner: 22016, vocabulary: 151_936, positions: 128_000),
        "qwen3_omni_moe_text": sizes(
            2048, layers: 28, heads: 28, kv: 4, inner: 18944, vocabulary: 3584, positions: 32768),
        "gemma": sizes(
            3072, layers: 28, heads: 16, kv: 16, size: 256, inner: 24576, vocabulary: 256_000, positions: 8192),
        "gemma2": sizes(
            2304, layers: 26, heads: 8, kv: 4, size: 256, inner: 9216, vocabulary: 256_000, positions: 8192,
            window: 4096),
        "gemma3_text": sizes(
            2304, layers: 26, heads: 8, kv: 4, size: 256, inner: 9216, vocabulary: 262_208, positions: 131_072,
            window: 4096),
        "gemma3n_text": sizes(
            2048, layers: 35, heads: 8, kv: 2, size: 256, inner: 16384, vocabulary: 262_400, positions: 32768,
            window: 512
        ).merging(["num_kv_shared_layers": 15]) { $1 },
        "gemma4_text": gemma4(positions: 131_072, window: 512),
        "gemma4_unified_text": gemma4(positions: 262_144, window: 1024),
        "phi": sizes(2048, layers: 24, heads: 32, inner: 8192, vocabulary: 51200, positions: 2048),
        "phi3": sizes(3072, layers: 32, heads: 32, inner: 8192, vocabulary: 32064, positions: 4096),
        "opt": sizes(768, layers: 12, heads: 12, vocabulary: 50272, positions: 2048),
        "granite": sizes(4096, layers: 32, heads: 32, inner: 11008, vocabulary: 32000, positions: 2048),
        "gpt2": [
            "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257, "n_positions": 1024,
        ],
        "clip_text_model": sizes(512, layers: 12, heads: 8, inner: 2048, vocabulary: 49408, positions: 77),
        "clip_vision_model": vision(image: 224, patch: 32),
        "siglip_text_model": sizes(768, layers: 12, heads: 12, inner: 3072, vocabulary: 32000, positions: 64),
        "siglip2_text_model": sizes(768, layers: 12, heads: 12, inner: 3072, vocabulary: 32000, positions: 64),
        "siglip_vision_model": vision(image: 224, patch: 16),
        "siglip2_vision_model": vision(image: 256, patch: 16),
    ]

    private static func vision(image: Int, patch: Int) -> [String: Int] {
        [
            "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072,
            "image_size": image, "patch_size": patch,
        ]
    }

    private static func gemma4(positions: Int, window: Int) -> [String: Int] {
        sizes(
            2304, layers: 30, heads: 8, kv: 4, size: 256, inner: 9216, vocabulary: 262_144, positions: positions,
            window: window)
    }

    private static let qwenVision = sizes(
        8192, layers: 80, heads: 64, kv: 8, inner: 29568, vocabulary: 152_064, positions: 32768)

    private static func sizes(
        _ hidden: Int, layers: Int, heads: Int, kv: Int? = nil, size: Int? = nil, inner: Int? = nil,
        vocabulary: Int,
        positions: Int, window: Int? = nil
    ) -> [String: Int] {
        [
            "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
            "num_key_value_heads": kv, "head_dim": size, "intermediate_size": inner, "vocab_size": vocabulary,
            "max_position_embeddings": positions, "sliding_window": window,
        ].compactMapValues { $0 }
    }
}
