import HubCore
import ModelFormats

/// The pre-tokenizers that `tokenizer.ggml.pre` names. The patterns are those of the tokenizer.json of the models that
/// the names come from.
struct GGUFPreTokenizer {
    var normalizer = Normalizer([])
    let preTokenizer: PreTokenizer
    /// Whether a piece that is a token is taken whole.
    let ignoresMerges: Bool
    /// Whether a text begins with the token for that where the file does not say.
    let addsBegin: Bool

    private static let llama3 =
        #"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"#
    private static let qwen2 =
        #"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"#
    private static let gpt4o =
        #"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"#
    private static let tekken =
        #"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"#
    private static let bloom = #" ?[^(\s|.,!?…。，、।۔،)]+"#
    private static let deepSeek3 = [
        #"\p{N}{1,3}"#, "[一-龥\u{3040}-ゟ゠-ヿ]+",
        ##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"##,
    ]
    private static let deepSeekCoder = [#"[\r\n]"#, #"\s?\p{L}+"#, #"\s?\p{P}+"#, "[一-龥ࠀ-一가-\u{D7FF}]+", #"\p{N}"#]
    private static let falcon = [#"[\p{P}\$\+<=>\^~\|`]+"#, Pattern.gpt2, "[0-9][0-9][0-9]"]
    private static let other = [#"[\p{P}\$\+<=>\^~\|]+"#, Pattern.gpt2, #"\p{N}+"#, "[0-9][0-9][0-9]"]

    /// - Throws: ``ErrorCode/unsupportedModel`` for a name that is not known.
    init(_ name: String, path: String) throws(AIError) {
        guard let patterns = Self.patterns(name) else {
            throw .unsupported(path, "the tokenizer's pre-tokenizer \(name.quoted) cannot be used yet")
        }
        var steps: [PreTokenizer.Step] = []
        for pattern in patterns {
            let compiled = try Pattern(pattern, path: path)
            steps.append(.cut(.pattern(.expression(compiled)), .isolated, inverted: false))
        }
        preTokenizer = PreTokenizer(steps + [.byteLevel(addsPrefixSpace: false, nil)])
        ignoresMerges = Self.takesWhole.contains(name)
        addsBegin = patterns == [Self.llama3] && ignoresMerges
        if patterns == [Self.qwen2] { normalizer = Normalizer([.form(.composed)]) }
    }

    private static let takesWhole: Set<String> = [
        "llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "tekken",
    ]

    private static func patterns(_ name: String) -> [String]? {
        switch name {
        case "llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "dbrx",
            "smaug-bpe", "chatglm-bpe", "glm4":
            [llama3]
        case "qwen2", "deepseek-r1-qwen", "stablelm2", "hunyuan", "megrez": [qwen2]
        case "gpt-4o", "llama4", "kanana2": [gpt4o]
        case "tekken": [tekken]
        case "gpt-2", "phi-2", "mpt", "olmo", "jais", "trillion", "jina-es", "jina-de", "jina-v1-en", "jina-v2-es",
            "jina-v2-de", "jina-v2-code", "roberta-bpe", "gigachat", "granite-docling":
            [Pattern.gpt2]
        case "starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b", "mellum":
            [#"\p{N}"#, Pattern.gpt2]
        case "bloom", "poro-chat", "gpt3-finnish": [bloom]
        case "deepseek-v3", "hunyuan-dense": deepSeek3
        case "deepseek-coder": deepSeekCoder
        case "falcon": falcon
        case "default": other
        default: nil
        }
    }
}
