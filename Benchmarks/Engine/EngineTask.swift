import HubCore
import InferenceKit

/// How fast the engine is with a model, measured as llama_cpp_peer.py measures llama.cpp and sentences_peer.py
/// transformers: `Benchmarks engine FILE THREADS [WORK]...` prints a line of JSON for each figure, tokens a second unless
/// it says otherwise.
enum EngineTask {
    private static let works = ["decode", "prefill 256", "prefill 2048", "decode of 8", "decode at 8000", "load"]
    private static let (steps, sequences) = (48, 8)

    /// - Returns: whether the words ask for it.
    static func run(_ words: [String]) async throws -> Bool {
        guard words.first == "engine", words.count >= 3, let threads = Int(words[2]) else { return false }
        for work in words.count > 3 ? Array(words[3...]) : works {
            let rate = try await measure(work, words[1], threads)
            let line: JSON = .object([
                "file": .string(words[1]), "work": .string(work), "threads": .int(Int64(threads)),
                work == "load" ? "seconds" : "per_second": .double((rate * 1000).rounded() / 1000),
            ])
            print(line.text())
        }
        return true
    }

    private static func measure(_ work: String, _ file: String, _ threads: Int) async throws -> Double {
        if work == "load" { return try await load(file, threads) }
        if let length = Int(work.dropping(prefix: "sentences ") ?? "") {
            return try await sentences(file, threads, length)
        }
        if let kind = work.dropping(prefix: "texts ") { return try await texts(file, threads, kind) }
        let model = try await LanguageModel.open(
            folder: file,
            // An encoder-decoder has fewer positions: all of its own.
            options: ModelOptions(
                threads: threads, context: work == "answers" ? nil : work.hasPrefix("decode at") ? 8192 : 4096))
        var rates: [Double] = []
        // The first run does not count. The second begins with another letter, so that nothing is cached.
        for run in 0...1 {
            switch work {
            case "decode":
                rates.append(try await generate(model, run, 8, steps).tokensPerSecond)
            case "decode at 4000", "decode at 8000":
                // The same text again: only what follows is measured.
                let position = work.hasSuffix("4000") ? 4000 : 8000
                rates.append(try await generate(model, 0, position, steps).tokensPerSecond)
            // Every weight is read once a token: of these models nothing else is in the file.
            case "bytes":
                rates.append(
                    try await generate(model, run, 8, steps).tokensPerSecond * Double(try weights(of: file)))
            case "bandwidth": rates.append(try await model.memoryBandwidth())
            case "with guesses": rates.append(try await generate(model, 0, 8, 256, guesses: true).tokensPerSecond)
            case "without guesses": rates.append(try await generate(model, 0, 8, 256).tokensPerSecond)
            case "chats of 8": rates.append(try await chats(model, run))
            case "decode of 8": rates.append(try await together(model, run))
            case "answers":
                let start = ContinuousClock.now
                _ = try await generate(model, run, 128, 63)
                rates.append(1 / ((ContinuousClock.now - start) / .seconds(1)))
            default:
                guard let count = Int(work.dropping(prefix: "prefill ") ?? "") else {
                    throw AIError(.invalidInput, "unknown work: \(work)")
                }
                rates.append(try await generate(model, run, count, 1).promptTokensPerSecond)
            }
        }
        return rates[1]
    }

