import HubCore
import Testing

@testable import ModelFormats

/// What real repositories hold, as the Hub lists them; long rows of shards are shortened.
struct Listing: Sendable, CustomTestStringConvertible {
    let id: String
    var library: String?
    var tags: [String] = []
    let files: [RepositoryFile]

    var testDescription: String { id }

    /// - Parameter files: a path on each line, and where it counts its size in MB; else it is 1 kB.
    init(_ id: String, library: String? = nil, tags: [String] = [], _ files: String) {
        self.id = id
        self.library = library
        self.tags = tags
        self.files = files.split(separator: "\n").map { line in
            let words = line.split(separator: " ")
            let size = words.count > 1 ? Int64(words[1])! * 1_000_000 : 1000
            return RepositoryFile(path: String(words[0]), size: size, oid: "")
        }
    }

    var sorted: ModelFiles { ModelFiles(files, library: library, tags: tags) }

    /// `Q4_K_M gguf 1`: name, format, number of files of each set, the smallest first; `*` marks the main one.
    var sets: [String] {
        sorted.variants.map { "\($0.name)\($0.isMain ? "*" : "") \($0.format.identifier) \($0.files.count)" }
    }

    func choose(
        _ format: WeightChoice.Format? = nil, quant: String? = nil, memoryGB: Int64 = 1000, runsMLX: Bool = false,
        include: String? = nil
    ) throws(AIError) -> ModelVariant? {
        let target = WeightChoice.Target(memoryBytes: memoryGB * 1_000_000_000, runsMLX: runsMLX)
        let filter = FileFilter(include: include.map { [$0] })
        return try WeightChoice(format: format, quantization: quant)
            .choose(from: sorted, of: id, for: target, wanted: filter.matches)
    }

    func taken(_ variant: ModelVariant?) -> [String] { variant.map { sorted.paths(of: $0).sorted() } ?? [] }

    /// The paths that a choice leaves out, in the order of the list.
    func left(_ variant: ModelVariant?) -> [String] {
        let taken = Set(taken(variant))
        return files.map(\.path).filter { !taken.contains($0) }
    }
}

extension Listing {
    static let bloke = Listing(
        "TheBloke/Llama-2-70B-Chat-GGUF", tags: ["gguf", "llama"],
        """
        .gitattributes
        LICENSE.txt
        Notice
        README.md
        USE_POLICY.md
        config.json
        llama-2-70b-chat.Q2_K.gguf 29280
        llama-2-70b-chat.Q3_K_L.gguf 36150
        llama-2-70b-chat.Q3_K_M.gguf 33190
        llama-2-70b-chat.Q3_K_S.gguf 29920
        llama-2-70b-chat.Q4_0.gguf 38870
        llama-2-70b-chat.Q4_K_M.gguf 41420
        llama-2-70b-chat.Q4_K_S.gguf 39070
        llama-2-70b-chat.Q5_0.gguf 47460
        llama-2-70b-chat.Q5_K_M.gguf 48750
        llama-2-70b-chat.Q5_K_S.gguf 47461
        llama-2-70b-chat.Q6_K.gguf-split-a 36700
        llama-2-70b-chat.Q6_K.gguf-split-b 19890
        llama-2-70b-chat.Q8_0.gguf-split-a 36701
        llama-2-70b-chat.Q8_0.gguf-split-b 36590
        """)

