import HubCore

/// A server that gives each connection little: what counts is how well several of them are kept busy.
enum ThrottledConnections {
    private static let rate = 20_000_000
    private static let single = "hub pull --connections 1"

    static func measurements(_ suite: Suite) throws -> [any Measurement] {
        let weights = try Weights("throttled", files: 1, size: 512 << 20, suite)
        // hubsim.py and not nginx, which lets a second's worth of each request through before it throttles.
        let server = try suite.server(weights.root, ["--rate", "\(rate)"])
        let box = try weights.sandbox(server, suite)
        func contestant(_ name: String, _ command: Command) -> Contestant {
            Contestant(
                name: name, command: command, prepare: box.reset,
                inspect: { _ in
                    try weights.expectWhole(in: box)
                    try box.reset()
                    return [:]
                }, bytes: weights.bytes)
        }
        return [
            Contest(
                work: "512 MiB in one LFS file, 20 MB/s a connection, 8 connections", measures: [.rate],
                bars: [Bar(.rate, .times(7.5), beside: single)],
                ours: contestant("hub pull", suite.hub(["pull", "--connections", "8", weights.model], box)),
                peers: [
                    .present(contestant(single, suite.hub(["pull", "--connections", "1", weights.model], box))),
                    Tools.peer(suite.tools.aria2, "aria2c -x8 -s8") {
                        let words = ["--no-conf", "-q", "-x8", "-s8", "-d", box.home] + weights.addresses(server)
                        return contestant("aria2c -x8 -s8", Command($0, words, in: box.environment))
                    },
                ],
                servers: [server])
        ]
    }
}
