import HubCore
import HubServer
import Support
import Testing

@testable import HubCLI

@Suite struct OutdatedCommandTests {
    let stage: Stage

    init() throws {
        stage = try Stage { root in
            try ModelRepository.tiny("org/one", in: root, weights: 5000)
            try ModelRepository.tiny("org/two", in: root, weights: 7000)
            try ModelRepository("org/two", in: root, revision: "dev").write("config.json", "{}")
            try ModelRepository("org/data", in: root, kind: .dataset).write("a.csv", "1,2\n")
        }
    }

    private func pull(_ references: String...) async throws {
        for reference in references {
            let result = try await stage.run("pull", "-q", reference)
            try #require(result.status == 0, "\(result.error)")
        }
    }

    private func commit(_ id: String, _ name: String, _ text: String, revision: String? = nil) throws {
        try ModelRepository(id, in: stage.root, revision: revision).write(name, text)
    }

    @Test func nothingHasMoved() async throws {
        let empty = try await stage.run("outdated")
        #expect(empty.status == 0 && empty.output.isEmpty)
        #expect(empty.error == "hub: no branch is cached in \(stage.cache)\n")
        try await pull("org/one")
        let one = try await stage.run("outdated")
        #expect(one.status == 0 && one.output.isEmpty && one.error == "hub: 1 branch is up to date\n")
        try await pull("org/two", "org/two@dev", "datasets/org/data")
        let result = try await stage.run("outdated")
        #expect(result.output.isEmpty && result.error == "hub: 4 branches are up to date\n")
        #expect(try await stage.run("outdated", "--json").output == "{\"models\":[]}\n")
        let quiet = try await stage.run("outdated", "-q")
        #expect(quiet.status == 0 && quiet.output.isEmpty && quiet.error.isEmpty)
    }

    /// From the list to what it says: `hub pull` of what is printed brings it up to date, and fetches what was said.
    @Test func whatIsPrintedIsWhatPullBringsUpToDate() async throws {
        try await pull("org/one", "org/two", "org/two@dev", "datasets/org/data")
        try commit("org/one", "more.txt", "12345678")
        try commit("org/two", "config.json", "{\"model_type\":\"other\"}", revision: "dev")
        try ModelRepository("org/data", in: stage.root, kind: .dataset).write("b.csv", "3,4,5\n")
        let before = stage.hub.requests.count
        let result = try await stage.run("outdated")
        #expect(result.status == 0 && result.error.isEmpty)
        #expect(
            settled(result.output) == """
                MODEL  REF  CACHED  UPDATED  TO FETCH
                datasets/org/data  main  AGE  AGE  6 B
                org/one  main  AGE  AGE  8 B
                org/two  dev  AGE  AGE  22 B
                3 of 4 branches have moved, 36 B to fetch in all

                """)
        // One question for each branch, and the files of what has moved.
        #expect(stage.hub.requests.dropFirst(before).count == 4 + 3)
        let again = stage.hub.requests.count
        let document = try await stage.run("outdated", "--json").document()
        #expect(stage.hub.requests.count == again + 4)
        let models = document.objects("models")
        for model in models { model.expectKeys("id ref commit latest_commit download_bytes updated_at error") }
        #expect(models.map { $0["id"]?.string } == ["org/data", "org/one", "org/two"])
        #expect(models.map { $0["ref"]?.string } == ["main", "main", "dev"])
        #expect(models.map { $0["download_bytes"]?.int } == [6, 8, 22])
        #expect(models.allSatisfy { $0["error"] == nil && $0["updated_at"]?.string?.hasSuffix("Z") == true })
        #expect(models.allSatisfy { $0["commit"]?.string?.utf8.count == 40 && $0["commit"] != $0["latest_commit"] })

