import HubCore
import Support
import Testing

@Suite struct LinkCommandTests {
    let stage: Stage
    let stores: ForeignStores
    private static let small = GGUFBytes("llama", ["block_count": 1], tensors: [("a.weight", [8, 32])]).bytes
    private static let large = GGUFBytes("llama", ["block_count": 1], tensors: [("a.weight", [16, 32])]).bytes

    init() throws {
        stage = try Stage { root in
            let model = try ModelRepository("org/one-GGUF", in: root)
            try model.write("one-Q4_K_M.gguf", Self.small)
            try model.write("one-Q8_0.gguf", Self.large)
            try model.write("template", Array("{{ .Prompt }}".utf8))
            try model.write("params", Array(#"{"temperature":0.6}"#.utf8))
            let split = try ModelRepository("org/split-GGUF", in: root)
            try split.write("s-Q4_0-00001-of-00002.gguf", Self.small)
            try split.write("s-Q4_0-00002-of-00002.gguf", Self.large)
        }
        stores = ForeignStores(home: stage.machine("home"))
    }

    private func pull() async throws {
        #expect(try await stage.run("pull", "org/one-GGUF").status == 0)
        // A store that ollama has made.
        try stores.addOllama("registry.ollama.ai/library/other/latest", ForeignStores.weights(1))
    }

    @Test func ollamaFindsAManifestAndItsBlobs() async throws {
        try await pull()
        let result = try await stage.run("cache", "link", "ollama", "org/one-GGUF", "--quant", "Q4_K_M", "--json")
        #expect(result.status == 0, "\(result.error)")
        let document = try result.document()
        document.expectKeys("tool name path bytes action")
        #expect(document["name"]?.string == "hub/org-one-GGUF:Q4_K_M")
        let path = Path.join(stores.ollama, "manifests/registry.ollama.ai/hub/org-one-GGUF/Q4_K_M")
        let bytes = try #require(try FileSystem.contents(path))
        let manifest = try #require(JSON.parse(bytes).object)
        #expect(manifest["schemaVersion"]?.int == 2)
        let layers = manifest.objects("layers")
        let types = layers.compactMap { $0["mediaType"]?.string?.split(separator: ".").last.map(String.init) }
        #expect(types == ["model", "template", "params"])
        for layer in layers + [try #require(manifest["config"]?.object)] {
            // In a file's name it is sha256-; in a manifest that would make ollama delete the blob.
            let digest = try #require(layer["digest"]?.string)
            #expect(digest.hasPrefix("sha256:"))
            let blob = Path.join(stores.ollama, "blobs/sha256-\(digest.dropFirst(7))")
            let content = try #require(try FileSystem.contents(blob))
            #expect(ForeignStores.digest(content) == digest.dropFirst(7))
            #expect(Int64(content.count) == layer["size"]?.int)
        }
        // Only manifests at the fourth level, or ollama would show a model or stop cleaning.
        let names = try stage.listing(Path.join(stores.ollama, "manifests")).filter {
            $0.split(separator: "/").count == 4
        }
        #expect(names == ["registry.ollama.ai/hub/org-one-GGUF/Q4_K_M", "registry.ollama.ai/library/other/latest"])
        let blobs = try stage.listing(Path.join(stores.ollama, "blobs"))
        #expect(blobs.allSatisfy { $0.hasPrefix("sha256-") && $0.utf8.count == 71 }, "\(blobs)")
        // The same again changes nothing; another model under the name is refused.
        #expect(
            try await stage.run("cache", "link", "ollama", "org/one-GGUF", "--quant", "Q4_K_M").output
                == "hub/org-one-GGUF:Q4_K_M\n")
        let taken = try await stage.run(
            "cache", "link", "ollama", "org/one-GGUF:*Q8_0*", "--name", "hub/org-one-GGUF:Q4_K_M")
        #expect(taken.status == 2 && taken.error.contains("ollama has another model named"))
        #expect(try FileSystem.contents(path) == bytes)
    }

    /// What another program still uses is said, and its bytes are not counted.
    @Test func deletingFromTheCacheLeavesTheOtherName() async throws {
        try await pull()
        #expect(try await stage.run("cache", "link", "ollama", "org/one-GGUF:q8_0").status == 0)
        let blob = Path.join(stores.ollama, "blobs/sha256-\(ForeignStores.digest(Self.large))")
        let dry = try await stage.run("rm", "org/one-GGUF", "--dry-run")
        #expect(dry.error.contains("stay on the disk: \(blob)"), "\(dry.error)")
        let result = try await stage.run("rm", "org/one-GGUF", "--yes", "--json")
        let freed = try #require(try result.document()["freed_bytes"]?.int)
        let status = try #require(try FileSystem.status(blob))
        #expect(status.links == 1)
        if dry.error.contains("is the same file") {
            #expect(freed < Int64(Self.large.count) + Int64(Self.small.count))
        }
        #expect(try FileSystem.contents(blob) == Self.large)
    }

    /// A link to another disk would break.
    @Test func linksOfOtherProgramsAreSaidToo() async throws {
        try await pull()
        let blob = Path.join(stage.cache, "models--org--one-GGUF/blobs/\(ForeignStores.digest(Self.small))")
        let folder = Path.join(stores.lmStudio, "org/one-GGUF")
        try FileSystem.createDirectories(folder)
        try FileSystem.createSymlink(blob, at: Path.join(folder, "one-Q4_K_M.gguf"))
        try FileSystem.createDirectories(stores.llamaCpp)
        #expect(try await stage.run("cache", "link", "llama.cpp", "org/one-GGUF", "--quant", "Q8_0").status == 0)
        let dry = try await stage.run("rm", "org/one-GGUF", "--dry-run").error
        #expect(dry.contains("\(folder)/one-Q4_K_M.gguf is a link to what is deleted, and breaks"), "\(dry)")
        #expect(dry.contains("stay on the disk: \(stores.llamaCpp)/org_one-GGUF_one-Q8_0.gguf"), "\(dry)")
    }

    /// What has the name, if only a link that leads nowhere, is its user's.
    @Test func aNameThatIsTakenIsLeftAlone() async throws {
        try await pull()
        let folder = Path.join(stores.lmStudio, "org/one-GGUF")
        try FileSystem.createDirectories(folder)
        let path = Path.join(folder, "one-Q4_K_M.gguf")
        try FileSystem.createSymlink("/nowhere/m.gguf", at: path)
        let taken = try await stage.run("cache", "link", "lmstudio", "org/one-GGUF", "--quant", "Q4_K_M")
        #expect(taken.status == 7 && taken.error.contains("is there already"), "\(taken.error)")
        #expect(FileSystem.linkText(path) == "/nowhere/m.gguf")
        #expect(try stage.listing(stores.lmStudio) == ["org", "org/one-GGUF", "org/one-GGUF/one-Q4_K_M.gguf"])
    }

    @Test func lmStudioAndLlamaCpp() async throws {
        try await pull()
        let absent = try await stage.run("cache", "link", "lmstudio", "org/one-GGUF", "--quant", "Q4_K_M")
        #expect(absent.status == 3 && absent.error.contains("LM Studio has no folder"))
        // An older home would be made the home.
        #expect(!FileSystem.exists(stage.machine("home/.cache/lm-studio")))
        try FileSystem.createDirectories(stores.lmStudio)
        let lmStudio = try await stage.run("cache", "link", "lmstudio", "org/one-GGUF", "--quant", "Q4_K_M")
        #expect(lmStudio.output == "org/one-GGUF\n")
        #expect(try FileSystem.contents(Path.join(stores.lmStudio, "org/one-GGUF/one-Q4_K_M.gguf")) == Self.small)
        try FileSystem.createDirectories(stores.llamaCpp)
        let path = Path.join(stores.llamaCpp, "org_one-GGUF_one-Q8_0.gguf")
        #expect(
            try await stage.run("cache", "link", "llama.cpp", "org/one-GGUF:one-Q8_0.gguf").output == "\(path)\n")
        #expect(try FileSystem.contents(path) == Self.large)
        // Other content under the name stays.
        try FileSystem.replace(path, with: Self.small)
        let taken = try await stage.run("cache", "link", "llama.cpp", "org/one-GGUF:one-Q8_0.gguf")
        #expect(taken.status == 7 && taken.error.contains("is there already, with other content"))
    }

