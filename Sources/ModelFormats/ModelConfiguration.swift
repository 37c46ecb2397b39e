package import HubCore

/// What a model's `config.json` says of it, in the words of Hugging Face's configuration classes
/// (https://huggingface.co/docs/transformers/main_classes/configuration).
///
/// A value that the file leaves out is nil, or what the architecture's own default says where that is written here.
package struct ModelConfiguration: Sendable {
    /// The file, for errors.
    package let path: String
    /// `model_type`: `llama`, `qwen2`, …; nil where the file is not one of transformers'.
    package let modelType: String?
    /// `model_type` of the part that describes the decoder; the same where there is but one.
    package let decoderType: String?
    /// `architectures`: the class names, `LlamaForCausalLM`.
    package let architectures: [String]
    package let hiddenSize: Int?
    package let layers: Int?
    package let heads: Int?
    /// Equal to ``heads`` where the file does not say.
    package let kvHeads: Int?
    /// `hidden_size / num_attention_heads` where the file does not say.
    package let headSize: Int?
    package let intermediateSize: Int?
    package let vocabulary: Int?
    package let maxPositions: Int?
    package let rmsNormEpsilon: Double?
    package let activation: String?
    package let rope: RopeConfiguration
    package let tiedEmbeddings: Bool?
    package let attentionBias: Bool
    package let mlpBias: Bool
    /// `dtype`, formerly `torch_dtype`.
    package let dataType: String?
    package let quantization: QuantizationConfiguration?
    package let bosIDs: [Int]
    package let eosIDs: [Int]
    /// Experts of a mixture, and how many of them each token goes through.
    package let experts: Int?
    package let expertsPerToken: Int?
    /// What is kept of each position; nil where the file does not say enough to tell.
    package let cache: CacheConfiguration?
    /// The kind of each layer, `full_attention`, `linear_attention`, …; empty where they are not told apart.
    package let layerKinds: [String]
    /// Everything that the file says of the decoder, for what only one architecture has.
    package let settings: JSONObject
    /// What `auto_map` names: code of the repository's own that loading it elsewhere would run.
    package let customCode: [String]

    /// Values of the wrong kind or out of range that were passed over; none but in a reading that is forgiving.
    package let faults: [String]

    /// Whether it makes sound of codes; its embedding has a row more than there are of them.
    package var hasCodes: Bool { decoderType.map(ArchitectureTraits.codeDecoders.contains) ?? false }

    /// Reads `config.json` of a folder; nil where there is none.
    ///
    /// - Parameter isForgiving: whether a value of the wrong kind or out of range is only noted, in ``faults``.
    /// - Throws: ``ErrorCode/malformedModel`` for such a value, or for what is not JSON object.
    package static func read(folder: String, isForgiving: Bool = false) throws(AIError) -> ModelConfiguration? {
        let path = Path.join(folder, "config.json")
        guard let json = try JSONFile.read(path) else { return nil }
        return try ModelConfiguration(json, path: path, isForgiving: isForgiving)
    }

    /// - Parameter isForgiving: see ``read(folder:isForgiving:)``.
    package init(_ json: JSON, path: String, isForgiving: Bool = false) throws(AIError) {
        try self.init(json, path: path, noted: isForgiving ? FaultList() : nil)
    }

    /// - Parameter noted: where faults are noted; nil where they are errors.
    init(_ json: JSON, path: String, noted: FaultList?) throws(AIError) {
        guard let members = json.object else { throw .malformed(path, "it is not an object") }
        let all = ConfigurationFields(members, path: path, noted: noted)
        self.path = path
        modelType = try all.string("model_type")
        architectures = (json["architectures"]?.array ?? []).compactMap(\.string)
        let fields = try all.decoder()
        let type = fields.optionalText("model_type") ?? modelType ?? ""
        decoderType = type.isEmpty ? nil : type
        settings = fields.all
        hiddenSize = try fields.count("hidden_size", "n_embd", "n_embed", "d_model", "model_dim", "dim")
        // Of a model with an encoder too, `num_layers` and `num_hidden_layers` count the encoder's.
        layers = try fields.count(
            "decoder_layers", "num_decoder_layers", "num_hidden_layers", "n_layer", "n_layers", "num_layers",
            "num_transformer_layers")
        let attends = !ArchitectureTraits.recurrent.contains(type)
        heads =
            attends
            ? try fields.count(
                "decoder_attention_heads", "num_attention_heads", "n_head", "n_heads", "num_heads",
                "num_query_heads") : nil
        kvHeads = attends ? try fields.kvHeads(of: heads) : nil
        // Compressed attention has no heads of keys, whatever their number says.
        if let heads, let kvHeads, heads % kvHeads != 0, !fields.has("kv_lora_rank") {
            try fields.report("\(heads) attention heads are not divisible by \(kvHeads) key-value heads")
        }
        var headSize = attends ? try fields.count("head_dim", "d_kv", "kv_channels", "attention_head_dim") : nil
        if attends, headSize == nil, let hiddenSize, let heads {
            if hiddenSize % heads == 0 {
                headSize = hiddenSize / heads
            } else {
                try fields.report("hidden_size \(hiddenSize) is not divisible by \(heads) heads")
            }
        }
        self.headSize = headSize
        // GPT-2's class does not look at intermediate_size.
        intermediateSize = try fields.count(
            fields.has("n_inner") ? "n_inner" : "intermediate_size", "d_ff", "decoder_ffn_dim", "ffn_hidden_size",
            "ffn_dim", "hidden_dim")
        vocabulary = try fields.count("vocab_size", "padded_vocab_size")
        maxPositions = try fields.count(
            "max_position_embeddings", "n_positions", "max_seq_len", "max_target_positions", "seq_length")
        rmsNormEpsilon = try fields.number("rms_norm_eps")
        activation = try fields.string("hidden_act", "hidden_activation", "activation_function")
        rope = try RopeConfiguration(fields)
        let tied = try (fields.has("tie_word_embeddings") ? fields : all).bool("tie_word_embeddings")
        tiedEmbeddings = tied ?? (ArchitectureTraits.tied.contains(type) ? true : nil)
        attentionBias = try fields.bool("attention_bias") ?? false
        mlpBias = try fields.bool("mlp_bias") ?? false
        let typed = fields.has("dtype") || fields.has("torch_dtype") ? fields : all
        dataType = try typed.string("dtype", "torch_dtype")
        let outer = try QuantizationConfiguration(all)
        quantization = outer == nil ? try QuantizationConfiguration(fields) : outer
        bosIDs = try fields.tokenIDs("bos_token_id")
        eosIDs = try fields.tokenIDs("eos_token_id")
        let mixture = try fields.object("ffn_config") ?? fields
        experts = mixture.optionalCount("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")
        expertsPerToken = mixture.optionalCount(
            "num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_top_k", "top_k_experts")
        layerKinds = layers.flatMap { fields.layerKinds($0, type: type) } ?? []
        cache = CacheConfiguration(fields, type: type, layers: layers, kvHeads: kvHeads, headSize: headSize)
        customCode = all.members("auto_map").flatMap { member in
            (member.value.array ?? [member.value]).compactMap(\.string)
        }.sorted()
        faults = noted?.faults ?? []
    }
}

