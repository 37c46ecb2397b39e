import HubCore
import Support
import Testing

/// What a pull has chosen is remembered: what was left out on purpose is not missing, and updates bring no more.
@Suite struct PullChoiceTests {
    let stage: Stage

    init() throws {
        stage = try Stage { root in
            let many = try ModelRepository("org/many", in: root)
            for (name, size) in [("many-Q8_0.gguf", 5000), ("many-Q4_K_M.gguf", 3000), ("many-F16.gguf", 9000)] {
                try many.random(name, size: size)
            }
            try many.write("README.md", "many\n")
            try many.write("config.json", "{}")
        }
    }

    private var repository: ModelRepository { get throws { try ModelRepository("org/many", in: stage.root) } }

    private func pull(_ words: String...) async throws -> (files: [String], fetched: Int64, error: String) {
        let result = try await stage.run(["pull", "--json"] + words)
        try #require(result.status == 0, "\(result.error)")
        let models = try result.document().objects("models")
        return (
            models.flatMap { $0.objects("files") }.compactMap { $0["path"]?.string },
            models.reduce(0) { $0 + ($1["downloaded_bytes"]?.int ?? 0) }, result.error
        )
    }

    private func isComplete() async throws -> Bool? {
        try await stage.run("ls", "--json").document().objects("models").first?["complete"]?.bool
    }

    @Test func whatWasLeftOutIsNotMissing() async throws {
        // Listed before, so that the list has to learn of the choice.
        #expect(try await pull("org/many", "--quant", "Q4_K_M").files.count == 3)
        #expect(try await isComplete() == true)
        let words = try await stage.run("verify")
        #expect(words.status == 0 && words.error.isEmpty, "\(words.error)")
        #expect(words.output.contains("2 not downloaded"))
        let model = try await stage.run("verify", "--json").document().objects("models")[0]
        #expect(model["ok"]?.bool == true && model["absent"]?.int == 2 && model.objects("problems").isEmpty)
        let repaired = try await stage.run("verify", "--repair", "--json").document().objects("models")[0]
        #expect(repaired["downloaded_bytes"]?.int == 0)
        // Chosen files count as missing if absent, and named files are requested.
        let snapshot = try await stage.path("org/many")
        try FileSystem.remove(Path.join(snapshot, "many-Q4_K_M.gguf"))
        #expect(try await stage.run("verify").output.contains("  many-Q4_K_M.gguf: missing\n"))
        #expect(try await isComplete() == false)
        #expect(try await stage.run("verify", "--repair").status == 0)
        #expect(FileSystem.exists(Path.join(snapshot, "many-Q4_K_M.gguf")))
        #expect(try await stage.run("verify", "org/many:many-F16.gguf").status == 1)
        #expect(try await stage.run("verify", "org/many:*.gguf").status == 0)
    }

    /// What was deleted on purpose is not missing and not fetched again, until it is asked for or comes back.
    @Test(arguments: [
        [["org/many"]], [["org/many", "--quant", "Q4_K_M"]], [["org/many:*.gguf"]],
        [["org/many:many-Q4_K_M.gguf"], ["org/many:many-F16.gguf"]],
    ])
    func whatWasDeletedLeavesTheChoice(pulls: [[String]]) async throws {
        for words in pulls { #expect(try await stage.run(["pull"] + words).status == 0) }
        let named = "org/many:many-Q4_K_M.gguf"
        #expect(try await stage.run("rm", named, "--yes").status == 0)
        func expectLeft() async throws {
            let verified = try await stage.run("verify", "org/many")
            #expect(verified.status == 0, "\(verified.output)")
            #expect(try await isComplete() == true)
            let again = try await pull("org/many")
            #expect(again.fetched == 0 && !again.files.contains("many-Q4_K_M.gguf"))
        }
        try await expectLeft()
        #expect(try await pull(named).fetched == 3000)
        #expect(try await pull("org/many").files.contains("many-Q4_K_M.gguf"))
        // By way of the trash, and back.
        #expect(try await stage.run("rm", named, "--yes", "--trash").status == 0)
        try await expectLeft()
        #expect(try await stage.run("trash", "restore", "org/many").status == 0)
        let snapshot = try await stage.path("org/many")
        try FileSystem.remove(Path.join(snapshot, "many-Q4_K_M.gguf"))
        #expect(try await stage.run("verify", "org/many").status == 1, "it is missed again")
        #expect(try await pull("org/many").files.contains("many-Q4_K_M.gguf"))
    }

    @Test func choicesAddUpAndAPullWithoutOneFollowsThem() async throws {
        _ = try await pull("org/many", "--quant", "Q4_K_M")
        #expect(try await stage.run("ls").output.contains("incomplete") == false)
        _ = try await pull("org/many:*F16*")
        let both = ["README.md", "config.json", "many-F16.gguf", "many-Q4_K_M.gguf"]
        let followed = try await pull("org/many")
        #expect(followed.files == both && followed.fetched == 0)
        #expect(
            followed.error
                == "hub: org/many: using your earlier selection: Q4_K_M, \"*F16*\"; pass --format all to fetch everything\n"
        )
        let estimate = try await stage.run("pull", "--estimate", "--json", "org/many").document()
        #expect(estimate.objects("models")[0].objects("files").count == 4)
        let snapshot = try await stage.path("org/many")
        try FileSystem.remove(Path.join(snapshot, "many-F16.gguf"))
        #expect(try await isComplete() == false)
        // All of it ends them.
        let all = try await pull("org/many", "--format", "all")
        #expect(all.files.count == 5 && all.error.isEmpty)
        let again = try await pull("org/many")
        #expect(again.files.count == 5 && again.error.isEmpty)
        try FileSystem.remove(Path.join(snapshot, "many-Q8_0.gguf"))
        #expect(try await stage.run("verify").status == 1)
    }

