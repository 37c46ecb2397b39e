import HubCore

/// 2 GiB in the cache compared with their digests, on two processors; and a cache of 100 GB in which nothing has changed.
enum Verifying {
    private static let files = 4
    private static let size: Int64 = 512 << 20
    private static let digest = "openssl dgst -sha256, two at once"

    static func measurements(_ suite: Suite) throws -> [any Measurement] {
        [try reading(suite), try unchanged(suite)]
    }

    private static func reading(_ suite: Suite) throws -> Contest {
        let space = try FileSystem.diskSpace(suite.largeFolder).available
        let bytes = Int64(files) * size
        guard space > bytes * 11 / 10 else {
            throw AIError(.diskFull, "\(ByteCount(bytes * 11 / 10)) are needed in \(suite.largeFolder)")
        }
        let box = try Sandbox(Path.join(suite.largeFolder, "verify-home"))
        try box.reset()
        let paths = try (1...files).map { number in
            try plant("large", number, in: box) { try Repositories.fill($0, size: size, seed: UInt64(number)) }
        }
        let place = suite.options.memory == nil ? "on disk, no tmpfs being free" : "in tmpfs"
        return Contest(
            work: "verify 2 GiB \(place), two processors", measures: [.wall, .processor, .memory],
            // 0.9 of the speed for each processor.
            bars: [
                Bar(.wall, .share(1 / 0.9), beside: digest), Bar(.memory, .most(64 * .mebibyte), beside: digest),
            ],
            warmUps: 1,
            ours: Contestant(
                name: "hub verify --full",
                command: Command(
                    "/bin/sh", ["-c", pinned("exec \"$0\" verify --full --offline"), suite.tools.hub],
                    in: box.environment)),
            peers: [
                Tools.peer(suite.tools.openssl, digest) { openssl in
                    Contestant(
                        name: digest,
                        command: Command(
                            "/bin/sh",
                            [
                                "-c",
                                pinned("printf '%s\\n' \"$@\" | xargs -P2 -n1 \"$0\" dgst -sha256 > /dev/null"),
                                openssl,
                            ] + paths, in: box.environment))
                }
            ])
    }

    /// Where there is taskset, on the first two processors; machines without it have them both.
    private static func pinned(_ line: String) -> String {
        "command -v taskset > /dev/null && taskset -p -c 0,1 $$ > /dev/null; \(line)"
    }

    /// A hundred files that take no room, read once before the clock runs.
    private static func unchanged(_ suite: Suite) throws -> Contest {
        let box = try Sandbox(Path.join(suite.largeFolder, "unchanged-home"))
        try box.reset()
        var digest: String?
        for number in 1...100 {
            let blob = try plant("sparse", number, in: box, digest: digest) { path in
                try FileDescriptor(path, [.write, .create]).truncate(to: 1_000_000_000)
            }
            // All are alike.
            digest = Path.name(blob)
        }
        try suite.runner.run(suite.hub(["verify", "--offline", "--quiet"], box))
        return Contest(
            work: "verify 100 GB in which nothing has changed", measures: [.wall], bars: [Bar(.wall, .most(1))],
            warmUps: 1, ours: Contestant(name: "hub verify", command: suite.hub(["verify", "--offline"], box)))
    }

    /// Puts a file into a model of the sandbox's cache, as a pull would leave it; where it is.
    static func plant(
        _ model: String, _ number: Int, in box: Sandbox, digest known: String? = nil, fill: (String) throws -> Void
    ) throws -> String {
        let folder = box.cache(of: "\(Repositories.owner)/\(model)-\(number)")
        let commit = String(repeating: "1", count: 40)
        let snapshot = Path.join(folder, "snapshots/\(commit)")
        for name in ["blobs", "refs", "trees", "snapshots/\(commit)"] {
            try FileSystem.createDirectories(Path.join(folder, name))
        }
        let made = Path.join(folder, "blobs/new")
        try fill(made)
        let digest = try known ?? ContentHasher.digest(ofFile: made, like: .sha256("")).hex
        let size = try FileSystem.status(made)?.size ?? 0
        try FileSystem.rename(made, to: Path.join(folder, "blobs/\(digest)"))
        try FileSystem.createSymlink("../../blobs/\(digest)", at: Path.join(snapshot, "model.safetensors"))
        try FileSystem.replace(Path.join(folder, "refs/main"), with: Array(commit.utf8))
        let file: JSON = .object([
            "size": .int(size), "blob_id": .string(commit), "lfs_sha256": .string(digest), "lfs_size": .int(size),
        ])
        let tree: JSON = .object(["format_version": 1, "files": .object(["model.safetensors": file])])
        try FileSystem.replace(Path.join(folder, "trees/\(commit).json"), with: Array(tree.text().utf8))
        return Path.join(folder, "blobs/\(digest)")
    }
}
