import HubCore
import HubGrammar
import InferenceKit

/// A request for completions of prompts, without a chat template.
struct CompletionRequest: GenerationRequest {
    var model: String
    var prompts: [String]
    var config: GenerateConfig
    var keepAlive: KeepAlive?
    var choices: Int
    var isStream: Bool
    var includesUsage: Bool
    /// Whether the prompt stands before its completion.
    var echoes: Bool
    var logprobs: Bool

    init(_ fields: Fields) throws(APIFault) {
        model = try fields.model()
        prompts = try Self.prompts(fields)
        config = try fields.sampling(limit: ["max_tokens"])
        // As OpenAI's protocol has it, unlike for chats.
        if !fields.has("max_tokens") { config.maxTokens = 16 }
        keepAlive = try fields.keepAlive()
        choices = try fields.choices(prompts: prompts.count)
        isStream = try fields.bool("stream") ?? false
        includesUsage = try fields.object("stream_options")?.bool("include_usage") ?? false
        echoes = try fields.bool("echo") ?? false
        config.topLogprobs = try fields.int("logprobs", in: GenerateConfig.Bounds.topLogprobs)
        logprobs = config.topLogprobs != nil
        if echoes, logprobs { throw .invalid("'echo' with 'logprobs': prompts are not scored here", param: "echo") }
        try fields.refuse("suffix", unless: [""], "models here insert nothing")
        if let best = try fields.int("best_of", from: 1), best > choices {
            throw .invalid("'best_of' cannot be more than 'n' here", param: "best_of")
        }
        if let grammar = try fields.string("grammar") {
            do { config.constraint = .answer(try .init(gbnf: grammar)) } catch { throw APIFault(error) }
        }
    }

    private static func prompts(_ fields: Fields) throws(APIFault) -> [String] {
        if fields.hasTokenIDs("prompt") {
            throw .invalid("'prompt' must be text: ids of tokens are not taken", param: "prompt")
        }
        let prompts = try fields.required("prompt", try fields.strings("prompt"))
        guard !prompts.isEmpty else { throw .invalid("'prompt' is empty", param: "prompt") }
        return prompts
    }

    func turn(_ cached: CachedModel) -> Turn {
        var all: [Turn.Choice] = []
        for prompt in prompts {
            for number in 0..<choices {
                all.append { model, config in
                    let seed = config.seed.map { $0 &+ UInt64(number) }
                    return try model.language.generate(prompt: prompt, config: config.seed(seed))
                }
            }
        }
        return Turn(cached, config, keepAlive: keepAlive, choices: all)
    }
}
