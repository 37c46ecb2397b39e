import HubCore
import ModelFormats

/// The pre-tokenizers that `tokenizer.ggml.pre` names
/// (https://github.com/ggml-org/llama.cpp/blob/master/src/llama-vocab.cpp, `llama_vocab::impl::load`).
///
/// The patterns come from the tokenizer.json of the named models; llama.cpp approximates them in its own syntax.
struct GGUFPreTokenizer {
    var normalizer = Normalizer([])
    let preTokenizer: PreTokenizer
    /// Whether pieces are bytes; else they are text with byte fallback (`<0x00>` to `<0xFF>`).
    let isByteLevel: Bool
    /// Whether a piece that is a token is taken whole.
    let ignoresMerges: Bool
    /// Whether a BOS token is added if the file does not say.
    let addsBegin: Bool
    /// Whether it is Gemma 4's: a piece that is only line feeds and is a token is taken whole, and BOS is always added,
    /// because early files have a wrong setting.
    let isGemma: Bool

    /// - Throws: ``ErrorCode/unsupportedModel`` for an unknown name.
    init(_ name: String, path: String) throws(AIError) {
        guard let patterns = Self.patterns(name) else {
            throw .unsupported(path, "the tokenizer's pre-tokenizer \(name.excerpt) cannot be used yet")
        }
        var steps: [PreTokenizer.Step] = []
        for pattern in patterns {
            let compiled = try Pattern(pattern, path: path)
            steps.append(.cut(.pattern(.expression(compiled)), .isolated, inverted: false))
        }
        isByteLevel = !Self.sentences.contains(name)
        if isByteLevel {
            steps.append(.byteLevel(addsPrefixSpace: false, nil))
        } else {
            normalizer = Normalizer([.replace(.literal([UInt8(ascii: " ")]), Self.spaceMark)])
        }
        preTokenizer = PreTokenizer(steps)
        ignoresMerges = Self.takesWhole.contains(name)
        isGemma = !isByteLevel && name != "sarvam-moe"
        addsBegin = Self.begins.contains(name)
        if Self.composes.contains(name) { normalizer = Normalizer([.form(.composed)]) }
    }

    /// The matching decoder.
    var decoder: TokenDecoder {
        TokenDecoder(
            isByteLevel
                ? [.byteLevel] : [.replace(Self.spaceMark, with: [UInt8(ascii: " ")]), .byteFallback, .fuse])
    }

    private static let llamas: Set<String> = [
        "llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano",
    ]
    private static let takesWhole = llamas.union(["tekken", "youtu", "minicpm5", "granite-embed-multi-97m"])
    private static let begins = llamas.union(["tekken", "chameleon"])

    /// Those whose tokenizer.json normalises to NFC, which llama.cpp does not.
    private static let composes: Set<String> = [
        "qwen2", "deepseek-r1-qwen", "stablelm2", "hunyuan", "megrez", "f2llmv2", "qwen35", "mpt", "olmo",
    ]

    /// Those whose words begin with `▁`, as in SentencePiece, and whose text is split only at line feeds.
    private static let sentences: Set<String> = ["gemma4", "granite-embed-multi-311m", "sarvam-moe"]
    /// `▁`, which stands for a space.
    private static let spaceMark = Array("\u{2581}".utf8)

    private static func patterns(_ name: String) -> [String]? {
        if llamas.contains(name) { return [GGUFPatterns.llama3] }
        if sentences.contains(name) { return [#"[^\n]+|\n+"#] }
        switch name {
        case "dbrx", "smaug-bpe", "chatglm-bpe", "glm4": return [GGUFPatterns.llama3]
        case "qwen2", "deepseek-r1-qwen", "stablelm2", "hunyuan", "megrez", "kormo", "f2llmv2", "grok-2",
            "solar-open":
            return [GGUFPatterns.qwen2]
        case "gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2", "granite-embed-multi-97m":
            return [GGUFPatterns.gpt4o]
        case "gpt-2", "phi-2", "mpt", "olmo", "jais", "trillion", "jina-es", "jina-de", "jina-v1-en", "jina-v2-es",
            "jina-v2-de", "jina-v2-code", "roberta-bpe", "gigachat", "granite-docling", "mellum", "a.x-4.0",
            "modern-bert", "exaone4":
            return [Pattern.gpt2]
        case "starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b", "mellum2":
            return [#"\p{N}"#, Pattern.gpt2]
        case "bloom", "poro-chat", "gpt3-finnish": return [GGUFPatterns.bloom]
        case "deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4": return GGUFPatterns.deepSeek3
        default: return GGUFPatterns.ofOneName[name]
        }
    }
}
