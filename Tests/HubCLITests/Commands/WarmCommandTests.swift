import CPlatform
import Fetcher
import HubCore
import Libc
import Support
import Testing

@Suite struct WarmCommandTests {
    /// Takes a file out of memory; whether the file system does that: tmpfs has its files nowhere else.
    private func evict(_ path: String) throws -> Bool {
        let file = try FileDescriptor(path, [.write])
        try file.synchronizeData()
        #if os(Linux)
        posix_fadvise(file.raw, 0, 0, POSIX_FADV_DONTNEED)
        #endif
        return try PageCache.resident(file)?.isEmpty == true
    }

    private func residentBytes(_ path: String) throws -> Int64? {
        try PageCache.resident(FileDescriptor(path))?.count
    }

    @Test func afterwardsEverythingIsInMemory() async throws {
        let stage = try Stage()
        let text = String(repeating: "0123456789abcdef", count: 100_000)
        let snapshot = try stage.plant(
            "models--org--one", commit: commit("1"), files: ["model.safetensors": text, "config.json": "{}"])
        let weights = try #require(FileSystem.resolved(snapshot + "/model.safetensors"))
        let isEvicted = try evict(weights)
        let first = try await stage.run("cache", "warm", "org/one", "--wait", "--json").document()
        first.expectKeys("bytes already_bytes")
        #expect(first["bytes"]?.int == 1_600_002)
        if isEvicted { #expect(try #require(first["already_bytes"]?.int) <= 2) }
        #expect(try residentBytes(weights) == 1_600_000)
        let second = try await stage.run("cache", "warm", "org/one", "--wait", "--json").document()
        #expect(second["already_bytes"]?.int == 1_600_002)
        #expect(try await stage.run("cache", "warm", "org/one").output == "org/one: all 1.6 MB are in memory\n")
        #expect(stage.hub.requests.isEmpty)
    }

    @Test func someFilesAndFolders() async throws {
        let stage = try Stage()
        let snapshot = try stage.plant(
            "models--org--one", commit: commit("1"), files: ["a-Q4.gguf": "aaaa", "b-Q8.gguf": "bbbbbb"])
        #expect(try await stage.run("cache", "warm", "org/one:*Q8*", "--json").document()["bytes"]?.int == 6)
        #expect(try await stage.run("cache", "warm", snapshot, "--json").document()["bytes"]?.int == 10)
        let absent = try await stage.run("cache", "warm", "org/one:*Q5*")
        #expect(absent.status == 3 && absent.error.hasPrefix("hub: org/one:*Q5* has no files that match\n"))
        let model = try await stage.run("cache", "warm", "org/two")
        #expect(model.status == 3 && model.error.contains("     hub pull org/two downloads it\n"))
        #expect(try await stage.run("cache", "warm", "./nowhere").status == 3)
    }

    /// What describes the model comes first, training states never, and two names of one file once.
    @Test func theOrderIsTheLoaders() throws {
        let folder = try TemporaryFolder("warm")
        let names = [
            "b.safetensors", "a.safetensors", "config.json", "tokenizer.json", "optimizer.pt", "sub/c.gguf",
        ]
        try FileSystem.createDirectories(folder("sub"))
        for name in names { try FileSystem.replace(folder(name), with: Array(name.utf8)) }
        try FileSystem.createSymlink("a.safetensors", at: folder("z.safetensors"))
        try FileSystem.createSymlink(".", at: folder("loop"))
        let files = try Warming(folder: folder.path).files.map(\.name)
        #expect(files == ["config.json", "tokenizer.json", "a.safetensors", "b.safetensors", "sub/c.gguf"])
    }

    /// Linux calls every page of another's file present, so that nothing is known of it and it is read.
    @Test func othersFilesAreRead() async throws {
        guard let other = OtherUser(40_001, group: 40_001), try await other.canRun(BuiltProduct.path()) else {
            return
        }
        let folder = try TemporaryFolder("warm")
        try FileSystem.setMode(folder.path, 0o755)
        let weights = folder("model.gguf")
        try FileSystem.replace(weights, with: [UInt8](repeating: 7, count: 1 << 20))
        try FileSystem.setMode(weights, 0o644)
        try other.own(folder("home"))
        let words = other.words(try BuiltProduct.path(), ["cache", "warm", folder.path, "--wait", "--json"])
        let isEvicted = try evict(weights)
        let result = try await RunningProcess.run(
            words[0], Array(words.dropFirst()),
            environment: [
                "HOME": folder("home"), "HUB_HOME": folder("home/state"), "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            ])
        #expect(try result.document()["already_bytes"]?.int == 0, "\(result.error)")
        if isEvicted { #expect(try residentBytes(weights) == 1 << 20) }
    }
}
