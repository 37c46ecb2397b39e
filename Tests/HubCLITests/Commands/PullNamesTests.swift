import HubCore
import Support
import Testing

/// The words of `hub pull`: models, files of the first model, and what is neither.
@Suite struct PullNamesTests {
    let stage: Stage

    init() throws {
        stage = try Stage { root in
            let model = try ModelRepository("org/m", in: root)
            for (seed, name) in ["a.bin", "b.bin", "onnx/model", "odd[1].bin"].enumerated() {
                try model.random(name, size: 3000, seed: UInt64(seed + 1))
            }
            try model.write("sub/dir/vocab.txt", "a\n")
            try ModelRepository("org/n", in: root).write("config.json", "{}")
            try ModelRepository("onnx/model", in: root).write("config.json", "{}")
        }
    }

    private func files(_ words: String...) async throws -> [String] {
        let result = try await stage.run(["pull", "--json"] + words)
        try #require(result.status == 0, "\(result.error)")
        return try result.document().objects("models").flatMap { model in
            model.objects("files").map { "\(model["id"]?.string ?? ""):\($0["path"]?.string ?? "")" }
        }
    }

    private func refused(_ words: String...) async throws -> (status: Int32, error: String) {
        let result = try await stage.run(["pull"] + words)
        #expect(result.output.isEmpty && !FileSystem.exists(stage.cache))
        #expect(stage.hub.requests("resolve").isEmpty)
        return (result.status, result.error)
    }

    /// Letter by letter a path is a path; only where none is there it is a glob.
    @Test func aPathThatIsThereComesBeforeAGlob() async throws {
        let repository = try ModelRepository("org/odd", in: stage.root)
        for name in ["[x].txt", "x.txt", "[xy].bin", "y.txt"] { try repository.write(name, name) }
        func files(_ words: String...) async throws -> [String] {
            let result = try await stage.run(["pull", "--json"] + words)
            #expect(result.status == 0, "\(result.error)")
            return try result.document().objects("models").flatMap { $0.objects("files") }.compactMap {
                $0["path"]?.string
            }
        }
        #expect(try await files("org/odd:[x].txt") == ["[x].txt"])
        #expect(try await files("org/odd", "--include", "[xy].txt", "--estimate") == ["x.txt", "y.txt"])
        #expect(try await files("org/odd", "--include", "[x].txt", "--estimate") == ["[x].txt"])
        #expect(try await files("org/odd", "--exclude", "[x].txt", "--estimate") == ["[xy].bin", "x.txt", "y.txt"])
        _ = try await files("org/odd", "--format", "all")
        let path = try await stage.run("path", "org/odd:[x].txt")
        #expect(path.status == 0 && path.output.hasSuffix("/[x].txt\n"))
        for words in [["cache", "warm", "org/odd:[x].txt", "--json"], ["verify", "org/odd:[x].txt", "--json"]] {
            let result = try await stage.run(words)
            #expect(result.status == 0 && !result.output.contains("\"x.txt\""), "\(words): \(result.output)")
        }
        let archive = stage.machine("odd.tar")
        #expect(try await stage.run("export", "org/odd:[x].txt", "-o", archive).status == 0)
        let other = ["HF_HOME": stage.machine("other")]
        #expect(try await stage.run("import", archive, with: other).status == 0)
        let imported = try await stage.run("path", "org/odd", with: other).output.dropLast()
        #expect(try FileSystem.entries(String(imported)) == ["[x].txt"])
        #expect(try await stage.run("rm", "org/odd:[x].txt", "--yes").status == 0)
        let snapshot = try await stage.path("org/odd")
        #expect(try FileSystem.entries(snapshot) == ["[xy].bin", "x.txt", "y.txt"])
    }

