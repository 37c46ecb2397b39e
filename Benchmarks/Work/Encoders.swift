import HubCore

/// Encoders beside ONNX Runtime and torch, in float32: random models in the shapes that people download, which
/// encoder_models.py makes.
struct Encoders {
    /// A shape, the texts, and how many times the faster peer's speed it is to have.
    private static let works: [(shape: String, work: String, factor: Double)] =
        ["bert-base", "minilm", "xlm-r"].flatMap { [($0, "one", 1.2), ($0, "mixed", 1.2), ($0, "128", 1)] }
        + [("reranker", "pairs", 1)]
    private static let titles = [
        "one": "a sentence of 12 tokens", "mixed": "32 sentences of 5 to 40 tokens",
        "128": "32 sentences of 128 tokens", "pairs": "64 pairs of 200 tokens",
    ]
    private static let threads = "2"

    static func measurements(_ suite: Suite) throws -> [any Measurement] {
        guard case .at(let python) = suite.tools.enginePython, let own = CommandLine.arguments.first else {
            throw AIError(.ioError, "the models are made by Python: \(suite.options.whyNoEngine)")
        }
        let box = try Sandbox(suite.folder("encoders"))
        let folder = suite.options.models.map { Path.join($0, "encoders") } ?? suite.folder("encoder-models")
        try suite.runner.run(Command(python, ["Benchmarks/encoder_models.py", folder], in: box.environment))
        func side(_ name: String, _ program: String, _ words: [String]) -> Contestant {
            Contestant(
                name: name, command: Command(program, words, in: box.environment),
                inspect: { [.texts: try Engine.perSecond($0)] })
        }
        let fromShell = Contest(
            work: "a sentence from the command line to its vector, MiniLM", measures: [.wall],
            bars: [Bar(.wall, .most(0.06))], warmUps: 2,
            ours: Contestant(
                name: "hub try --embed",
                command: Command(
                    suite.tools.hub, ["try", Path.join(folder, "minilm"), "--embed", "A sentence."],
                    in: box.environment)),
            peers: [])
        let beside = works.map { shape, work, factor in
            let model = Path.join(folder, shape)
            return Contest(
                work: "\(shape), \(titles[work] ?? work), \(threads) threads", measures: [.texts],
                bars: ["ONNX Runtime", "torch"].map { Bar(.texts, .times(factor), beside: $0) },
                ours: side("hub", own, ["engine", model, threads, "texts \(work)"]),
                peers: [("ONNX Runtime", "onnx"), ("torch", "torch")].map { name, engine in
                    .present(
                        side(name, python, ["Benchmarks/encoders_peer.py", engine, model, threads, work]))
                })
        }
        return beside + [fromShell]
    }
}
