import HubCore

/// `hub serve mirror`: what is here beside nginx, what is fetched beside fetching it directly, and many connections.
enum Serving {
    private static let (ours, theirs) = ("curl from the mirror", "curl from nginx")

    /// 1 GiB that is in the cache, to one and to eight clients.
    static func warm(_ suite: Suite) throws -> [any Measurement] {
        let curl = try Self.curl(suite)
        let weights = try Weights("mirrored-1024", files: 1, size: 1 << 30, suite)
        let hub = try suite.server(weights.root)
        let mirror = try MirrorServer(of: hub.address, "warm-mirror", suite)
        let path = "/\(weights.model)/resolve/main/\(weights.files[0].name)"
        func fetch(_ address: String, _ clients: Int) -> Command { command(curl, address, clients, mirror.box) }
        try suite.runner.run(fetch(mirror.address + path, 1))
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
                measures: [.wall, .serverMemory],
                // As fast as nine tenths of nginx.
                bars: [
                    Bar(.wall, .share(1 / 0.9), beside: theirs), Bar(.serverMemory, .most(64 * .mebibyte)),
                ], warmUps: 1,
                ours: Contestant(
                    name: ours, command: fetch(mirror.address + path, clients),
                    inspect: { _ in [.serverMemory: try mirror.memory()] }, bytes: Int64(clients) * weights.bytes),
                peers: [
                    content.map { server in
                        Peer.present(
                            Contestant(
                                name: theirs,
                                command: fetch(
                                    "\(server.address)/\(weights.model)/\(weights.files[0].name)", clients),
                                bytes: Int64(clients) * weights.bytes))
                    } ?? .missing(name: theirs, reason: suite.options.whyNoNginx)
                ],
                servers: servers)
        }
    }

    /// Files that are not there, over a line that all connections to upstream share.
    static func cold(_ suite: Suite) throws -> [any Measurement] {
        let (direct, one, twenty) = ("curl directly", "one client", "20 clients at once")
        let large = try Line(size: 1 << 30, rate: 100_000_000, suite)
        // Of these, 20 do not keep this machine busy, so that only the mirror's own delay is seen.
        let small = try Line(size: 256 << 20, rate: 25_000_000, suite)
        var contests = [
            Contest(
                work: "\(large.name), cold", measures: [.wall], bars: [Bar(.wall, .share(1.05), beside: direct)],
                ours: large.contestant(one, 1), peers: [.present(large.contestant(direct, 1, isDirect: true))],
                servers: large.servers)
        ]
        for line in [large, small] {
            contests.append(
                Contest(
                    work: "\(line.name), cold, to 20 clients at once", measures: [.wall, .sent, .serverMemory],
                    bars: [
                        Bar(.wall, .share(1.1), beside: one), Bar(.sent, .most(Double(line.weights.bytes))),
                        Bar(.serverMemory, .most(64 * .mebibyte)),
                    ],
                    ours: line.contestant(twenty, 20), peers: [.present(line.contestant(one, 1))],
                    servers: line.servers))
        }
        if let nginx = suite.tools.nginx.path {
            let weights = large.weights
            let content = try ContentServer(weights.root, nginx: nginx, folder: suite.folder("nginx-beside-cold"))
            let name = "nginx, which has the file, to 20"
            contests[1].servers.append(content)
            contests[1].peers.append(
                .present(
                    Contestant(
                        name: name,
                        command: command(
                            large.curl, "\(content.address)/\(weights.model)/\(weights.files[0].name)", 20,
                            large.mirror.box))))
        }
        return contests
    }

    static func connections(_ suite: Suite) -> [any Measurement] { [ManyConnections(suite)] }

    private static func curl(_ suite: Suite) throws -> String {
        guard case .at(let curl) = suite.tools.curl else { throw AIError(.ioError, "curl is not installed") }
        return curl
    }

    /// Fetches a file this many times at once, by as many processes.
    private static func command(_ curl: String, _ address: String, _ clients: Int, _ box: Sandbox) -> Command {
        let script = """
            all=; for client in $(seq "$3"); do "$1" -sSfL -o /dev/null "$2" & all="$all $!"; done
            for client in $all; do wait "$client" || exit 1; done
            """
        return Command("/bin/sh", ["-c", script, "sh", curl, address, "\(clients)"], in: box.environment)
    }

    /// A file of a Hub behind a slow line, and a mirror of it.
    private struct Line {
        let name: String
        let weights: Weights
        let hub: SimulatedHub
        let mirror: MirrorServer
        let curl: String

        init(size: Int64, rate: Int, _ suite: Suite) throws {
            curl = try Serving.curl(suite)
            name = "\(size >> 20) MiB through a mirror, upstream at \(rate / 1_000_000) MB/s"
            weights = try Weights("mirrored-\(size >> 20)", files: 1, size: size, suite)
            hub = try suite.server(weights.root, ["--total-rate", "\(rate)"])
            mirror = try MirrorServer(of: hub.address, "mirror-\(size >> 20)", suite)
        }

        var servers: [AnyObject] { [hub, mirror] }

        func contestant(_ name: String, _ clients: Int, isDirect: Bool = false) -> Contestant {
            let address = isDirect ? hub.address : mirror.address
            let path = "/\(weights.model)/resolve/main/\(weights.files[0].name)"
            return Contestant(
                name: name, command: Serving.command(curl, address + path, clients, mirror.box),
                prepare: {
                    try mirror.forget()
                    try hub.forget()
                },
                inspect: { _ in
                    [.sent: Double(try hub.traffic().contentBytes), .serverMemory: try mirror.memory()]
                })
        }
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