    @Test func wordsAfterTheFirstThatAreItsFilesAreItsFiles() async throws {
        #expect(
            try await files("org/m", "b.bin", "sub/dir/vocab.txt") == ["org/m:b.bin", "org/m:sub/dir/vocab.txt"])
        #expect(try await files("org/m", "odd[1].bin", "org/n") == ["org/m:odd[1].bin", "org/n:config.json"])
        #expect(try await files("org/m@main", "a.bin", "--local-dir", stage.machine("own")) == ["org/m:a.bin"])
    }

    @Test func aPatternIsAnsweredWithInclude() async throws {
        let (status, error) = try await refused("org/m", "*.bin")
        #expect(status == 3)
        #expect(error.hasSuffix("     hub pull org/m --include '*.bin' matches 3 files\n"), "\(error)")
        let none = try await refused("org/m", "*.gguf")
        #expect(none.status == 3 && none.error.hasSuffix("     hub info org/m --files lists its files\n"))
    }

    @Test func aWordThatCouldBeBothIsExit2WithBothSpellings() async throws {
        let (status, error) = try await refused("org/m", "onnx/model")
        #expect(status == 2)
        #expect(
            error == """
                hub: onnx/model is a file of org/m, and a repository too
                     write org/m:onnx/model for the file, onnx/model@main for the repository

                """)
        #expect(
            try await files("org/m:onnx/model", "onnx/model@main") == [
                "org/m:onnx/model", "onnx/model:config.json",
            ])
    }

    /// The Hub was asked for a repository of that name.
    @Test(arguments: [
        ("c.bin", "did you mean a.bin?"), ("vocabs.txt", "did you mean sub/dir/vocab.txt?"),
        ("sub/dir/vocab.tx.json", "hub info org/m --files lists its files"),
        ("*.bin", "hub pull org/m --include '*.bin' matches 3 files"),
    ]) func aWordThatEndsLikeAFileIsOne(word: String, advice: String) async throws {
        for words in [["org/m", word], ["org/m", "org/n", word]] {
            let result = try await stage.run(["pull"] + words)
            #expect(result.status == 3 && result.output.isEmpty)
            #expect(result.error == "hub: org/m has no file \(word)\n     \(advice)\n")
        }
        #expect(stage.hub.requests("resolve").isEmpty && !FileSystem.exists(stage.cache))
        #expect(!stage.hub.requests.contains { $0.path.contains("c.bin") || $0.path.contains("vocab") })
        #expect(try await stage.run("pull", "org/m", word, "--json").errorCode() == "file_not_found")
    }

    @Test(arguments: [
        ("b.bim", "did you mean --include 'b.bin'?"),
        ("sub", "did you mean --include 'sub/dir/vocab.txt'?"), ("o", "did you mean --include 'o*' (2 files)?"),
    ]) func anIncludeThatMatchesNothingIsAnsweredWithOneThatDoes(glob: String, advice: String) async throws {
        let (status, error) = try await refused("org/m", "--include", glob)
        #expect(
            status == 3 && error.hasPrefix("hub: no file of org/m matches \"\(glob)\"\n     \(advice)\n"),
            "\(error)")
    }

    @Test(arguments: ["org/none", "onnx/none", "c"])
    func aWordThatIsNeitherFailsBeforeAnythingIsFetched(word: String) async throws {
        for words in [["org/m", word], ["org/m", "org/n", word]] {
            let result = try await stage.run(["pull"] + words)
            #expect(result.status == 3 && result.output.isEmpty)
            #expect(
                result.error.hasPrefix(
                    "hub: \(word) is neither a file of org/m nor a repository on \(stage.hub.endpoint)\n"))
        }
        #expect(stage.hub.requests("resolve").isEmpty && !FileSystem.exists(stage.cache))
        let document = try await stage.run("pull", "org/m", word, "--json")
        #expect(try document.errorCode() == "repository_not_found")
        #expect(try document.document().objects("models").isEmpty)
    }

    @Test func aFirstWordThatIsNotThereFetchesNothingOfTheOthers() async throws {
        let (status, error) = try await refused("org/none", "org/n")
        #expect(status == 3 && error.hasPrefix("hub: model org/none not found on "))
    }

    /// An unreachable Hub is not an error if everything is cached.
    @Test func whatIsHereServesWhileTheHubIsAway() async throws {
        #expect(try await files("org/m", "a.bin").count == 1)
        let path = try await stage.path("org/m")
        let away = Stage.away
        let commit = Path.name(path).prefix(8)
        for words in [["org/m"], ["org/m", "a.bin"], ["org/m:a.bin"]] {
            let result = try await stage.run(["pull", "-q"] + words, with: away)
            #expect(result.status == 0 && result.output == path + "\n", "\(words): \(result.error)")
            #expect(result.error.hasPrefix("hub: warning: \(ClosedPort.address) cannot be reached"))
            #expect(result.error.contains("; using org/m at \(commit) from the cache\n"))
        }
        for words in [
            ["org/m:b.bin"], ["org/m", "--format", "all"], ["org/m", "--force"], ["org/m", "--estimate"],
        ] {
            let result = try await stage.run(["pull", "--json"] + words, with: away)
            #expect(result.status == 5, "\(words)")
            #expect(try result.errorCode() == "unreachable")
        }
    }
}
