import HubCore
import Support
import Testing

@Suite struct WhyCommandTests {
    let stage: Stage
    let stores: ForeignStores
    let mebibyte: Int64 = 1 << 20

    init() throws {
        stage = try Stage()
        stores = ForeignStores(home: stage.machine("home"))
    }

    /// Puts weights into the cache as a pull does.
    private func plant(_ folder: String, _ file: String, _ weights: [UInt8]) throws {
        let place = Path.join(stage.cache, folder)
        let snapshot = try stage.plant(folder, commit: commit("1"), files: ["config.json": "{}"])
        let digest = ForeignStores.digest(weights)
        try FileSystem.replace(Path.join(place, "blobs/\(digest)"), with: weights)
        try FileSystem.createSymlink("../../blobs/\(digest)", at: Path.join(snapshot, file))
    }

    private func why(_ words: String...) async throws -> JSONObject {
        let result = try await stage.run(["cache", "du"] + words + ["--json"])
        #expect(result.status == 0, "\(result.error)")
        return try result.document()
    }

    private func model(_ id: String, in document: JSONObject) throws -> JSONObject {
        try #require(document.objects("models").first { $0["id"]?.string == id }, "\(document)")
    }

    @Test func nothingIsThere() async throws {
        #expect(try await stage.run("cache", "du").output == "no store of models was found\n")
        let document = try await why()
        document.expectKeys("stores models duplicate_bytes suggestions")
        #expect(document.objects("stores").isEmpty && document["duplicate_bytes"]?.int == 0)
    }

