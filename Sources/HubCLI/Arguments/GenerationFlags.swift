import HubCore
import InferenceKit

/// The flags that say how a model generates, and how it computes.
enum GenerationFlags {
    /// Settings under a name; other flags override them.
    enum Preset: String, Sendable, CaseIterable {
        case precise, creative, code, `default`

        var config: GenerateConfig {
            switch self {
            case .precise: .precise
            case .creative: .creative
            case .code: .code
            case .default: .default
            }
        }
    }
    enum Toggle: String, Sendable, CaseIterable { case on, off }
    private typealias Bounds = GenerateConfig.Bounds

    static let preset = Option<Preset>.choice(
        "preset", "settings for a purpose; other flags override them",
        detail:
            "default has temperature 0.7, top-p 0.9 and up to 512 tokens, without top-k, min-p and penalties; precise takes the most likely token; creative has temperature 1, top-p 0.95 and min-p 0.05; code has temperature 0.2, top-p 0.95 and up to 1,024 tokens."
    )
    static let maxTokens = Option.whole(
        "max-tokens", in: 1...Bounds.maxTokens.upperBound, "generate at most this many tokens")
    static let temperature = Option.real(
        "temperature", "T", in: Bounds.temperature, "sampling temperature; 0 takes the most likely token")
    static let topK = Option.whole(
        "top-k", in: 0...Bounds.topK.upperBound, "sample from this many tokens; 0 means all")
    static let topP = Option.real(
        "top-p", "P", in: Bounds.share, "sample from the most likely tokens with this total probability")
    static let minP = Option.real(
        "min-p", "P", in: Bounds.share, "drop tokens below this fraction of the highest probability")
    static let typicalP = Option.real(
        "typical-p", "P", in: Bounds.share,
        "sample from the most typical tokens with this total probability")
    static let repeatPenalty = Option.real(
        "repeat-penalty", "X", in: Bounds.repetitionPenalty, "penalize repetition; 1 is off")
    static let presencePenalty = Option.real(
        "presence-penalty", "X", in: Bounds.penalty, "subtract this from the logits of tokens in the answer")
    static let frequencyPenalty = Option.real(
        "frequency-penalty", "X", in: Bounds.penalty,
        "subtract this from the logit of a token for each time it is in the answer")
    static let logitBias = Option<TokenBias>(
        "logit-bias", "ID:X", .text, repeats: true, "add a number to the logit of a token",
        detail: "-100 practically bans the token. hub tokenize shows ids."
    ) { text throws(AIError) in try TokenBias(text) }
    static let seed = Option.seed("seed", "make the output repeatable")
    static let greedy = Switch("greedy", "always take the most likely token")
    static let stop = Option.text("stop", "TEXT", repeats: true, "stop before this text")
    static let logprobs = Option.whole(
        "logprobs", in: Bounds.topLogprobs, "show the log probability of each token, and of this many alternatives")
    static let speculate = Option<Toggle>.choice(
        "speculate", "guess tokens from the text and check several at once; on by default",
        detail: "It changes the speed, not the text.")

    static let exact = Switch("exact", "compute in float32, with dequantized weights")
    static let fast = Switch(
        "fast",
        "compute with activations rounded to 8 bits for quantized weights, and to bf16 for bf16 ones (the default)")
    static let cache = Option<KeyValueFormat>.choice(
        "kv", "how keys and values are kept; f16 by default, f32 with --exact")
    static let threads = Option.whole("threads", in: 1...1024, "number of threads")
    static let contextLength = Option.whole("context", in: 1...10_000_000, "size of the context in tokens")

    static let all = [
        preset.flag, maxTokens.flag, temperature.flag, topK.minor.flag, topP.minor.flag, minP.minor.flag,
        typicalP.minor.flag,
        repeatPenalty.minor.flag, presencePenalty.minor.flag, frequencyPenalty.minor.flag, logitBias.minor.flag,
        seed.flag, greedy.flag,
        stop.minor.flag, logprobs.minor.flag, speculate.minor.flag, exact.flag, fast.minor.flag, cache.minor.flag,
        threads.minor.flag, contextLength.minor.flag,
    ]
    /// Those about how this machine computes, whatever the model is for.
    static let computing = [exact.flag, fast.flag, threads.flag, contextLength.flag]
    /// Those about generated text.
    static let generating = all.map(\.name).filter { name in
        !(computing + [cache.flag]).contains { $0.name == name }
    }
    static let exclusive = [["greedy", "temperature"], ["exact", "fast"]]

    /// How a model generates.
    static func config(_ arguments: ParsedArguments) -> GenerateConfig {
        var config = (arguments[preset] ?? .default).config
        if arguments[greedy] { (config.temperature, config.topP, config.minP) = (0, nil, nil) }
        if let value = arguments[maxTokens] { config.maxTokens = value }
        if let value = arguments[temperature] { config.temperature = value }
        if let value = arguments[topK] { config.topK = value == 0 ? nil : value }
        if let value = arguments[topP] { config.topP = value }
        if let value = arguments[minP] { config.minP = value }
        if let value = arguments[typicalP] { config.typicalP = value }
        if let value = arguments[repeatPenalty] { config.repetitionPenalty = value }
        if let value = arguments[presencePenalty] { config.presencePenalty = value }
        if let value = arguments[frequencyPenalty] { config.frequencyPenalty = value }
        for bias in arguments.all(logitBias) { config.logitBias[bias.id] = bias.bias }
        config.seed = arguments[seed]
        config.stopSequences = arguments.all(stop)
        config.topLogprobs = arguments[logprobs]
        if let value = arguments[speculate] { config.speculates = value == .on }
        return config
    }

    /// How a model computes.
    static func options(_ arguments: ParsedArguments) -> ModelOptions {
        ModelOptions(
            threads: arguments[threads], context: arguments[contextLength], isExact: arguments[exact],
            cacheFormat: arguments[cache])
    }
}

/// A number that is added to the logit of a token: `42:-5`.
struct TokenBias: Sendable {
    var id: Int
    var bias: Double

    init(_ text: String) throws(AIError) {
        let parts = text.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let id = Int(parts[0]), id >= 0, let bias = Double(parts[1]), bias.isFinite else {
            throw AIError(
                .invalidInput, "\"\(text.printable)\" is not a token's id and a number",
                advice: "write it like 42:-100; hub tokenize REF TEXT shows ids")
        }
        guard GenerateConfig.Bounds.bias.contains(bias) else {
            throw AIError(
                .invalidInput, "\(parts[1].description.printable) is out of bounds: it must be from -1000 to 1000")
        }
        (self.id, self.bias) = (id, bias)
    }
}
