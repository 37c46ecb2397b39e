import HubCore

/// The first view of the page of `hub serve page`, in a headless Chromium.
enum FirstView {
    static func measurements(_ suite: Suite) throws -> [any Measurement] {
        guard case .at(let python) = suite.tools.python else { throw AIError(.ioError, "there is no Python") }
        let root = suite.folder("viewed")
        try Repositories.copy(fixture: "tiny-shakespeare", into: root)
        let hub = try suite.server(root)
        let server = try MirrorServer(of: hub.address, "page", suite, flags: ["--page"])
        try suite.runner.run(
            suite.hub(["pull", "\(Repositories.owner)/tiny-shakespeare", "-q"], server.box))
        return [
            Contest(
                work: "the page in a browser, first view", measures: [.load, .sent],
                bars: [Bar(.load, .most(0.150)), Bar(.sent, .most(100_000))], warmUps: 1,
                ours: Contestant(
                    name: "hub serve page",
                    command: Command(
                        python, ["Benchmarks/page_view.py", server.address], in: server.box.environment),
                    inspect: inspect), peers: [], servers: [hub, server])
        ]
    }

    private static func inspect(_ output: String) throws -> [Measure: Double] {
        let json = try JSON.parse(output)
        guard let seconds = json["seconds"]?.double, let bytes = json["bytes"]?.double else {
            throw AIError(.ioError, "no figures in \(output)")
        }
        return [.load: seconds, .sent: bytes]
    }
}
