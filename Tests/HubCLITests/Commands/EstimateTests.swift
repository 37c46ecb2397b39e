import Catalog
import HubCore
import HubServer
import Support
import Testing

@testable import HubCLI

/// `hub pull --estimate`: bytes, disk, memory and time, and what each rests on.
@Suite struct EstimateTests {
    let stage: Stage

    init() throws {
        stage = try Stage { root in
            for (id, seed) in [("org/a", UInt64(1)), ("org/b", 1), ("org/c", 2)] {
                let repository = try ModelRepository(id, in: root)
                try repository.random("model.safetensors", size: 400_000, seed: seed)
                try repository.write("config.json", "{}")
            }
        }
    }

    private func estimate(_ words: String..., with variables: [String: String] = [:]) async throws -> JSONObject {
        let result = try await RunningProcess.run(
            BuiltProduct.path(), ["pull", "--estimate", "--json"] + words,
            environment: stage.environment.merging(variables) { $1 })
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
        let document = try result.document()
        document.expectKeys(
            """
            models download_bytes disk_free_bytes disk_after_bytes fits memory_bytes estimated_seconds estimated_from
            """)
        return document
    }

    /// Content of the same SHA-256 comes once; git's regular files are each repository's own.
    @Test func contentThatSeveralModelsShareCountsOnceInTheSum() async throws {
        let document = try await estimate("org/a", "org/b", "org/c")
        #expect(document.objects("models").map { $0["download_bytes"]?.int } == [400_002, 400_002, 400_002])
        #expect(document["download_bytes"]?.int == 800_006)
        let free = try #require(document["disk_free_bytes"]?.int)
        #expect(document["disk_after_bytes"]?.int == free - 800_006)
        let text = try await stage.run("pull", "--estimate", "org/a", "org/b", "org/c")
        #expect(text.output.contains("\n  to fetch    800 kB in all\n"))
        // hf's name of the flag.
        let dry = try await stage.run("pull", "--dry-run", "org/a", "org/b", "org/c")
        #expect(dry.status == 0 && dry.error.isEmpty && dry.output.contains("\n  to fetch    800 kB in all\n"))
        let results = try await stage.run("pull", "org/a", "org/b", "org/c", "--json").document().objects("models")
        #expect(results.reduce(0) { $0 + ($1["downloaded_bytes"]?.int ?? 0) } == 800_006)
    }

    @Test func whatOtherRepositoriesHoldIsNotFetched() async throws {
        #expect(try await stage.run("pull", "org/a").status == 0)
        let document = try await estimate("org/b")
        let model = document.objects("models")[0]
        #expect(model["reusable_bytes"]?.int == 400_000 && model["download_bytes"]?.int == 2)
        #expect(model.objects("files").map { $0["status"]?.string } == ["missing", "reusable"])
        let text = try await stage.run("pull", "--estimate", "org/b")
        #expect(text.output.contains("\n  reusable    400 kB that other repositories hold\n  to fetch    2 B\n"))
    }

    @Test func whatAnInterruptedPullBroughtIsNotFetchedAgain() async throws {
        let gate = stage.hub.hold("model.safetensors", after: 150_000, on: .cdn)
        let process = try stage.start("pull", "org/c", "--connections", "1")
        try await gate.reached()
        try await process.wait(forText: "37% of 400 kB")
        process.interrupt()
        #expect(try await process.wait().status == 130)
        gate.release()
        let model = try await estimate("org/c").objects("models")[0]
        let partial = try #require(model["partial_bytes"]?.int)
        let cached = try #require(model["cached_bytes"]?.int)
        #expect((1...150_000).contains(partial))
        #expect(model["download_bytes"]?.int == 400_002 - partial - cached)
        #expect(try await stage.run("pull", "--estimate", "org/c").output.contains("from an earlier pull\n"))
    }