    /// The line of the help: what has changed of what is here, and no other set of weights.
    @Test func anUpdateBringsWhatChangedOfWhatIsHere() async throws {
        _ = try await pull("org/many", "--quant", "Q4_K_M")
        try repository.write("README.md", "other\n")
        try repository.random("many-Q5_0.gguf", size: 4000)
        let list = try await stage.run("outdated", "--json").document().objects("models")
        #expect(list.map { $0["download_bytes"]?.int } == [6])
        #expect(try await stage.run("outdated").output.contains("partly") == false)
        let process = try stage.shell("$hub outdated -q | xargs -r $hub pull --json")
        let model = try #require(try await process.wait().document().objects("models").first)
        #expect(model["downloaded_bytes"]?.int == 6 && model.objects("files").count == 3)
        #expect(try await stage.run("verify").status == 0)
        #expect(try await stage.run("outdated").error == "hub: 1 branch is up to date\n")
        // The revision that was updated is chosen from in the same way.
        try repository.write("config.json", "{ }")
        #expect(try await pull("org/many").files == ["README.md", "config.json", "many-Q4_K_M.gguf"])
    }

    @Test func weightsThatAreGoneUpstreamAreSaid() async throws {
        _ = try await pull("org/many", "--quant", "Q4_K_M")
        try FileSystem.remove(Path.join(try repository.path, "many-Q4_K_M.gguf"))
        let list = try await stage.run("outdated")
        #expect(list.status == 0 && list.output.contains("what was chosen is gone"))
        let result = try await stage.run("pull", "org/many")
        #expect(result.status == 3)
        #expect(result.error.hasPrefix("hub: org/many has no GGUF weights called Q4_K_M\n"))
    }

    /// The next choice replaces that of a pull that was cut off.
    @Test func aChoiceEndsOneThatWasNotCompleted() async throws {
        stage.hub.fail("many-F16", .status(404), times: nil)
        #expect(try await stage.run("pull", "org/many").status != 0)
        stage.hub.clearFaults()
        #expect(try await pull("org/many", "--quant", "Q4_K_M").files.count == 3)
        #expect(try await pull("org/many").files.count == 3)
        #expect(try await stage.run("verify").status == 0)
    }

    /// Killed in the first pull: every command says that something is missing, and the next pull wants the same.
    @Test(arguments: [[], ["--include", "*.gguf", "--include", "*.json"]])
    func aFirstPullThatWasCutOffIsIncomplete(_ choice: [String]) async throws {
        let gate = Gate()
        stage.hub.fail("many-F16", .holdHead(gate), times: nil)
        let process = try RunningProcess(
            BuiltProduct.path(), ["pull", "org/many"] + choice, environment: stage.environment)
        try await gate.reached()
        process.killHard()
        _ = try await process.wait()
        gate.release()
        stage.hub.clearFaults()
        #expect(try await isComplete() == false)
        for flags in [[], ["--revisions"]] {
            let listed = try await stage.run(["ls"] + flags).output
            #expect(!listed.contains("(unfinished)") && listed.contains("  incomplete\n"), "\(listed)")
        }
        let verified = try await stage.run("verify")
        #expect(verified.status == 1 && verified.output.contains(": incomplete, "))
        #expect(verified.output.contains("  many-F16.gguf: missing\n"))
        #expect(verified.error.hasSuffix("hub: hub pull org/many fetches what is missing\n"))
        let path = try await stage.run("path", "org/many")
        #expect(path.status == 3 && path.output.isEmpty)
        #expect(path.error.hasSuffix("     hub pull org/many finishes it\n"))
        let offline = try await stage.run("pull", "--offline", "org/many")
        #expect(offline.status == 5 && offline.error.contains(" is not completely in the cache, "))
        #expect(
            try await stage.run("info", "org/many").output.contains(
                "the download is incomplete; hub pull org/many finishes it\n"))
        let followed = try await pull("org/many")
        #expect(followed.files.count == (choice.isEmpty ? 5 : 4))
        #expect(followed.error.contains("using your earlier selection") == !choice.isEmpty)
        #expect(try await isComplete() == true)
        #expect(try await stage.run("verify").status == 0)
        #expect(try await stage.run("path", "org/many").status == 0)
    }

    @Test func whatWasDeletedIsNotFollowed() async throws {
        _ = try await pull("org/many", "--include", "*.json")
        #expect(try await stage.run("rm", "org/many", "--yes").status == 0)
        #expect(try await pull("org/many").files.count == 5)
        #expect(try await pull("org/many").files.count == 5)
    }

    @Test func whatComesBackFromTheTrashHasItsChoice() async throws {
        _ = try await pull("org/many", "--include", "*.json")
        #expect(try await stage.run("rm", "org/many", "--yes", "--trash").status == 0)
        #expect(try await stage.run("trash", "restore", "org/many").status == 0)
        #expect(try await pull("org/many").files == ["config.json"])
    }

    /// Fetched by another program: what was left out on purpose is unknown.
    @Test func whereNoChoiceIsKnownAbsentFilesAreNoted() async throws {
        _ = try await pull("org/many", "--include", "*.json")
        try FileSystem.removeTree(stage.machine("state"))
        let result = try await stage.run("verify")
        #expect(result.status == 0 && result.output.contains("4 not downloaded"), "\(result.output)")
        #expect(try await isComplete() == false)
        #expect(try await pull("org/many").files.count == 5)
    }
}