/// How positions are rotated.
package struct RopeConfiguration: Sendable, Hashable {
    /// The base of the frequencies; nil where the file does not say.
    package let theta: Double?
    /// `default`, `llama3`, `yarn`, `linear`, …; `default` where the file has no scaling.
    package let type: String
    /// `partial_rotary_factor`; 1 where the file does not say.
    package let partialFactor: Double
    /// `factor`: how many times longer texts are than those first trained on.
    package let factor: Double?
    /// `low_freq_factor`
    package let lowFrequencyFactor: Double?
    /// `high_freq_factor`
    package let highFrequencyFactor: Double?
    /// `original_max_position_embeddings`
    package let originalMaxPositions: Int?

    /// Reads both nestings: `rope_theta` beside `rope_scaling`, and since transformers 5 `rope_parameters` with all of
    /// it inside.
    init(_ fields: ConfigurationFields) throws(AIError) {
        let nested = try fields.object("rope_parameters", "rope_scaling")
        // A model with several kinds of layers nests once more, by kind; its members have no rope_type of their own.
        if let nested, nested.has("full_attention") || nested.has("sliding_attention") {
            (theta, type, partialFactor) = (nil, "by layer type", 1)
            (factor, lowFrequencyFactor, highFrequencyFactor, originalMaxPositions) = (nil, nil, nil, nil)
            return
        }
        func number(_ key: String) throws(AIError) -> Double? {
            if let nested, nested.has(key) { return try nested.number(key) }
            return try fields.number(key)
        }
        theta = try number("rope_theta")
        type = try nested?.string("rope_type", "type") ?? "default"
        partialFactor = try number("partial_rotary_factor") ?? 1
        factor = try nested?.number("factor")
        lowFrequencyFactor = try nested?.number("low_freq_factor")
        highFrequencyFactor = try nested?.number("high_freq_factor")
        originalMaxPositions = try nested?.count("original_max_position_embeddings")
        if let theta, theta <= 0 || !theta.isFinite { try fields.report("rope_theta is not a positive number") }
    }
}
