import HubCore
import Support
import Testing

@testable import HubCLI

/// What is pinned or in use stays, and is named.
@Suite struct ProtectionTests {
    let stage: Stage

    init() throws {
        stage = try Stage()
        try stage.plant("models--org--one", commit: commit("1"), files: ["a.bin": "aaaa"])
        try stage.plant("models--org--two", commit: commit("2"), files: ["b.bin": "bbbbbb"])
    }

    @Test func whatIsPinnedIsRefusedByRmAndPassedOverByGc() async throws {
        let pinned = try await stage.run("pin", "org/one", "--note", "for the paper")
        #expect(pinned.status == 0 && pinned.output == "pinned org/one@11111111\n")
        let refused = try await stage.run("rm", "org/one", "--yes")
        #expect(refused.status == 2)
        #expect(
            refused.error.contains(
                "hub: org/one@11111111 is pinned: for the paper\n     run hub unpin org/one@11111111 first\n"))
        let swept = try await stage.run("gc", "--unused-for", "0d", "--yes", "--json")
        #expect(swept.status == 0)
        let entry = try #require(try swept.document().objects("protected").first)
        #expect(entry["id"]?.string == "org/one" && entry["reason"]?.string == "pinned")
        #expect(entry["commit"]?.string == commit("1"))
        let list = try await stage.run("ls", "--json").document().objects("models")
        #expect(list.map { $0["id"]?.string } == ["org/one"] && list[0]["pinned"]?.bool == true)
        #expect(try await stage.run("ls").output.contains("pinned"))
        #expect(try await stage.run("unpin", "org/one@1111111").output == "unpinned org/one@11111111\n")
        #expect(try await stage.run("unpin", "org/one").status == 3)
        #expect(try await stage.run("rm", "org/one", "--yes").status == 0)
    }

    /// One revision of two is pinned: the model is refused whole, and no plan looks as if half of it went.
    @Test(arguments: ["--dry-run", "--yes"]) func aModelWithAPinnedRevisionIsRefusedWhole(_ flag: String)
        async throws
    {
        try stage.plant("models--org--one", commit: commit("5"), ref: "v2", files: ["c.bin": "cc"])
        #expect(try await stage.run("pin", "org/one@v2").status == 0)
        let refused = try await stage.run("rm", "org/one", flag)
        #expect(refused.status == 2 && refused.output.isEmpty, "\(refused.output)")
        #expect(try await stage.run("ls", "org/one", "--revisions").output.contains("11111111"))
        // What else is named goes.
        let both = try await stage.run("rm", "org/one", "org/two", flag)
        #expect(both.status == 2 && both.output.contains("org/two@22222222") && !both.output.contains("org/one@1"))
    }

    /// One pinned model kept all that a glob names, and no plan was shown.
    @Test func aGlobPassesOverWhatIsPinned() async throws {
        #expect(try await stage.run("pin", "org/one", "--note", "for the paper").status == 0)
        let shown = try await stage.run("rm", "org/*", "--dry-run")
        #expect(shown.status == 0 && shown.error.isEmpty, "\(shown.error)")
        #expect(shown.lines.contains("stays: org/one@11111111: pinned: for the paper"), "\(shown.output)")
        #expect(shown.lines.contains("1 row, 6 B in all"))
        let done = try await stage.run("rm", "org/*", "--yes", "--json")
        #expect(done.status == 0, "\(done.error)")
        let document = try done.document()
        #expect(document.objects("plan").map { $0["id"]?.string } == ["org/two"])
        #expect(document.objects("protected").map { $0["reason"]?.string } == ["pinned"])
        #expect(try await stage.run("ls", "-q").lines == ["org/one"])
        // Nothing is left to delete.
        let refused = try await stage.run("rm", "org/*", "--yes")
        #expect(refused.status == 2 && refused.output.isEmpty)
        #expect(refused.error.hasPrefix("hub: org/one@11111111 is pinned: for the paper\n"))
    }

    @Test func aNoteStaysUntilThereIsANewOne() async throws {
        func note() async throws -> JSON? {
            let models = try await stage.run("ls", "org/one", "--json").document()["models"]?.array
            return models?.first?["revisions"]?.array?.first?["pin_note"]
        }
        #expect(try await stage.run("pin", "org/one", "--note", "for the paper").status == 0)
        #expect(try await stage.run("pin", "org/one").status == 0)
        #expect(try await note()?.string == "for the paper")
        #expect(try await stage.run("pin", "org/one", "--note", "other").status == 0)
        #expect(try await note()?.string == "other")
        #expect(try await stage.run("unpin", "org/one").status == 0)
        #expect(try await stage.run("pin", "org/one").status == 0)
        #expect(try await note() == nil)
        let missing = try await stage.run("pin", "zz*")
        #expect(missing.status == 3 && !missing.error.contains("hub pull"))
    }

    @Test func thePinsAreListedWithTheirNotes() async throws {
        #expect(try await stage.run("pin").output == "nothing is pinned\n")
        #expect(try await stage.run("pin", "org/two", "--note", "for the paper").status == 0)
        #expect(try await stage.run("pin", "org/one").status == 0)
        try FileSystem.removeTree(Path.join(stage.cache, "models--org--one"))
        let shown = try await stage.run("pin")
        #expect(
            settled(shown.output) == """
                PINNED  NOTE
                org/one@11111111  not cached
                org/two@22222222  for the paper

                """, "\(shown.output)")
        #expect(try await stage.run("pin", "-q").lines == ["org/one@11111111", "org/two@22222222"])
        let lines = try await stage.run("pin", "--json").document().objects("pinned")
        #expect(lines.map { $0["note"]?.string } == [nil, "for the paper"])
        let about = try await stage.run("pin", "--note", "nothing")
        #expect(about.status == 2 && about.error.hasPrefix("hub: missing REF|GLOB\n"))
    }

    @Test func aPinOfWhatIsGoneCanBeTakenAway() async throws {
        #expect(try await stage.run("pin", "org/*").status == 0)
        try FileSystem.removeTree(Path.join(stage.cache, "models--org--one"))
        #expect(try await stage.run("unpin", "org/one", "-q").output == "org/one@11111111\n")
        #expect(try await stage.run("pin", "org/none").status == 3)
        #expect(try await stage.run("pin", "org/two:b.bin").status == 2)
    }

    /// A catalog that cannot be read may hold pins: a rule deletes nothing then, and what a person named goes.
    @Test func wherePinsCannotBeReadOnlyWhatWasNamedGoes() async throws {
        #expect(try await stage.run("pin", "org/one").status == 0)
        // SQLite would read the catalog again from its log.
        for path in [stage.catalog, stage.catalog + "-wal", stage.catalog + "-shm"] where FileSystem.exists(path) {
            try FileSystem.remove(path)
        }
        try FileSystem.replace(stage.catalog, with: Array("garbage".utf8))
        for words in [
            ["gc", "--unused-for", "0d", "--yes"], ["gc", "--max-size", "0B", "--yes", "--trash"],
            ["gc", "--unused-for", "0d", "--yes", "--json"], ["gc", "--plain"],
            ["gc", "--unused-for", "0d", "-n"],
        ] {
            let result = try await RunningProcess.run(BuiltProduct.path(), words, environment: stage.environment)
            #expect(result.status == 6, "\(words)")
            #expect(result.error.contains("cannot read the pins (the catalog "), "\(words): \(result.error)")
            #expect(result.error.contains("; nothing was deleted\n"), "\(words)")
            #expect(!result.output.contains("org/one"), "no plan before it: \(words)")
        }
        #expect(try await stage.run("gc", "--orphans", "--partials", "--yes").status == 0)
        #expect(try await stage.run("ls", "-q", "--sort", "name").lines == ["org/one", "org/two"])
        let named = try await stage.run("rm", "org/one", "--yes")
        #expect(named.status == 0 && named.output.contains("4 B freed"))
        #expect(named.error.contains("hub: warning: cannot read the pins (the catalog "))
        #expect(named.error.contains("): what was named goes even if it is pinned\n"))
        #expect(try await stage.run("ls", "-q").lines == ["org/two"])
    }

    /// Another user's repository: nothing of it is deleted, and a nightly job continues with the rest.
    @Test(arguments: ["blobs", "snapshots/\(commit("1"))"])
    func whatThisUserMayNotWriteStaysWhole(place: String) async throws {
        let other = OtherUser(54_317, group: 54_317)
        guard let other, try await other.canRun(BuiltProduct.path()) else { return }
        let folder = Path.join(stage.cache, "models--org--one")
        try FileSystem.createDirectories(stage.machine("state"))
        #expect(
            try await RunningProcess.run("/bin/chown", ["-R", "\(other.user)", stage.machine.path]).status == 0)
        try FileSystem.setMode(Path.join(folder, place), 0o500)
        // The least recently used, to which a target comes first.
        for name in try FileSystem.entries(Path.join(folder, "blobs")) ?? [] {
            try FileSystem.setTimes(Path.join(folder, "blobs/\(name)"), accessed: 1e9, modified: 1e9)
        }
        let before = try stage.listing(folder)
        func run(_ words: [String]) async throws -> ProcessResult {
            let line = other.words(try BuiltProduct.path(), words)
            return try await RunningProcess.run(
                line[0], Array(line.dropFirst()), environment: stage.environment)
        }
        for words in [[], ["--trash"]] {
            let refused = try await run(["rm", "org/one", "--yes"] + words)
            #expect(refused.status == 6)
            #expect(
                refused.error.contains(
                    "hub: org/one@11111111 was not deleted: no permission to write \(Path.join(folder, place))\n"))
            #expect(try stage.listing(folder) == before, "\(words)")
        }
        let swept = try await run(["gc", "--max-size", "5B", "--yes", "--json"])
        #expect(swept.status == 0, "\(swept.error)")
        #expect(try swept.document()["freed_bytes"]?.int == 6)
        #expect(try swept.document().objects("protected").map { $0["id"]?.string } == ["org/one"])
        #expect(try stage.listing(folder) == before)
    }

    #if os(Linux)
    /// A program that has a file open, and one that only has it mapped: it runs from there.
    @Test func whatAnotherProcessReadsStaysAndTheProcessIsNamed() async throws {
        let sleeping = Path.join(stage.cache, "models--org--two/blobs/\(String(repeating: "7", count: 64))")
        // What this process writes a child of another test may hold open for a moment, and such a file cannot be run.
        #expect(try await RunningProcess.run("/bin/cp", ["-fL", "/bin/cat", sleeping]).status == 0)
        try FileSystem.setMode(sleeping, 0o755)
        let snapshot = Path.join(stage.cache, "models--org--two/snapshots/\(commit("2"))")
        try FileSystem.createSymlink("../../blobs/\(Path.name(sleeping))", at: Path.join(snapshot, "model.bin"))
        let mapping = try RunningProcess(Path.join(snapshot, "model.bin"), [], input: nil)
        mapping.write("ready\n")
        try await mapping.wait(forText: "ready")
        let file = Path.join(stage.cache, "models--org--one/snapshots/\(commit("1"))/a.bin")
        let reading = try RunningProcess(
            "/bin/sh", ["-c", "exec 3< \"$0\"; echo ready; read line", file], input: nil)
        try await reading.wait(forText: "ready")
        let result = try await stage.run("gc", "--max-size", "0B", "--best-effort", "--yes")
        #expect(result.status == 0)
        #expect(
            result.lines.sorted() == [
                "nothing to delete", "stays: org/one@11111111: in use: sh (\(reading.pid)) has a.bin open",
                "stays: org/two@22222222: in use: model.bin (\(mapping.pid)) has model.bin open",
            ])
        #expect(
            try await stage.run("gc", "--max-size", "0B", "--json").document().objects("protected")
                .allSatisfy { $0["reason"]?.string == "in use" })
        // If named explicitly, the status reports it too, and other named items are deleted.
        try stage.plant("models--org--free", commit: commit("3"), files: ["c.bin": "cc"])
        let refused = try await stage.run("rm", "org/one", "org/free", "--yes", "--json")
        #expect(refused.status == 6)
        #expect(try refused.errorCode() == "io_error")
        #expect(refused.error.contains("hub: org/one@11111111 is in use: sh (\(reading.pid)) has a.bin open\n"))
        #expect(try refused.document()["freed_bytes"]?.int == 2)
        let alone = try await stage.run("rm", "org/one", "--yes")
        #expect(alone.status == 6 && alone.output.isEmpty)
        reading.killHard()
        _ = try await reading.wait()
        #expect(
            try await stage.run("gc", "--max-size", "0B", "--best-effort", "--yes", "-q").output
                == "org/one@11111111\n")
        mapping.killHard()
        _ = try await mapping.wait()
        #expect(try await stage.run("gc", "--max-size", "0B", "--yes", "-q").output == "org/two@22222222\n")
    }
    #endif

    @Test func whatIsBeingPulledStays() async throws {
        let stage = try Stage.withModel()
        let gate = Gate()
        stage.hub.add(Fault("model.safetensors", .hold(after: 1000, gate), times: nil, on: .cdn))
        let pull = try stage.start("pull", "org/tiny", "-q")
        try await gate.reached()
        let result = try await stage.run("gc", "--max-size", "0B", "--best-effort", "--partials", "--yes")
        #expect(result.status == 0)
        #expect(result.output.contains("stays: org/tiny"))
        #expect(result.output.contains("in use: "))
        gate.release()
        #expect(try await pull.wait().status == 0)
        #expect(try await stage.run("path", "org/tiny").status == 0)
        #expect(try await stage.run("gc", "--max-size", "0B", "--yes").status == 0)
        #expect(try await stage.run("ls", "-q").output.isEmpty)
    }
}
