import HubCore
import Support
import Testing

@Suite struct AdoptCommandTests {
    let stage: Stage
    let stores: ForeignStores
    let weights = ForeignStores.weights(1)
    let mebibyte: Int64 = 1 << 20

    init() throws {
        stage = try Stage { root in
            try ModelRepository("org/one-GGUF", in: root).write("one-Q4_K_M.gguf", ForeignStores.weights(1))
        }
        stores = ForeignStores(home: stage.machine("home"))
    }

    private func inode(_ path: String) throws -> UInt64 { try #require(try FileSystem.status(path)).inode }

    private func blob() throws -> String {
        Path.join(stage.cache, "models--org--one-GGUF/blobs/\(ForeignStores.digest(weights))")
    }

    @Test func aCopyInOllamaAndTheCacheBecomesOne() async throws {
        #expect(try await stage.run("pull", "org/one-GGUF").status == 0)
        let foreign = try stores.addOllama("registry.ollama.ai/library/one/latest", weights)
        let before = try FileSystem.contents(foreign)
        let dry = try await stage.run("cache", "adopt", "--dry-run", "--json")
        #expect(dry.status == 0, "\(dry.error)")
        let plan = try dry.document()
        plan.expectKeys("plan saved_bytes done")
        let rows = plan.objects("plan")
        #expect(rows.count == 1 && plan["saved_bytes"]?.int == mebibyte && plan["done"]?.bool == false)
        rows.first?.expectKeys("path target tool sha256 id commit file action saves_bytes")
        #expect(try rows.first?["target"]?.string == blob())
        #expect(rows.first?["path"]?.string == foreign && rows.first?["id"]?.string == "org/one-GGUF")
        #expect(rows.first?["file"]?.string == "one-Q4_K_M.gguf")
        #expect(try inode(foreign) != inode(blob()))
        // Without a yes nothing happens.
        let refused = try await stage.run("cache", "adopt")
        #expect(refused.status == 2 && refused.output.contains("1.0 MB would be saved"))
        #expect(try inode(foreign) != inode(blob()))
        let done = try await stage.run("cache", "adopt", "--yes", "--json")
        #expect(done.status == 0, "\(done.error)")
        #expect(try done.document()["saved_bytes"]?.int == mebibyte)
        #expect(try FileSystem.contents(foreign) == before)
        if rows.first?["action"]?.string == "hardlink" { #expect(try inode(foreign) == inode(blob())) }
        #expect(try await stage.run("verify", "org/one-GGUF", "--full").status == 0)
        let why = try await stage.run("cache", "du", "--json").document()
        #expect(why["duplicate_bytes"]?.int == 0)
        #expect(try await stage.run("cache", "adopt", "--json").document().objects("plan").isEmpty)
        // Undoing gives each its own again.
        #expect(try await stage.run("cache", "unadopt").status == 2)
        let undone = try await stage.run("cache", "unadopt", "--yes")
        #expect(undone.status == 0 && undone.lines.last?.hasPrefix("nothing is adopted any more; ") == true)
        #expect(try inode(foreign) != inode(blob()))
        #expect(try FileSystem.contents(foreign) == before && FileSystem.contents(blob()) == before)
        #expect(try await stage.run("cache", "unadopt", "--yes").output == "nothing is adopted\n")
    }

    @Test func twoProgramsFilesBecomeOneToo() async throws {
        let one = try stores.addOllama("registry.ollama.ai/library/one/latest", weights)
        let other = try stores.addLMStudio("org/one-GGUF", "one-Q4_K_M.gguf", weights)
        let done = try await stage.run("cache", "adopt", "--yes", "--json").document()
        #expect(done["saved_bytes"]?.int == mebibyte)
        let actions = done.objects("plan").compactMap { $0["action"]?.string }
        #expect(actions.last == "register" && actions.count == 2)
        if actions.first == "hardlink" { #expect(try inode(one) == inode(other)) }
        // The Hub was asked whose they are, and a pull takes the bytes from there.
        #expect(done.objects("plan").allSatisfy { $0["id"]?.string == "org/one-GGUF" })
        let pull = try await stage.run("pull", "org/one-GGUF", "--json").document()
        let model = try #require(pull.objects("models").first)
        #expect(model["downloaded_bytes"]?.int == 0 && model["reused_bytes"]?.int == mebibyte)
        #expect(!stage.hub.requests.contains { $0.path.hasSuffix(".gguf") })
        #expect(try FileSystem.contents(blob()) == weights)
    }

    /// What is registered is not planned again.
    @Test func aSecondLookFindsNothing() async throws {
        try stores.addOllama("registry.ollama.ai/library/one/latest", weights)
        #expect(try await stage.run("cache", "adopt", "--yes").status == 0)
        #expect(try await stage.run("cache", "adopt").output == "nothing to adopt was found\n")
    }

    /// Wrong bytes under a right name: both programs trust names, hub does not, and other copies are not held up.
    @Test func whatIsNotWhatItsNameSaysIsLeftAlone() async throws {
        #expect(try await stage.run("pull", "org/one-GGUF").status == 0)
        let foreign = try stores.addOllama("registry.ollama.ai/library/one/latest", weights)
        let wrong = ForeignStores.weights(2)
        try FileDescriptor(foreign, [.write]).write(wrong)
        let good = try stores.addLMStudio("org/one-GGUF", "one-Q4_K_M.gguf", weights)
        let result = try await stage.run("cache", "adopt", "--yes", "--json")
        #expect(result.status == 0 && result.error.contains("\(foreign) is left out"), "\(result.error)")
        #expect(try result.document().objects("plan").compactMap { $0["path"]?.string } == [good])
        #expect(try FileSystem.contents(blob()) == weights && FileSystem.contents(foreign) == wrong)
    }

    /// A claim that nothing can be held against is found wrong when the file is read.
    @Test func aWrongDigestIsSaid() async throws {
        let foreign = try stores.addOllama("registry.ollama.ai/library/one/latest", weights)
        try FileDescriptor(foreign, [.write]).write(ForeignStores.weights(2))
        let result = try await stage.run("cache", "adopt", "--yes", "--json")
        #expect(result.status == 7)
        #expect(try result.errorCode() == "digest_mismatch")
        #expect(try result.document()["done"]?.bool == false)
        #expect(try await stage.run("cache", "unadopt", "--yes").output == "nothing is adopted\n")
    }

    #if os(Linux)
    @Test func aFileThatCannotBeReadStopsNothing() async throws {
        #expect(try await stage.run("pull", "org/one-GGUF").status == 0)
        try stores.addLMStudio("org/one-GGUF", "one-Q4_K_M.gguf", weights)
        let folder = stage.machine("weights")
        try FileSystem.createDirectories(folder)
        // A name that is no text.
        let shell = try await RunningProcess.run(
            "/bin/sh", ["-c", #"cp "$1" "$2/$(printf 'c\351').gguf""#, "sh", try blob(), folder],
            environment: ["PATH": "/usr/bin:/bin"])
        #expect(shell.status == 0)
        for words in [["cache", "du", folder], ["cache", "adopt", folder, "lmstudio", "--dry-run"]] {
            let result = try await stage.run(words)
            #expect(result.status == 0 && result.error.contains("is left out"), "\(result.error)")
        }
    }
    #endif

    /// The user's own link to a second copy stays, and its space is not counted.
    @Test func aSecondCopyWithFurtherNamesStays() async throws {
        #expect(try await stage.run("pull", "org/one-GGUF").status == 0)
        try stores.addOllama("registry.ollama.ai/library/one/latest", weights)
        try FileSystem.createHardLink(blob(), at: stage.machine("own.gguf"))
        let before = try inode(blob())
        let plan = try await stage.run("cache", "adopt", "--yes", "--json").document()
        guard plan.objects("plan").allSatisfy({ $0["action"]?.string != "reflink" }) else { return }
        #expect(plan.objects("plan").isEmpty && plan["saved_bytes"]?.int == 0)
        #expect(try inode(blob()) == before)
        let told = try await stage.run("cache", "adopt").output
        #expect(told.contains("1.0 MB are held twice all the same: one of the copies has further names\n"))
    }

    /// A program may write into its finished files: then a hard link would change the cache.
    @Test func filesThatMayBeRewrittenAreNotHardLinked() async throws {
        #expect(try await stage.run("pull", "org/one-GGUF").status == 0)
        let folder = stage.machine("weights")
        try FileSystem.createDirectories(folder)
        let path = Path.join(folder, "one.gguf")
        try FileSystem.replace(path, with: weights)
        let rows = try await stage.run("cache", "adopt", folder, "--yes", "--json").document().objects("plan")
        #expect(!rows.contains { $0["action"]?.string == "hardlink" })
        // The folder was looked at: where blocks can be shared it is planned, else it is said why not.
        let why = try await stage.run("cache", "du", folder, "--json").document()
        #expect(why.objects("stores").contains { $0["path"]?.string == folder })
        if rows.isEmpty {
            #expect(why["duplicate_bytes"]?.int == mebibyte && why.objects("suggestions").count == 1)
            let told = try await stage.run("cache", "adopt", folder)
            #expect(told.status == 0, "\(told.error)")
            #expect(
                told.output.hasPrefix(
                    """
                    nothing to adopt was found

                    1.0 MB are held twice all the same: loose files and Jan's are linked only on btrfs and XFS with reflinks

                    """))
            #expect(try told.output.contains(path) && told.output.contains(blob()))
            #expect(told.output.hasSuffix("\nTo free the space, delete one of two copies.\n"))
        }
        try FileDescriptor(path, [.write]).write(ForeignStores.weights(2))
        #expect(try FileSystem.contents(blob()) == weights)
    }

    @Test func downloadsUnderWayAndBadWords() async throws {
        _ = try stores.addLMStudio("org/one-GGUF", "downloading_one-Q4_K_M.gguf.part", weights)
        #expect(try await stage.run("cache", "adopt", "--yes").output == "nothing to adopt was found\n")
        #expect(try await stage.run("cache", "adopt", "huggingface").status == 2)
        #expect(try await stage.run("cache", "adopt", "./nowhere").status == 3)
        let unknown = try await stage.run("cache", "adopt", "vllm")
        #expect(
            unknown.status == 3
                && unknown.error == """
                    hub: vllm is neither a folder nor a program that hub knows
                         name ollama, lmstudio, llama.cpp, jan or a folder

                    """,
            "\(unknown.error)")
        #expect(try await stage.run("cache", "adopt", "olama").error.contains("; did you mean ollama?\n"))
        #expect(try await stage.run("cache", "unadopt", "ollama").status == 2)
    }
}
