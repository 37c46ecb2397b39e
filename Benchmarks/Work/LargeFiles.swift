import HubCore

/// 1 GiB of weights over loopback into an empty cache: what a client costs besides the network.
enum LargeFiles {
    private static let (files, size) = (2, Int64(512 << 20))

    static func contests(_ suite: Suite) throws -> [Contest] {
        let place = Path.join(suite.options.memory ?? suite.options.scratch, "large")
        let root = Path.join(place, "repositories")
        let space = try FileSystem.diskSpace(suite.options.memory ?? suite.options.scratch).available
        // What is served, what is fetched, and room to breathe.
        guard space > 5 * size else {
            throw AIError(.diskFull, "5 times \(ByteCount(size)) are needed in \(place)")
        }
        try Repositories.writeWeights("large", into: root, files: files, size: size)
        let model = "\(Repositories.owner)/large"
        let server = try suite.server(root)
        let box = try Sandbox(Path.join(place, "home"), address: server.address)
        func contestant(_ name: String, _ program: String, _ arguments: [String]) -> Contestant {
            Contestant(
                name: name, command: Command(program, arguments, in: box.environment), prepare: box.reset,
                inspect: { _ in
                    try checkBytes(in: box.home)
                    try box.reset()
                    return [:]
                })
        }
        let addresses = (1...files).map {
            "\(server.address)/\(model)/resolve/main/\(Repositories.weights($0, of: files))"
        }
        let destination = suite.options.memory == nil ? "to disk, no tmpfs being free" : "to tmpfs"
        return [
            Contest(
                work: "1 GiB in \(files) LFS files, \(destination)", measures: [.wall, .processor, .memory],
                warmUps: 0,
                ours: contestant("hub pull, verified", suite.tools.hub, ["pull", model]),
                peers: [
                    Tools.peer(suite.tools.hf, "hf download, unverified") {
                        contestant("hf download, unverified", $0, ["download", model])
                    },
                    Tools.peer(suite.tools.aria2, "aria2c -x8 -s8, unverified") {
                        contestant(
                            "aria2c -x8 -s8, unverified", $0,
                            ["--no-conf", "-q", "-x8", "-s8", "-Z", "-d", box.home] + addresses)
                    },
                ],
                server: server)
        ]
    }

    /// All that was to be fetched must be there; whether the bytes are right is the tests' matter.
    private static func checkBytes(in folder: String) throws {
        let found = try bytes(in: folder)
        guard found >= Int64(files) * size else {
            throw AIError(.ioError, "only \(ByteCount(found)) of \(ByteCount(Int64(files) * size)) arrived")
        }
    }

    private static func bytes(in folder: String) throws -> Int64 {
        try (FileSystem.entries(folder) ?? []).reduce(0) { sum, name in
            let path = Path.join(folder, name)
            let status = try FileSystem.linkStatus(path)
            return sum
                + (status?.kind == .directory ? try bytes(in: path) : status?.kind == .file ? status!.size : 0)
        }
    }
}
