package import HubCore

/// A model's `config.json`, with the names of Hugging Face's configuration classes
/// (https://huggingface.co/docs/transformers/main_classes/configuration).
///
/// A missing value is nil, or the architecture's default if known here.
package struct ModelConfiguration: Sendable {
    /// The file, for errors.
    package let path: String
    /// `model_type`: `llama`, `qwen2`, …, or `timm:` and a family of timm's; nil if the file is of neither.
    package let modelType: String?
    /// `model_type` of the part that describes the decoder; the same if there is only one.
    package let decoderType: String?
    /// `architectures`: the class names, `LlamaForCausalLM`.
    package let architectures: [String]
    package let hiddenSize: Int?
    package let layers: Int?
    package let heads: Int?
    /// ``heads`` if the file does not say.
    package let kvHeads: Int?
    /// `hidden_size / num_attention_heads` if the file does not say.
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
    /// What a decoder after an encoder begins with; nil if the file does not say.
    package let decoderStartID: Int?
    /// The first token of every answer; nil for any.
    package let forcedBosID: Int?
    /// Tokens that no answer has.
    package let bannedIDs: [Int]
    /// The number of experts, and the number used per token; where layers differ, the largest.
    package let experts: Int?
    package let expertsPerToken: Int?
    /// The KV cache layout; nil if the file does not say enough.
    package let cache: CacheConfiguration?
    /// The kind of each layer, `full_attention`, `linear_attention`, …; empty if the file does not list them.
    package let layerKinds: [String]
    /// All settings of the decoder, for those that only one architecture has.
    package let settings: JSONObject
    /// Those of an encoder that stand beside the decoder's; nil where there are none.
    package let encoder: JSONObject?
    /// Those of the part that sees, with its class's defaults; nil where there is none.
    package let vision: JSONObject?
    /// What the file says beside the settings of its parts; of a model in one part ``settings``.
    package let outer: JSONObject
    /// The code named by `auto_map`, which other programs would run on loading.
    package let customCode: [String]

    /// Whether it is the metadata of a GGUF file under the names of `config.json`.
    package let isGGUF: Bool

    /// Skipped values of the wrong type or out of range; only in a forgiving reading.
    package let faults: [String]

    /// Whether it is of timm, which has models of pictures alone.
    package var isTimm: Bool { modelType?.hasPrefix(TimmConfiguration.prefix) ?? false }

    /// Whether it is an audio decoder whose embedding has one row more than there are codes.
    package var hasCodes: Bool { decoderType.map(ArchitectureTraits.codeDecoders.contains) ?? false }

    /// Reads `config.json` of a folder, or else open_clip's own file; nil if there is neither.
    ///
    /// - Parameter isForgiving: whether a value of the wrong type or out of range is only recorded in ``faults``.
    /// - Throws: ``ErrorCode/malformedModel`` for such a value, or if it is not a JSON object.
    package static func read(folder: String, isForgiving: Bool = false) throws(AIError) -> ModelConfiguration? {
        let path = Path.join(folder, "config.json")
        guard let json = try JSONFile.read(path) else {
            let other = Path.join(folder, OpenCLIPConfiguration.name)
            guard let json = try JSONFile.read(other).flatMap(OpenCLIPConfiguration.translated) else { return nil }
            return try ModelConfiguration(json, path: other, isForgiving: isForgiving)
        }
        let names = declaresPacking(json) ? [] : packingNames.filter { FileSystem.exists(Path.join(folder, $0)) }
        let other = try names.first.map { name throws(AIError) in try JSONFile.read(Path.join(folder, name)) }
        return try ModelConfiguration(
            adding(other ?? nil, from: names.first ?? "", to: json), path: path, isForgiving: isForgiving)
    }

    private static let awqName = "quant_config.json"
    /// Where ModelOpt, AutoGPTQ and AutoAWQ say how they packed weights; older versions said it nowhere else.
    package static let packingNames = ["hf_quant_config.json", "quantize_config.json", awqName]

    /// Whether `config.json` itself says how the weights are packed.
    package static func declaresPacking(_ json: JSON) -> Bool {
        ["quantization_config", "compression_config", "quantization"].contains { json[$0] != nil }
    }

    /// `config.json` with the content of one of ``packingNames`` as its `quantization_config`.
    ///
    /// - Parameters:
    ///   - packing: the content; nil if there is no such file.
    ///   - name: the file's name, which says whose form it has.
    package static func adding(_ packing: JSON?, from name: String, to json: JSON) -> JSON {
        let isOwn = name == packingNames[0]
        guard var settings = json.object,
            var found = isOwn ? packing?["quantization"]?.object : packing?.object
        else { return json }
        if isOwn {
            found["quant_method"] = "modelopt"
        } else if found["quant_method"] == nil {
            found["quant_method"] = name == awqName ? "awq" : "gptq"
        }
        for (older, usual) in [("w_bit", "bits"), ("q_group_size", "group_size")] where found[usual] == nil {
            found[usual] = found[older]
        }
        settings["quantization_config"] = .object(found)
        return .object(settings)
    }

    /// - Parameter isForgiving: see ``read(folder:isForgiving:)``.
    package init(_ json: JSON, path: String, isForgiving: Bool = false) throws(AIError) {
        try self.init(json, path: path, noted: isForgiving ? FaultList() : nil)
    }

    /// - Parameter noted: collects faults; nil if they are errors.
    init(_ json: JSON, path: String, noted: FaultList?, isGGUF: Bool = false) throws(AIError) {
        self.isGGUF = isGGUF
        let json = isGGUF ? json : TimmConfiguration.translated(json) ?? json
        guard let members = json.object else { throw .malformed(path, "it is not an object") }
        let all = ConfigurationFields(members, path: path, noted: noted)
        self.path = path
        modelType = try all.string("model_type")
        architectures = (json["architectures"]?.array ?? []).compactMap(\.string)
        let fields = try all.decoder()
        let type = fields.optionalText("model_type") ?? modelType ?? ""
        decoderType = type.isEmpty ? nil : type
        settings = fields.all
        encoder = all.optionalObject("encoder")?.all
        outer = members
        vision =
            all.optionalObject(all.has("vision_config_dict") ? "vision_config_dict" : "vision_config")?
            .withDefaults(of: modelType.map { $0 + "_vision_model" }).all
        hiddenSize = try fields.count("hidden_size", "n_embd", "n_embed", "d_model", "model_dim", "dim")
        // In encoder-decoder models `num_layers` and `num_hidden_layers` count the encoder's layers.
        layers =
            try fields.count(
                "decoder_layers", "num_decoder_layers", "num_hidden_layers", "n_layer", "n_layers", "num_layers",
                "num_transformer_layers") ?? fields.listedLayers
        let attends = !ArchitectureTraits.recurrent.contains(type)
        heads =
            attends
            ? try fields.count(
                "decoder_attention_heads", "num_attention_heads", "n_head", "n_heads", "num_heads",
                "num_query_heads", in: SettingLimits.heads) : nil
        kvHeads = attends ? try fields.kvHeads(of: heads) : nil
        // Latent attention has no key heads, whatever their number says.
        if let heads, let kvHeads, heads % kvHeads != 0, !fields.has("kv_lora_rank") {
            try fields.report("\(heads) attention heads are not divisible by \(kvHeads) key-value heads")
        }
        var headSize = attends ? try fields.count("head_dim", "d_kv", "kv_channels", "attention_head_dim") : nil
        if attends, headSize == nil, !fields.has("kv_lora_rank"), let hiddenSize, let heads {
            if hiddenSize % heads == 0 {
                headSize = hiddenSize / heads
            } else {
                try fields.report("hidden_size \(hiddenSize) is not divisible by \(heads) heads")
            }
        }
        self.headSize = headSize
        // The classes of GPT-2 and LFM2 then ignore intermediate_size.
        let first = ["n_inner", "block_ff_dim"].first(where: fields.has)
        intermediateSize = try fields.count(
            first ?? "intermediate_size", "d_ff", "decoder_ffn_dim", "ffn_hidden_size",
            "ffn_dim", "hidden_dim")
        vocabulary = try fields.count("vocab_size", "padded_vocab_size")
        maxPositions = try fields.count(
            "max_position_embeddings", "n_positions", "max_seq_len", "max_target_positions", "seq_length",
            in: SettingLimits.positions)
        rmsNormEpsilon = try fields.epsilon("rms_norm_eps")
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
        decoderStartID =
            try fields.tokenIDs("decoder_start_token_id").first
            ?? (fields.isNull("decoder_start_token_id") ? nil : ArchitectureTraits.decoderStarts[type])
        forcedBosID = try fields.tokenIDs("forced_bos_token_id").first
        bannedIDs = fields.bannedIDs ?? []
        let mixture = try fields.object("ffn_config") ?? fields
        experts = try mixture.countIfAny(
            "num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")
        let mostPerToken = try mixture.sizes("moe_topk")?.max()
        expertsPerToken =
            try mixture.countIfAny(
                "num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_top_k", "moe_k", "top_k_experts")
            ?? mostPerToken
        layerKinds = layers.flatMap { fields.layerKinds($0, type: type) } ?? []
        cache = CacheConfiguration(fields, type: type, layers: layers, kvHeads: kvHeads, headSize: headSize)
        customCode = all.members("auto_map").flatMap { member in
            (member.value.array ?? [member.value]).compactMap(\.string)
        }.sorted()
        faults = noted?.faults ?? []
    }
}

/// The rotary embedding's settings.
package struct RopeConfiguration: Sendable, Hashable {
    /// The base of the frequencies; nil if the file does not say.
    package let theta: Double?
    /// `default`, `llama3`, `yarn`, `linear`, …; `default` if the file has no scaling.
    package let type: String
    /// `partial_rotary_factor`; 1 if the file does not say.
    package let partialFactor: Double
    /// `factor`: the context relative to the original training context.
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
        // A model with several layer kinds has another level, by kind, without rope_type above it.
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
        originalMaxPositions = try nested?.count(
            "original_max_position_embeddings", in: SettingLimits.positions)
        if let theta, theta <= 0 { try fields.report("rope_theta is not a positive number") }
    }
}
