import HubCore
import Support
import Testing

@Suite struct DeletionCommandTests {
    let stage: Stage

    init() throws {
        stage = try Stage()
        try stage.plant("models--org--one", commit: commit("1"), files: ["a.bin": "aaaa", "b.bin": "bbbbbb"])
        try stage.plant("models--org--two", commit: commit("2"), ref: nil, files: ["c.bin": "cc"])
        try stage.plant("models--org--two", commit: commit("3"), files: ["c.bin": "cc", "d.bin": "dddddddd"])
        try stage.plant("datasets--org--data", commit: commit("4"), files: ["e.csv": "eee"])
        // Ordered by last use: one, two, data; none recently.
        for (folder, age) in [("models--org--one", 300.0), ("models--org--two", 200), ("datasets--org--data", 100)]
        {
            let blobs = Path.join(stage.cache, "\(folder)/blobs")
            for name in try FileSystem.entries(blobs) ?? [] {
                let time = Timestamp.now - age * 86_400
                try FileSystem.setTimes(Path.join(blobs, name), accessed: time, modified: time)
            }
        }
    }

    func ids() async throws -> [String] { try await stage.run("ls", "-q", "--sort", "name").lines }

    /// What the files of the cache take, each once.
    func bytes() throws -> Int64 {
        try stage.listing(stage.cache).reduce(0) { sum, name in
            let status = try FileSystem.linkStatus(Path.join(stage.cache, name))
            return sum + (name.contains("/blobs/") && status?.kind == .file ? status!.size : 0)
        }
    }

