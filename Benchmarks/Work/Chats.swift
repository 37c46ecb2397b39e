import HubCore

/// `hub serve api`: eight texts at once beside the engine itself, and a short prompt while a long one is read.
enum Chats {
    static func measurements(_ suite: Suite) throws -> [any Measurement] {
        guard let own = CommandLine.arguments.first else { throw AIError(.ioError, "this program has no name") }
        let file = Path.join(try Engine.models(suite), "q4_0.gguf")
        let server = try APIServer(file, suite)
        func client(_ work: String, _ measure: Measure) -> Contestant {
            Contestant(
                name: "hub serve api",
                command: Command(own, [work, server.port, APIServer.model], in: server.box.environment),
                inspect: { output in
                    let json = try JSON.parse(output)
                    guard let value = (json["per_second"] ?? json["seconds"])?.double else {
                        throw AIError(.ioError, "no figure in \(output)")
                    }
                    return [measure: value]
                })
        }
        let engine = Contestant(
            name: "the engine",
            command: Command(own, ["engine", file, "2", "chats of 8"], in: server.box.environment),
            inspect: { [.decode: try Engine.perSecond($0)] })
        return [
            Contest(
                work: "eight texts at once, Q4_0, 2 threads", measures: [.decode],
                bars: [Bar(.decode, .times(0.95), beside: engine.name)], ours: client("chats", .decode),
                peers: [.present(engine)], servers: [server]),
            Contest(
                work: "first token of a short prompt, more while one of 3,000 tokens is read", measures: [.delay],
                bars: [Bar(.delay, .most(0.3))], ours: client("waits", .delay), servers: [server]),
        ]
    }
}
