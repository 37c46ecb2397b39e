import HubCore
import Support
import Testing

@testable import HubCLI

/// The way back: what went into the trash comes back exactly, or is refused.
@Suite struct TrashCommandTests {
    let stage: Stage
    private var trash: String { stage.cache + "-trash" }

    init() throws {
        stage = try Stage()
        try stage.plant("models--org--one", commit: commit("1"), files: ["a.bin": "aaaa", "b.bin": "bbbbbb"])
        try stage.plant(
            "models--org--one", commit: commit("2"), ref: "v2", files: ["a.bin": "aaaa", "c.bin": "cc"])
        try stage.plant("models--org--two", commit: commit("3"), files: ["d.bin": "dddddddd"])
    }

    /// Every name with what it is: content, link text.
    private func contents() throws -> [String: String] {
        var out: [String: String] = [:]
        for name in try stage.listing(stage.cache) where !name.hasPrefix(".locks") {
            let path = Path.join(stage.cache, name)
            out[name] = try FileSystem.linkText(path) ?? FileSystem.text(path) ?? "folder"
        }
        return out
    }

    @Test(arguments: ["org/one", "org/one@v2", "org/one:[ab].bin", "org/*"])
    func whatWentInComesBackExactly(word: String) async throws {
        let before = try contents()
        let size = try await stage.run("ls", "--json").document()["total_bytes"]?.int
        let result = try await stage.run("rm", word, "--trash", "--yes")
        #expect(result.status == 0, "\(result.error)")
        #expect(
            result.lines.last?
                .hasPrefix("moved into \(trash); run hub trash empty to free the space; hub trash restore org/")
                == true
        )
        #expect(try contents() != before)
        let name = String(word.prefix { $0 != ":" })
        #expect(try await stage.run("trash", "ls", name, "-q").lines.isEmpty == false)
        let back = try await stage.run("trash", "restore", name)
        #expect(back.status == 0, "\(back.error)")
        #expect(try contents() == before)
        #expect(try await stage.run("trash").output == "the trash is empty\n")
        #expect(!FileSystem.exists(trash))
        #expect(try await stage.run("ls", "--json").document()["total_bytes"]?.int == size)
        #expect(try await stage.run("trash", "restore", name).status == 3)
    }

    /// A word that the trash does not know is a model that it does not have: nobody is told that it is empty.
    @Test func whatIsNotThereIsAnError() async throws {
        #expect(try await stage.run("rm", "org/two", "--trash", "--yes").status == 0)
        let wrong = try await stage.run("trash", "emtpy")
        #expect(wrong.status == 3 && wrong.output.isEmpty)
        #expect(wrong.error == "hub: emtpy is not in the trash\n     did you mean: hub trash empty\n")
        let both = try await stage.run("trash", "ls", "acme/nothing", "org/two")
        #expect(both.status == 3 && both.output.contains("org/two"))
        #expect(both.error == "hub: acme/nothing is not in the trash\n     hub trash shows what is\n")
        #expect(try await stage.run("trash", "ls", "org/two").status == 0)
    }

    /// One revision after the other goes into the trash, the blob that both need with the second; they come back the other
    /// way round.
    private func expectBothAreNeeded() async throws {
        for revision in ["v2", "main"] {
            #expect(try await stage.run("rm", "org/one@\(revision)", "--trash", "--yes").status == 0)
        }
        let lacking = try await stage.run("trash", "restore", "org/one@v2")
        #expect(lacking.status == 2)
        #expect(lacking.error.contains("it needs a file that went into the trash with org/one@11111111"))
        #expect(try await stage.run("trash", "restore", "org/one").status == 0)
    }

    @Test func restoringRefusesWhatStandsInItsPlaceAndWhatLacksABlob() async throws {
        #expect(try await stage.run("rm", "org/two", "--trash", "--yes").status == 0)
        try stage.plant("models--org--two", commit: commit("4"), files: ["e.bin": "e"])
        let there = try contents()
        let refused = try await stage.run("trash", "restore", "org/two")
        #expect(refused.status == 2 && refused.error.contains(", so it was not restored"))
        #expect(try contents() == there)
        try await expectBothAreNeeded()
        #expect(try await stage.run("ls", "-q", "--sort", "name").lines == ["org/one", "org/two"])
    }

    /// The line after a move is a command that can be typed as it stands.
    @Test func theCommandThatUndoesIsWhole() async throws {
        let before = try contents()
        let said = try #require(try await stage.run("rm", "org/*", "--trash", "--yes").lines.last)
        let command = try #require(said.split(separator: "; ").last?.split(separator: " ").map(String.init))
        #expect(command.first == "hub" && command.last == "this" && command.dropLast().last == "undoes", "\(said)")
        #expect(try await stage.run(Array(command.dropFirst().dropLast(2))).status == 0)
        #expect(try contents() == before)
    }

    /// The same revision went twice: what was there last comes back, and the other copy stays.
    @Test func ofTheSameTwiceTheNewestComesBack() async throws {
        #expect(try await stage.run("rm", "org/two", "--trash", "--yes").status == 0)
        try stage.plant("models--org--two", commit: commit("3"), files: ["d.bin": "newest"])
        #expect(try await stage.run("rm", "org/two", "--trash", "--yes").status == 0)
        let back = try await stage.run("trash", "restore", "org/two")
        #expect(back.status == 0 && back.lines.count == 1, "\(back.error)")
        #expect(back.error == "hub: 1 older copy of it stays in the trash\n")
        let file = try await stage.run("path", "org/two:d.bin").lines
        #expect(try FileSystem.text(try #require(file.first)) == "newest")
        #expect(try await stage.run("trash", "ls", "-q").lines == ["org/two@33333333"])
        // The older one cannot come back beside it, and the advice works as it is printed.
        let older = try await stage.run("trash", "restore", "org/two")
        #expect(older.status == 2)
        #expect(
            older.error == """
                hub: org/two@33333333 is in the cache already, so it was not restored
                     hub rm org/two@33333333 deletes what is there; then restore again

                """)
        #expect(try await stage.run("rm", "org/two@33333333", "--yes").status == 0)
        #expect(try await stage.run("trash", "restore", "org/two").status == 0)
    }

    @Test func whatIsMovedIsNotCalledFreed() async throws {
        for words in [["--dry-run"], ["--yes"]] {
            let isDone = words == ["--yes"]
            let document = try await stage.run(["rm", "org/two", "--trash", "--json"] + words).document()
            document.expectKeys("plan freed_bytes trashed_bytes deleted trashed protected")
            #expect(document["freed_bytes"]?.int == 0 && document["trashed_bytes"]?.int == 8)
            #expect(document["deleted"]?.bool == isDone && document["trashed"]?.bool == isDone)
        }
    }

    @Test func emptyingNeedsAYesAndFreesWhatWasSaid() async throws {
        #expect(try await stage.run("rm", "org/one", "--trash", "--yes").status == 0)
        #expect(try await stage.run("trash", "empty").status == 2)
        #expect(
            try await stage.run("trash", "empty", "--older-than", "1d", "--yes").output
                == "nothing in the trash is that old\n")
        let listed = try await stage.run("trash", "--json").document()
        listed.expectKeys("trash total_bytes")
        for entry in listed.objects("trash") { entry.expectKeys("id kind commit refs what size_bytes trashed_at") }
        #expect(listed["total_bytes"]?.int == 12)
        let emptied = try await stage.run("trash", "empty", "--yes", "--json").document()
        #expect(emptied["freed_bytes"]?.int == 12)
        #expect(!FileSystem.exists(trash))
    }

    // MARK: Damage

    private func blob(_ text: String) -> String {
        let name = ContentHasher.digest(of: Array(text.utf8), like: .sha256("")).hex
        return Path.join(stage.cache, "models--org--one/blobs/\(name)")
    }

    /// The file in the trash that holds a text.
    private func kept(_ text: String) throws -> String {
        let paths = try stage.listing(trash).map { Path.join(trash, $0) }
        return try #require(paths.first { try FileSystem.linkText($0) == nil && FileSystem.text($0) == text })
    }

    @Test func whatIsGoneFromTheTrashIsNotSaidToBeBack() async throws {
        #expect(try await stage.run("rm", "org/two", "--trash", "--yes").status == 0)
        let entry = try #require(try FileSystem.entries(trash)?.first)
        try FileSystem.removeTree(Path.join(trash, "\(entry)/0"))
        let nothing = try await stage.run("trash", "restore", "org/two")
        #expect(nothing.status == 6 && nothing.output.isEmpty)
        #expect(nothing.error.contains("nothing of org/two@33333333 is left in the trash"))
        #expect(try await stage.run("trash", "-q").lines == ["org/two@33333333"])
        // One file of several.
        #expect(try await stage.run("rm", "org/one@main", "--trash", "--yes").status == 0)
        try FileSystem.remove(try kept("bbbbbb"))
        let (there, inTrash) = (try contents(), try stage.listing(trash))
        let part = try await stage.run("trash", "restore", "org/one")
        #expect(part.status == 6 && part.output.isEmpty)
        #expect(part.error.contains("models--org--one/blobs/\(Path.name(blob("bbbbbb"))) is gone from the trash"))
        #expect(try contents() == there && stage.listing(trash) == inTrash)
    }

    /// A link that was broken before does not hide a blob in another entry.
    @Test func everyBlobIsLookedForInOtherEntries() async throws {
        try FileSystem.createSymlink(
            "../../blobs/\(String(repeating: "0", count: 64))",
            at: Path.join(stage.cache, "models--org--one/snapshots/\(commit("2"))/0.bin"))
        let before = try contents()
        try await expectBothAreNeeded()
        #expect(try contents() == before)
    }

    /// One unreadable manifest does not affect other entries.
    @Test func aDamagedManifestLeavesTheOthersUsable() async throws {
        let before = try contents()
        #expect(try await stage.run("rm", "org/one", "--trash", "--yes").status == 0)
        #expect(try await stage.run("rm", "org/one", "--yes").status == 3)
        let entries = try #require(try FileSystem.entries(trash))
        for entry in entries {
            try FileSystem.replace(Path.join(trash, "\(entry)/manifest.json"), with: Array("{".utf8))
        }
        let alone = try await stage.run("trash", "ls")
        #expect(alone.status == 6 && alone.output == "nothing in the trash can be read\n")
        let damaged = try stage.listing(trash)
        let fault = "\(trash)/\(entries[0]) has a manifest that cannot be read"
        #expect(try await stage.run("rm", "org/two", "--trash", "--yes").status == 0)
        let listed = try await stage.run("trash", "ls", "-q")
        #expect(listed.status == 6 && listed.lines == ["org/two@33333333"] && listed.error.contains(fault))
        let document = try await stage.run("trash", "--json").document()
        #expect(document.objects("trash").count == 1)
        #expect(document["error"]?["code"]?.string == "io_error")
        let restored = try await stage.run("trash", "restore", "org/two")
        #expect(restored.status == 0 && restored.error.contains(fault))
        #expect(try contents() == before.filter { $0.key.hasPrefix("models--org--two") })
        #expect(try await stage.run("trash", "restore", "org/one").status == 3)
        #expect(try await stage.run("rm", "org/two", "--trash", "--yes").status == 0)
        let emptied = try await stage.run("trash", "empty", "--yes")
        #expect(emptied.status == 6 && emptied.lines.last == "8 B freed" && emptied.error.contains(fault))
        #expect(try stage.listing(trash) == damaged)
    }

    /// A folder of this name can have been there before: anything not put there by deletions is left alone.
    @Test func whatOthersKeepInItsFolderStays() async throws {
        let elsewhere = stage.machine("elsewhere")
        for name in ["photos/a.jpg", "x/manifest.json", "12-abc/b", "12-abcdef/own.txt", ".deleted-me/c"] {
            try FileSystem.createDirectories(Path.parent(Path.join(trash, name)))
            try FileSystem.replace(Path.join(trash, name), with: Array("mine".utf8))
        }
        try FileSystem.replace(Path.join(trash, "notes.txt"), with: Array("mine".utf8))
        try FileSystem.replace(Path.join(trash, "13-abcdef"), with: Array("mine".utf8))
        try FileSystem.createDirectories(elsewhere)
        try FileSystem.replace(Path.join(elsewhere, "manifest.json.1.tmp"), with: Array("mine".utf8))
        try FileSystem.createSymlink(elsewhere, at: Path.join(trash, "14-abcdef"))
        let before = try stage.listing(trash)
        for words in [
            ["gc", "--orphans", "--yes"], ["rm", "org/one", "--yes"], ["rm", "org/two", "--trash", "--yes"],
        ] {
            let result = try await RunningProcess.run(BuiltProduct.path(), words, environment: stage.environment)
            #expect(result.status == 0, "\(words): \(result.error)")
        }
        #expect(try await stage.run("trash", "-q").lines == ["org/two@33333333"])
        #expect(try await stage.run("trash", "empty", "--yes").lines.last == "8 B freed")
        #expect(try stage.listing(trash) == before)
        #expect(try FileSystem.entries(elsewhere) == ["manifest.json.1.tmp"])
    }

    /// Files of a `--local-dir` folder: those that the pull left unchanged.
    @Test func ofALocalFolderOnlyWhatThePullLeftGoes() async throws {
        let stage = try Stage { root in
            let repository = try ModelRepository("org/m", in: root)
            try repository.write("config.json", "{}")
            try repository.write("sub/notes.txt", "some words\n")
            try repository.write("w.bin", "weights")
        }
        #expect(try await stage.run("pull", "org/m", "--local-dir", "model", "-q").status == 0)
        let folder = stage.machine("model")
        try FileSystem.replace(Path.join(folder, "sub/notes.txt"), with: Array("other words, mine\n".utf8))
        try FileSystem.replace(Path.join(folder, "own.txt"), with: Array("mine".utf8))
        #expect(try await stage.run("rm", "./model", "--trash", "--yes").status == 2)
        let result = try await stage.run("rm", "./model", "--yes")
        #expect(result.status == 0, "\(result.error)")
        #expect(result.output.contains("stays: \(folder)/own.txt: not downloaded by a pull\n"))
        #expect(result.output.contains("stays: \(folder)/sub/notes.txt: changed since it was downloaded\n"))
        #expect(result.lines.last == "9 B freed")
        #expect(
            try stage.listing(folder).filter { !$0.hasPrefix(".cache") } == ["own.txt", "sub", "sub/notes.txt"])
        #expect(try await stage.run("rm", "./nowhere", "--yes").status == 3)
        // With the last of them everything goes that the pull had made.
        #expect(try await stage.run("pull", "org/m", "--local-dir", "again", "-q").status == 0)
        #expect(try await stage.run("rm", "./again", "--yes").lines.last == "20 B freed")
        #expect(!FileSystem.exists(stage.machine("again")))
    }
}
