import HubCore
import Support
import Testing

/// The models behind the names of the examples: small ones of the fixtures that do what the line says.
enum ExampleModels {
    /// What a repository holds.
    enum Content: Sendable {
        /// A folder of Tests/Fixtures.
        case fixture(String)
        /// A GGUF file of this name that talks, and whose chat template knows tools.
        case talker(String)
        /// The small Llama, with a GGUF file and a pickle beside it.
        case several
        /// An encoder as a class of its config.json.
        case encoder(String, labels: [String] = ["cat", "dog", "owl"])
        /// Forecasts as far ahead as the published ones.
        case forecaster
    }

    private static let entailment = Content.encoder(
        "BertForSequenceClassification", labels: ["contradiction", "neutral", "ENTAILMENT"])

    private static let contents: [(name: String, content: Content)] = [
        ("org/model", .several),
        ("org/other", .talker("other-Q4_K_M.gguf")),
        ("org/model-GGUF", .talker("model-Q4_K_M.gguf")),
        ("unsloth/Qwen3-4B-GGUF", .talker("Qwen3-4B-Q4_K_M.gguf")),
        ("org/base", .fixture("micro/llama")),
        ("org/finetune", .fixture("micro/llama-linear")),
        ("gpt2", .fixture("micro/gpt2")),
        ("openai/gpt-oss-20b", .fixture("micro/gpt-oss")),
        ("mlx-community/tiny", .fixture("tiny-shakespeare-mlx-4bit")),
        ("hub-demo/tiny-shakespeare", .fixture("tiny-shakespeare")),
        ("bert-base-uncased", .encoder("BertForMaskedLM")),
        ("org/sentiment", .encoder("BertForSequenceClassification")),
        ("org/nli", entailment),
        ("org/reranker", .fixture("micro/bert-reranker")),
        ("org/embedder", .fixture("micro/bert")),
        ("org/vit", .fixture("micro/vit")),
        ("org/yolos", .fixture("shapes-detector")),
        ("org/clip", .fixture("micro/clip")),
        ("openai/clip-vit-base-patch32", .fixture("micro/clip")),
        ("depth-anything/Depth-Anything-V2-Small-hf", .fixture("micro/depth-anything")),
        ("nvidia/segformer-b0-finetuned-ade-512-512", .fixture("micro/segformer")),
        ("amazon/chronos-bolt-tiny", .forecaster),
        ("amazon/chronos-bolt-small", .forecaster),
    ]
    /// Aliases of the shipped registry.
    private static let aliases = ["qwen3-4b-gguf": "unsloth/Qwen3-4B-GGUF"]

    // MARK: Names in a line

    /// The names of models among the words of lines, in no order, each with the revisions that are named.
    static func named(in lines: [String]) -> [String: Set<String>] {
        var found: [String: Set<String>] = [:]
        for word in lines.flatMap({ $0.split(whereSeparator: { " '\"()".contains($0) }) }) {
            let name = String(word.prefix { !"@:".contains($0) })
            let known = aliases[name] ?? name
            guard contents.contains(where: { $0.name == known }) else { continue }
            let revision = word.drop { $0 != "@" }.dropFirst().prefix { $0 != ":" }
            found[known, default: []].formUnion(revision.isEmpty || revision == "main" ? [] : [String(revision)])
        }
        return found
    }

    /// The word behind the first `hub` of a line.
    static func verb(of line: String) -> String? {
        line.firstMatch(of: /hub ([a-z]+)/).map { String($0.output.1) }
    }

    /// `org/model` stands for whatever the command is about.
    private static func content(of name: String, for line: String) -> Content? {
        switch (name, verb(of: line) ?? "") {
        case ("org/model", "embed"): .fixture(line.contains("--attach") ? "micro/vit" : "micro/bert")
        case ("org/model", "classify"): entailment
        case ("org/model", "forecast"): .forecaster
        default: contents.first { $0.name == name }?.content
        }
    }

    // MARK: Repositories

    /// Puts a model into the folder that a Hub serves, as `main` and as every revision named.
    static func serve(_ name: String, revisions: Set<String>, for line: String, in root: TemporaryFolder) throws {
        let held = try #require(content(of: name, for: line), "\(name)")
        try write(held, ModelRepository(name, in: root))
        for revision in revisions.sorted() {
            let repository = try ModelRepository(name, in: root, revision: revision)
            try write(held, repository)
            try repository.write("README.md", "\(revision)\n")
        }
    }

    private static func write(_ content: Content, _ repository: ModelRepository) throws {
        switch content {
        case .fixture(let name): try repository.copy(name)
        case .talker(let file): try repository.write(file, talker)
        case .several:
            try repository.copy("tiny-shakespeare")
            try repository.write("model-Q4_K_M.gguf", talker)
            try repository.random("pytorch_model.bin", size: 1000)
        case .encoder(let architecture, let labels):
            let names = labels.enumerated().map { (key: String($0.offset), value: JSON.string($0.element)) }
            try repository.copy("micro/bert-heads")
            try change("micro/bert-heads/config.json", repository) {
                $0["architectures"] = .array([.string(architecture)])
                $0["id2label"] = .object(JSONObject(names))
            }
        case .forecaster:
            try repository.copy("micro/chronos")
            try change("micro/chronos/config.json", repository) { configuration in
                var settings = try #require(configuration["chronos_config"]?.object)
                settings["prediction_length"] = .int(64)
                configuration["chronos_config"] = .object(settings)
            }
        }
    }

    /// Writes a fixture's config.json with a change.
    private static func change(
        _ fixture: String, _ repository: ModelRepository, _ body: (inout JSONObject) throws -> Void
    ) throws {
        var configuration = try #require(Fixtures.json(fixture).object)
        try body(&configuration)
        try repository.write("config.json", JSON.object(configuration).text())
    }

    /// A micro Qwen3 that has room for tools and documents.
    private static let talker: [UInt8] = {
        let file = try! Fixtures.bytes("micro-gguf/qwen3-q8_0.gguf")
        let template = try! Fixtures.text("chat-templates/calls/hermes.jinja")
        let roomy = GGUFBytes.setting("qwen3.context_length", 1024, in: file)
        return GGUFBytes.adding(
            [GGUFBytes.pair("tokenizer.chat_template", 8, GGUFBytes.text(template))], to: roomy)
    }()
}
