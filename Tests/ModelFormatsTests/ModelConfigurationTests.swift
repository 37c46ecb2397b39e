import HubCore
import ModelFormats
import Testing

@Suite struct ModelConfigurationTests {
    @Test func bothNestingsOfRopeSayTheSame() throws {
        let old = try #require(try ModelConfiguration.read(folder: Fixtures.path("tiny-shakespeare")))
        let new = try #require(try ModelConfiguration.read(folder: Fixtures.path("tiny-shakespeare-sharded")))
        #expect(old.rope == new.rope)
        #expect(old.rope.theta == 10_000)
        #expect(old.rope.type == "default")
        #expect(old.dataType == "bfloat16")
        #expect(new.dataType == "bfloat16")
        #expect(new.kvHeads == 2 && new.heads == 4 && new.headSize == 32 && new.layers == 4)
        #expect(new.architectures == ["LlamaForCausalLM"] && new.modelType == "llama")
        #expect(new.bosIDs == [0] && new.eosIDs == [1])
        #expect(new.tiedEmbeddings == true && new.quantization == nil)
    }

    private func parse(_ text: String) throws -> ModelConfiguration {
        try ModelConfiguration(try JSON.parse(text), path: "config.json")
    }

    @Test func absentValuesFollowFromOthers() throws {
        let c = try parse(
            #"{"model_type":"llama","hidden_size":64,"num_attention_heads":4,"rope_theta":5e5,"eos_token_id":[7,9]}"#
        )
        #expect(c.headSize == 16 && c.kvHeads == 4)
        #expect(c.rope.theta == 500_000)
        #expect(c.eosIDs == [7, 9] && c.bosIDs == [])
    }

