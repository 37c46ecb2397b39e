import HubCore
import Support
import Testing

@testable import HubCLI

/// `hub export`, `hub import` and `hub cache inventory`: what arrives is what a pull would have fetched.
@Suite struct ArchiveTests {
    @Test func aFileTravels() async throws {
        let travel = try TravelStage()
        try await travel.here("pull", "-q", "org/tiny")
        let exported = try await travel.here("export", "org/tiny", "-o", "m.tar")
        #expect(exported.lines.last == "m.tar" && exported.lines.first?.hasPrefix("org/tiny at ") == true)
        #expect(!FileSystem.exists(travel.path("m.tar.incomplete")))
        let dry = try await travel.there("import", "m.tar", "--dry-run", "--json")
        let document = try dry.document()
        #expect(dry.status == 0 && document["new_bytes"]?.int == document["bytes"]?.int)
        #expect(document.objects("models").first?["files"]?.int == 4)
        try travel.expectNothing()

        let imported = try await travel.there("import", "m.tar")
        #expect(imported.status == 0 && imported.error.isEmpty, "\(imported.error)")
        #expect(imported.lines.last == (try await travel.there("path", "org/tiny")).lines.first)
        try travel.expectSame()
        // A pull has nothing to ask, verify nothing to complain of, and the list is whole.
        #expect(try await travel.there("pull", "-q", "org/tiny", "--offline").status == 0)
        #expect(try await travel.there("verify", "--full", "--offline").status == 0)
        let listed = try await travel.there("ls", "--json").document().objects("models")
        #expect(listed.first?["complete"]?.bool == true)
        #expect(try await travel.there("search", "--offline", "tiny", "-q").lines == ["org/tiny"])
        // Again, it is all there.
        let again = try await travel.there("import", "m.tar", "--json").document()
        #expect(again["new_bytes"]?.int == 0)
    }

    /// Every tool for tar can read it, and the same models make the same bytes.
    @Test func anArchiveIsATarFile() async throws {
        let travel = try TravelStage()
        try await travel.here("pull", "-q", "org/tiny")
        try await travel.here("export", "org/tiny", "-o", "a.tar")
        try await travel.here("export", "org/tiny", "-o", "b.tar")
        let (one, two) = (
            try FileSystem.contents(travel.path("a.tar")), try FileSystem.contents(travel.path("b.tar"))
        )
        #expect(one == two ? true : false)
        let listed = try travel.stage.shell("tar -tf a.tar && mkdir x && tar -xf a.tar -C x")
        let result = try await listed.wait()
        #expect(result.status == 0 && result.lines.first == "hub-export.json" && result.lines.count == 5)
        // What another tool has unpacked is the folder form.
        #expect(try await travel.there("import", "x").status == 0)
        try travel.expectSame()
    }

    /// Several repositories are ended at a time, the revisions of one in the order of the archive.
    @Test func theLastRevisionOfManyModelsHasTheBranch() async throws {
        let travel = try TravelStage()
        let models = (0..<90).map { number -> JSON in
            let digits = String(number)
            let commit = String(repeating: "0", count: 40 - digits.utf8.count) + digits
            return .object([
                "id": .string("org/m\(number % 30)"), "commit": .string(commit), "ref": "main", "files": .array([]),
                "tree": .array([]),
            ])
        }
        let manifest: JSON = .object(["hub_export": 1, "models": .array(models)])
        try FileSystem.createDirectories(travel.path("stick"))
        try FileSystem.replace(travel.path("stick/hub-export.json"), with: Array(manifest.text().utf8))
        let imported = try await travel.there("import", "stick")
        #expect(imported.status == 0 && imported.lines.suffix(90).allSatisfy { $0.contains("/snapshots/") })
        for number in 0..<30 {
            let folder = Path.join(travel.cache, "models--org--m\(number)")
            #expect(try FileSystem.text(Path.join(folder, "refs/main"))?.hasSuffix("0\(number + 60)") == true)
            #expect(try FileSystem.entries(Path.join(folder, "snapshots"))?.count == 3)
        }
    }

