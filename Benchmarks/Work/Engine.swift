import HubCore

/// The engine beside llama.cpp, and beside transformers for sentences: random models of 0.36 billion parameters, which
/// inference_models.py makes, and a real sentence model.
struct Engine {
    private let suite: Suite
    private let own: String
    private let python: String
    private let folder: String
    private let box: Sandbox

    /// A GGUF file, and how many times llama.cpp's speed its prefill is to have.
    private static let models = [
        ("Q4_0", "q4_0.gguf", 2), ("Q8_0", "q8_0.gguf", 2.5), ("Q4_K_M", "q4_k_m.gguf", 1.5),
    ]

    static func measurements(_ suite: Suite) throws -> [any Measurement] {
        let engine = try Engine(suite)
        return try engine.speeds() + engine.others() + engine.sentences()
    }

    private init(_ suite: Suite) throws {
        guard case .at(let python) = suite.tools.enginePython, let own = CommandLine.arguments.first else {
            throw AIError(.ioError, "the models are made by Python: \(suite.options.whyNoEngine)")
        }
        (self.suite, self.own, self.python) = (suite, own, python)
        box = try Sandbox(suite.folder("engine"))
        folder = try Self.models(suite)
    }

    /// The folder of the random models, which are made if they are not there.
    static func models(_ suite: Suite) throws -> String {
        guard case .at(let python) = suite.tools.enginePython else {
            throw AIError(.ioError, "the models are made by Python: \(suite.options.whyNoEngine)")
        }
        let folder = suite.options.models ?? suite.folder("engine-models")
        let environment = try Sandbox(suite.folder("engine")).environment
        try suite.runner.run(Command(python, ["Benchmarks/inference_models.py", folder], in: environment))
        return folder
    }

    private func hub(
        _ file: String, _ work: String, _ threads: Int, _ measure: Measure, name: String = "hub"
    ) -> Contestant {
        let words = ["engine", Path.join(folder, file), "\(threads)", work]
        return Contestant(
            name: name, command: Command(own, words, in: box.environment), inspect: { try Self.figure($0, measure) }
        )
    }

    private func llama(_ file: String, _ work: String, _ threads: Int, _ measure: Measure) -> Contestant {
        let words = [
            "Benchmarks/llama_cpp_peer.py", Path.join(folder, file), "--threads", "\(threads)", "--only", work,
            "--runs", "1",
        ]
        return Contestant(
            name: "llama.cpp", command: Command(python, words, in: box.environment),
            inspect: { try Self.figure($0, measure) })
    }

    /// The figure of the one line of JSON that every side prints.
    private static func figure(_ output: String, _ measure: Measure) throws -> [Measure: Double] {
        [measure: try figure(output, measure == .load ? "seconds" : "per_second")]
    }

    static func perSecond(_ output: String) throws -> Double { try figure(output, "per_second") }

    private static func figure(_ output: String, _ key: String) throws -> Double {
        guard let value = try JSON.parse(output)[key]?.double else {
            throw AIError(.ioError, "no figure in \(output)")
        }
        return value
    }

    private static func title(_ work: String, _ form: String, _ threads: Int) -> String {
        "\(work), \(form), \(threads) thread\(threads == 1 ? "" : "s")"
    }

    /// Decode and prefill beside llama.cpp.
    private func speeds() -> [any Measurement] {
        var contests: [Contest] = []
        for (form, file, prefill) in Self.models {
            for threads in [1, 2] {
                for (work, measure, factor) in [
                    ("decode", Measure.decode, 1.2), ("prefill 256", .prompt, prefill),
                    ("prefill 2048", .prompt, prefill),
                ] {
                    contests.append(
                        Contest(
                            work: Self.title(work, form, threads), measures: [measure],
                            bars: [Bar(measure, .times(factor), beside: "llama.cpp")],
                            ours: hub(file, work, threads, measure),
                            peers: [.present(llama(file, work, threads, measure))]))
                }
            }
        }
        for (work, factor) in [("decode of 8", 1.3), ("decode at 8000", 1.2)] {
            contests.append(
                Contest(
                    work: Self.title(work, "Q4_0", 2), measures: [.decode],
                    bars: [Bar(.decode, .times(factor), beside: "llama.cpp")],
                    ours: hub("q4_0.gguf", work, 2, .decode),
                    peers: [.present(llama("q4_0.gguf", work, 2, .decode))]))
        }
        return contests
    }

