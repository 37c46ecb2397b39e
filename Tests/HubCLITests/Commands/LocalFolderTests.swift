import HubCore
import Support
import Testing

/// `hub pull --local-dir`: plain files, and Python's bookkeeping beside them.
@Suite struct LocalFolderTests {
    private let stage: Stage
    private let weights: [UInt8]

    init() throws {
        stage = try Stage()
        let repository = try ModelRepository("org/m", in: stage.root)
        try repository.write("config.json", "{}")
        try repository.write("sub/notes.txt", "some words\n")
        try repository.write("sub/again.txt", "some words\n")
        weights = try repository.random("w.safetensors", size: 300_000, seed: 3)
    }

    private var folder: String { stage.machine("model") }
    private func place(_ name: String) -> String { Path.join(folder, name) }
    private func note(_ name: String) -> String { place(".cache/huggingface/download/\(name).metadata") }

    private func pull(_ words: String...) async throws -> ProcessResult {
        try await RunningProcess.run(
            BuiltProduct.path(), ["pull", "org/m", "--local-dir", "model"] + words, environment: stage.environment,
            directory: stage.machine.path)
    }

    /// A name alone is a model's, even where a folder of that name is here.
    @Test func deletingByTheBareNameOfAFolderSaysHowToNameIt() async throws {
        #expect(try await pull().status == 0)
        let result = try await RunningProcess.run(
            BuiltProduct.path(), ["rm", "model", "--yes"], environment: stage.environment,
            directory: stage.machine.path)
        #expect(result.status == 3 && result.error.contains("hub rm ./model deletes it"), "\(result.error)")
        try expectWhole()
    }

    /// A file in the place of one of the model's, of which no pull knows: it belongs to the model, and differs.
    @Test func aFileThatNoPullHasPutThereIsHeldAgainstTheModel() async throws {
        #expect(try await pull().status == 0)
        try FileSystem.replace(place("config.json"), with: Array("{\"a\": 1}".utf8))
        try FileSystem.removeTree(place(".cache"))
        #expect(try await pull().status != 0, "it differs")
        try FileSystem.replace(place("mine.txt"), with: Array("mine".utf8))
        let result = try await stage.run("verify", folder)
        #expect(result.status == 1, "\(result.output)")
        #expect(result.output.contains("config.json: ") && !result.output.contains("config.json: does not belong"))
        #expect(result.output.contains("mine.txt: does not belong to the model"))
        #expect(result.output.contains("changed since it was fetched"))
        try FileSystem.replace(place("config.json"), with: Array("{}".utf8))
        #expect(try await stage.run("verify", folder).status == 0)
    }

