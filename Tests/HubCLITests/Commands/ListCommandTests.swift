import Catalog
import HubCore
import Support
import Testing

@testable import HubCLI

@Suite struct ListCommandTests {
    let stage: Stage

    init() throws {
        stage = try Stage()
    }

    /// Two models and a dataset, as other tools leave them; the times are set, so that their order is certain.
    func fill() throws {
        try stage.plant("models--org--one", commit: commit("1"), files: ["a.bin": "aaaa", "b.bin": "bbbbbb"])
        try stage.plant("models--org--two", commit: commit("2"), ref: "v1.0", files: ["c.bin": "cc"])
        try stage.plant("models--org--two", commit: commit("3"), files: ["c.bin": "cc", "d.bin": "dddddddd"])
        try stage.plant("datasets--org--data", commit: commit("4"), files: ["e.csv": "eee"])
    }

    @Test func anEmptyCacheIsSaidAndNotMade() async throws {
        let result = try await stage.run("ls")
        #expect(result.status == 0 && result.output.isEmpty)
        #expect(result.error == "hub: nothing is cached in \(stage.cache)\n")
        #expect(!FileSystem.exists(stage.cache))
        #expect(try await stage.run("ls", "-q").output.isEmpty)
        #expect(try await stage.run("ls", "--json").document().objects("models").isEmpty)
    }