    static let bartowski = Listing(
        "bartowski/Meta-Llama-3.1-8B-Instruct-GGUF", tags: ["gguf", "llama", "base_model:quantized:x"],
        """
        .gitattributes
        Meta-Llama-3.1-8B-Instruct-IQ2_M.gguf 2948
        Meta-Llama-3.1-8B-Instruct-IQ3_M.gguf 3784
        Meta-Llama-3.1-8B-Instruct-IQ3_XS.gguf 3518
        Meta-Llama-3.1-8B-Instruct-IQ4_XS.gguf 4447
        Meta-Llama-3.1-8B-Instruct-Q2_K.gguf 3179
        Meta-Llama-3.1-8B-Instruct-Q2_K_L.gguf 3692
        Meta-Llama-3.1-8B-Instruct-Q3_K_L.gguf 4321
        Meta-Llama-3.1-8B-Instruct-Q3_K_M.gguf 4018
        Meta-Llama-3.1-8B-Instruct-Q3_K_S.gguf 3664
        Meta-Llama-3.1-8B-Instruct-Q3_K_XL.gguf 4781
        Meta-Llama-3.1-8B-Instruct-Q4_0.gguf 4675
        Meta-Llama-3.1-8B-Instruct-Q4_0_4_4.gguf 4661
        Meta-Llama-3.1-8B-Instruct-Q4_0_8_8.gguf 4662
        Meta-Llama-3.1-8B-Instruct-Q4_K_L.gguf 5310
        Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf 4920
        Meta-Llama-3.1-8B-Instruct-Q4_K_S.gguf 4692
        Meta-Llama-3.1-8B-Instruct-Q5_K_L.gguf 6057
        Meta-Llama-3.1-8B-Instruct-Q5_K_M.gguf 5732
        Meta-Llama-3.1-8B-Instruct-Q5_K_S.gguf 5599
        Meta-Llama-3.1-8B-Instruct-Q6_K.gguf 6596
        Meta-Llama-3.1-8B-Instruct-Q6_K_L.gguf 6850
        Meta-Llama-3.1-8B-Instruct-Q8_0.gguf 8540
        Meta-Llama-3.1-8B-Instruct-f32.gguf 32129
        Meta-Llama-3.1-8B-Instruct.imatrix 5
        README.md
        """)

    static let unslothFolders = Listing(
        "unsloth/DeepSeek-R1-0528-GGUF", library: "transformers", tags: ["gguf", "unsloth"],
        """
        .gitattributes
        BF16/DeepSeek-R1-0528-BF16-00001-of-00003.gguf 48000
        BF16/DeepSeek-R1-0528-BF16-00002-of-00003.gguf 48000
        BF16/DeepSeek-R1-0528-BF16-00003-of-00003.gguf 40000
        DeepSeek-R1-0528-UD-TQ1_0.gguf 16200
        Q4_K_M/DeepSeek-R1-0528-Q4_K_M-00001-of-00002.gguf 40000
        Q4_K_M/DeepSeek-R1-0528-Q4_K_M-00002-of-00002.gguf 400
        Q8_0/DeepSeek-R1-0528-Q8_0-00001-of-00002.gguf 49000
        Q8_0/DeepSeek-R1-0528-Q8_0-00002-of-00002.gguf 22000
        README.md
        UD-IQ1_S/DeepSeek-R1-0528-UD-IQ1_S-00001-of-00002.gguf 10000
        UD-IQ1_S/DeepSeek-R1-0528-UD-IQ1_S-00002-of-00002.gguf 8500
        UD-Q4_K_XL/DeepSeek-R1-0528-UD-Q4_K_XL-00001-of-00002.gguf 38000
        UD-Q4_K_XL/DeepSeek-R1-0528-UD-Q4_K_XL-00002-of-00002.gguf 400
        config.json
        imatrix_unsloth.dat 990
        """)

    static let unslothVision = Listing(
        "unsloth/gemma-3-12b-it-GGUF", library: "transformers", tags: ["gguf", "unsloth", "image-text-to-text"],
        """
        .gitattributes
        MTP/mtp-gemma-3-12b-it-Q8_0.gguf 600
        README.md
        config.json
        gemma-3-12b-it-BF16.gguf 23500
        gemma-3-12b-it-IQ4_XS.gguf 6550
        gemma-3-12b-it-Q4_K_M.gguf 7300
        gemma-3-12b-it-Q8_0.gguf 12500
        gemma-3-12b-it-UD-Q4_K_XL.gguf 7400
        imatrix_unsloth.dat 8
        imatrix_unsloth.gguf_file 8
        mmproj-BF16.gguf 854
        mmproj-F16.gguf 855
        mmproj-F32.gguf 1690
        params
        template
        """)

    static let mistral = Listing(
        "mistralai/Mistral-7B-Instruct-v0.3", library: "vllm", tags: ["vllm", "safetensors", "mistral"],
        """
        .gitattributes
        README.md
        config.json
        consolidated.safetensors 14497
        generation_config.json
        model-00001-of-00003.safetensors 4949
        model-00002-of-00003.safetensors 4999
        model-00003-of-00003.safetensors 4546
        model.safetensors.index.json
        params.json
        special_tokens_map.json
        tokenizer.json
        tokenizer.model
        tokenizer.model.v3
        tokenizer_config.json
        """)