    private func expectWhole() throws {
        #expect(try FileSystem.contents(place("w.safetensors")) == weights ? true : false)
        #expect(try FileSystem.text(place("sub/notes.txt")) == "some words\n")
        #expect(try FileSystem.text(place("sub/again.txt")) == "some words\n")
        #expect(try FileSystem.text(place("config.json")) == "{}")
        for name in ["w.safetensors", "config.json"] {
            #expect(
                try FileSystem.linkStatus(place(name))?.kind == .file
                    && FileSystem.linkStatus(place(name))?.links == 1)
        }
    }

    @Test func theFilesLieInTheFolderWithTheirNotesBesideThem() async throws {
        let result = try await pull("-q")
        #expect(result.status == 0, "\(result.error)")
        #expect(result.output == folder + "\n")
        try expectWhole()
        let commit = try #require(stage.hub.requests("/tree/").first?.path.split(separator: "/").last)
        let names = ["config.json", "sub/again.txt", "sub/notes.txt", "w.safetensors"]
        let digest = ContentHasher.digest(of: weights, like: .sha256("")).hex
        let lines = try #require(try FileSystem.text(note("w.safetensors"))).split(separator: "\n")
        #expect(lines.count == 3 && lines[0] == commit && lines[1] == digest)
        let time = try #require(Double(lines[2]))
        let status = try #require(try FileSystem.status(place("w.safetensors")))
        #expect(status.modified - 1 <= time)
        #expect(
            try stage.listing(place(".cache/huggingface")).filter { !$0.hasSuffix("/") } == [
                ".gitignore", "CACHEDIR.TAG", "download", "download/config.json.lock",
                "download/config.json.metadata",
                "download/sub", "download/sub/again.txt.lock", "download/sub/again.txt.metadata",
                "download/sub/notes.txt.lock", "download/sub/notes.txt.metadata", "download/w.safetensors.lock",
                "download/w.safetensors.metadata", "trees", "trees/\(commit).json",
            ])
        #expect(try FileSystem.text(place(".cache/huggingface/.gitignore")) == "*")
        #expect(names.allSatisfy { FileSystem.exists(note($0)) })
        // The cache is not concerned.
        #expect(!FileSystem.exists(stage.cache))
    }

    @Test func aSecondPullAsksForNothing() async throws {
        #expect(try await pull().status == 0)
        let before = stage.hub.requests.count
        let again = try await pull("--json").document().objects("models")[0]
        #expect(again.objects("files").allSatisfy { $0["status"]?.string == "cached" })
        #expect(stage.hub.requests.count == before + 1)
    }

    /// Notes that are gone, or older than the file, are no reason to fetch what is right.
    @Test func whatIsThereAndRightIsProvenAndKept() async throws {
        #expect(try await pull().status == 0)
        let inode = try FileSystem.status(place("w.safetensors"))?.inode
        try FileSystem.remove(note("w.safetensors"))
        try FileSystem.setTimes(place("config.json"), accessed: 4e9, modified: 4e9)
        let before = stage.hub.requests.count
        let result = try await pull()
        #expect(result.status == 0, "\(result.error)")
        #expect(stage.hub.requests.dropFirst(before).allSatisfy { !$0.path.contains("resolve") })
        #expect(try FileSystem.status(place("w.safetensors"))?.inode == inode)
        #expect(FileSystem.exists(note("w.safetensors")))
        try expectWhole()
    }

    @Test(arguments: ["other bytes of another length", "xx"])
    func whatSomebodyChangedIsOnlyReplacedByForce(_ text: String) async throws {
        #expect(try await pull().status == 0)
        try FileSystem.replace(place("config.json"), with: Array(text.utf8))
        try FileSystem.setTimes(place("config.json"), accessed: 4e9, modified: 4e9)
        let refused = try await pull()
        #expect(refused.status == 7)
        #expect(
            refused.error.contains(
                "hub: \(place("config.json")) was changed since it was fetched, or is not from the Hub\n"))
        #expect(refused.error.contains("--force"))
        #expect(try await pull("--json").document().objects("models")[0].objects("files").count == 4)
        #expect(try FileSystem.text(place("config.json")) == text)
        // Correct files are unchanged.
        let inode = try FileSystem.status(place("w.safetensors"))?.inode
        let before = stage.hub.requests("/resolve/").count
        let forced = try await pull("--force", "--json")
        #expect(forced.status == 0, "\(forced.error)")
        let model = try forced.document().objects("models")[0]
        #expect(model["downloaded_bytes"]?.int == 2 && model.objects("files").count == 4)
        #expect(stage.hub.requests("/resolve/").dropFirst(before).allSatisfy { $0.path.hasSuffix("config.json") })
        #expect(try FileSystem.status(place("w.safetensors"))?.inode == inode)
        try expectWhole()
    }

    @Test func whatForceReplacesIsCopiedFromTheCache() async throws {
        #expect(try await stage.run("pull", "org/m").status == 0)
        #expect(try await pull().status == 0)
        try FileSystem.replace(place("config.json"), with: Array("xx".utf8))
        try FileSystem.replace(place("sub/notes.txt"), with: Array("longer than before\n".utf8))
        for name in ["config.json", "sub/notes.txt"] {
            try FileSystem.setTimes(place(name), accessed: 4e9, modified: 4e9)
        }
        let before = stage.hub.requests("/resolve/").count
        let forced = try await pull("--force")
        #expect(forced.status == 0, "\(forced.error)")
        #expect(stage.hub.requests("/resolve/").count == before)
        try expectWhole()
    }

    /// In a copy of the folder every inode is new: what is there is proven once, and noted.
    @Test func aCopiedFolderIsProvenOnceAndNotFetchedAgain() async throws {
        #expect(try await pull().status == 0)
        let lines = try #require(try FileSystem.text(note("w.safetensors"))).split(separator: "\n")
        let past = try #require(Double(lines[2])) - 100
        try FileSystem.setTimes(place("w.safetensors"), accessed: past, modified: past)
        try FileSystem.replace(note("w.safetensors"), with: Array("\(lines[0])\n\(lines[1])\n\(past)\n".utf8))
        let before = stage.hub.requests("^GET", on: .cdn).count
        #expect(try await pull().status == 0)
        #expect(stage.hub.requests("^GET", on: .cdn).count == before)
        let again = try #require(try FileSystem.text(note("w.safetensors"))).split(separator: "\n")
        #expect(try #require(Double(again[2])) > past + 50)
        try expectWhole()
    }

    /// A file that a pull left, and that the Hub has changed since, is what a pull is for.
    @Test func anUpdateReplacesWhatAPullLeft() async throws {
        #expect(try await pull().status == 0)
        try ModelRepository("org/m", in: stage.root).write("sub/notes.txt", "other words\n")
        let before = stage.hub.requests.count
        let result = try await pull()
        #expect(result.status == 0, "\(result.error)")
        #expect(try FileSystem.text(place("sub/notes.txt")) == "other words\n")
        #expect(try FileSystem.text(place("sub/again.txt")) == "some words\n")
        #expect(stage.hub.requests.dropFirst(before).allSatisfy { !$0.path.contains("safetensors") })
    }

    /// A separate copy: changes in the folder must never change the cache.
    @Test func whatTheCacheHoldsIsCopied() async throws {
        #expect(try await stage.run("pull", "org/m").status == 0)
        let before = stage.hub.requests.count
        let result = try await pull()
        #expect(result.status == 0, "\(result.error)")
        #expect(stage.hub.requests.dropFirst(before).allSatisfy { !$0.path.contains("resolve") })
        try expectWhole()
    }

    @Test func aKilledPullGoesOn() async throws {
        let big = try ModelRepository("org/m", in: stage.root).random("big.safetensors", size: 40 << 20, seed: 9)
        stage.hub.fail("^GET .*big", .delay(seconds: 0), times: 7, on: .cdn)
        let gate = stage.hub.hold("^GET .*big", after: 1_000_000, times: nil, on: .cdn)
        let first = try stage.start("pull", "org/m", "--local-dir", "model")
        try await gate.reached()
        try await eventually("a map") {
            try stage.listing(place(".cache/huggingface/download")).contains { $0.hasSuffix(".hub.map.incomplete") }
        }
        first.killHard()
        _ = try await first.wait()
        #expect(!FileSystem.exists(place("big.safetensors")))
        stage.hub.clearFaults()
        gate.release()
        let before = stage.hub.requests.count
        #expect(try await pull().status == 0)
        #expect(try FileSystem.contents(place("big.safetensors"), limit: 1 << 30) == big ? true : false)
        let again = stage.hub.requests.dropFirst(before).filter { $0.listener == .cdn && $0.path.contains("big") }
        #expect(again.reduce(0) { $0 + $1.bytesSent } < 40 << 20)
        #expect(try stage.listing(folder).filter { $0.hasSuffix(".incomplete") } == [])
    }

    /// Within the same second, and of the same size: only the full timestamps show that it was changed.
    @Test(arguments: ["{\"e\":1}\n", "[]"]) func anEditRightAfterThePullStays(text: String) async throws {
        #expect(try await pull("-q").status == 0)
        try FileSystem.replace(place("config.json"), with: Array(text.utf8))
        let repaired = try await stage.run("verify", folder, "--repair", "--full")
        #expect(repaired.status == 1, "\(repaired.output)\(repaired.error)")
        #expect(repaired.error.contains("--local-dir \(folder) --force replaces them"), "\(repaired.error)")
        #expect(try FileSystem.text(place("config.json")) == text)
        let refused = try await pull()
        #expect(refused.status == 7 && refused.error.hasSuffix(" files are complete\n"), "\(refused.error)")
        _ = try await stage.run("rm", folder, "--yes")
        #expect(try FileSystem.text(place("config.json")) == text)
        let advice = try #require(repaired.error.firstMatch(of: /hub (pull org.*) replaces them/)).1
        #expect(try await stage.run(advice.split(separator: " ").map(String.init)).status == 0)
        #expect(try await stage.run("verify", folder).status == 0)
    }

    @Test func oneModelGoesIntoOneFolder() async throws {
        try ModelRepository("org/n", in: stage.root).write("config.json", "{}")
        let result = try await stage.run("pull", "org/m", "org/n", "--local-dir", "model")
        #expect(result.status == 2)
        #expect(result.error.contains("--local-dir takes the files of one model, not of 2"))
        #expect(!FileSystem.exists(folder))
    }

    @Test func anEstimateWritesNothing() async throws {
        let result = try await pull("--estimate", "--json").document()
        // What two files have in common is fetched once.
        #expect(result["download_bytes"]?.int == 300_013)
        #expect(!FileSystem.exists(folder))
    }
}