    @Test func whatAnotherToolPutThereIsListedWithoutBeingTold() async throws {
        try fill()
        let result = try await stage.run("ls", "--sort", "name")
        #expect(result.status == 0 && result.error.isEmpty)
        let lines = result.lines.map(settled)
        #expect(
            Array(lines[0...2]) == [
                "MODEL  SIZE  FREES  USED  REVISIONS  DOWNLOADED", "datasets/org/data  3 B  3 B  AGE  main  AGE",
                "org/one  10 B  10 B  AGE  main  AGE",
            ])
        // Planted in the same moment, the two revisions have no order of their own.
        #expect(["main, v1.0", "v1.0, main"].contains { lines[3] == "org/two  10 B  10 B  AGE  \($0)  AGE" })
        #expect(lines[4] == "3 repositories, 23 B; 23 B can be freed; SIZE free on the disk" && lines.count == 5)
    }

    /// It had no heading.
    @Test func whatIsRemarkableHasAColumnOfItsOwn() async throws {
        try fill()
        #expect(try await stage.run("pin", "org/one").status == 0)
        let lines = try await stage.run("ls", "--sort", "name").lines.map(settled)
        #expect(lines[0].hasSuffix("  DOWNLOADED  NOTE") && lines[2].hasSuffix("  AGE  pinned"))
        let revisions = try await stage.run("ls", "--revisions", "org/one").lines.map(settled)
        #expect(revisions[0].hasSuffix("  USED  NOTE") && revisions[1].hasSuffix("  AGE  pinned"))
    }

    /// The name was cut beside "REVIS…".
    @Test func aNarrowTerminalKeepsNamesAndBreaksTheSumBetweenWords() async throws {
        let name = "org/a-name-of-thirty-characters"
        try stage.plant("models--\(name.replacing("/", with: "--"))", commit: commit("1"), files: ["a.bin": "aaaa"])
        let result = try await stage.run("ls", "--color", "never", terminal: .init(.output, columns: 40))
        let lines = result.terminal.split(separator: "\r\n").map(String.init)
        #expect(lines[0].split(separator: " ") == ["MODEL", "SIZE"] && lines[1].hasPrefix("\(name) "))
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= 40 && !$0.contains("…") }, "\(lines)")
        #expect(
            settled(lines.dropFirst(2).joined(separator: " "))
                == "1 repository, 4 B; 4 B can be freed; SIZE free on the disk")
    }

    @Test func quietPrintsIdsThatOtherCommandsTake() async throws {
        try fill()
        let ids = try await stage.run("ls", "-q", "--sort", "name").lines
        #expect(ids == ["datasets/org/data", "org/one", "org/two"])
        for id in ids { #expect(try await stage.run("path", id).status == 0) }
    }

    @Test func theDocumentKeepsToTheContract() async throws {
        try fill()
        let document = try await stage.run("ls", "--json", "--sort", "name").document()
        document.expectKeys("models total_bytes partial_bytes other_bytes reclaimable_bytes disk_free_bytes")
        #expect(document["total_bytes"]?.int == 23 && document["partial_bytes"]?.int == 0)
        #expect(document["other_bytes"]?.int == 0 && document["disk_free_bytes"]?.int ?? 0 > 0)
        let models = document.objects("models")
        #expect(models.map { $0["kind"]?.string } == ["dataset", "model", "model"])
        for model in models {
            model.expectKeys(
                "id kind path size_bytes freeable_bytes files downloaded_at last_used_at pinned damaged complete revisions problems"
            )
            for revision in model.objects("revisions") {
                revision.expectKeys("commit refs size_bytes freeable_bytes complete pinned damaged")
            }
        }
        let two = models[2]
        #expect(two["path"]?.string == Path.join(stage.cache, "models--org--two") && two["files"]?.int == 2)
        #expect(two["size_bytes"]?.int == 10 && two["freeable_bytes"]?.int == 10)
        // Content that the other revision has too would stay.
        let freeable = two.objects("revisions").map {
            ($0["commit"]?.string?.first, $0["size_bytes"]?.int, $0["freeable_bytes"]?.int)
        }.sorted { $0.0! < $1.0! }
        #expect(freeable.map(\.1) == [2, 10] && freeable.map(\.2) == [0, 8])
    }

    @Test func changesBehindItsBackAreSeen() async throws {
        try fill()
        #expect(try await stage.run("ls", "-q").lines.count == 3)
        try FileSystem.removeTree(Path.join(stage.cache, "models--org--one"))
        try stage.plant("models--org--new", commit: commit("5"), files: ["f.bin": "ffff"])
        try stage.plant("models--org--two", commit: commit("3"), files: ["g.bin": "gggg"])
        let document = try await stage.run("ls", "--json", "--sort", "name").document()
        let sizes = document.objects("models").map { "\($0["id"]?.string ?? "") \($0["size_bytes"]?.int ?? 0)" }
        #expect(sizes == ["org/data 3", "org/new 4", "org/two 14"])
        try FileSystem.removeTree(Path.join(stage.cache, "models--org--two/snapshots/\(commit("3"))"))
        try FileSystem.remove(Path.join(stage.cache, "models--org--two/refs/main"))
        let narrowed = try await stage.run("ls", "--json", "org/two").document().objects("models")
        #expect(narrowed.first?.objects("revisions").map { $0.strings("refs") } == [["v1.0"]])
    }

    @Test func globsAndReferencesChoose() async throws {
        try fill()
        #expect(try await stage.run("ls", "-q", "--sort", "name", "org/*").lines == ["org/one", "org/two"])
        #expect(try await stage.run("ls", "-q", "datasets/*").lines == ["datasets/org/data"])
        #expect(try await stage.run("ls", "-q", "datasets/org/data").lines == ["datasets/org/data"])
        #expect(try await stage.run("ls", "-q", "hf://org/one").lines == ["org/one"])
        let summary = try await stage.run("ls", "org/one").lines.last ?? ""
        #expect(settled(summary) == "In all: 3 repositories, 23 B; 23 B can be freed; SIZE free on the disk")
        let glob = try await stage.run("ls", "org/*:x")
        #expect(glob.status == 2 && glob.error.contains("cannot have a revision or files"))
    }

    /// Listed by revision, a repository showed what deleting all of it would free.
    @Test func ofAChosenRevisionOnlyItsOwnBytesAreFreeable() async throws {
        try fill()
        let models = try await stage.run("ls", "--json", "org/two@v1.0").document().objects("models")
        #expect(models.count == 1 && models[0]["size_bytes"]?.int == 2 && models[0]["freeable_bytes"]?.int == 0)
        #expect(models[0].objects("revisions").map { $0["freeable_bytes"]?.int } == [0])
        let lines = try await stage.run("ls", "--revisions", "org/two@main").lines
        #expect(settled(lines[1]) == "org/two  33333333  main  10 B  8 B  AGE")
    }

    /// One of several words that matched nothing went unsaid.
    @Test func eachWordThatMatchesNothingIsSaidAndTheOthersAreListed() async throws {
        try fill()
        let result = try await stage.run("ls", "org/one", "nope/x", "-q")
        #expect(result.status == 3 && result.output == "org/one\n")
        #expect(
            result.error == """
                hub: nothing in \(stage.cache) matches nope/x
                     hub ls lists what is cached

                """)
        let none = try await stage.run("ls", "no/*", "org/one@v9", "--json")
        #expect(none.status == 3)
        #expect(try none.errorCode() == "not_cached")
        #expect(try none.document().objects("models").isEmpty)
        let human = try await stage.run("ls", "no/*")
        #expect(human.status == 3 && human.output.isEmpty)
    }

    @Test func sizeAgeAndNumberLimitTheList() async throws {
        try fill()
        let old = Timestamp.now - 40 * 86_400
        for folder in ["models--org--one", "datasets--org--data"] {
            for name in try FileSystem.entries(Path.join(stage.cache, "\(folder)/blobs")) ?? [] {
                try FileSystem.setTimes(
                    Path.join(stage.cache, "\(folder)/blobs/\(name)"), accessed: old, modified: old)
            }
        }
        func ids(_ words: String...) async throws -> [String] {
            try await stage.run(["ls", "-q", "--sort", "name"] + words).lines
        }
        #expect(try await ids("--larger-than", "3B") == ["org/one", "org/two"])
        #expect(try await ids("--larger-than", "10B").isEmpty)
        #expect(try await ids("--unused-for", "30d") == ["datasets/org/data", "org/one"])
        #expect(try await ids("--unused-for", "30d", "--larger-than", "3B") == ["org/one"])
        #expect(try await ids("--limit", "2") == ["datasets/org/data", "org/one"])
        #expect(try await ids("--unused-for", "50d").isEmpty)
        #expect(try await stage.run("ls", "--limit", "1").lines.last?.hasPrefix("In all: 3 repositories") == true)
    }

    /// What is pinned cannot be freed, and what two models share only with both.
    @Test func whatCanBeFreedInAllIsSaid() async throws {
        try fill()
        func reclaimable() async throws -> Int64? {
            try await stage.run("ls", "--json").document()["reclaimable_bytes"]?.int
        }
        #expect(try await reclaimable() == 23)
        #expect(try await stage.run("pin", "org/two@v1.0", "org/one").status == 0)
        #expect(try await reclaimable() == 11)
        #expect(try await stage.run("ls").lines.last?.contains("; 11 B can be freed; ") == true)
    }

    /// Only gc --damaged knew of it.
    @Test func damageThatVerifyFoundIsShown() async throws {
        try fill()
        let blob = Path.join(stage.cache, "models--org--one/snapshots/\(commit("1"))/b.bin")
        try FileSystem.replace(try #require(FileSystem.resolved(blob)), with: Array("bbxbbb".utf8))
        #expect(try await stage.run("verify", "org/one", "--offline").status == 1)
        for words in [["ls"], ["ls", "--revisions"]] {
            let lines = try await stage.run(words).lines.filter { $0.contains("damaged") }
            #expect(lines.count == 1 && lines[0].hasPrefix("org/one "), "\(words)")
        }
        let models = try await stage.run("ls", "--json", "--sort", "name").document().objects("models")
        #expect(models.map { $0["damaged"]?.bool } == [false, true, false])
        #expect(models[1].objects("revisions").map { $0["damaged"]?.bool } == [true])
        // Replaced by what it should be, it is damaged no more.
        try FileSystem.replace(try #require(FileSystem.resolved(blob)), with: Array("bbbbbb".utf8))
        #expect(try await !stage.run("ls").output.contains("damaged"))
    }

    /// A backup or an indexer reads all of a cache: everything was "used today" then.
    @Test func whereMostOfTheCacheWasReadAtOnceHubsOwnTimesCount() async throws {
        let names = ["a", "b", "c", "d", "e", "f"]
        for name in names { try stage.plant("models--org--\(name)", commit: commit("1"), files: ["x.bin": name]) }
        for name in names.dropLast() { #expect(try await stage.run("path", "org/\(name)").status == 0) }
        let later = Timestamp.now + 40 * 86_400
        func used() async throws -> [Bool] {
            try await stage.run("ls", "--json", "--sort", "name").document().objects("models").map {
                ($0["last_used_at"]?.string ?? "") >= Timestamp.iso8601(later)
            }
        }
        func read(_ name: String, at time: Double) throws {
            let file = Path.join(stage.cache, "models--org--\(name)/snapshots/\(commit("1"))/x.bin")
            try FileSystem.setTimes(try #require(FileSystem.resolved(file)), accessed: time, modified: 1e9)
        }
        // Single models are read by who uses them.
        for name in names.prefix(3) { try read(name, at: later) }
        #expect(try await used() == [true, true, true, false, false, false])
        for (number, name) in names.enumerated() { try read(name, at: later + Double(number) * 300) }
        #expect(try await used() == [false, false, false, false, false, true], "of the last hub has noted nothing")
        let plan = try await stage.run("gc", "--unused-for", "0d", "--dry-run", "--json").document().objects("plan")
        #expect(plan.first?["id"]?.string == "org/a" && plan.last?["id"]?.string == "org/f")
    }

    @Test func sortsAreWhatTheySay() async throws {
        try fill()
        #expect(try await stage.run("ls", "-q", "--sort", "name").lines.first == "datasets/org/data")
        #expect(try await stage.run("ls", "-q", "--sort", "size").lines.last == "datasets/org/data")
        let bad = try await stage.run("ls", "--sort", "nam")
        #expect(bad.status == 2)
        #expect(
            bad.error == """
                hub: --sort: invalid value "nam"; did you mean name?
                     it must be one of used, size, name, downloaded

                """)
    }

    @Test func aRevisionEachWithDetachedSaid() async throws {
        try stage.plant("models--org--two", commit: commit("2"), ref: nil, files: ["c.bin": "cc"])
        try stage.plant("models--org--two", commit: commit("3"), files: ["d.bin": "dddd"])
        let lines = try await stage.run("ls", "--revisions").lines.map(settled)
        #expect(lines[0] == "MODEL  COMMIT  REFS  SIZE  FREES  USED")
        #expect(
            lines[1...2].sorted() == [
                "org/two  22222222  detached  2 B  2 B  AGE", "org/two  33333333  main  4 B  4 B  AGE",
            ])
    }

    @Test func partialsOfAnyToolAreShownWhenAskedFor() async throws {
        try fill()
        let name = "\(String(repeating: "a", count: 64)).1234abcd.incomplete"
        try FileSystem.replace(Path.join(stage.cache, "models--org--one/blobs/\(name)"), with: Array("12345".utf8))
        let output = try await stage.run("ls", "--partials", "org/one").output
        #expect(settled(output).contains("\nPARTIAL OF  FILE  ON DISK  CHANGED\norg/one  \(name)  5 B  AGE\n"))
        #expect(output.contains("; 5 B in unfinished downloads; "))
        // Where the catalog knows the file it is named; a map is part of its partial.
        let digest = String(repeating: "b", count: 64)
        for end in ["hub.incomplete", "hub.map.incomplete"] {
            let path = Path.join(stage.cache, "models--org--one/blobs/\(digest).\(end)")
            try FileSystem.replace(path, with: [])
        }
        let file = RepositoryFile(
            path: "sub/model.safetensors", size: 9, oid: String(repeating: "c", count: 40), sha256: digest)
        try Catalog(path: stage.catalog).remember(
            RepositoryTree(commit: try #require(Commit(commit("1"))), files: [file]), of: .model("org/one"),
            at: Timestamp.now)
        let shown = try await stage.run("ls", "--partials", "org/one").output
        #expect(settled(shown).contains("\norg/one  sub/model.safetensors  0 B  AGE\n"), "\(shown)")
        #expect(!shown.contains(".map.incomplete") && shown.contains(name))
        // hub gc says the same of the same cache.
        let size = try #require(try await stage.run("ls").output.firstMatch(of: /; ([0-9.]+ k?B) in all;/)).1
        let list = try await stage.shell("$hub gc --plain", input: "q\n").wait()
        #expect(list.output.contains("cache \(size), "), "\(list.output)")
        #expect(try await stage.run("ls", "--json").document()["partial_bytes"]?.int == 5)
    }

    @Test func pathMarksAModelUsedAndChangesTheOrder() async throws {
        try fill()
        // Long ago, as nothing has been used since; the largest blob's time of access is what other tools leave.
        for (folder, age) in [
            ("models--org--one", 3000.0), ("models--org--two", 2000), ("datasets--org--data", 1000),
        ] {
            let blobs = Path.join(stage.cache, "\(folder)/blobs")
            for name in try FileSystem.entries(blobs) ?? [] {
                let time = Timestamp.now - age * 86_400
                try FileSystem.setTimes(Path.join(blobs, name), accessed: time, modified: time)
            }
        }
        #expect(try await stage.run("ls", "-q").lines == ["datasets/org/data", "org/two", "org/one"])
        #expect(try await stage.run("path", "org/one").status == 0)
        #expect(try await stage.run("ls", "-q").lines == ["org/one", "datasets/org/data", "org/two"])
    }

    /// Python lists `models--a--b--c` as `a/b/c`: what takes room is not hidden because of its name.
    @Test func aFolderOfAnotherNameIsListedAndGlobsReachIt() async throws {
        try stage.plant("models--a--b--c", commit: commit("1"), files: ["a.bin": "aaaa"])
        #expect(try await stage.run("ls", "-q").output == "a/b/c\n")
        let model = try await stage.run("ls", "--json").document().objects("models").first
        #expect(model?["size_bytes"]?.int == 4)
        #expect(model?.strings("problems").first?.hasSuffix("has a name that no repository can have") == true)
        #expect(try await stage.run("rm", "a/b/*", "--yes").status == 0)
        #expect(try await stage.run("ls", "-q").output.isEmpty)
    }

    /// Linked to another disk by its owner.
    @Test func aRepositoryBehindALinkIsListedAndNeverDeleted() async throws {
        try stage.plant("models--org--one", commit: commit("1"), files: ["a.bin": "aaaa"])
        let place = stage.machine("disk")
        try FileSystem.rename(Path.join(stage.cache, "models--org--one"), to: place)
        try FileSystem.createSymlink(place, at: Path.join(stage.cache, "models--org--one"))
        #expect(try await stage.run("ls", "--json").document()["total_bytes"]?.int == 4)
        let result = try await stage.run("rm", "org/one", "--yes")
        #expect(result.status == 6 && result.output.isEmpty)
        #expect(
            result.error.contains(
                "hub: org/one@11111111 was not deleted: it is a link to a place outside the cache"))
        #expect(FileSystem.exists(Path.join(place, "refs/main")))
    }

    @Test func whatXetTransfersKeepIsAmongTheOtherBytes() async throws {
        try fill()
        try FileSystem.createDirectories(stage.machine("hf/xet/logs"))
        try FileSystem.replace(stage.machine("hf/xet/logs/x"), with: Array("12345".utf8))
        #expect(try await stage.run("ls", "--json").document()["other_bytes"]?.int == 5)
        #expect(try await stage.run("ls").output.contains("; 5 B kept by Xet transfers; "))
        let other = try await stage.run("ls", "--json", "--cache-dir", stage.machine("elsewhere")).document()
        #expect(other["other_bytes"]?.int == 0, "it does not belong to a cache that was named")
    }

    /// One folder that this user may not read made the whole list fail.
    @Test func whatCannotBeReadIsListedWithItsFaultAndNothingOfItGoes() async throws {
        let program = try BuiltProduct.path()
        guard let other = OtherUser(54_301, group: 54_301) else {
            try Test.cancel("this user cannot become another")
        }
        guard try await other.canRun(program) else { try Test.cancel("another user cannot run \(program)") }
        try fill()
        for name in ["home", "state"] { try other.own(stage.machine(name)) }
        try FileSystem.setMode(Path.join(stage.cache, "models--org--one/snapshots"), 0o700)
        try FileSystem.setMode(Path.join(stage.cache, "datasets--org--data"), 0o700)
        func run(_ words: String...) async throws -> ProcessResult {
            let line = other.words(program, words)
            return try await RunningProcess.run(line[0], Array(line.dropFirst()), environment: stage.environment)
        }
        let table = try await run("ls", "--sort", "name")
        #expect(table.status == 0)
        #expect(
            table.lines.count == 5 && table.lines[1].hasSuffix("unreadable")
                && table.lines[2].hasSuffix("unreadable"))
        #expect(!table.lines[3].hasSuffix("unreadable"))
        let folder = Path.join(stage.cache, "models--org--one/snapshots")
        #expect(table.error.contains("warning: org/one: cannot list \(folder): Permission denied\n"))
        let document = try await run("ls", "--json").document()
        #expect(document["total_bytes"]?.int == 10 && document["other_bytes"]?.int == 0)
        #expect(document.objects("models").filter { !$0.strings("problems").isEmpty }.count == 2)
        // Its blobs are needed by what cannot be seen.
        let plan = try await run("gc", "--orphans", "--dry-run", "--json").document()
        #expect(plan.objects("plan").isEmpty && plan.objects("protected").count == 2)
        try FileSystem.setMode(folder, 0o755)
        try FileSystem.setMode(Path.join(stage.cache, "datasets--org--data"), 0o755)
        #expect(try await run("ls", "--json").document()["total_bytes"]?.int == 23)
    }
}