    static let pixtral = Listing(
        "mistralai/Mistral-Large-Instruct-2411", library: "vllm", tags: ["vllm", "safetensors"],
        """
        README.md
        consolidated-00001-of-00002.safetensors 4900
        consolidated-00002-of-00002.safetensors 4900
        consolidated.safetensors.index.json
        params.json
        tekken.json
        """)

    static let llama = Listing(
        "meta-llama/Llama-3.1-8B", library: "transformers", tags: ["transformers", "safetensors", "llama"],
        """
        .gitattributes
        LICENSE
        README.md
        USE_POLICY.md
        config.json
        generation_config.json
        model-00001-of-00004.safetensors 4977
        model-00002-of-00004.safetensors 5000
        model-00003-of-00004.safetensors 4916
        model-00004-of-00004.safetensors 1168
        model.safetensors.index.json
        original/consolidated.00.pth 16061
        original/params.json
        original/tokenizer.model 2
        special_tokens_map.json
        tokenizer.json 9
        tokenizer_config.json
        """)

    static let gptOSS = Listing(
        "openai/gpt-oss-20b", library: "transformers", tags: ["transformers", "safetensors", "gpt_oss", "8-bit"],
        """
        .gitattributes
        LICENSE
        README.md
        USAGE_POLICY
        chat_template.jinja
        config.json
        metal/model.bin 13750
        model-00000-of-00002.safetensors 4792
        model-00001-of-00002.safetensors 4798
        model-00002-of-00002.safetensors 4170
        model.safetensors.index.json
        original/config.json
        original/dtypes.json
        original/model.safetensors 13761
        tokenizer.json 27
        tokenizer_config.json
        """)

    static let mlx = Listing(
        "mlx-community/Llama-3.2-3B-Instruct-4bit", library: "mlx", tags: ["mlx", "safetensors", "llama", "4-bit"],
        """
        .gitattributes
        README.md
        config.json
        model.safetensors 1807
        model.safetensors.index.json
        special_tokens_map.json
        tokenizer.json 17
        tokenizer_config.json
        """)

    static let mlxWhisper = Listing(
        "mlx-community/whisper-tiny", library: "mlx",
        """
        README.md
        config.json
        weights.npz 74
        """)

    static let sdxl = Listing(
        "stabilityai/sdxl-turbo", library: "diffusers", tags: ["diffusers", "onnx", "safetensors"],
        """
        .gitattributes
        LICENSE.md
        README.md
        image_of_squirrel.png 1
        model_index.json
        scheduler/scheduler_config.json
        sd_xl_turbo_1.0.ckpt 13875
        sd_xl_turbo_1.0.safetensors 13875
        sd_xl_turbo_1.0_fp16.safetensors 6938
        text_encoder/config.json
        text_encoder/model.fp16.safetensors 246
        text_encoder/model.onnx 493
        text_encoder/model.safetensors 492
        text_encoder_2/config.json
        text_encoder_2/model.fp16.safetensors 1389
        text_encoder_2/model.onnx 3
        text_encoder_2/model.onnx_data 2779
        text_encoder_2/model.safetensors 2778
        tokenizer/merges.txt
        tokenizer/vocab.json
        unet/config.json
        unet/diffusion_pytorch_model.fp16.safetensors 5135
        unet/diffusion_pytorch_model.safetensors 10270
        vae/config.json
        vae/diffusion_pytorch_model.safetensors 335
        vae_decoder/config.json
        vae_decoder/openvino_model.bin 198
        vae_decoder/openvino_model.xml 1
        """)

    static let whisper = Listing(
        "openai/whisper-large-v3", library: "transformers",
        tags: ["transformers", "pytorch", "jax", "safetensors", "whisper"],
        """
        .gitattributes
        README.md
        added_tokens.json
        config.json
        flax_model.msgpack 6174
        generation_config.json
        merges.txt
        model.fp32-00001-of-00002.safetensors 4994
        model.fp32-00002-of-00002.safetensors 1180
        model.safetensors 3087
        model.safetensors.index.fp32.json
        normalizer.json
        preprocessor_config.json
        pytorch_model.bin 3088
        pytorch_model.bin.index.fp32.json
        pytorch_model.fp32-00001-of-00002.bin 4994
        pytorch_model.fp32-00002-of-00002.bin 1180
        special_tokens_map.json
        tokenizer.json 2
        tokenizer_config.json
        vocab.json 1
        """)

