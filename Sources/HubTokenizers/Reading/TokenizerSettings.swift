import HubCore
import ModelFormats

/// The settings of a tokenizer beside its vocabulary: tokenizer_config.json, for older models special_tokens_map.json
/// and added_tokens.json
/// (https://github.com/huggingface/transformers/blob/main/src/transformers/tokenization_utils_base.py).
struct TokenizerSettings {
    let config: JSON?
    /// Text to id, in added_tokens.json.
    let olderTokens: JSON?
    private let specialTokens: JSON?
    /// `config.json` of the model.
    private let model: JSON?
    let configPath: String
    let olderPath: String

    /// Settings that are true or false.
    private static let flags = [
        "add_bos_token", "add_eos_token", "add_prefix_space", "do_lower_case", "keep_accents", "legacy",
        "separate_vocabs", "split_by_punct", "strip_accents", "tokenize_chinese_chars", "trim_offsets",
    ]

    /// Reads the files of a folder; any may be missing.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for a setting of the wrong type; null counts as absent.
    init(folder: String) throws(AIError) {
        configPath = Path.join(folder, "tokenizer_config.json")
        olderPath = Path.join(folder, "added_tokens.json")
        config = try JSONFile.read(configPath)
        specialTokens = try JSONFile.read(Path.join(folder, "special_tokens_map.json"))
        olderTokens = try JSONFile.read(olderPath)
        model = try JSONFile.read(Path.join(folder, "config.json"))
        func check(_ keys: [String], _ what: String, _ isRight: (JSON) -> Bool) throws(AIError) {
            for key in keys {
                if let value = config?[key], !value.isNull, !isRight(value) {
                    throw .malformed(configPath, "\(key) is not \(what)")
                }
            }
        }
        try check(Self.flags, "true or false") { $0.bool != nil }
        try check(["model_max_length", "max_len"], "a number") { $0.double != nil }
    }

    /// The defaults without such files.
    init() {
        (config, specialTokens, olderTokens, model) = (nil, nil, nil, nil)
        (configPath, olderPath) = ("tokenizer_config.json", "added_tokens.json")
    }

    /// The class that reads the vocabulary: `BertTokenizerFast`; empty if the files do not say.
    var className: String {
        let named = config?["tokenizer_class"]?.string ?? model?["tokenizer_class"]?.string ?? ""
        // As the first conversions of Llama wrote it.
        return named.hasPrefix("LLaMA") ? "Llama" + named.dropFirst(5) : named
    }

    /// The class name without the common suffixes: `Bert`.
    var kind: String {
        var name = className[...]
        for ending in ["Fast", "Tokenizer"] where name.hasSuffix(ending) { name.removeLast(ending.count) }
        return String(name)
    }

    var modelType: String? { model?["model_type"]?.string }

    /// One of ``flags``.
    func bool(_ key: String) -> Bool? {
        assert(Self.flags.contains(key), "\(key) is not among the flags that are checked")
        return config?[key]?.bool
    }

    /// A value of the settings. Older models have it in special_tokens_map.json.
    private func value(_ key: String) -> JSON? {
        config?["added_tokens_decoder"] == nil ? specialTokens?[key] ?? config?[key] : config?[key]
    }

    /// The special token of a role such as `cls_token`, as text or with its flags.
    func specialToken(_ role: String) -> JSON? { value(role) }

    /// The text of a special token.
    func text(of role: String) -> String? { Self.text(value(role)) }

    static func text(_ json: JSON?) -> String? { json?.string ?? json?["content"]?.string }

    /// The special tokens without a role; nil if the files do not say.
    var otherSpecialTokens: [JSON]? {
        value("extra_special_tokens")?.array ?? value("additional_special_tokens")?.array
    }

    static let roles = [
        "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token",
    ]

    /// Whether texts that are too long lose their beginning; nil if the files do not say.
    var truncatesLeft: Bool? { config?["truncation_side"]?.string.map { $0 == "left" } }

    /// How many tokens the model takes; nil if the files do not say, or have a number that stands for no limit.
    var maxTokens: Int? {
        let limit = config?["model_max_length"]?.int ?? config?["max_len"]?.int
        return limit.flatMap { (1...Int64(Int32.max)).contains($0) ? Int($0) : nil }
    }

    /// Whether the model gets types that tell the texts of a pair apart.
    var givesTypes: Bool {
        if let names = config?["model_input_names"]?.array { return names.contains("token_type_ids") }
        if !kind.isEmpty { return Self.typed.contains(kind) }
        return modelType.map { TokenizerClass(modelType: $0)?.givesTypes ?? false } ?? true
    }

    /// The classes whose models take types.
    private static let typed: Set<String> = [
        "Bert", "ConvBert", "DPRContextEncoder", "DPRQuestionEncoder", "Deberta", "DebertaV2", "Electra", "FNet",
        "MobileBert", "SqueezeBert",
    ]
}