    /// What is measured beside hub itself, or beside the memory's speed.
    private func others() throws -> [any Measurement] {
        let fileBytes = try FileSystem.status(Path.join(folder, "q4_0.gguf"))?.size ?? 0
        var contests: [Contest] = []
        for (form, file) in [
            ("Q4_0", "q4_0.gguf"), ("Q8_0", "q8_0.gguf"), ("Q4_K_M", "q4_k_m.gguf"), ("bf16", "bf16"),
        ] {
            contests.append(
                Contest(
                    work: Self.title("bytes of weights in decode", form, 2), measures: [.rate],
                    bars: [Bar(.rate, .times(0.85), beside: "reading memory")],
                    ours: hub(file, "bytes", 2, .rate),
                    peers: [.present(hub(file, "bandwidth", 2, .rate, name: "reading memory"))]))
        }
        contests.append(
            Contest(
                work: Self.title("decode", "MLX 4 bit", 2), measures: [.decode],
                bars: [Bar(.decode, .times(1), beside: "hub, Q4_0")], ours: hub("mlx", "decode", 2, .decode),
                peers: [.present(hub("q4_0.gguf", "decode", 2, .decode, name: "hub, Q4_0"))]))
        contests.append(
            Contest(
                work: Self.title("text that repeats, with guesses", "Q4_0", 2), measures: [.decode],
                bars: [Bar(.decode, .times(1.5), beside: "hub, without")],
                ours: hub("repeats.gguf", "with guesses", 2, .decode),
                peers: [.present(hub("repeats.gguf", "without guesses", 2, .decode, name: "hub, without"))]))
        contests.append(
            Contest(
                work: Self.title("from a warm file to the first token", "Q4_0", 2), measures: [.load, .memory],
                bars: [
                    Bar(.load, .most(0.065)),
                    // The file's pages, the cache of the default context, and what the engine itself has.
                    Bar(.memory, .most(Double(fileBytes) + 64 * .mebibyte)),
                ], ours: hub("q4_0.gguf", "load", 2, .load)))
        contests.append(
            Contest(
                work: "decode, Q4_0, 2 threads beside two busy processes", measures: [.decode],
                bars: [Bar(.decode, .times(0.9), beside: "hub, 1 thread")],
                ours: hub("q4_0.gguf", "decode", 2, .decode),
                peers: [.present(hub("q4_0.gguf", "decode", 1, .decode, name: "hub, 1 thread"))],
                company: {
                    try (0..<2).map { number in
                        let log = suite.folder("busy-\(number).log")
                        return try LeashedProcess(
                            Command("/bin/sh", ["-c", "while :; do :; done"], in: box.environment), output: log,
                            error: log)
                    }
                }))
        return contests
    }

    /// Thirty-two sentences beside transformers, in float32.
    private func sentences() -> [any Measurement] {
        guard let model = suite.options.sentences else { return [] }
        return [17, 128].map { length in
            let ours = ["engine", model, "2", "sentences \(length)"]
            let theirs = ["Benchmarks/sentences_peer.py", model, "2", "\(length)"]
            return Contest(
                work: "32 sentences of \(length) tokens, MiniLM, 2 threads", measures: [.prompt],
                bars: [Bar(.prompt, .times(length == 17 ? 1.5 : 1.1), beside: "transformers")],
                ours: Contestant(
                    name: "hub", command: Command(own, ours, in: box.environment),
                    inspect: { try Self.figure($0, .prompt) }),
                peers: [
                    .present(
                        Contestant(
                            name: "transformers", command: Command(python, theirs, in: box.environment),
                            inspect: { try Self.figure($0, .prompt) }))
                ])
        }
    }
}
