import HubCore

/// A pull of a commit that is whole in the cache.
enum NothingToDo {
    static func contests(_ suite: Suite) throws -> [Contest] {
        let (root, model) = (suite.folder("nothing"), "\(Repositories.owner)/tiny-shakespeare")
        try Repositories.copy(fixture: "tiny-shakespeare", into: root)
        let server = try suite.server(root)
        // Each has what it fetched itself.
        let ours = try Sandbox(root + "-hub", address: server.address)
        let theirs = try Sandbox(root + "-hf", address: server.address)
        try suite.runner.run(suite.hub(["pull", "--quiet", model], ours))
        let commit = try ours.commit(of: model)
        let count: (String) throws -> [Measure: Double] = { _ in [.requests: Double(try server.requests())] }
        return [
            Contest(
                work: "nothing to do", measures: [.wall, .requests], bar: 0.030, warmUps: 2,
                ours: Contestant(
                    name: "hub pull REF@commit", command: suite.hub(["pull", "\(model)@\(commit)"], ours),
                    prepare: server.forget, inspect: count),
                peers: [
                    Tools.peer(suite.tools.hf, "hf download --revision commit") {
                        Contestant(
                            name: "hf download --revision commit",
                            command: Command(
                                $0, ["download", model, "--revision", commit], in: theirs.environment),
                            prepare: server.forget, inspect: count)
                    }
                ],
                server: server)
        ]
    }
}
