import HubCore

/// 1 GiB of weights over loopback into an empty cache: what a client costs besides the network.
enum LargeFiles {
    /// The repository, which the kills use too.
    static func weights(_ suite: Suite) throws -> Weights {
        try Weights("large", files: 2, size: 512 << 20, suite)
    }

    private static let (aria2, hf, digest) = ("aria2c -x8 -s8", "hf download", "openssl dgst -sha256")

    static func measurements(_ suite: Suite) throws -> [any Measurement] {
        let weights = try weights(suite)
        // The content comes from nginx where there is one: Python would need a good part of a core for it.
        var flags: [String] = []
        var servers: [AnyObject] = []
        if let nginx = suite.tools.nginx.path {
            let content = try ContentServer(
                weights.root, nginx: nginx, folder: Path.join(suite.options.scratch, "nginx"))
            flags = ["--cdn", content.address]
            servers.append(content)
        }
        let hub = try suite.server(weights.root, flags)
        let box = try weights.sandbox(hub, suite)
        func contestant(_ name: String, _ program: String, _ arguments: [String]) -> Contestant {
            Contestant(
                name: name, command: Command(program, arguments, in: box.environment), prepare: box.reset,
                inspect: { _ in
                    try weights.expectWhole(in: box)
                    try box.reset()
                    return [:]
                })
        }
        let place = suite.options.memory == nil ? "to disk, no tmpfs being free" : "to tmpfs"
        let server = suite.tools.nginx.path == nil ? "hubsim.py, there being no nginx" : "nginx"
        return [
            Contest(
                work: "1 GiB in two LFS files, verified, \(place), from \(server)",
                measures: [.wall, .processor, .memory],
                bars: [
                    Bar(.wall, .share(0.8), beside: aria2), Bar(.wall, .share(0.6), beside: hf),
                    Bar(.processor, .share(1), beside: aria2, digest),
                    Bar(.memory, .most(64 * .mebibyte), beside: aria2),
                ],
                ours: contestant("hub pull", suite.tools.hub, ["pull", weights.model]),
                peers: [
                    Tools.peer(suite.tools.aria2, aria2) {
                        contestant(
                            aria2, $0,
                            ["--no-conf", "-q", "-x8", "-s8", "-Z", "-d", box.home] + weights.addresses(hub))
                    },
                    Tools.peer(suite.tools.hf, hf) { contestant(hf, $0, ["download", weights.model]) },
                    Tools.peer(suite.tools.openssl, digest) {
                        Contestant(
                            name: digest,
                            command: Command($0, ["dgst", "-sha256"] + weights.paths, in: box.environment),
                            isPart: true)
                    },
                ],
                servers: servers + [hub])
        ]
    }
}