    @Test func ropeScalingIsNamed() throws {
        let scaled = try parse(
            #"{"model_type":"llama","rope_theta":1e4,"rope_scaling":{"rope_type":"llama3","factor":8}}"#)
        #expect(scaled.rope.type == "llama3" && scaled.rope.theta == 10_000)
        #expect(
            try parse(#"{"model_type":"llama","rope_scaling":{"type":"linear","factor":2}}"#).rope.type == "linear")
        let layered =
            #"{"model_type":"gemma3","rope_parameters":{"full_attention":{"rope_type":"default"},"sliding_attention":{}}}"#
        #expect(try parse(layered).rope.type == "by layer type")
    }

    @Test func llama3ScalingIsReadInBothNestings() throws {
        let old = try #require(try ModelConfiguration.read(folder: Fixtures.path("micro/llama"))).rope
        #expect(old.type == "llama3" && old.factor == 8 && old.originalMaxPositions == 128)
        #expect(old.lowFrequencyFactor == 1 && old.highFrequencyFactor == 4)
        let new = try parse(
            #"{"model_type":"llama","rope_parameters":{"rope_type":"llama3","rope_theta":1e4,"factor":8,"low_freq_factor":1,"high_freq_factor":4,"original_max_position_embeddings":128}}"#
        )
        #expect(new.rope == old)
    }

    @Test func quantisationIsNamed() throws {
        let mlx = try #require(
            try ModelConfiguration.read(folder: Fixtures.path("tiny-shakespeare-mlx-4bit"))?.quantization)
        #expect(mlx.description == "MLX 4-bit quantisation (group size 64)")
        let gptq = try parse(#"{"model_type":"llama","quantization_config":{"quant_method":"gptq","bits":4}}"#)
        #expect(gptq.quantization?.description == "gptq 4-bit quantisation")
    }

    @Test(arguments: [
        ("[]", "object"), (#"{"model_type":3}"#, "model_type"),
        (#"{"model_type":"llama","hidden_size":-1}"#, "hidden_size"),
        (#"{"model_type":"llama","hidden_size":4294967296}"#, "hidden_size"),
        (#"{"model_type":"llama","hidden_size":"64"}"#, "hidden_size"),
        (#"{"model_type":"llama","hidden_size":65,"num_attention_heads":4}"#, "divisible"),
        (#"{"model_type":"llama","num_attention_heads":4,"num_key_value_heads":3}"#, "divisible"),
        (#"{"model_type":"llama","hidden_size":64.5}"#, "hidden_size"),
        (#"{"model_type":"llama","quantization_config":{"quant_method":"exl2","bits":-4.25}}"#, "bits"),
        (#"{"model_type":"llama","num_hidden_layers":0}"#, "num_hidden_layers"),
        (#"{"model_type":"llama","rope_theta":0}"#, "rope_theta"),
        (#"{"model_type":"llama","rope_scaling":{"rope_type":"llama3","factor":"8"}}"#, "factor"),
        (
            #"{"model_type":"llama","rope_scaling":{"original_max_position_embeddings":0}}"#,
            "original_max_position_embeddings"
        ),
        (#"{"model_type":"llama","eos_token_id":"</s>"}"#, "eos_token_id"),
        (#"{"model_type":"llama","attention_bias":1}"#, "attention_bias"),
    ])
    func wrongValuesAreRefusedByName(text: String, name: String) throws {
        let error = try #require(throws: AIError.self) { try parse(text) }
        #expect(error.code == .malformedModel)
        #expect(error.message.contains(name), "\(error.message)")
    }

    /// What is shown must not be lost for one value that is wrong.
    @Test func aForgivingReadingNotesWhatIsWrongAndGoesOn() throws {
        let text =
            #"{"model_type":"llama","hidden_size":64,"num_attention_heads":4,"eos_token_id":-2,"rms_norm_eps":"x","rope_scaling":"y","quantization":{"bits":7}}"#
        let c = try ModelConfiguration(try JSON.parse(text), path: "config.json", isForgiving: true)
        #expect(c.hiddenSize == 64 && c.headSize == 16 && c.eosIDs.isEmpty && c.rmsNormEpsilon == nil)
        #expect(
            c.faults == [
                "rms_norm_eps is not a number", "rope_scaling is not an object",
                "quantization bits 7 are not supported by MLX", "eos_token_id is not a token id or a list of them",
            ])
        #expect(throws: AIError.self) { try parse(text) }
    }

    @Test func whatSoundFilesSayInOtherWaysIsRead() throws {
        let whole = try parse(
            #"{"model_type":"llama","hidden_size":128.0,"num_attention_heads":4,"bos_token_id":-1}"#)
        #expect(whole.hiddenSize == 128 && whole.headSize == 32 && whole.bosIDs.isEmpty)
        func exl2(_ bits: String) throws -> String? {
            try parse(#"{"model_type":"llama","quantization_config":{"quant_method":"exl2","bits":\#(bits)}}"#)
                .quantization?.description
        }
        #expect(try exl2("4.25") == "exl2 4.25-bit quantisation")
        #expect(try exl2("4.0") == "exl2 4-bit quantisation")
        #expect(try parse(#"{"model_type":"smollm3"}"#).tiedEmbeddings == true)
        #expect(try parse(#"{"model_type":"smollm3","tie_word_embeddings":false}"#).tiedEmbeddings == false)
        #expect(try parse(#"{"model_type":"llama"}"#).tiedEmbeddings == nil)
        let gpt2 = #"{"model_type":"gpt2","n_embd":8,"n_inner":40,"intermediate_size":24}"#
        #expect(try parse(gpt2).intermediateSize == 40)
        // Compressed attention has no heads of keys.
        let latent =
            #"{"model_type":"deepseek_v3","num_attention_heads":4,"num_key_value_heads":128,"kv_lora_rank":8}"#
        #expect(try parse(latent).heads == 4)
    }

    /// timm's, and stubs beside GGUF files.
    @Test func aConfigurationWithoutAModelTypeIsRead() throws {
        let timm = try parse(#"{"architecture":"resnet50","num_features":2048}"#)
        #expect(timm.modelType == "timm:resnet" && timm.layers == nil && timm.cache == nil)
        let stub = try parse(#"{"num_features":2048}"#)
        #expect(stub.modelType == nil && stub.layers == nil && stub.cache == nil)
    }

    @Test func memoryIsWeightsCacheAndActivations() throws {
        let c = try #require(try ModelConfiguration.read(folder: Fixtures.path("tiny-shakespeare")))
        let estimate = MemoryEstimate(weightsBytes: 1000, configuration: c)
        // Two caches, 4 layers, 2 heads of 32, float32.
        #expect(estimate.cacheBytesPerPosition == Int64(2 * 4 * 2 * 32 * 4))
        // Kept as float16 unless said otherwise.
        #expect(estimate.bytes(context: 266) - estimate.bytes(context: 256) == 10 * 2 * 4 * 2 * 32 * 2)
        let exact = estimate.bytes(context: 266, cacheBits: 32) - estimate.bytes(context: 256, cacheBits: 32)
        #expect(exact == 10 * 2 * 4 * 2 * 32 * 4)
        let absurd = try parse(
            #"{"model_type":"llama","hidden_size":16777216,"num_attention_heads":1,"num_hidden_layers":16777216,"intermediate_size":16777216}"#
        )
        #expect(
            MemoryEstimate(weightsBytes: .max, configuration: absurd).bytes(context: Int(Int32.max))
                == .max)
    }

    @Test func weightFormatsAreKnownByName() {
        let names = [
            "model.gguf": "GGUF", "pytorch_model.bin": "PyTorch pickle", "model.safetensors": "safetensors",
            "tf_model.h5": "TensorFlow", "flax_model.msgpack": "Flax", "model.onnx": "ONNX",
        ]
        for (name, format) in names { #expect(WeightFormat(fileName: name)?.rawValue == format) }
        #expect(WeightFormat(fileName: "tokenizer.json") == nil)
    }
}
