import HubCore

/// A mirror as large as half the Hub: a million synthetic models, made from real ones, taken in and searched.
enum Mirroring {
    private static let count = 1_000_000
    /// Python takes in a part of them; all would take minutes.
    private static let part = 200_000

    /// Fifty as people type them: names, several words, one that nine models in ten have, beginnings short and long, tags,
    /// nothing, and what is nowhere.
    static let queries = [
        "llama", "qwen coder", "instruct 7b gguf", "region", "us", "saf", "safetensors", "conversat",
        "text-generation",
        "qw", "bert base uncased", "whisper large", "base_model", "en", "trans", "mistral 7b instruct v0.3", "",
        "zzzzqq", "deepseek-r1 distill", "embedding multilingual", "l", "2024", "lora sdxl", "apache", "mlx 4bit",
        "flux schnell", "sent", "ge", "co", "gemma 3 it", "uncensored", "license", "sentence-transf", "transformer",
        "text-generation-infer", "endpoints_compat", "phi 4", "vision language", "reranker", "roberta", "gpt2",
        "stable diffusion xl", "quantiz", "lora", "gguf", "llama 3.2 1b", "japanese", "medical", "code",
        "tiny random",
    ]

    static func measurements(_ suite: Suite) throws -> [any Measurement] {
        guard let python = suite.tools.python.path, let own = CommandLine.arguments.first else {
            throw AIError(.ioError, "the synthetic models are made by Python, and there is none")
        }
        let box = try Sandbox(suite.folder("mirror"))
        let (models, catalog) = (suite.folder("models.ndjson"), Path.join(box.home, "state/catalog.sqlite3"))
        let database = suite.folder("peer.sqlite3")
        let make =
            "exec \"$0\" Benchmarks/synthetic_models.py Benchmarks/Data/hub-models.ndjson.gz \(count) > \"$1\""
        try suite.runner.run(Command("/bin/sh", ["-c", make, python, models], in: box.environment))
        func ours(_ arguments: String...) -> Command { Command(own, arguments, in: box.environment) }
        func theirs(_ arguments: [String]) -> Command {
            Command(python, ["Benchmarks/catalog_peer.py"] + arguments, in: box.environment)
        }
        let intake = Contest(
            work: "take in \(count) synthetic models", measures: [.models, .modelBytes],
            bars: [
                Bar(.models, .least(40_000), beside: "Python's sqlite3"),
                Bar(.modelBytes, .most(450), beside: "Python's sqlite3"),
            ],
            ours: Contestant(
                name: "catalog", command: ours("take-in", models, catalog),
                prepare: { for end in ["", "-wal", "-shm"] { try FileSystem.remove(catalog + end) } },
                inspect: inspectIntake),
            peers: [
                .present(
                    Contestant(
                        name: "Python's sqlite3", command: theirs(["take-in", models, database, "\(part)"]),
                        inspect: inspectIntake))
            ])
        let search = Contest(
            work: "50 searches among \(count), in process", measures: [.percentile],
            bars: [Bar(.percentile, .most(0.005), beside: "Python's sqlite3, \(part)")],
            ours: Contestant(
                name: "catalog", command: Command(own, ["search", catalog] + queries, in: box.environment),
                inspect: inspectSearch),
            peers: [
                .present(
                    Contestant(
                        name: "Python's sqlite3, \(part)", command: theirs(["search", database] + queries),
                        inspect: inspectSearch))
            ])
        let process = Contest(
            work: "hub search --offline among \(count)", measures: [.wall], bars: [Bar(.wall, .most(0.040))],
            warmUps: 2,
            ours: Contestant(
                name: "hub search", command: suite.hub(["search", "--offline", "qwen coder"], box)))
        return [intake, search, process]
    }

    private static func inspectIntake(_ output: String) throws -> [Measure: Double] {
        let json = try JSON.parse(output)
        guard let speed = json["models_per_second"]?.double, let bytes = json["bytes_per_model"]?.double else {
            throw AIError(.ioError, "the intake printed no figures")
        }
        return [.models: speed, .modelBytes: bytes]
    }

    private static func inspectSearch(_ output: String) throws -> [Measure: Double] {
        guard let time = try JSON.parse(output)["p95_ms"]?.double else {
            throw AIError(.ioError, "the search printed no figures")
        }
        return [.percentile: time / 1000]
    }
}
