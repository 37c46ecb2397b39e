import HubCore

/// Many small files from a Hub that takes its time: what counts is how many requests are under way at once.
enum SmallFiles {
    private static let files = 1000

    static func measurements(_ suite: Suite) throws -> [any Measurement] {
        let (root, model) = (suite.folder("small"), "\(Repositories.owner)/small")
        try Repositories.write("small", into: root, files: files, size: 4096, seed: 1)
        let server = try suite.server(root, ["--latency", "0.02"])
        let box = try Sandbox(root + "-home", address: server.address)
        func contestant(_ name: String, _ command: Command) -> Contestant {
            Contestant(
                name: name, command: command,
                prepare: {
                    try box.reset()
                    try server.forget()
                },
                inspect: { _ in [.requests: Double(try server.traffic().requests)] })
        }
        return [
            Contest(
                work: "1,000 files of 4 KiB, 20 ms latency", measures: [.wall, .requests, .processor],
                bars: [
                    Bar(.wall, .share(0.2), beside: "hf download"),
                    Bar(.requests, .most(2010), beside: "hf download"),
                ],
                ours: contestant("hub pull", suite.hub(["pull", model], box)),
                peers: [
                    Tools.peer(suite.tools.hf, "hf download") {
                        contestant("hf download", Command($0, ["download", model], in: box.environment))
                    }
                ],
                servers: [server])
        ]
    }
}