    /// A text of this many bytes, each a token of the benchmark's models.
    private static func text(_ run: Int, _ count: Int) -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyz")
        return String((0..<count).map { letters[($0 * 7 + run + $0 / 26) % 26] })
    }

    private static let config = GenerateConfig.precise.ignoresEndOfSequence(true).speculates(false)

    private static func generate(
        _ model: LanguageModel, _ run: Int, _ prompt: Int, _ tokens: Int, guesses: Bool = false
    ) async throws -> GenerationResult {
        let result = try await model.generate(
            prompt: text(run, prompt), addsSpecialTokens: false,
            config: config.maxTokens(tokens + (tokens > 1 ? 1 : 0)).speculates(guesses)
        ).collectWithMetadata()
        guard result.promptIDs.count == prompt else {
            throw AIError(.invalidInput, "the prompt has \(result.promptIDs.count) tokens, not \(prompt)")
        }
        return result
    }

    /// Eight texts at once, from the first moment at which all of them have a token.
    private static func together(_ model: LanguageModel, _ run: Int) async throws -> Double {
        let times = try await withThrowingTaskGroup(of: [ContinuousClock.Instant].self) { group in
            for sequence in 0..<sequences {
                group.addTask {
                    var times: [ContinuousClock.Instant] = []
                    let prompt = text(run * sequences + sequence, 8)
                    for try await chunk in model.generate(
                        prompt: prompt, addsSpecialTokens: false, config: config.maxTokens(steps + 8))
                    where chunk.tokenId != nil { times.append(chunk.timestamp) }
                    return times
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let start = times.compactMap(\.first).max()!
        let end = times.compactMap(\.last).min()!
        let count = times.joined().count { $0 > start && $0 <= end }
        return Double(count) / ((end - start) / .seconds(1))
    }

    /// Eight texts at once as ``ChatLoad`` asks for them.
    private static func chats(_ model: LanguageModel, _ run: Int) async throws -> Double {
        let config = GenerateConfig.precise.ignoresEndOfSequence(true).maxTokens(ChatLoad.tokens)
        return try await withThrowingTaskGroup(of: (first: Double, last: Double).self) { group in
            for number in 0..<ChatLoad.texts {
                group.addTask {
                    let prompt = ChatLoad.text(run * ChatLoad.texts + number, 8)
                    var first: Double?
                    for try await chunk in model.generate(prompt: prompt, config: config) where chunk.tokenId != nil
                    {
                        first = first ?? Clock.seconds
                    }
                    return (first ?? 0, Clock.seconds)
                }
            }
            return ChatLoad.speed(try await group.reduce(into: []) { $0.append($1) })
        }
    }

    private static func weights(of file: String) throws -> Int64 {
        let inside = Path.join(file, "model.safetensors")
        return try FileSystem.status(FileSystem.exists(inside) ? inside : file)?.size ?? 0
    }

    /// Thirty-two sentences of `length` tokens, special tokens included, in one call.
    private static func sentences(_ file: String, _ threads: Int, _ length: Int) async throws -> Double {
        let model = try await LanguageModel.open(
            folder: file, options: ModelOptions(threads: threads, isExact: true))
        let texts = (0..<32).map { number in
            (0..<length - 2).map { ["the", "a", "one", "two", "green", "house"][($0 * 5 + number) % 6] }
                .joined(separator: " ")
        }
        var rates: [Double] = []
        for _ in 0..<7 {
            let start = ContinuousClock.now
            let vectors = try await model.embed(texts)
            rates.append(Double(32 * length) / ((ContinuousClock.now - start) / .seconds(1)))
            guard vectors.count == 32 else { throw AIError(.invalidInput, "\(vectors.count) vectors, not 32") }
        }
        return rates.dropFirst(2).sorted()[2]
    }

    /// Texts a second, as encoders_peer.py measures them: `one`, `mixed`, `128` or `pairs`.
    private static func texts(_ file: String, _ threads: Int, _ kind: String) async throws -> Double {
        let lengths: [Int]
        switch kind {
        case "one": lengths = [12]
        case "mixed": lengths = (0..<32).map { 5 + $0 * 35 / 31 }
        case "128": lengths = Array(repeating: 128, count: 32)
        case "pairs": lengths = Array(repeating: 200, count: 64)
        default: throw AIError(.invalidInput, "unknown texts: \(kind)")
        }
        // A word is a token; the ends of texts are tokens too.
        let query = 20
        let texts = lengths.enumerated().map { number, length in
            (0..<length - (kind == "pairs" ? query + 3 : 2)).map { "w\(($0 * 37 + number * 11) % 1000)" }
                .joined(separator: " ")
        }
        let asked = (0..<query).map { "w\($0)" }.joined(separator: " ")
        let model = try await LanguageModel.open(
            folder: file, options: ModelOptions(threads: threads, isExact: true))
        let rounds = kind == "one" ? 50 : 1
        var rates: [Double] = []
        for _ in 0..<7 {
            let start = ContinuousClock.now
            for _ in 0..<rounds {
                let count =
                    kind == "pairs"
                    ? try await model.rank(texts, for: asked).count : try await model.embed(texts).count
                guard count == texts.count else { throw AIError(.invalidInput, "\(count) results") }
            }
            rates.append(Double(rounds * texts.count) / ((ContinuousClock.now - start) / .seconds(1)))
        }
        return rates.dropFirst(2).sorted()[2]
    }

    /// Seconds from opening a warm file to the first token after a prompt of one.
    private static func load(_ file: String, _ threads: Int) async throws -> Double {
        var seconds: [Double] = []
        for _ in 0...1 {
            let start = ContinuousClock.now
            let model = try await LanguageModel.open(folder: file, options: ModelOptions(threads: threads))
            _ = try await model.generate(prompt: "a", addsSpecialTokens: false, config: config.maxTokens(1))
                .collect()
            seconds.append((ContinuousClock.now - start) / .seconds(1))
        }
        return seconds[1]
    }
}
