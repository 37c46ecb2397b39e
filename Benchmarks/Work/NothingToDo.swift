import HubCore

/// A pull of what is whole in the cache.
enum NothingToDo {
    static func measurements(_ suite: Suite) throws -> [any Measurement] {
        let (root, model) = (suite.folder("nothing"), "\(Repositories.owner)/tiny-shakespeare")
        try Repositories.copy(fixture: "tiny-shakespeare", into: root)
        let server = try suite.server(root)
        // Each has what it fetched itself.
        let ours = try Sandbox(root + "-hub", address: server.address)
        let theirs = try Sandbox(root + "-hf", address: server.address)
        try suite.runner.run(suite.hub(["pull", "--quiet", model], ours))
        let commit = try ours.commit(of: model)
        return ["", commit].map { revision in
            let theirWords = ["download", model] + (revision.isEmpty ? [] : ["--revision", revision])
            func contestant(_ name: String, _ command: Command) -> Contestant {
                Contestant(
                    name: name, command: command, prepare: server.forget,
                    inspect: { _ in [.requests: Double(try server.traffic().requests)] })
            }
            return Contest(
                work: "nothing to do, " + (revision.isEmpty ? "asked by branch" : "asked by commit"),
                measures: [.wall, .requests],
                bars: [Bar(.wall, .most(0.030)), Bar(.wall, .share(0.1), beside: "hf download")], warmUps: 2,
                ours: contestant(
                    "hub pull", suite.hub(["pull", revision.isEmpty ? model : "\(model)@\(revision)"], ours)),
                peers: [
                    Tools.peer(suite.tools.hf, "hf download") {
                        contestant("hf download", Command($0, theirWords, in: theirs.environment))
                    }
                ],
                servers: [server])
        }
    }
}