    @Test func withoutAYesThePlanIsShownAndNothingGoes() async throws {
        let before = try stage.listing(stage.cache)
        let result = try await stage.run("rm", "org/one")
        #expect(result.status == 2)
        #expect(
            result.output == """
                DELETE            FREES  WHY        REFS  USED
                org/one@11111111   10 B  asked for  main  10 months ago
                1 row, 10 B in all

                """)
        #expect(result.error == "hub: refusing to delete without confirmation\n     add --yes to go ahead\n")
        let document = try await stage.run("gc", "--detached", "--json")
        #expect(document.status == 2)
        #expect(try document.errorCode() == "confirmation_required")
        #expect(try document.document()["deleted"]?.bool == false)
        #expect(try document.document().objects("plan").count == 1)
        #expect(try stage.listing(stage.cache) == before)
    }

    /// In a log of both streams the error stood above the plan it is about.
    @Test func thePlanComesBeforeTheErrorAboutIt() async throws {
        let binary = try BuiltProduct.path()
        let result = try await RunningProcess.run(
            "/bin/sh", ["-c", "exec \"$0\" rm org/one 2>&1", binary], environment: stage.environment)
        #expect(
            result.lines.map { $0.split(separator: " ")[0] } == [
                "DELETE", "org/one@11111111", "1", "hub:", "add",
            ])
    }

    @Test func aDryRunShowsAndEnds() async throws {
        let before = try stage.listing(stage.cache)
        let result = try await stage.run("rm", "org/*", "--dry-run")
        #expect(result.status == 0 && result.error.isEmpty)
        #expect(result.lines.suffix(2) == ["3 rows, 20 B in all", "dry run: nothing was deleted"])
        #expect(
            try await stage.run("rm", "org/*", "--dry-run", "-q").lines.sorted()
                == ["org/one@11111111", "org/two@22222222", "org/two@33333333"])
        #expect(try await stage.run("rm", "org/*", "--yes", "--dry-run").status == 0)
        #expect(try stage.listing(stage.cache) == before)
    }

    @Test func whatIsFreedIsWhatWasSaid() async throws {
        for (words, freed) in [
            (["rm", "org/two@3333333"], Int64(8)), (["rm", "org/*"], 12), (["gc", "--unused-for", "0d"], 3),
        ] {
            let before = try bytes()
            let result = try await RunningProcess.run(
                BuiltProduct.path(), words + ["--yes", "--json"], environment: stage.environment)
            #expect(result.status == 0)
            let document = try result.document()
            document.expectKeys("plan freed_bytes deleted protected")
            for row in document.objects("plan") {
                row.expectKeys("id kind commit refs reason freed_bytes last_used_at")
                #expect(row["kind"]?.string == (row["id"]?.string == "org/data" ? "dataset" : "model"))
            }
            #expect(document["deleted"]?.bool == true && document["freed_bytes"]?.int == freed)
            #expect(document.objects("plan").reduce(0) { $0 + ($1["freed_bytes"]?.int ?? 0) } == freed)
            let after = try bytes()
            #expect(before - after == freed)
        }
        #expect(try await ids().isEmpty)
        #expect(try FileSystem.entries(stage.cache)?.filter { $0.contains("--") } == [])
    }

    @Test func forPeopleTheSumIsSaidAtTheEnd() async throws {
        let result = try await stage.run("rm", "datasets/org/data", "--yes")
        #expect(result.status == 0 && result.error.isEmpty)
        #expect(
            result.output == """
                DELETE                      FREES  WHY        REFS  USED
                datasets/org/data@44444444    3 B  asked for  main  3 months ago
                1 row, 3 B in all
                3 B freed

                """)
    }

    @Test func aYesOnATerminalDeletesAndAnythingElseDoesNot() async throws {
        for (answer, isDeleted) in [("n\n", false), ("\n", false), ("y\n", true)] {
            let process = try stage.start("rm", "org/one", terminal: .init(columns: 100, rows: 24))
            try await process.wait(forText: "Delete this? [y/N] ")
            process.write(answer)
            let result = try await process.wait()
            #expect(result.status == (isDeleted ? 0 : 2))
            #expect(result.terminal.contains("10 B freed") == isDeleted)
            #expect(result.terminal.contains("nothing was deleted") != isDeleted)
            #expect(try await ids().contains("org/one") != isDeleted)
        }
    }

    @Test func ctrlCAtTheQuestionDeletesNothing() async throws {
        let process = try stage.start("rm", "org/one", terminal: .init(columns: 100, rows: 24))
        try await process.wait(forText: "Delete this? [y/N] ")
        process.write("\u{3}")
        let result = try await process.wait()
        #expect(result.status == 130)
        #expect(result.terminal.contains("nothing was deleted") && !result.terminal.contains("same command"))
        #expect(try await ids().contains("org/one"))
    }

    @Test func whatIsNotThereIsExit3AndTheRestIsDone() async throws {
        let result = try await stage.run("rm", "nope/x", "org/one", "no/*", "--yes", "--json")
        #expect(result.status == 3)
        #expect(try result.errorCode() == "not_cached")
        #expect(try result.document()["deleted"]?.bool == true)
        #expect(
            result.error == """
                hub: nope/x is not in the cache \(stage.cache)
                     hub ls shows what is
                hub: no/* is not in the cache \(stage.cache)

                """)
        #expect(try await ids() == ["datasets/org/data", "org/two"])
        #expect(try await stage.run("rm", "org/two@v9", "--yes").status == 3)
    }

    /// Deleted items are reported with the error, and the rest is done.
    @Test func whatFailsIsNamedBesideWhatWent() async throws {
        for isJSON in [true, false] {
            let stage = try Stage()
            try stage.plant("models--org--one", commit: commit("1"), files: ["a.bin": "aaaa", "b.bin": "bbbbbb"])
            try stage.plant("models--org--one", commit: commit("5"), ref: "v2", files: ["a.bin": "aaaa"])
            try stage.plant("models--org--two", commit: commit("2"), files: ["c.bin": "cc"])
            // Replaces a file that is deleted last; a folder cannot be unlinked.
            let tree = Path.join(stage.cache, "models--org--one/trees/\(commit("1")).json")
            try FileSystem.createDirectories(Path.join(tree, "x"))
            let result = try await stage.run(
                ["rm", "org/one@1111111", "org/two", "--yes"] + (isJSON ? ["--json"] : []))
            #expect(result.status == 6, "\(result.error)")
            #expect(result.error.hasPrefix("hub: cannot delete \(tree)"), "\(result.error)")
            #expect(try await stage.run("ls", "-q").lines == ["org/one"])
            guard isJSON else {
                #expect(result.lines.last == "8 B freed")
                continue
            }
            let document = try result.document()
            document.expectKeys("plan freed_bytes deleted protected error")
            #expect(document["deleted"]?.bool == true && document["freed_bytes"]?.int == 8)
            #expect(document.objects("plan").map { $0["error"] != nil } == [true, false])
            #expect(document.objects("plan")[0]["error"] == document["error"])
        }
    }

    @Test func aGlobOverNamesTakesNeitherFilesNorARevision() async throws {
        for word in ["org/*:a.bin", "org/*@main"] {
            let result = try await stage.run("rm", word, "--yes")
            #expect(result.status == 2 && result.output.isEmpty, "\(word)")
        }
        #expect(try await ids().count == 3)
    }

    @Test func gcNeedsToBeToldWhatMayGo() async throws {
        for words in [["gc"], ["gc", "--yes"], ["gc", "--keep", "org/one"]] {
            let result = try await RunningProcess.run(BuiltProduct.path(), words, environment: stage.environment)
            #expect(result.status == 2 && result.output.isEmpty)
            #expect(
                result.error == """
                    hub: missing a rule for what to delete
                         give one such as --detached, --partials, --orphans, --unused-for 30d, --max-size 50GB or --free 20GB

                    """)
        }
    }

    /// A slip in what is to be spared must not cost it.
    @Test(arguments: ["org/typo", "org/one@man", "other/*"]) func whatIsToBeSparedMustBeThere(reference: String)
        async throws
    {
        let result = try await stage.run("gc", "--unused-for", "0d", "--keep", reference, "--yes")
        #expect(result.status == 3 && result.output.isEmpty)
        #expect(
            result.error == """
                hub: --keep \(reference): not in the cache
                     nothing was deleted; hub ls --revisions lists what is cached

                """)
        #expect(try await ids().count == 3)
    }

    @Test func eachRuleSaysWhy() async throws {
        let orphan = String(repeating: "e", count: 64)
        let partial = "\(String(repeating: "f", count: 64)).hub.incomplete"
        let blobs = Path.join(stage.cache, "models--org--one/blobs")
        try FileSystem.replace(Path.join(blobs, orphan), with: Array("12345".utf8))
        try FileSystem.replace(Path.join(blobs, partial), with: Array("123".utf8))
        let result = try await stage.run("gc", "--detached", "--partials", "--orphans", "--dry-run", "--json")
        #expect(result.status == 0)
        let rows = try result.document().objects("plan")
        let reasons = Dictionary(
            rows.map { ($0["freed_bytes"]?.int ?? 0, $0["reason"]?.string ?? "") }, uniquingKeysWith: { $0 + $1 })
        // Its only file is the other revision's too.
        #expect(Set(reasons.keys) == [0, 3, 5])
        #expect(reasons.values.allSatisfy { !$0.isEmpty })
        let done = try await stage.run("gc", "--detached", "--partials", "--orphans", "--yes")
        #expect(done.lines.last == "8 B freed")
        #expect(
            try await stage.run("gc", "--detached", "--partials", "--orphans", "--yes").output
                == "nothing to delete\n")
    }

    @Test func keepSparesAndSaysSo() async throws {
        let result = try await stage.run("gc", "--unused-for", "30d", "--keep", "org/one", "--dry-run")
        #expect(result.status == 0)
        #expect(result.lines.contains("stays: org/one@11111111: named by --keep"))
        #expect(result.lines.suffix(2) == ["3 rows, 13 B in all", "dry run: nothing was deleted"])
        let document = try await stage.run("gc", "--unused-for", "30d", "--keep", "org/one", "--yes", "--json")
            .document()
        let kept = try #require(document.objects("protected").first)
        kept.expectKeys("id kind commit reason")
        #expect(kept["kind"]?.string == "model")
        #expect(kept["id"]?.string == "org/one" && kept["reason"]?.string == "named by --keep")
        #expect(try await ids() == ["org/one"])
    }

    @Test func keepTakesGlobs() async throws {
        let rows = try await stage.run("gc", "--unused-for", "30d", "--keep", "org/*", "--dry-run", "-q").lines
        #expect(rows == ["datasets/org/data@44444444"])
    }

    /// The whole cache went for a target that it could not reach.
    @Test func aTargetThatCannotBeReachedDeletesNothing() async throws {
        let before = try stage.listing(stage.cache)
        let result = try await stage.run("gc", "--free", "8EB", "--yes")
        #expect(result.status == 6 && result.output.isEmpty)
        #expect(
            result.error.replacing(/[\d.]+ [kMGTP]?B are free/, with: "N are free") == """
                hub: cannot reach --free 8.0 EB: N are free, and 23 B can be deleted
                     nothing was deleted; --best-effort deletes what it can

                """)
        let document = try await stage.run(
            "gc", "--max-size", "2B", "--keep", "org/one", "--keep", "org/two", "--yes", "--json")
        #expect(document.status == 6)
        #expect(try document.errorCode() == "io_error")
        #expect(document.error.contains("cannot reach --max-size 2 B: 20 B would be left"))
        let told = try document.document()
        #expect(told["deleted"]?.bool == false && told.objects("protected").count == 3)
        #expect(try await stage.run("gc", "--free", "8EB", "--dry-run").status == 6)
        #expect(try stage.listing(stage.cache) == before)
        let done = try await stage.run("gc", "--free", "8EB", "--best-effort", "--yes")
        #expect(done.status == 0 && done.output.contains("least recently used, for --free 8.0 EB"))
        #expect(try await ids().isEmpty)
    }

    /// The list, gc and rm disagreed about a fresh partial that was not in use.
    @Test func aFreshPartialOfAnotherProgramIsTreatedAlikeEverywhere() async throws {
        let blobs = Path.join(stage.cache, "models--org--one/blobs")
        let partial = Path.join(blobs, String(repeating: "f", count: 64) + ".incomplete")
        try FileSystem.replace(partial, with: Array("123".utf8))
        let reason = "changed less than a minute ago: another program may still be writing the unfinished download"
        let before = try stage.listing(stage.cache)
        let swept = try await stage.run("gc", "--partials", "--yes")
        #expect(swept.status == 0 && swept.output.contains("stays: org/one: \(reason) ffffffffffff\n"))
        let refused = try await stage.run("rm", "org/one", "--yes")
        #expect(refused.status == 6 && refused.error.contains("org/one@11111111 was not deleted: \(reason)"))
        let document = try await stage.run("gc", "--partials", "--json").document()
        #expect(document.objects("protected").map { $0["reason"]?.string } == ["recently changed"])
        let list = try await stage.run("gc", "--plain").output
        #expect(list.contains("changed less than a minute ago") && !list.contains("in use"))
        #expect(try stage.listing(stage.cache) == before)
        let time = Timestamp.now - 4000
        try FileSystem.setTimes(partial, accessed: time, modified: time)
        #expect(try await stage.run("gc", "--partials", "--yes").output.contains("3 B freed"))
        #expect(try await stage.run("rm", "org/one", "--yes").status == 0)
    }

    /// It stood below every plan.
    @Test func whatCannotBeCheckedIsOnlySaidToWhoAsksForDetails() async throws {
        #expect(try await stage.run("rm", "org/one", "--dry-run").error.isEmpty)
        #expect(try await stage.run("gc", "--unused-for", "0d", "--dry-run").error.isEmpty)
    }

    @Test func targetsTakeTheLeastRecentlyUsedFirst() async throws {
        let rows = try await stage.run("gc", "--max-size", "15B", "--dry-run", "-q").lines
        #expect(rows == ["org/one@11111111"])
        #expect(try await stage.run("gc", "--max-size", "1GB").output == "nothing to delete\n")
        #expect(try await stage.run("gc", "--free", "1B").output == "nothing to delete\n")
        #expect(try await stage.run("gc", "--unused-for", "250d", "--dry-run", "-q").lines == ["org/one@11111111"])
    }

    @Test func valuesThatAreNoneAreSaidSo() async throws {
        let age = try await stage.run("gc", "--unused-for", "soon")
        #expect(age.status == 2)
        #expect(
            age.error
                == "hub: --unused-for: \"soon\" is not an age\n     write it like 30d, 2w, 1mo, 1y, 12h or 0d\n")
        // Who means months must not lose what was not used for minutes.
        for words in [["gc", "--unused-for", "6m", "--yes"], ["trash", "empty", "--older-than", "6m", "--yes"]] {
            let result = try await stage.run(words)
            #expect(result.status == 2)
            #expect(
                result.error
                    == "hub: \(words[words.count - 3]): 6m could be minutes or months\n     write 6mo or 6min\n")
        }
        #expect(try await stage.run("gc", "--unused-for", "6min", "--dry-run").status == 0)
        #expect(try await stage.run("gc", "--max-size", "big").status == 2)
        #expect(try await stage.run("gc", "--keep", "a/b/c", "--detached").status == 2)
    }
}
