import HubCore

/// 1 GiB as an archive and back, beside a copy and a digest; and a fine-tune fetched where its base is cached.
enum Travelling {
    private static let size: Int64 = 1 << 30
    private static let (copy, digest) = ("cp", "openssl dgst -sha256")

    static func measurements(_ suite: Suite) throws -> [any Measurement] {
        try archives(suite) + [try DeltaPull(suite)]
    }

    private static func archives(_ suite: Suite) throws -> [any Measurement] {
        let space = try FileSystem.diskSpace(suite.largeFolder).available
        guard space > size * 4 else {
            throw AIError(.diskFull, "\(ByteCount(size * 4)) are needed in \(suite.largeFolder)")
        }
        let here = try Sandbox(Path.join(suite.largeFolder, "travel-home"))
        let there = try Sandbox(Path.join(suite.largeFolder, "travel-there"))
        try here.reset()
        let blob = try Verifying.plant("travel", 1, in: here) { try Repositories.fill($0, size: size, seed: 1) }
        let archive = Path.join(suite.largeFolder, "travel.tar")
        let copied = Path.join(suite.largeFolder, "travel.copy")
        let export = suite.hub(["export", "\(Repositories.owner)/travel-1", "-o", archive, "--offline"], here)
        try suite.runner.run(export)
        let place = suite.options.memory == nil ? "on disk, no tmpfs being free" : "in tmpfs"
        let peers: [Peer] = [
            Tools.peer(.at("/bin/cp"), copy) {
                Contestant(
                    name: copy, command: Command($0, [blob, copied], in: here.environment),
                    prepare: { try FileSystem.remove(copied) }, isPart: true)
            },
            Tools.peer(suite.tools.openssl, digest) {
                Contestant(
                    name: digest, command: Command($0, ["dgst", "-sha256", blob], in: here.environment),
                    isPart: true)
            },
        ]
        // 0.8 of the speed of both together.
        let bars = [
            Bar(.wall, .share(1 / 0.8), beside: copy, digest), Bar(.memory, .most(64 * .mebibyte), beside: copy),
        ]
        return [
            Contest(
                work: "export 1 GiB \(place)", measures: [.wall, .memory], bars: bars, warmUps: 1,
                ours: Contestant(
                    name: "hub export", command: export, prepare: { try FileSystem.remove(archive) }), peers: peers),
            Contest(
                work: "import 1 GiB \(place)", measures: [.wall, .memory], bars: bars, warmUps: 1,
                ours: Contestant(
                    name: "hub import", command: suite.hub(["import", archive], there), prepare: there.reset),
                peers: peers),
        ]
    }
}

/// Of 128 tensors of 2 MiB a tenth changes; the bytes that the server sends for the new revision.
private struct DeltaPull: Measurement {
    private static let (tensors, length) = (128, 2 << 20)
    private let size: Int64
    /// The server of the fine-tune: it reads its files once, so the base has one of its own.
    private let server: SimulatedHub
    private let first: SimulatedHub
    private let box: Sandbox
    private let (base, tuned): (Command, Command)

    let work = "pull a fine-tune that changes a tenth of 256 MiB, its base being cached"

    init(_ suite: Suite) throws {
        let model = "\(Repositories.owner)/delta"
        func serve(_ name: String, isTuned: Bool) throws -> (SimulatedHub, Int64) {
            let root = Path.join(suite.largeFolder, name)
            let path = Path.join(root, "\(model)/model.safetensors")
            try FileSystem.createDirectories(Path.parent(path))
            try Self.write(path, isTuned: isTuned)
            return (try suite.server(root), try FileSystem.status(path)?.size ?? 0)
        }
        let (first, _) = try serve("served-delta", isTuned: false)
        (server, size) = try serve("served-tuned", isTuned: true)
        let home = Path.join(suite.largeFolder, "delta-home")
        box = try Sandbox(home, address: first.address)
        base = suite.hub(["pull", model, "--quiet"], box)
        tuned = suite.hub(["pull", model, "--quiet"], try Sandbox(home, address: server.address))
        self.first = first
    }

    /// - Parameter isTuned: whether every tenth tensor has other values.
    private static func write(_ path: String, isTuned: Bool) throws {
        let entries = (0..<tensors).map { index -> (key: String, value: JSON) in
            let at = Int64(index * length)
            return (
                "layers.\(index).weight",
                .object([
                    "dtype": "F16", "shape": .array([.int(1024), .int(Int64(length / 2048))]),
                    "data_offsets": .array([.int(at), .int(at + Int64(length))]),
                ])
            )
        }
        let header = Array(JSON.object(JSONObject(entries)).text().utf8)
        let file = try FileDescriptor(path, [.write, .create, .truncate])
        try file.write((0..<8).map { UInt8(truncatingIfNeeded: header.count >> (8 * $0)) } + header)
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 8)
        defer { block.deallocate() }
        for index in 0..<tensors {
            var noise = SplitMix64(state: UInt64(isTuned && index % 10 == 3 ? index + 1000 : index))
            noise.fill(block)
            try file.write(UnsafeRawBufferPointer(block), at: Int64(8 + header.count + index * length))
        }
    }

    func measure(runs: Int, runner: Runner, progress: Progress) throws -> Outcome {
        var sent: [Double] = []
        for run in 0..<runs {
            progress.step("\(work): run \(run + 1) of \(runs)")
            try box.reset()
            try runner.run(base)
            try server.forget()
            try runner.run(tuned)
            let bytes = try server.traffic().contentBytes
            guard bytes > 0 else { throw AIError(.protocolViolation, "nothing of the fine-tune was fetched") }
            sent.append(Double(bytes))
        }
        return Outcome(rows: [
            Row(
                work: work, measure: .sent, ours: .init("hub pull", Samples(values: sent)),
                limit: .most(0.12 * Double(size)))
        ])
    }
}