    @Test func foldersPartsAndPipes() async throws {
        let travel = try TravelStage()
        try await travel.here("pull", "-q", "org/tiny")
        try await travel.here("export", "org/tiny", "-o", "stick/")
        #expect(try await travel.there("import", "stick").status == 0)
        try travel.expectSame()
        try FileSystem.removeTree(travel.path("there"))

        try await travel.here("export", "org/tiny", "-o", "p.tar", "--split", "100kB")
        let parts = try FileSystem.entries(travel.stage.machine.path)?.filter { $0.hasPrefix("p.tar") } ?? []
        #expect(parts == ["p.tar.001", "p.tar.002", "p.tar.003", "p.tar.004"])
        for part in parts.dropLast() { #expect(try FileSystem.status(travel.path(part))?.size == 100_000) }
        #expect(try await travel.there("import", "p.tar.001").status == 0)
        try travel.expectSame()
        try FileSystem.removeTree(travel.path("there"))
        #expect(try await travel.there("import", "p.tar").status == 0)
        try travel.expectSame()
        try FileSystem.removeTree(travel.path("there"))
        for missing in ["p.tar.004", "p.tar.002"] {
            try FileSystem.rename(travel.path(missing), to: travel.path("aside"))
            let result = try await travel.there("import", "p.tar.001")
            #expect(result.status == 3 && result.error.contains("\(missing) is missing"), "\(result.error)")
            try FileSystem.rename(travel.path("aside"), to: travel.path(missing))
        }
        #expect(try await travel.there("import", "p.tar").status == 0)
        try travel.expectSame()
        try FileSystem.removeTree(travel.path("there"))

        let environment = travel.there.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        let pipe = try travel.stage.shell(
            "$hub export org/tiny -o - | (export \(environment); $hub import -)")
        #expect(try await pipe.wait().status == 0)
        try travel.expectSame()
    }

    /// Two revisions, a dataset, a choice: everything that a pull knows of them.
    @Test func severalModelsAndTheirChoices() async throws {
        let travel = try TravelStage()
        try ModelRepository("org/tiny", in: travel.stage.root, revision: "dev").write("config.json", "{}")
        try ModelRepository("org/data", in: travel.stage.root, kind: .dataset).write("a.csv", "1,2\n")
        try await travel.here("pull", "-q", "org/tiny@dev", "datasets/org/data")
        try await travel.here("pull", "-q", "org/tiny", "--include", "*.json", "--include", "sub/*")
        try await travel.here("export", "org/tiny", "org/tiny@dev", "datasets/org/data", "-o", "m.tar")
        #expect(try await travel.there("import", "m.tar").status == 0)
        try travel.expectSame()
        let follow = try await travel.there("pull", "org/tiny", "--offline")
        #expect(follow.status == 0 && follow.error.contains("using your earlier selection"), "\(follow.error)")
        // A branch that had moved elsewhere is set, and that is said.
        try await travel.here("export", "org/tiny:config.json", "-o", "one.tar")
        let ref = Path.join(travel.cache, "models--org--tiny/refs/main")
        try FileSystem.replace(ref, with: Array(commit("1").utf8))
        let moved = try await travel.there("import", "one.tar")
        #expect(moved.status == 0 && moved.error.contains("main moves from 1111111"))
    }

    /// Only what the other side lacks, and what it does not have after all is said.
    @Test func sinceAnInventory() async throws {
        let travel = try TravelStage()
        try await travel.here("pull", "-q", "org/tiny")
        try await travel.here("export", "org/tiny", "-o", "all.tar")
        #expect(try await travel.there("import", "all.tar").status == 0)
        let inventory = try await travel.there("cache", "inventory")
        #expect(try inventory.document().objects("blobs").map { $0["bytes"]?.int } == [300_000])
        try FileSystem.replace(travel.path("there.json"), with: inventory.outputBytes)
        try ModelRepository("org/tiny", in: travel.stage.root).random("more.safetensors", size: 50_000, seed: 9)
        try await travel.here("pull", "-q", "org/tiny")
        let document = try await travel.here(
            "export", "org/tiny", "-o", "new.tar", "--since", "there.json", "--json"
        ).document()
        #expect(try #require(document["bytes"]?.int) < 60_000)
        #expect(try #require(try FileSystem.status(travel.path("new.tar"))?.size) < 70_000)
        let imported = try await travel.there("import", "new.tar")
        #expect(imported.status == 0, "\(imported.error)")
        #expect(try await travel.there("verify", "--full", "--offline").status == 0)
        let here = try await travel.stage.path("org/tiny")
        let there = try #require(try await travel.there("path", "org/tiny").lines.first)
        #expect(try travel.stage.listing(here) == travel.stage.listing(there))

        try FileSystem.removeTree(travel.path("there"))
        let lacking = try await travel.there("import", "new.tar")
        #expect(lacking.status == 3 && lacking.error.contains("leaves out model.safetensors"))
        try travel.expectNothing()
        for text in ["{}", "[", "{\"blobs\":[{\"sha256\":\"x\"}]}"] {
            try FileSystem.replace(travel.path("bad.json"), with: Array(text.utf8))
            #expect(try await travel.stage.run("export", "org/tiny", "-o", "x", "--since", "bad.json").status == 2)
        }
    }

    /// What another repository has is taken from there.
    @Test func contentIsShared() async throws {
        let travel = try TravelStage()
        try ModelRepository.tiny("org/same", in: travel.stage.root, weights: 300_000)
        try await travel.here("pull", "-q", "org/tiny", "org/same")
        try await travel.here("export", "org/same", "-o", "same.tar")
        try await travel.here("export", "org/tiny", "org/same", "-o", "both.tar")
        #expect(try #require(try FileSystem.status(travel.path("both.tar"))?.size) < 400_000)
        #expect(try await travel.there("import", "same.tar").status == 0)
        let result = try await travel.there("import", "both.tar", "--json").document()
        #expect(try #require(result["new_bytes"]?.int) < 1000)
        try travel.expectSame()
    }

    /// It was replaced without a word.
    @Test func anArchiveThatIsThereIsReplacedAfterAYes() async throws {
        let travel = try TravelStage()
        try await travel.here("pull", "-q", "org/tiny")
        for (path, flags) in [("m.tar", []), ("p.tar.001", ["--split", "100kB"])] as [(String, [String])] {
            let words = ["export", "org/tiny", "-o", path.replacing(".001", with: "")] + flags
            try FileSystem.replace(travel.path(path), with: Array("mine".utf8))
            let kept = try await travel.stage.run(words)
            #expect(kept.status == 2 && kept.error == "hub: \(path) exists\n     --force replaces it\n")
            #expect(try FileSystem.text(travel.path(path)) == "mine")
            // A run that was interrupted has asked already.
            try FileSystem.replace(travel.path(path + ".incomplete"), with: [])
            #expect(try await travel.stage.run(words).status == 0)
            #expect(try FileSystem.text(travel.path(path)) != "mine")
            #expect(try await travel.stage.run(words + ["-f", "-q"]).status == 0)
        }
        let process = try travel.stage.start("export", "org/tiny", "-o", "m.tar", terminal: .init(columns: 100))
        try await process.wait(forText: "Replace m.tar? [y/N] ")
        process.write("n\n")
        let asked = try await process.wait()
        #expect(asked.status == 2 && asked.terminal.contains("m.tar is kept; nothing was written"))
    }

    @Test func badInputIsSaid() async throws {
        let travel = try TravelStage()
        try await travel.here("pull", "-q", "org/tiny")
        for (words, status) in [
            (["export", "org/tiny"], 2), (["export", "-o", "x"], 2), (["export", "org/none", "-o", "x"], 3),
            (["export", "org/tiny", "org/tiny", "-o", "x"], 2), (["export", "org/tiny:none", "-o", "x"], 3),
            (["export", "org/tiny", "-o", "-", "--json"], 2),
            (["export", "org/tiny", "-o", "-", "--split", "1MB"], 2),
            (["export", "org/tiny", "-o", "d/", "--split", "1MB"], 2),
            (["export", "org/tiny", "-o", "x", "--since", "none.json"], 3), (["import", "none.tar"], 3),
            (["import"], 2), (["export", "org/tiny", "-o", "no/such/folder/x"], 6),
        ] as [([String], Int32)] {
            let result = try await travel.stage.run(words)
            #expect(result.status == status, "\(words): \(result.error)")
        }
        // Damage in the cache does not travel.
        let place = Path.join(try await travel.stage.path("org/tiny"), "model.safetensors")
        let blob = try #require(FileSystem.resolved(place))
        var bytes = try #require(try FileSystem.contents(blob))
        bytes[150_000] ^= 1
        try FileDescriptor(blob, [.write]).write(bytes)
        let damaged = try await travel.stage.run("export", "org/tiny", "-o", "x.tar")
        #expect(damaged.status == 7 && damaged.error.contains("is damaged"))
        #expect(!FileSystem.exists(travel.path("x.tar")))
    }
}
