import HubCore

/// A tokenizer of the size of Llama 3's, read, and ten megabytes of mixed text encoded and decoded by it on one thread.
enum Tokenizing {
    private static let peer = "tokenizers"

    static func measurements(_ suite: Suite) throws -> [any Measurement] {
        guard let own = CommandLine.arguments.first else { return [] }
        let box = try Sandbox(suite.folder("tokenizer"))
        let (folder, text) = (suite.folder("tokenizer"), suite.folder("tokenizer-text"))
        let python: String
        switch tool(suite, box) {
        case .at(let path): python = path
        case .missing(let reason): throw AIError(.ioError, "the tokenizer is trained by Python: \(reason)")
        }
        func theirs(_ arguments: String...) -> Command {
            Command(python, ["Benchmarks/tokenizer_peer.py"] + arguments, in: box.environment)
        }
        try suite.runner.run(theirs("make", folder, text))
        return [
            Contest(
                work: "tokenizer of 128,000 tokens, 10 MB of text", measures: [.load, .encoding, .decoding],
                bars: [
                    Bar(.load, .most(0.060), beside: peer), Bar(.load, .share(0.1), beside: peer),
                    Bar(.encoding, .times(1), beside: peer), Bar(.decoding, .times(1), beside: peer),
                ],
                ours: Contestant(
                    name: "hub", command: Command(own, ["tokenize", folder, text], in: box.environment),
                    inspect: inspect),
                peers: [
                    .present(Contestant(name: peer, command: theirs("measure", folder, text), inspect: inspect))
                ])
        ]
    }

    /// The Python that has the package.
    private static func tool(_ suite: Suite, _ box: Sandbox) -> Tools.Tool {
        for tool in [suite.tools.clientPython, suite.tools.python] {
            guard let path = tool.path else { continue }
            let probe = Command(path, ["-c", "import tokenizers"], in: box.environment)
            if (try? suite.runner.run(probe)) != nil { return .at(path) }
        }
        return .missing("no Python here has the package tokenizers")
    }

    private static func inspect(_ output: String) throws -> [Measure: Double] {
        let json = try JSON.parse(output)
        guard let load = json["load_seconds"]?.double, let encoding = json["encode_bytes_per_second"]?.double,
            let decoding = json["decode_bytes_per_second"]?.double, json["whole"]?.bool == true
        else { throw AIError(.ioError, "the tokenizer printed no figures, or lost a part of the text") }
        return [.load: load, .encoding: encoding, .decoding: decoding]
    }
}