    @Test func whatCannotBeLinkedIsRefused() async throws {
        try await pull()
        let several = try await stage.run("cache", "link", "ollama", "org/one-GGUF")
        #expect(several.status == 2 && several.error.contains("choose one of Q4_K_M, Q8_0"), "\(several.error)")
        #expect(try await stage.run("pull", "org/split-GGUF").status == 0)
        let split = try await stage.run("cache", "link", "ollama", "org/split-GGUF")
        #expect(split.status == 7 && split.error.contains("split into 2 files"), "\(split.error)")
        let name = try await stage.run(
            "cache", "link", "ollama", "org/one-GGUF", "--quant", "Q8_0", "--name", "a.b/model:tag")
        #expect(name.status == 2 && name.error.contains("its namespace"))
        #expect(try await stage.run("cache", "link", "ollama", "org/absent").status == 3)
        // A file that is not there is not one of the wrong format.
        for name in ["nofile.gguf", "*.foo"] {
            let none = try await stage.run("cache", "link", "ollama", "org/one-GGUF:\(name)")
            #expect(none.status == 3 && none.error.contains("no cached file matches"), "\(none.error)")
        }
        let program = try await stage.run("cache", "link", "olama", "org/one-GGUF")
        #expect(
            program.status == 2
                && program.error == """
                    hub: unknown program "olama"; did you mean ollama?
                         hub cache link takes ollama, lmstudio, llama.cpp

                    """,
            "\(program.error)")
        #expect(
            try await stage.run("cache", "link", "jan", "org/one-GGUF").error.contains("unknown program \"jan\"\n"))
        #expect(try await stage.run("cache", "link", "lmstudio", "org/one-GGUF", "--name", "x").status == 2)
        // Damaged content keeps its right name in the cache only.
        let blob = Path.join(
            stage.cache, "models--org--one-GGUF/blobs/\(ForeignStores.digest(Self.large))")
        try FileSystem.setMode(blob, 0o644)
        try FileDescriptor(blob, [.write]).write([1, 2, 3])
        let damaged = try await stage.run("cache", "link", "ollama", "org/one-GGUF", "--quant", "Q8_0")
        #expect(damaged.status == 7 && damaged.error.contains("is not what its name says"))
    }
}