    @Test func timeByTheRateOfEarlierPulls() async throws {
        let unknown = try await stage.run("pull", "--estimate", "org/a")
        #expect(
            unknown.output.contains(
                "\n  time        unknown: nothing large was pulled from \(stage.hub.endpoint) yet\n"))
        let catalog = try Catalog(path: stage.catalog)
        try catalog.remember(bytes: 1_000_000, seconds: 4, origin: stage.hub.endpoint, at: 1)
        try catalog.remember(bytes: 1_000_000, seconds: 16, origin: stage.hub.endpoint, at: 2)
        try catalog.remember(bytes: 1_000_000_000, seconds: 1, origin: "https://another.example", at: 3)
        let document = try await estimate("org/a")
        #expect(document["estimated_seconds"]?.double == 4.00002)
        #expect(document["estimated_from"]?.string == "2 earlier pulls")
        let text = try await stage.run("pull", "--estimate", "org/a")
        #expect(text.output.hasSuffix("\n  time        4.0 s at 100 kB/s, the rate of the last 2 pulls\n"))
    }

    // MARK: Memory

    @Test func memoryByTheWeightsAlone() async throws {
        #expect(try await estimate("org/a")["memory_bytes"]?.int == 480_000)
        let text = try await stage.run("pull", "--estimate", "org/a")
        #expect(
            text.output.firstMatch(
                of: /\n\ \ memory      needs about 480 kB \(weights \+ 20%\); this machine has [\d.]+ GB\n/) != nil)
        #expect(try await estimate("org/a:config.json")["memory_bytes"] == nil)
    }

    /// If config.json is cached; it is not fetched for this, because the Hub counts that as a download.
    @Test func memoryByTheCachedConfiguration() async throws {
        let tiny = try ModelRepository("org/tiny", in: stage.root)
        for name in ["config.json", "model.safetensors"] {
            try tiny.write(name, Fixtures.bytes("tiny-shakespeare/\(name)"))
        }
        let weights = Int64(try Fixtures.bytes("tiny-shakespeare/model.safetensors").count)
        #expect(try await estimate("org/tiny")["memory_bytes"]?.int == weights + weights / 5)
        #expect(stage.hub.requests("resolve").isEmpty)
        #expect(try await stage.run("pull", "org/tiny:config.json").status == 0)
        // 512 positions of 1,024 bytes; nine norms as float32; 256 rows of 1,824 numbers, and as they are multiplied, 16
        // blocks of 252 bytes; 16 rows of logits.
        let rows: Int64 = 256 * (1824 * 4 + 16 * 252) + 16 * 1024 * 4
        #expect(
            try await estimate("org/tiny", "--format", "all")["memory_bytes"]?.int == weights + 512 * 1024 + 9
                * 128 * 4 + rows)
        let text = try await stage.run("pull", "--estimate", "org/tiny", "--format", "all")
        #expect(text.output.contains("(weights + a 512-token context); this machine has "))
        #expect(
            try await stage.run("info", "org/tiny").output.contains(
                "(weights + a 512-token context); this machine has "))
    }

    @Test func memoryOfTheSetThatWasChosen() async throws {
        let many = try ModelRepository("org/many", in: stage.root)
        try many.random("many-Q4_K_M.gguf", size: 100_000)
        try many.random("many-Q8_0.gguf", size: 200_000)
        #expect(try await estimate("org/many")["memory_bytes"]?.int == 240_000)
        #expect(try await estimate("org/many", "--quant", "Q4_K_M")["memory_bytes"]?.int == 120_000)
        let all = try await stage.run("pull", "--estimate", "org/many")
        #expect(all.output.contains("\n  memory      Q8_0 needs about 240 kB "))
        // Of several models the one that takes most.
        let several = try await stage.run("pull", "--estimate", "org/many", "org/a")
        #expect(several.output.contains("\n  memory      org/a needs about 480 kB "))
    }

    // MARK: Without access

    @Test func ofAGatedModelItSaysWhatIsKnownAndThatAccessIsNeeded() async throws {
        let gated = try ModelRepository("org/gated", in: stage.root)
        try gated.random("model.safetensors", size: 3000)
        try gated.card(["gated": "manual"])
        let result = try await stage.run("pull", "--estimate", "org/gated")
        #expect(result.status == 4 && result.output.contains("  to fetch    3.0 kB\n"))
        #expect(
            result.error == """
                hub: org/gated is gated: its owner grants access
                     ask for access at \(stage.hub.endpoint)/org/gated, and give hub a token: hub auth login, or set HF_TOKEN

                """)
        let json = try await stage.run("pull", "--estimate", "org/gated", "--json")
        #expect(try json.errorCode() == "gated" && json.document()["download_bytes"]?.int == 3000)
        let allowed = try await stage.run("pull", "--estimate", "org/gated", with: ["HF_TOKEN": "hf_loopback"])
        #expect(allowed.status == 0 && allowed.error.isEmpty)
        #expect(!FileSystem.exists(stage.cache))
    }

    // MARK: Too much

    private func serveHuge() {
        let digest = String(repeating: "a", count: 64)
        let oid = String(repeating: "b", count: 40)
        let size = 1 << 50
        stage.hub.fail(
            "/tree/",
            .status(
                200, headers: ["Content-Type": "application/json"],
                body: """
                    [{"type":"file","path":"model.safetensors","oid":"\(oid)","size":\(size),
                      "lfs":{"oid":"\(digest)","size":\(size),"pointerSize":134}}]
                    """), times: nil)
    }

    @Test func whatFitsNowhereIsSaidSo() async throws {
        serveHuge()
        let document = try await estimate("org/a")
        #expect(document["fits"]?.bool == false && document["download_bytes"]?.int == 1 << 50)
        #expect(try #require(document["disk_after_bytes"]?.int) < 0)
        let text = try await stage.run("pull", "--estimate", "org/a")
        #expect(text.status == 0)
        #expect(text.output.firstMatch(of: /\n  disk        .* free, .* PB more needed\n/) != nil)
        #expect(text.output.contains("\n  memory      needs about 1.4 PB (weights + 20%); this machine has "))
        let info = try await stage.run("info", "org/a")
        #expect(info.output.contains("\nsafetensors      1  1.1 PB  no, needs 1.4 PB\n"))
        #expect(info.output.contains("  to fetch    1.1 PB, does not fit on the disk: "))
        #expect(!FileSystem.exists(stage.cache))
    }

    @Test(arguments: [40, 80, 200])
    func noLineIsWiderThanTheTerminal(columns: Int) async throws {
        let process = try stage.start(
            "pull", "--estimate", "org/a", "org/b", "--color", "never",
            terminal: .init(columns: UInt16(columns), rows: 24))
        let result = try await process.wait()
        #expect(result.status == 0)
        let lines = result.terminal.split(whereSeparator: \.isNewline).map(String.init)
        #expect(lines.count >= 10)
        for line in lines { #expect(DisplayWidth.of(line) <= columns, "\(line)") }
        if columns == 40 { #expect(lines.contains { $0.hasPrefix("              ") }) }
    }
}
