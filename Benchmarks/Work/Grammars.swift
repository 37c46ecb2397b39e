import HubCore

/// Answers held to JSON Schemas over a vocabulary of 128,000 tokens, beside llama.cpp's grammars.
enum Grammars {
    private static let peer = "llama.cpp"

    static func measurements(_ suite: Suite) throws -> [any Measurement] {
        guard case .at(let python) = suite.tools.enginePython, let own = CommandLine.arguments.first else {
            throw AIError(.ioError, "the vocabulary is made by Python: \(suite.options.whyNoEngine)")
        }
        let box = try Sandbox(suite.folder("grammar"))
        let (folder, text) = (suite.folder("grammar-vocabulary"), suite.folder("grammar-text"))
        func theirs(_ script: String, _ words: String...) -> Command {
            Command(python, ["Benchmarks/\(script)"] + words, in: box.environment)
        }
        try suite.runner.run(theirs("tokenizer_peer.py", "make", folder, text))
        try suite.runner.run(theirs("grammar_peer.py", "make", folder))
        return [
            Contest(
                work: "JSON Schema, 128,000 tokens", measures: [.tokenCost, .worstTokenCost, .start],
                bars: [
                    Bar(.tokenCost, .most(50e-6), beside: peer), Bar(.worstTokenCost, .most(5e-3), beside: peer),
                    Bar(.start, .most(0.020), beside: peer),
                ],
                ours: Contestant(
                    name: "hub", command: Command(own, ["grammar", folder], in: box.environment), inspect: inspect),
                peers: [
                    .present(
                        Contestant(
                            name: peer, command: theirs("grammar_peer.py", "measure", folder), inspect: inspect))
                ])
        ]
    }

    private static func inspect(_ output: String) throws -> [Measure: Double] {
        let json = try JSON.parse(output)
        guard let mean = json["mean_seconds"]?.double, let worst = json["worst_seconds"]?.double,
            let start = json["start_seconds"]?.double
        else { throw AIError(.ioError, "no figures in \(output)") }
        return [.tokenCost: mean, .worstTokenCost: worst, .start: start]
    }
}