    @Test func everyProgramsModels() async throws {
        let shared = ForeignStores.weights(1)
        try plant("models--org--shared-GGUF", "shared-Q4_K_M.gguf", shared)
        try stores.addOllama("hf.co/org/shared-GGUF/Q4_K_M", shared, params: #"{"temperature":0.6}"#)
        try stores.addOllama("registry.ollama.ai/library/llama3.2/1b", ForeignStores.weights(2))
        try stores.addLMStudio("org/shared-GGUF", "shared-Q4_K_M.gguf", shared)
        try stores.addLlamaCpp("other", "one", "one.gguf", ForeignStores.weights(3))
        try stores.addJan("mine", ForeignStores.weights(4))
        let document = try await why()
        let tools = document.objects("stores").compactMap { $0["tool"]?.string }
        #expect(tools == ["huggingface", "ollama", "lmstudio", "llama.cpp", "jan"])
        document.objects("stores").forEach { $0.expectKeys("tool path bytes models") }
        document.objects("suggestions").forEach { $0.expectKeys("command frees_bytes reason last_used_at") }
        let one = try model("org/shared-GGUF", in: document)
        one.expectKeys("id bytes stores duplicate_bytes")
        #expect(one.strings("stores") == ["huggingface", "ollama", "lmstudio"])
        #expect(one["duplicate_bytes"]?.int == 2 * mebibyte)
        #expect(try #require(one["bytes"]?.int) >= 3 * mebibyte)
        #expect(document["duplicate_bytes"]?.int == 2 * mebibyte)
        #expect(try model("llama3.2:1b", in: document).strings("stores") == ["ollama"])
        #expect(try model("other/one", in: document).strings("stores") == ["llama.cpp"])
        #expect(try model("mine", in: document)["bytes"]?.int ?? 0 >= mebibyte)
        let text = try await stage.run("cache", "du").output
        #expect(text.contains("2.1 MB are held more than once"))
        #expect(text.contains("hub rm org/shared-GGUF"))
        #expect(stage.hub.requests.isEmpty)
    }

    /// The order was by nothing that was shown, and narrow terminals cut the commands.
    @Test func eachSuggestionSaysWhyAndIsWhole() async throws {
        let name = "org/a-model-with-a-name-of-some-length-GGUF"
        try plant("models--\(name.replacing("/", with: "--"))", "a.gguf", ForeignStores.weights(1))
        try stores.addOllama("registry.ollama.ai/library/a/latest", ForeignStores.weights(1))
        let lines = try await why().objects("suggestions")
        #expect(lines.map { $0["command"]?.string } == ["hub cache adopt", "hub rm \(name)"])
        #expect(lines.map { $0["reason"]?.string } == ["copies become one", "least recently used"])
        #expect(lines.map { $0["last_used_at"] != nil } == [false, true])
        let text = try await stage.run("cache", "du").output
        #expect(settled(text).contains("COMMAND  FREES  USED  WHY\n"), "\(text)")
        #expect(settled(text).contains("hub rm \(name)  1.0 MB  AGE  least recently used\n"), "\(text)")
        let narrow = try await stage.run("cache", "du", terminal: .init(columns: 40)).terminal
        #expect(narrow.contains("hub rm \(name)"), "\(narrow)")
    }

    /// It was a second "huggingface" of no models.
    @Test func aFolderOfOnesOwnIsCalledSo() async throws {
        let stage = try Stage.withModel()
        #expect(try await stage.run("pull", "org/tiny", "--local-dir", "own").status == 0)
        #expect(try await stage.run("pull", "org/tiny").status == 0)
        let lines = try await stage.run("cache", "du", "--json").document().objects("stores")
        #expect(lines.map { $0["part"]?.string } == [nil, "folder"])
        let row = try #require(try await stage.run("cache", "du").lines.first { $0.hasPrefix("folder ") })
        #expect(row.hasSuffix(stage.machine("own")))
    }

    /// Programs make links of their own, and unfinished downloads have their full size at once.
    @Test func linksCountOnceAndSparseFilesAsTheyAre() async throws {
        let path = try stores.addOllama("registry.ollama.ai/library/a/latest", ForeignStores.weights(1))
        try FileSystem.createDirectories(Path.join(stores.lmStudio, "x/y"))
        try FileSystem.createHardLink(path, at: Path.join(stores.lmStudio, "x/y/a.gguf"))
        try stores.addOllamaPartial(String(repeating: "a", count: 64), size: 1 << 34)
        let document = try await why()
        let bytes = document.objects("stores").compactMap { $0["bytes"]?.int }
        #expect(bytes[0] < 2 * mebibyte && bytes[1] == 0)
        #expect(document["duplicate_bytes"]?.int == 0)
    }

    @Test func looseFilesOfFolders() async throws {
        let folder = stage.machine("weights")
        let weights = ForeignStores.weights(5)
        for name in ["a.gguf", "b/c/model.safetensors", "notes.bin"] {
            try FileSystem.createDirectories(Path.parent(Path.join(folder, name)))
            try FileSystem.replace(Path.join(folder, name), with: weights)
        }
        let document = try await why(folder)
        #expect(document.objects("stores").compactMap { $0["bytes"]?.int } == [2 * mebibyte])
        #expect(document["duplicate_bytes"]?.int == mebibyte)
        #expect(try await stage.run("cache", "du", "./nowhere").status == 3)
        let program = try await stage.run("cache", "du", "ollama")
        #expect(program.status == 3 && program.error.contains("every program's store is looked at"))
        // A folder around other stores counts only what is not theirs.
        try stores.addLMStudio("x/y", "z.gguf", weights)
        let all = try await why(stage.machine.path)
        #expect(all.objects("stores").compactMap { $0["bytes"]?.int } == [mebibyte, 2 * mebibyte])
    }

    /// What was seen is remembered, and what has changed since is seen.
    @Test func aSecondLookSeesWhatIsNew() async throws {
        try stores.addLMStudio("x/y", "a.gguf", ForeignStores.weights(1))
        #expect(try await why().objects("models").count == 1)
        try stores.addLMStudio("x/z", "b.gguf", ForeignStores.weights(1))
        let second = try await why()
        #expect(second.objects("models").count == 2 && second["duplicate_bytes"]?.int == mebibyte)
        // Written in place, with another content of the same size: no longer a copy.
        let file = try FileDescriptor(Path.join(stores.lmStudio, "x/z/b.gguf"), [.write])
        try file.write(ForeignStores.weights(2))
        #expect(try await why()["duplicate_bytes"]?.int == 0)
        try FileSystem.remove(Path.join(stores.lmStudio, "x/z/b.gguf"))
        #expect(try await why().objects("models").count == 1)
    }

    /// LM Studio's home moves if a folder appears at its older place.
    @Test func nothingIsCreated() async throws {
        _ = try await why()
        #expect(try stage.listing(stage.machine("home")).isEmpty)
    }
}
