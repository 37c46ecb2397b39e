import HubCore

/// Other families and packings than Llama's in GGUF: beside llama.cpp where it has them, else beside transformers on torch
/// or ONNX Runtime, and packed weights beside the memory's speed. family_models.py makes the models.
struct Families {
    private static let threads = 2

    static func measurements(_ suite: Suite) throws -> [any Measurement] {
        guard case .at(let python) = suite.tools.enginePython, let own = CommandLine.arguments.first else {
            throw AIError(.ioError, "the models are made by Python: \(suite.options.whyNoEngine)")
        }
        let box = try Sandbox(suite.folder("families"))
        let folder = suite.options.models.map { Path.join($0, "families") } ?? suite.folder("family-models")
        try suite.runner.run(Command(python, ["Benchmarks/family_models.py", folder], in: box.environment))
        func side(_ name: String, _ program: String, _ words: [String], _ measure: Measure) -> Contestant {
            Contestant(
                name: name, command: Command(program, words, in: box.environment),
                inspect: { [measure: try Engine.perSecond($0)] })
        }
        func hub(_ form: String, _ work: String, _ measure: Measure, _ name: String = "hub") -> Contestant {
            side(name, own, ["engine", Path.join(folder, form), "\(threads)", work], measure)
        }
        func torch(_ form: String, _ work: String, _ measure: Measure) -> Contestant {
            side(
                "transformers", python,
                ["Benchmarks/transformers_peer.py", Path.join(folder, form), "\(threads)", work], measure)
        }
        func llama(_ form: String, _ work: String, _ measure: Measure) -> Contestant {
            side(
                "llama.cpp", python,
                [
                    "Benchmarks/llama_cpp_peer.py", Path.join(folder, form), "--threads", "\(threads)", "--only",
                    work,
                    "--runs", "1",
                ], measure)
        }
        func contest(
            _ work: String, _ measure: Measure, _ factor: Double, _ ours: Contestant, _ peers: Contestant...
        ) -> Contest {
            Contest(
                work: "\(work), \(threads) threads", measures: [measure],
                bars: peers.map { Bar(measure, .times(factor), beside: $0.name) }, ours: ours,
                peers: peers.map { .present($0) })
        }
        let packed = ["fp8", "awq", "gptq", "nvfp4"].map { form in
            contest(
                "bytes of weights in decode, layers of 4B shape, \(form)", .rate, 0.8, hub(form, "bytes", .rate),
                hub(form, "bandwidth", .rate, "reading memory"))
        }
        let speeds = [("decode", Measure.decode), ("prefill 512", .prompt)]
        let beside = [("2 of 8 experts", "mixture-q4_0.gguf"), ("Mamba 2", "space-q4_0.gguf")].flatMap {
            kind, file in
            speeds.map { work, measure in
                contest(
                    "\(work), \(kind), Q4_0", measure, 1.2, hub(file, work, measure), llama(file, work, measure))
            }
        }
        let latent = contest(
            "decode at position 4,000, latent attention, Q4_0", .decode, 1.2,
            hub("latent-q4_0.gguf", "decode at 4000", .decode), llama("latent-q4_0.gguf", "decode at 4000", .decode)
        )
        let delta = speeds.map { work, measure in
            contest(
                "\(work), gated delta, float32", measure, 1.2, hub("gated-delta", work, measure),
                torch("gated-delta", work, measure))
        }
        let answers = contest(
            "128 tokens read and 64 written, T5 base, float32", .texts, 1.2, hub("t5-base", "answers", .texts),
            torch("t5-base", "answers", .texts),
            side(
                "ONNX Runtime", python, ["Benchmarks/t5_onnx_peer.py", Path.join(folder, "t5-base"), "\(threads)"],
                .texts))
        return packed + beside + [latent] + delta + [answers]
    }
}
