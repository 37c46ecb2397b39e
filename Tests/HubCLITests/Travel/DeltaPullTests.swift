import HubCore
import Support
import Testing

@testable import HubCLI

/// Pulls of a new revision with the older one in the cache: what has not changed is not fetched, and what is in the end
/// there is right, whatever the samples said.
@Suite struct DeltaPullTests {
    private static let tensors = 40
    /// Bytes of a tensor.
    private static let length = 512 << 10
    private let stage: Stage
    private let repository: ModelRepository

    init() throws {
        stage = try Stage()
        repository = try ModelRepository("org/m", in: stage.root)
        try repository.write("config.json", "{}")
    }

    private func file(_ seeds: [UInt64], names: [String]? = nil, note: String = "one") -> [UInt8] {
        TensorFile.bytes(seeds, names: names, note: note, length: Self.length)
    }

    private var seeds: [UInt64] { (0..<Self.tensors).map { UInt64($0 + 1) } }

    /// Bytes of files that the Hub has sent since a request.
    private func sent(since index: Int) -> Int64 {
        stage.hub.requests.dropFirst(index).filter { $0.listener == .cdn }.reduce(0) { $0 + $1.bytesSent }
    }

    private func pull(_ words: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws
        -> JSONObject
    {
        let result = try await stage.run(["pull", "org/m", "--json"] + words)
        try #require(result.status == 0, "\(result.error)", sourceLocation: sourceLocation)
        return try #require(try result.document().objects("models").first)
    }

    private func expect(
        _ bytes: [UInt8], _ name: String = "model.safetensors", sourceLocation: SourceLocation = #_sourceLocation
    )
        async throws
    {
        let place = Path.join(try await stage.path("org/m"), name)
        #expect(try FileSystem.contents(place) == bytes ? true : false, sourceLocation: sourceLocation)
        let left = try stage.listing(stage.cache).filter { $0.hasSuffix(".incomplete") }
        #expect(left == [], sourceLocation: sourceLocation)
    }

    /// A fine-tune of a tenth of the tensors sends at most 12 % of the file.
    @Test func whatDidNotChangeIsNotSent() async throws {
        let old = file(seeds)
        try repository.write("model.safetensors", old)
        _ = try await pull()
        var changed = seeds
        for index in stride(from: 3, to: Self.tensors, by: 10) { changed[index] += 1000 }
        let new = file(changed, note: "a longer note, so that everything moves")
        try repository.write("model.safetensors", new)

        let estimate = try await pull("--estimate")
        #expect(estimate["older_revision_bytes"]?.int == Int64(new.count))
        let before = stage.hub.requests.count
        let pulled = try await pull()
        let bytes = sent(since: before)
        #expect(Double(bytes) <= 0.12 * Double(new.count), "\(bytes) of \(new.count)")
        #expect(try #require(pulled["downloaded_bytes"]?.int) <= bytes)
        try await expect(new)
        // The Hub was asked for the address once, not for each sample.
        let resolved = stage.hub.requests.dropFirst(before).filter {
            $0.listener != .cdn && $0.path.contains("/resolve/")
        }
        #expect(resolved.count <= 4, "\(resolved.count)")
        let again = stage.hub.requests.count
        _ = try await pull("--force")
        #expect(sent(since: again) >= Int64(new.count))
    }

    /// A change that no sample shows: the digest is wrong, and only what was copied is fetched.
    @Test func aHiddenChangeIsFound() async throws {
        try repository.write("model.safetensors", file(seeds))
        _ = try await pull()
        var new = file(seeds)
        new[new.count - Self.length / 3] ^= 1
        try repository.write("model.safetensors", new)
        let before = stage.hub.requests.count
        let result = try await stage.run("pull", "org/m", "-v")
        #expect(result.status == 0 && result.error.contains("not what its older revision suggested"))
        #expect(sent(since: before) < Int64(new.count) * 102 / 100)
        try await expect(new)
    }

    /// Other shapes, other names, a damaged, a truncated or a malformed older file: fetched as ever.
    @Test(arguments: ["names", "damaged", "truncated", "malformed"])
    func whatIsNotAlikeIsFetched(_ kind: String) async throws {
        try repository.write("model.safetensors", file(seeds))
        _ = try await pull()
        var new = file(seeds.map { $0 + ($0 % 2) * 500 })
        let blob = try #require(FileSystem.resolved(Path.join(try await stage.path("org/m"), "model.safetensors")))
        var old = try #require(try FileSystem.contents(blob))
        switch kind {
        case "names": new = file(seeds, names: seeds.map { "other\($0)" })
        case "damaged": for at in stride(from: 100_000, to: old.count, by: 150_000) { old[at] ^= 255 }
        case "truncated": old.removeLast(old.count / 2)
        default: old[8] = 0
        }
        try FileSystem.replace(blob, with: old)
        try repository.write("model.safetensors", new)
        _ = try await pull()
        try await expect(new)
    }

    /// GGUF files, and small ones, which are fetched whole.
    @Test func onlyLargeWeightsOfKnownFormats() async throws {
        let small = SafetensorsBytes.file([("a", "F32", [1000])])
        try repository.write("small.safetensors", small)
        try repository.random("weights.bin", size: 11_000_000, seed: 4)
        _ = try await pull()
        try repository.write("small.safetensors", Array(small.dropLast()) + [7])
        try repository.random("weights.bin", size: 11_000_000, seed: 5)
        #expect(try await pull("--estimate")["older_revision_bytes"] == nil)
        let before = stage.hub.requests.count
        _ = try await pull()
        #expect(sent(since: before) >= 11_000_000)
    }

    /// Kills on the way change nothing about the end.
    @Test func killsOnTheWay() async throws {
        try repository.write("model.safetensors", file(seeds))
        _ = try await pull()
        let new = file(seeds.map { $0 + ($0 % 3 == 0 ? 900 : 0) })
        try repository.write("model.safetensors", new)
        var random = SeededRandom(state: 11)
        for _ in 0..<6 {
            let process = try stage.start("pull", "-q", "org/m")
            try await Task.sleep(for: .milliseconds(Int.random(in: 5...250, using: &random)))
            process.killHard()
            _ = try await process.wait()
        }
        _ = try await pull()
        try await expect(new)
    }

    /// Faults of the network while samples are fetched.
    @Test func faultsOnTheWay() async throws {
        try repository.write("model.safetensors", file(seeds))
        _ = try await pull()
        var changed = seeds
        changed[5] = 5000
        let new = file(changed)
        try repository.write("model.safetensors", new)
        stage.hub.fail("^GET", .status(403), times: 3, on: .cdn)
        _ = try await pull()
        try await expect(new)
    }
}
