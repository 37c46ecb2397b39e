import HubCore

/// Tokens a second. The fixtures are tiny (1.1 million parameters): their figures say how much the way around the
/// arithmetic costs, not how fast a real model is. `--model` names a real one.
enum Inference {
    private static let fixtures: [(form: String, path: String)] = [
        ("bf16", "tiny-shakespeare"), ("MLX 4-bit", "tiny-shakespeare-mlx-4bit"),
        ("GGUF f16", "tiny-shakespeare-gguf/model-f16.gguf"),
        ("GGUF q8_0", "tiny-shakespeare-gguf/model-q8_0.gguf"),
        ("GGUF q4_0", "tiny-shakespeare-gguf/model-q4_0.gguf"),
    ]
    /// Some 200 tokens of the fixture's tokenizer.
    private static let prompt = String(
        repeating: "First Citizen:\nBefore we proceed any further, hear me speak.\n\nAll:\nSpeak, speak.\n\n",
        count: 6)

    static func measurements(_ suite: Suite) throws -> [any Measurement] {
        let box = try Sandbox(suite.folder("try"))
        let here = FileSystem.resolved("Tests/Fixtures") ?? "Tests/Fixtures"
        let tiny = fixtures.map { ("generate, tiny model in \($0.form)", Path.join(here, $0.path)) }
        let real = suite.options.model.map { [("generate, \(Path.name($0))", FileSystem.resolved($0) ?? $0)] }
        return try (tiny + (real ?? [])).map { work, path in
            let command = suite.hub(
                ["try", path, prompt, "--raw", "--greedy", "--max-tokens", "128", "--json"], box)
            if let refusal = try refusal(command, suite.runner) { return NotYet(work: work, reason: refusal) }
            return Contest(
                work: work, measures: [.prompt, .decode], warmUps: 1,
                ours: Contestant(name: "hub try --greedy", command: command, inspect: speeds))
        }
    }

    /// What hub says where it does not run such a model yet. Anything else that goes wrong is seen when it is measured.
    private static func refusal(_ command: Command, _ runner: Runner) throws -> String? {
        let output = try runner.attempt(command).output
        guard let error = (try? JSON.parse(output))?["error"],
            error["code"]?.string == ErrorCode.unsupportedModel.rawValue
        else { return nil }
        return error["message"]?.string ?? ""
    }

    /// A model that hub refuses to run. Its row is there as soon as hub does.
    private struct NotYet: Measurement {
        let work: String
        let reason: String

        func measure(runs: Int, runner: Runner, progress: Progress) -> Outcome { Outcome(notYet: reason) }
    }

    private static func speeds(_ output: String) throws -> [Measure: Double] {
        let generation = try JSON.parse(output)["generation"]
        guard let prompt = generation?["prompt_tokens_per_second"]?.double,
            let decode = generation?["tokens_per_second"]?.double
        else { throw AIError(.ioError, "hub try --json says nothing of its speed") }
        return [.prompt: prompt, .decode: decode]
    }
}
