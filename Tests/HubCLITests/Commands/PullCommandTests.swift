import HubCore
import Support
import Testing

@Suite struct PullCommandTests {
    let stage: Stage

    init() throws {
        stage = try Stage { root in
            try ModelRepository.tiny("org/tiny", in: root)
            try ModelRepository("org/tiny", in: root, revision: "v1.0").write("config.json", "{}")
            let gated = try ModelRepository("org/gated", in: root)
            try gated.card(["gated": "manual"])
            try gated.write("config.json", "{}")
            try ModelRepository("gpt2", in: root).write("config.json", "{\"model_type\":\"gpt2\"}")
            try ModelRepository("org/data", in: root, kind: .dataset).write("a.csv", "1,2\n")
        }
    }

    @Test func oneLineOfFactsAndThePath() async throws {
        let result = try await stage.run("pull", "org/tiny")
        #expect(result.status == 0 && result.error.isEmpty)
        let path = try await stage.path("org/tiny")
        let short = Path.name(path).prefix(8)
        let facts = result.output.replacing(/\ in ([\d.]+ min )?[\d.]+ s/, with: "").replacing(
            /, [\d.]+ [kMG]?B\/s/, with: "")
        #expect(
            facts == """
                org/tiny at \(short): 4 files, 300 kB, 300 kB fetched, every digest checked
                \(path)

                """)
        #expect(!result.output.contains("0.0 s"))
        let again = try await stage.run("pull", "org/tiny")
        #expect(again.output == "org/tiny at \(short): 4 files, 300 kB, nothing to fetch\n\(path)\n")
        #expect(again.status == 0 && again.error.isEmpty)
    }

    @Test func quietPrintsThePathAlone() async throws {
        let result = try await stage.run("pull", "-q", "org/tiny", "gpt2")
        #expect(result.error.isEmpty)
        let paths = [try await stage.path("org/tiny"), try await stage.path("gpt2")]
        #expect(result.lines == paths)
    }

    @Test func theDocumentKeepsToTheContract() async throws {
        let result = try await stage.run("pull", "org/tiny", "--json")
        let document = try result.document()
        document.expectKeys("models")
        let model = try #require(document.objects("models").first)
        model.expectKeys(
            "id commit path files total_bytes downloaded_bytes reused_bytes elapsed_seconds bytes_per_second")
        #expect(model["total_bytes"]?.int == 300_026 && model["downloaded_bytes"]?.int == 300_026)
        let path = try await stage.path("org/tiny")
        #expect(model["reused_bytes"]?.int == 0 && model["path"]?.string == path)
        for file in model.objects("files") {
            file.expectKeys("path size_bytes status error")
            #expect(file["status"]?.string == "downloaded")
        }
        let again = try await stage.run("pull", "org/tiny", "--json").document().objects("models")
        #expect(again[0]["downloaded_bytes"]?.int == 0 && again[0]["reused_bytes"]?.int == 300_026)
        #expect(again[0].objects("files").allSatisfy { $0["status"]?.string == "cached" })
    }

    @Test func anEstimateWritesNothingIntoTheCache() async throws {
        let empty = try await stage.run("pull", "org/tiny", "--estimate")
        #expect(empty.status == 0 && empty.error.isEmpty)
        #expect(!FileSystem.exists(stage.cache))
        #expect(settled(empty.output).contains("\n  files  4, 300 kB\n  to fetch  300 kB\n  disk  SIZE free, "))
        #expect(
            empty.output.contains(
                "  time        unknown: nothing large was pulled from \(stage.hub.endpoint) yet\n")
        )
        #expect(try await stage.run("pull", "gpt2").status == 0)
        let before = try stage.listing(stage.cache)
        let document = try await stage.run("pull", "org/tiny", "gpt2", "--estimate", "--json").document()
        #expect(try stage.listing(stage.cache) == before)
        document.expectKeys(
            """
            models download_bytes disk_free_bytes disk_after_bytes fits memory_bytes estimated_seconds estimated_from
            """)
        #expect(document["download_bytes"]?.int == 300_026 && document["fits"]?.bool == true)
        let free = try #require(document["disk_free_bytes"]?.int)
        #expect(document["disk_after_bytes"]?.int == free - 300_026)
        let models = document.objects("models")
        for model in models {
            model.expectKeys(
                "id commit files total_bytes cached_bytes reusable_bytes partial_bytes download_bytes")
        }
        #expect(models.map { $0["download_bytes"]?.int } == [300_026, 0])
        #expect(models[1]["cached_bytes"]?.int == 21)
        #expect(try await stage.run("pull", "org/tiny", "gpt2", "--estimate", "-q").output == "300026\n0\n")
    }

    @Test func filtersChooseFiles() async throws {
        func files(_ words: String...) async throws -> [String] {
            let stage = try Stage { try ModelRepository.tiny("org/tiny", in: $0) }
            let result = try await RunningProcess.run(
                BuiltProduct.path(), ["pull", "--json"] + words, environment: stage.environment)
            return try result.document().objects("models").flatMap { $0.objects("files") }
                .compactMap { $0["path"]?.string }
        }
        #expect(try await files("org/tiny", "--include", "*.txt") == ["empty.txt", "sub/dir/vocab.txt"])
        #expect(try await files("org/tiny:sub/dir/vocab.txt") == ["sub/dir/vocab.txt"])
        #expect(try await files("org/tiny:*.json") == ["config.json"])
        #expect(
            try await files("org/tiny", "--exclude", "*.safetensors", "--exclude", "sub/")
                == ["config.json", "empty.txt"])
        #expect(try await files("org/tiny:*.json", "--include", "empty*") == ["config.json", "empty.txt"])
    }

    /// Trap 39: for Python it is success.
    @Test func aFilterThatMatchesNothingIsExit3WithTheFilesThereAre() async throws {
        let result = try await stage.run("pull", "org/tiny", "--include", "*.gguf")
        #expect(result.status == 3 && result.output.isEmpty)
        #expect(
            result.error == """
                hub: no file of org/tiny matches "*.gguf"
                     it has 4 files: config.json, empty.txt, model.safetensors, sub/dir/vocab.txt

                """)
        #expect(!FileSystem.exists(stage.cache))
    }

    @Test func aRevisionIsNamedOnceOrTheSameTwice() async throws {
        let both = try await stage.run("pull", "org/tiny@v1.0", "--revision", "main")
        #expect(both.status == 2)
        #expect(both.error == "hub: org/tiny@v1.0 and --revision main name two revisions\n")
        #expect(stage.hub.requests.isEmpty)
        #expect(try await stage.run("pull", "org/tiny@v1.0", "--revision", "v1.0", "-q").status == 0)
        #expect(try await stage.run("pull", "org/tiny", "--revision", "v1.0", "-q").status == 0)
        #expect(try stage.listing(Path.join(stage.cache, "models--org--tiny/refs")) == ["v1.0"])
    }

    @Test func datasetsAndCanonicalNames() async throws {
        let data = try await stage.run("pull", "datasets/org/data", "-q")
        #expect(data.status == 0 && data.output.hasPrefix("\(stage.cache)/datasets--org--data/snapshots/"))
        let canonical = try await stage.run("pull", "gpt2", "-q")
        #expect(canonical.status == 0 && canonical.output.hasPrefix("\(stage.cache)/models--gpt2/snapshots/"))
        let address = try await stage.run("pull", "\(stage.hub.endpoint)/org/tiny/tree/v1.0", "-q")
        let path = try await stage.path("org/tiny@v1.0")
        #expect(address.status == 0 && address.output == "\(path)\n")
    }

    @Test func oneFailureOfSeveralDoesNotStopTheOthersAndDecidesTheExit() async throws {
        let result = try await stage.run("pull", "org/gated", "gpt2", "--json")
        #expect(result.status == 4)
        #expect(try result.errorCode() == "gated")
        let models = try result.document().objects("models").filter { $0.objects("files")[0]["error"] == nil }
        #expect(models.map { $0["id"]?.string } == ["gpt2"])
        #expect(
            try stage.listing(stage.cache).filter { $0.hasPrefix("models--") && !$0.contains("/") } == [
                "models--gpt2"
            ])
    }

    /// A typo in one name: nothing of the others is fetched.
    @Test func namesThatAreNotThereAreAllToldAndNothingIsFetched() async throws {
        let result = try await stage.run(
            "pull", "org/tiny@nope", "org/none", "gpt2", "--json")
        #expect(result.status == 3)
        #expect(try result.errorCode() == "revision_not_found")
        #expect(try result.document().objects("models").isEmpty)
        #expect(
            result.error == """
                hub: org/tiny has no revision "nope"
                     hub info org/tiny shows the branches and tags there are
                hub: model org/none not found on \(stage.hub.endpoint)
                     check the spelling; a private repository looks the same without a token: hub auth login, or set HF_TOKEN

                """)
        #expect(!FileSystem.exists(stage.cache) && stage.hub.requests("/resolve/").isEmpty)
    }

    /// Advice that is the same for all is read once; a program gets it with each error.
    @Test func theSameAdviceIsSaidOnce() async throws {
        let result = try await stage.run("pull", "one/x", "two/y")
        #expect(
            result.error == """
                hub: model one/x not found on \(stage.hub.endpoint)
                     check the spelling; a private repository looks the same without a token: hub auth login, or set HF_TOKEN
                hub: model two/y not found on \(stage.hub.endpoint)

                """)
        let events = try await stage.run("pull", "one/x", "two/y", "--progress", "json").error
        let told = try events.split(separator: "\n").map { try #require(try JSON.parse(String($0)).object) }
        #expect(told.count { $0["advice"]?.string?.hasPrefix("check the spelling") == true } == 2)
    }

    @Test func forceFetchesAgain() async throws {
        #expect(try await stage.run("pull", "org/tiny").status == 0)
        let again = try await stage.run("pull", "org/tiny", "--force", "--json").document().objects("models")
        #expect(again[0]["downloaded_bytes"]?.int == 300_026)
    }

    @Test func progressEventsAreOneObjectALine() async throws {
        stage.hub.fail("GET /api/models/gpt2", .garbage, times: nil)
        let result = try await stage.run("pull", "org/tiny", "--progress", "json", "gpt2")
        #expect(result.status == 5)
        let events = try result.error.split(separator: "\n").map { try #require(try JSON.parse(String($0)).object) }
        let names = events.compactMap { $0["event"]?.string }
        #expect(names.count == events.count)
        #expect(
            Set(names).isSubset(
                of: ["plan", "progress", "file", "verified", "retry", "done", "note", "warning", "error"]))
        let done = try #require(events.first { $0["event"]?.string == "done" })
        #expect(done["id"]?.string == "org/tiny" && done["downloaded_bytes"]?.int == 300_026)
        #expect(names.filter { $0 == "plan" }.count == 1 && names.filter { $0 == "file" }.count == 4)
        #expect(names.filter { $0 == "verified" }.count == 3 || names.filter { $0 == "verified" }.count == 4)
        let last = try #require(events.last { $0["event"]?.string == "progress" })
        #expect(last["done_bytes"]?.int == 300_026 && last["total_bytes"]?.int == 300_026)
        let error = try #require(events.first { $0["event"]?.string == "error" })
        #expect(error["code"]?.string == "protocol_violation" && error["retryable"]?.bool == false)
        // stdout is as without.
        #expect(result.lines.count == 2)
    }

    @Test func noProgressWhereNoneIsWanted() async throws {
        for words in [["--progress", "none"], ["-q"]] {
            let result = try await RunningProcess.run(
                BuiltProduct.path(), ["pull", "org/tiny", "--force"] + words, environment: stage.environment)
            #expect(result.status == 0 && result.error.isEmpty)
        }
    }

    @Test func inAPipeProgressIsPlainLines() async throws {
        let gate = stage.hub.hold("safetensors", after: 100_000, on: .cdn)
        let process = try stage.start("pull", "org/tiny")
        try await gate.reached()
        try await process.wait(forText: "% of 300 kB, ")
        gate.release()
        let result = try await process.wait()
        #expect(result.status == 0 && result.lines.count == 2)
        for line in result.error.split(separator: "\n") {
            #expect(line.prefixMatch(of: /org\/tiny: \d+% of 300 kB, \d\/4 files/) != nil, "\(line)")
        }
    }

    /// The bar is drawn while bytes are held back, and gone at the end: below the question nothing is left.
    @Test func theBarLeavesACleanScreen() async throws {
        let gate = stage.hub.hold("safetensors", after: 100_000, on: .cdn)
        let process = try stage.start(
            "pull", "org/tiny", with: ["TERM": "xterm"], terminal: .init(columns: 80, rows: 24))
        try await gate.reached()
        let drawn = try await process.wait(forText: "%")
        #expect(drawn.contains("org/tiny"))
        gate.release()
        let result = try await process.wait()
        #expect(result.status == 0 && result.outputBytes.isEmpty && result.errorBytes.isEmpty)
        let screen = Screen(result.terminal, columns: 80)
        let path = try await stage.path("org/tiny")
        #expect(screen.text.hasPrefix("org/tiny at \(Path.name(path).prefix(8)): 4 files, 300 kB"))
        #expect(screen.text.replacing("\n", with: "").hasSuffix(path))
        #expect(!screen.text.contains("%"))
    }

    /// It fetched all the same.
    @Test func offlineNothingIsAskedEvenWithForce() async throws {
        #expect(try await stage.run("pull", "org/tiny", "--include", "*.json").status == 0)
        let seen = stage.hub.requests.count
        for words in [["pull", "org/tiny", "--force"], ["pull", "org/tiny", "--format", "all"]] {
            let result = try await RunningProcess.run(
                BuiltProduct.path(), words + ["--offline", "--json"], environment: stage.environment)
            #expect(result.status == 5)
            #expect(try result.errorCode() == "offline")
        }
        let estimate = try await stage.run(
            "pull", "org/tiny", "--format", "all", "--offline", "--estimate", "--json")
        #expect(estimate.status == 0)
        #expect(try estimate.document()["download_bytes"]?.int == 300_004)
        #expect(try await stage.run("pull", "org/tiny", "--include", "*.json", "--offline").status == 0)
        let unknown = try await stage.run("pull", "org/none", with: ["HF_HUB_OFFLINE": "1"])
        #expect(unknown.status == 5)
        #expect(
            unknown.error == """
                hub: org/none is not in the cache, and the network is switched off
                     leave out --offline, or unset HF_HUB_OFFLINE

                """)
        #expect(stage.hub.requests.count == seen)
    }
}