    static let miniLM = Listing(
        "sentence-transformers/all-MiniLM-L6-v2", library: "sentence-transformers",
        tags: ["sentence-transformers", "pytorch", "tf", "rust", "onnx", "safetensors", "openvino", "bert"],
        """
        .gitattributes
        1_Pooling/config.json
        README.md
        config.json
        config_sentence_transformers.json
        data_config.json
        model.safetensors 91
        modules.json
        onnx/model.onnx 90
        onnx/model_O1.onnx 90
        onnx/model_O4.onnx 45
        onnx/model_qint8_arm64.onnx 23
        openvino/openvino_model.bin 90
        openvino/openvino_model.xml
        openvino/openvino_model_qint8_quantized.bin 23
        openvino/openvino_model_qint8_quantized.xml
        pytorch_model.bin 92
        rust_model.ot 93
        sentence_bert_config.json
        special_tokens_map.json
        tf_model.h5 94
        tokenizer.json
        tokenizer_config.json
        train_script.py
        vocab.txt
        """)

    static let labse = Listing(
        "sentence-transformers/LaBSE", library: "sentence-transformers",
        """
        1_Pooling/config.json
        2_Dense/config.json
        2_Dense/pytorch_model.bin 3
        README.md
        config.json
        model.safetensors 1880
        modules.json
        pytorch_model.bin 1881
        tokenizer.json
        """)

    static let adapter = Listing(
        "someone/lora", library: "peft", tags: ["peft", "safetensors", "lora"],
        """
        README.md
        adapter_config.json
        adapter_model.safetensors 160
        checkpoint-1000/adapter_config.json
        checkpoint-1000/adapter_model.safetensors 160
        checkpoint-1000/optimizer.pt 320
        checkpoint-1000/rng_state.pth
        checkpoint-1000/scheduler.pt
        checkpoint-1000/trainer_state.json
        checkpoint-500/adapter_config.json
        checkpoint-500/adapter_model.safetensors 160
        checkpoint-500/optimizer.pt 320
        tokenizer.json
        training_args.bin
        """)

    static let phi = Listing(
        "microsoft/Phi-4-multimodal-instruct", library: "transformers", tags: ["safetensors"],
        """
        config.json
        model-00001-of-00003.safetensors 4997
        model-00002-of-00003.safetensors 4952
        model-00003-of-00003.safetensors 1199
        model.safetensors.index.json
        speech-lora/adapter_config.json
        speech-lora/adapter_model.safetensors 923
        vision-lora/adapter_config.json
        vision-lora/adapter_model.safetensors 739
        """)

    static let wan = Listing(
        "Wan-AI/Wan2.1-T2V-1.3B", library: "diffusers",
        """
        README.md
        Wan2.1_VAE.pth 508
        config.json
        diffusion_pytorch_model.safetensors 5676
        google/umt5-xxl/tokenizer.json 17
        models_t5_umt5-xxl-enc-bf16.pth 11361
        """)

    static let mixed = Listing(
        "org/both", library: "transformers", tags: ["safetensors", "gguf"],
        """
        README.md
        both-f16.gguf 2000
        both-q4_k_m.gguf 700
        both-q8_0.gguf 1100
        config.json
        model.safetensors 2000
        tokenizer.json
        """)

    static let bitFolders = Listing(
        "org/many-bits", library: "mlx",
        """
        4bit/config.json
        4bit/model.safetensors 400
        4bit/tokenizer.json
        8bit/config.json
        8bit/model.safetensors 800
        8bit/tokenizer.json
        README.md
        """)

    static let cpp = Listing(
        "ggerganov/whisper.cpp",
        """
        README.md
        ggml-base-encoder.mlmodelc.zip 38
        ggml-base-q5_1.bin 60
        ggml-base.bin 148
        """)

    static let bare = Listing(
        "org/tokenizer",
        """
        README.md
        tokenizer.json
        """)
}
