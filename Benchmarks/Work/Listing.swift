import HubCore

/// The list of a cache that has not changed since the last one.
enum Listing {
    private static let many = 200

    static func measurements(_ suite: Suite) throws -> [any Measurement] {
        let small = suite.folder("ls-small")
        var models: [String] = []
        for name in try FileSystem.entries("Tests/Fixtures") ?? [] where name.hasPrefix("tiny-shakespeare") {
            try Repositories.copy(fixture: name, into: small)
            models.append("\(Repositories.owner)/\(name)")
        }
        let large = suite.folder("ls-large")
        for number in 1...many {
            try Repositories.write("model-\(number)", into: large, files: 6, size: 2048, seed: UInt64(number))
        }
        return [
            try contest(
                "list \(models.count) repositories", models, of: small,
                bar: Bar(.wall, .most(0.025), beside: "hf cache ls"), suite),
            try contest(
                "list \(many) repositories", (1...many).map { "\(Repositories.owner)/model-\($0)" }, of: large,
                bar: nil, suite),
        ] + (try planted(suite))
    }

    /// A cache as large as they get, made by hand: with a catalog that knows nothing of it, and with one that does.
    private static func planted(_ suite: Suite) throws -> [any Measurement] {
        let (repositories, files) = (1000, 20)
        let box = try Sandbox(suite.folder("ls-planted-home"))
        for number in 0..<repositories {
            try Repositories.plant("model-\(number)", into: box.cache, files: files, seed: number)
        }
        let hub = suite.hub(["ls"], box)
        let peer = Tools.peer(suite.tools.hf, "hf cache ls") {
            Contestant(name: "hf cache ls", command: Command($0, ["cache", "ls"], in: box.environment))
        }
        let size = "\(repositories) repositories with \(repositories * files) files"
        return [
            Contest(
                work: "scan \(size)", measures: [.wall, .processor],
                bars: [Bar(.wall, .share(0.1), beside: "hf cache ls")], warmUps: 1,
                ours: Contestant(
                    name: "hub ls", command: hub, prepare: { try Sandbox.remove(box.state) }),
                peers: [peer]),
            Contest(
                work: "list \(size)", measures: [.wall, .processor],
                bars: [Bar(.wall, .most(0.025), beside: "hf cache ls")], warmUps: 2,
                ours: Contestant(name: "hub ls", command: hub), peers: [peer]),
        ]
    }

    private static func contest(
        _ work: String, _ models: [String], of root: String, bar: Bar?, _ suite: Suite
    ) throws -> Contest {
        let server = try suite.server(root)
        let box = try Sandbox(root + "-home", address: server.address)
        try suite.runner.run(suite.hub(["pull", "--quiet"] + models, box))
        return Contest(
            work: work, measures: [.wall, .processor], bars: bar.map { [$0] } ?? [], warmUps: 2,
            ours: Contestant(name: "hub ls", command: suite.hub(["ls"], box)),
            peers: [
                Tools.peer(suite.tools.hf, "hf cache ls") {
                    Contestant(name: "hf cache ls", command: Command($0, ["cache", "ls"], in: box.environment))
                }
            ])
    }
}