        let quiet = try await stage.run("outdated", "-q")
        #expect(quiet.lines == ["datasets/org/data", "org/one", "org/two@dev"] && quiet.error.isEmpty)
        let process = try stage.shell("$hub outdated -q | xargs $hub pull --json")
        let pulled = try await process.wait()
        #expect(pulled.status == 0)
        let fetched = try pulled.document().objects("models")
        #expect(fetched.map { $0["downloaded_bytes"]?.int } == [6, 8, 22])
        #expect(fetched.map { $0["commit"]?.string } == models.map { $0["latest_commit"]?.string })
        #expect(try await stage.run("outdated").error == "hub: 4 branches are up to date\n")
    }

    @Test func namesAndGlobsNarrowIt() async throws {
        try await pull("org/one", "org/two", "org/two@dev")
        for (id, revision) in [("org/one", nil), ("org/two", nil), ("org/two", "dev")] {
            try commit(id, "more.txt", "1234", revision: revision)
        }
        #expect(try await stage.run("outdated", "org/o*", "-q").lines == ["org/one"])
        #expect(try await stage.run("outdated", "org/two", "-q").lines == ["org/two@dev", "org/two"])
        #expect(
            try await stage.run("outdated", "org/two@dev", "org/two", "-q").lines == ["org/two@dev", "org/two"])
        let before = stage.hub.requests("/api/models/org/one").count
        #expect(try await stage.run("outdated", "org/two@dev", "-q").lines == ["org/two@dev"])
        #expect(stage.hub.requests("/api/models/org/one").count == before)

        let missing = try await stage.run("outdated", "org/none", "org/two@v9", "org/one", "--json")
        #expect(missing.status == 3)
        #expect(try missing.errorCode() == "not_cached")
        #expect(try missing.document().objects("models").map { $0["id"]?.string } == ["org/one"])
        #expect(
            missing.error == """
                hub: nothing in \(stage.cache) matches org/none
                     did you mean org/one?
                     hub ls lists what is there
                hub: no branch in \(stage.cache) matches org/two@v9
                     a model that was fetched by its commit has no branch; hub ls --revisions lists what is there

                """)
        for words in [["org/one:*.json"], ["org/one@\(HubCLITests.commit("1"))"], ["org/../x"]] {
            let result = try await RunningProcess.run(
                BuiltProduct.path(), ["outdated"] + words, environment: stage.environment)
            #expect(result.status == 2 && result.output.isEmpty, "\(words)")
        }
    }

    /// What was fetched by its hash has no ref, and nothing that could move.
    @Test func commitsAreNoBranches() async throws {
        let document = try await stage.run("info", "org/one", "--json").document()
        try await pull("org/one@\(try #require(document["commit"]?.string))")
        try commit("org/one", "more.txt", "1234")
        let seen = stage.hub.requests.count
        let result = try await stage.run("outdated")
        #expect(result.status == 0 && result.error == "hub: no branch is cached in \(stage.cache)\n")
        #expect(stage.hub.requests.count == seen)
        #expect(try await stage.run("outdated", "org/one").status == 3)
    }

    /// Another program has fetched a part: whether the rest was left out on purpose is unknown.
    @Test func aPartThatIsCachedCountsAsTheWhole() async throws {
        try await pull("org/one:*.json")
        try FileSystem.removeTree(stage.machine("state"))
        try commit("org/one", "more.txt", "1234")
        let result = try await stage.run("outdated")
        #expect(settled(result.output).hasSuffix("\norg/one  main  AGE  AGE  5.0 kB  partly cached\n"))
    }

    /// What is gone upstream is an answer about that model and hides no other.
    @Test func whatIsGoneGatedOrRenamedIsSaid() async throws {
        try ModelRepository("org/three", in: stage.root).write("a.txt", "a")
        try ModelRepository("org/four", in: stage.root).write("a.txt", "a")
        try await pull("org/one", "org/two", "org/two@dev", "org/three", "org/four")
        try FileSystem.removeTree(stage.root("org/one"))
        try FileSystem.removeTree(stage.root("org/two@dev"))
        try ModelRepository("org/three", in: stage.root).card(["gated": "manual"])
        try commit("org/three", "b.txt", "bbb")
        let id = try #require(try await stage.run("info", "org/four", "--json").document()["commit"]?.string)
        stage.hub.fail(
            "GET /api/models/org/four$",
            .status(
                200, headers: ["Content-Type": "application/json"], body: "{\"id\":\"org/five\",\"sha\":\"\(id)\"}"),
            times: nil)
        let result = try await stage.run("outdated")
        #expect(result.status == 0)
        #expect(
            settled(result.output)
                == """
                MODEL  REF  CACHED  UPDATED  TO FETCH
                org/one  main  AGE    gone, or private
                org/three  main  AGE  AGE  3 B
                org/two  dev  AGE    the branch is gone

                """.replacing("AGE    ", with: "AGE  "))
        #expect(
            result.error == """
                hub: org/four is now called org/five on the Hub
                hub: org/three is gated: fetching it needs a token with access

                """)
        let document = try await stage.run("outdated", "--json").document()
        let models = document.objects("models")
        #expect(models.map { $0["id"]?.string } == ["org/one", "org/three", "org/two"])
        #expect(
            models.map { $0["error"]?.object?["code"]?.string } == [
                "repository_not_found", nil, "revision_not_found",
            ])
        #expect(document["error"] == nil)
        #expect(try await stage.run("outdated", "-q").lines == ["org/three"])
    }

    /// A Hub that talks nonsense of one model.
    @Test func aFailureIsToldOfAndTheOthersAreListed() async throws {
        try await pull("org/one", "org/two")
        try commit("org/two", "more.txt", "1234")
        stage.hub.fail("GET /api/models/org/one$", .garbage, times: nil)
        let result = try await stage.run("outdated", "--json")
        #expect(result.status == 5)
        #expect(try result.errorCode() == "protocol_violation")
        let models = try result.document().objects("models")
        #expect(models.map { $0["id"]?.string } == ["org/one", "org/two"])
        #expect(models[0]["error"]?.object?["code"]?.string == "protocol_violation")
        #expect(models[1]["download_bytes"]?.int == 4)
    }

    @Test func aHubThatIsAwayIsToldOnce() async throws {
        for index in 1...12 {
            try stage.plant("models--org--m\(index)", commit: HubCLITests.commit("1"), files: ["a.txt": "a"])
        }
        let result = try await stage.run("outdated", with: Stage.away)
        #expect(result.status == 5 && result.output.isEmpty)
        #expect(result.error.hasPrefix("hub: \(ClosedPort.address) cannot be reached"))
        #expect(result.error.ranges(of: "hub: ").count == 1)
        let document = try await stage.run("outdated", "--json", with: Stage.away)
        #expect(try document.errorCode() == "unreachable")
        #expect(try document.document().objects("models").count == 12)
    }

    @Test func offlineIsExit5() async throws {
        try await pull("org/one")
        let seen = stage.hub.requests.count
        let result = try await stage.run("outdated", with: ["HF_HUB_OFFLINE": "1"])
        #expect(result.status == 5 && result.output.isEmpty)
        #expect(
            result.error == """
                hub: hub outdated needs the network, which is switched off
                     leave out --offline, or unset HF_HUB_OFFLINE

                """)
        #expect(try await stage.run("outdated", "--offline", "--json").errorCode() == "offline")
        #expect(stage.hub.requests.count == seen)
    }

    @Test func eightAreAskedAboutAtOnceAndEachOnce() async throws {
        for index in 1...12 {
            try ModelRepository("org/m\(index)", in: stage.root).write("a.txt", "a")
            try stage.plant("models--org--m\(index)", commit: HubCLITests.commit("1"), files: ["a.txt": "a"])
        }
        let match = "GET /api/models/org/m[0-9]+$"
        // The first answer tells libcurl that one connection will not do for all.
        stage.hub.fail(match, .delay(seconds: 0))
        let gate = stage.hub.hold(match, after: 1, times: nil)
        let process = try stage.start("outdated", "-q")
        try await gate.reached(8)
        #expect(gate.arrivals == 8 && stage.hub.requests(match).count == 9)
        gate.release()
        let result = try await process.wait()
        #expect(result.status == 0 && result.lines.count == 12)
        #expect(stage.hub.requests(match).count == 12)
    }

    @Test(arguments: [40, 80, 200])
    func noLineIsWiderThanTheTerminal(columns: Int) async throws {
        let name = "org/a-model-with-a-name-that-is-longer-than-any-terminal-of-forty-columns"
        try ModelRepository(name, in: stage.root).write("a.txt", "a")
        try ModelRepository(name, in: stage.root, revision: "一个分支").write("a.txt", "a")
        try await pull(name, "\(name)@一个分支")
        try commit(name, "b.txt", "b")
        try commit(name, "b.txt", "b", revision: "一个分支")
        let process = try stage.start(
            "outdated", "--color", "never", terminal: .init(columns: UInt16(columns), rows: 24))
        let result = try await process.wait()
        #expect(result.status == 0)
        let lines = result.terminal.split(whereSeparator: \.isNewline).map(String.init)
        #expect(lines.count == 4)
        for line in lines { #expect(DisplayWidth.of(line) <= columns, "\(line)") }
    }
}
