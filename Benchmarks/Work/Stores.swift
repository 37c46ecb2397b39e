import HubCore

/// The stores of several programs, and a model on its way into memory.
enum Stores {
    private static let largeFile: Int64 = 2 << 20

    static func measurements(_ suite: Suite) throws -> [any Measurement] { try why(suite) + [try warm(suite)] }

    /// 200,000 files in ten folders: a cache, ollama and LM Studio, and loose weights. One in two hundred is large.
    private static func why(_ suite: Suite) throws -> [any Measurement] {
        let box = try Sandbox(suite.folder("why-home"))
        try box.reset()
        let stores = (0..<10).map { number -> String in
            switch number {
            case 0: box.cache
            case 1: Path.join(box.home, ".ollama/models")
            case 2: Path.join(box.home, ".lmstudio/models")
            default: Path.join(box.home, "weights-\(number)")
            }
        }
        let perFolder = 100
        for (number, store) in stores.enumerated() {
            for folder in 0..<200 {
                let name =
                    number == 0
                    ? "models--bench--model-\(folder)/snapshots/\(String(repeating: "1", count: 40))"
                    : number == 1 ? "blobs" : "publisher-\(folder % 10)/model-\(folder)"
                let path = Path.join(store, name)
                try FileSystem.createDirectories(path)
                for file in 0..<perFolder {
                    let isLarge = file == 0 || file == 50 && folder % 2 == 0
                    let place = Path.join(path, isLarge ? "\(folder)-\(file).gguf" : "\(folder)-\(file).json")
                    let opened = try FileDescriptor(place, [.write, .create])
                    // Sizes differ, so that none is read.
                    if isLarge {
                        try opened.truncate(to: largeFile + Int64((number * 200 + folder) * perFolder + file))
                    } else {
                        try opened.write(Array("{}".utf8))
                    }
                }
            }
        }
        let folders = Array(stores.dropFirst(3))
        let command = suite.hub(["cache", "du", "--json"] + folders, box)
        let du = Contestant(
            name: "du", command: Command("/usr/bin/du", ["-s"] + stores, in: box.environment))
        let size = "200,000 files in 10 stores"
        return [
            Contest(
                work: "where \(size) are, for the first time", measures: [.wall, .memory],
                bars: [Bar(.wall, .share(1.2), beside: "du")], warmUps: 1,
                ours: Contestant(
                    name: "hub cache du", command: command, prepare: { try Sandbox.remove(box.state) }),
                peers: [.present(du)]),
            Contest(
                work: "where \(size) are, again", measures: [.wall], bars: [Bar(.wall, .most(0.3), beside: "du")],
                warmUps: 2, ours: Contestant(name: "hub cache du", command: command), peers: [.present(du)]),
        ]
    }

    /// 2 GiB on a disk that are not in memory; without a disk of its own a scratch folder in tmpfs measures nothing.
    private static func warm(_ suite: Suite) throws -> Contest {
        let box = try Sandbox(suite.folder("warm-home"))
        let model = Path.join(box.home, "model")
        try FileSystem.createDirectories(model)
        let files = (1...2).map { Path.join(model, "model-\($0).safetensors") }
        for (number, path) in files.enumerated() where !FileSystem.exists(path) {
            try Repositories.fill(path, size: 1 << 30, seed: UInt64(number))
        }
        let evict: () throws -> Void = {
            // dd(1): of=FILE oflag=nocache conv=notrunc,fdatasync count=0 drops the cache of the whole file.
            for path in files {
                try suite.runner.run(
                    Command(
                        "/bin/dd",
                        ["of=\(path)", "oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none"],
                        in: box.environment))
            }
        }
        let bytes: Int64 = 2 << 30
        return Contest(
            work: "read 2 GiB into memory", measures: [.wall, .rate],
            bars: [Bar(.rate, .times(0.95), beside: "cat")],
            warmUps: 1,
            ours: Contestant(
                name: "hub cache warm --wait",
                command: suite.hub(["cache", "warm", model, "--wait", "--quiet"], box),
                prepare: evict,
                bytes: bytes),
            peers: [
                .present(
                    Contestant(
                        name: "cat",
                        command: Command(
                            "/bin/sh", ["-c", "cat \"$@\" > /dev/null", "cat"] + files, in: box.environment),
                        prepare: evict, bytes: bytes))
            ])
    }
}
