import HubCore

/// `hub serve --mirror`: what is here beside nginx, what is fetched beside fetching it directly, and many connections.
enum Serving {
    private static let (ours, theirs) = ("curl from the mirror", "curl from nginx")

    static func measurements(_ suite: Suite) throws -> [any Measurement] {
        guard case .at(let curl) = suite.tools.curl else { throw AIError(.ioError, "curl is not installed") }
        return try warm(suite, curl) + cold(suite, curl) + [ManyConnections(suite)]
    }

    /// 1 GiB that is in the cache, to one and to eight clients.
    private static func warm(_ suite: Suite, _ curl: String) throws -> [any Measurement] {
        let weights = try Weights("mirrored", files: 1, size: 1 << 30, suite)
        let hub = try suite.server(weights.root)
        let mirror = try MirrorServer(of: hub.address, "mirror", suite)
        let path = "/\(weights.model)/resolve/main/\(weights.files[0].name)"
        func command(_ address: String, _ clients: Int) -> Command {
            let targets = (0..<clients).flatMap { _ in ["-o", "/dev/null", address] }
            return Command(curl, ["-sSfZ", "--parallel-max", "\(clients)"] + targets, in: mirror.box.environment)
        }
        try suite.runner.run(command(mirror.address + path, 1))
        var servers: [AnyObject] = [hub, mirror]
        var content: ContentServer?
        if let nginx = suite.tools.nginx.path {
            let server = try ContentServer(weights.root, nginx: nginx, folder: suite.folder("nginx-beside-mirror"))
            servers.append(server)
            content = server
        }
        return [1, 8].map { clients in
            Contest(
                work: "1 GiB from a warm mirror to \(clients == 1 ? "one client" : "\(clients) clients at once")",
                measures: [.wall, .memory],
                // As fast as nine tenths of nginx.
                bars: [
                    Bar(.wall, .share(1 / 0.9), beside: theirs), Bar(.memory, .most(64 * .mebibyte)),
                ], warmUps: 1,
                ours: Contestant(
                    name: ours, command: command(mirror.address + path, clients),
                    inspect: { _ in [.memory: try mirror.memory()] }, bytes: Int64(clients) * weights.bytes),
                peers: [
                    content.map { server in
                        .present(
                            Contestant(
                                name: theirs,
                                command: command(
                                    "\(server.address)/\(weights.model)/\(weights.files[0].name)", clients),
                                bytes: Int64(clients) * weights.bytes))
                    } ?? .missing(name: theirs, reason: suite.options.whyNoNginx)
                ],
                servers: servers)
        }
    }

    /// 1 GiB that is not there, over a line of 100 MB/s.
    private static func cold(_ suite: Suite, _ curl: String) throws -> [any Measurement] {
        let weights = try Weights("mirrored", files: 1, size: 1 << 30, suite)
        let hub = try suite.server(weights.root, ["--total-rate", "100000000"])
        let mirror = try MirrorServer(of: hub.address, "cold-mirror", suite)
        let path = "/\(weights.model)/resolve/main/\(weights.files[0].name)"
        func contestant(_ name: String, _ address: String, _ clients: Int) -> Contestant {
            let targets = (0..<clients).flatMap { _ in ["-o", "/dev/null", address + path] }
            return Contestant(
                name: name,
                command: Command(
                    curl, ["-sSfLZ", "--parallel-max", "\(clients)"] + targets, in: mirror.box.environment),
                prepare: {
                    try mirror.forget()
                    try hub.forget()
                },
                inspect: { _ in [.sent: Double(try hub.traffic().contentBytes), .memory: try mirror.memory()] })
        }
        let (direct, one, twenty) = ("curl directly", "one client", "20 clients at once")
        return [
            Contest(
                work: "1 GiB through a cold mirror, upstream at 100 MB/s", measures: [.wall],
                bars: [Bar(.wall, .share(1.05), beside: direct)],
                ours: contestant(one, mirror.address, 1),
                peers: [.present(contestant(direct, hub.address, 1))], servers: [hub, mirror]),
            Contest(
                work: "the same to 20 clients at once", measures: [.wall, .sent, .memory],
                bars: [
                    Bar(.wall, .share(1.1), beside: one), Bar(.sent, .most(Double(weights.bytes))),
                    Bar(.memory, .most(64 * .mebibyte)),
                ],
                ours: contestant(twenty, mirror.address, 20),
                peers: [.present(contestant(one, mirror.address, 1))], servers: [hub, mirror]),
        ]
    }

    /// Idle and active connections to one server.
    private struct ManyConnections: Measurement {
        private let suite: Suite
        let work =
            "\(ServerLoad.idle) idle and \(ServerLoad.active) active connections, \(ServerLoad.requests) small requests at \(Int(ServerLoad.rate)) a second"

        init(_ suite: Suite) { self.suite = suite }

        func measure(runs: Int, runner: Runner, progress: Progress) throws -> Outcome {
            guard let own = CommandLine.arguments.first else { throw AIError(.ioError, "this program has no name") }
            let (root, model) = (suite.folder("small-served"), "\(Repositories.owner)/tiny-shakespeare")
            try Repositories.copy(fixture: "tiny-shakespeare", into: root)
            let hub = try suite.server(root)
            var (growth, late, lost): ([Double], [Double], [Double]) = ([], [], [])
            for run in 1...runs {
                progress.step("\(work): run \(run) of \(runs)")
                let mirror = try MirrorServer(of: hub.address, "busy-mirror-\(run)", suite)
                let output = try runner.run(
                    Command(
                        own, ["load", mirror.port, "/\(model)/resolve/main/config.json"], in: mirror.box.environment
                    )
                ).output
                let json = try JSON.parse(output)
                guard let grown = json["growth_bytes"]?.double, let p99 = json["p99_seconds"]?.double,
                    let gone = json["lost"]?.int
                else { throw AIError(.ioError, "no figures in \(output)") }
                growth.append(grown)
                late.append(p99)
                lost.append(Double(gone))
            }
            return Outcome(rows: [
                Row(work: work, measure: .lost, ours: .init("hub serve", Samples(values: lost)), limit: .most(0)),
                Row(
                    work: work, measure: .growth, ours: .init("hub serve", Samples(values: growth)),
                    limit: .most(64 * .mebibyte)),
                Row(
                    work: work, measure: .late, ours: .init("hub serve", Samples(values: late)), limit: .most(0.010)
                ),
            ])
        }
    }
}
