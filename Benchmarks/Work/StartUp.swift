import HubCore

/// From the shell's call to the prompt, with nothing to do in between.
enum StartUp {
    static func measurements(_ suite: Suite) throws -> [any Measurement] {
        let box = try Sandbox(suite.folder("start"))
        func contestant(_ name: String, _ program: String, _ arguments: [String]) -> Contestant {
            Contestant(name: name, command: Command(program, arguments, in: box.environment))
        }
        return [
            Contest(
                work: "start-up", measures: [.wall, .memory],
                bars: [Bar(.wall, .most(0.015), beside: "hf version")],
                warmUps: 2,
                ours: contestant("hub version", suite.tools.hub, ["version"]),
                peers: [
                    // The minimum cost of loading libcurl and its dependencies.
                    Tools.peer(suite.tools.curl, "curl --version") {
                        contestant("curl --version", $0, ["--version"])
                    },
                    Tools.peer(suite.tools.hf, "hf version") { contestant("hf version", $0, ["version"]) },
                    Tools.peer(suite.tools.clientPython, "import huggingface_hub") {
                        contestant("import huggingface_hub", $0, ["-c", "import huggingface_hub"])
                    },
                ])
        ]
    }
}
