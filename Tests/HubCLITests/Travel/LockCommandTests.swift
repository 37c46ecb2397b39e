import HubCore
import Support
import Testing

@testable import HubCLI

/// `hub lock` and `hub pull --locked`: what git keeps is what is fetched, or the command fails.
@Suite struct LockCommandTests {
    let stage: Stage

    init() throws {
        stage = try Stage { root in
            try ModelRepository.tiny("org/one", in: root, weights: 5000)
            try ModelRepository.tiny("org/two", in: root, weights: 7000)
            let gguf = try ModelRepository("org/quants", in: root)
            try gguf.write("config.json", "{}")
            for (name, seed) in [("Q4_K_M", 1), ("Q8_0", 2)] {
                try gguf.random("m-\(name).gguf", size: 3000, seed: UInt64(seed))
            }
        }
    }

    private var path: String { stage.machine("hub.lock") }
    private func text() throws -> String { try #require(try FileSystem.text(path)) }
    private func succeed(_ words: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let result = try await stage.run(words)
        try #require(result.status == 0, "\(words): \(result.error)", sourceLocation: sourceLocation)
    }
    private func forget() throws { try FileSystem.removeTree(stage.machine("hf")) }

    /// The same text from the Hub, from the cache and offline, with a line for each file.
    @Test func theTextIsStable() async throws {
        try await succeed("lock", "write", "org/two", "org/one")
        let fromHub = try text()
        #expect(fromHub.hasPrefix("{\n  \"hub_lock\": 1,\n  \"models\": [\n    {\n      \"id\": \"org/one\",\n"))
        #expect(fromHub.contains("\n        {\"path\":\"empty.txt\",\"size\":0,\"git_sha1\":\""))
        #expect(fromHub.contains("\n        {\"path\":\"model.safetensors\",\"size\":5000,\"sha256\":\""))
        #expect(fromHub.hasSuffix("\n      ]\n    }\n  ]\n}\n"))
        try FileSystem.remove(path)
        try await succeed("pull", "-q", "org/one", "org/two")
        try await succeed("lock", "write", "org/one", "org/two", "--offline")
        #expect(try text() == fromHub)
        let again = try await stage.run("lock", "write", "org/one")
        #expect(again.status == 0 && again.output.isEmpty && again.error == "hub: hub.lock is up to date\n")
        let list = try await stage.run("lock", "--json").document()
        #expect(list.objects("models").map { $0["id"]?.string } == ["org/one", "org/two"])
        #expect(list.objects("models").map { $0["files"]?.int } == [4, 4])
        #expect(list["ok"]?.bool == true && list["key"]?.string?.utf8.count == 64)
    }

    /// What was chosen by pulls or flags is what is locked, and what --locked takes elsewhere.
    @Test func theChoiceIsLocked() async throws {
        try await succeed("pull", "-q", "org/quants", "--quant", "q4_k_m")
        try await succeed("lock", "write", "org/quants")
        let locked = try text()
        #expect(locked.contains("m-Q4_K_M.gguf") && !locked.contains("m-Q8_0"))
        try await succeed("lock", "write", "org/quants", "--quant", "Q8_0", "--file", "other.lock")
        let other = try #require(try FileSystem.text(stage.machine("other.lock")))
        #expect(other.contains("m-Q8_0.gguf") && !other.contains("Q4_K_M.gguf"))
        try forget()
        try await succeed("pull", "-q", "--locked")
        let names = try FileSystem.entries(try await stage.path("org/quants"))
        #expect(names == ["config.json", "m-Q4_K_M.gguf"])
        // The choice came with it: the next pull follows it.
        #expect(try await stage.run("pull", "org/quants").error.contains("using your earlier selection: Q4_K_M"))
        try await succeed("lock", "write", "org/one:*.txt", "--file", "globs.lock")
        try forget()
        try await succeed("pull", "-q", "--locked=globs.lock")
        #expect(try stage.listing(try await stage.path("org/one")).contains("empty.txt"))
        #expect(!FileSystem.exists(Path.join(try await stage.path("org/one"), "config.json")))
    }

    /// Cached is cached: the Hub is not asked, even where it is away, and without a catalog or trees.
    @Test func nothingIsAskedOfWhatIsCached() async throws {
        try await succeed("pull", "-q", "org/one")
        try await succeed("lock", "write", "org/one")
        try FileSystem.removeTree(stage.machine("state"))
        try FileSystem.removeTree(Path.join(stage.cache, "models--org--one/trees"))
        let before = stage.hub.requests.count
        let result = try await stage.run("pull", "--locked", "-q")
        #expect(result.status == 0, "\(result.error)")
        #expect(result.lines == [try await stage.path("org/one")])
        #expect(stage.hub.requests.count == before)
        #expect(try await stage.run("pull", "--locked", "-q", with: Stage.away).status == 0)
        let check = try await stage.run("lock", "check", with: Stage.away)
        #expect(check.status == 0 && check.error == "hub: 1 model as locked in hub.lock\n")
    }

    /// A branch that has moved does not matter to --locked, and the ref in the cache goes back.
    @Test func aLockHoldsWhileTheBranchMoves() async throws {
        try await succeed("pull", "-q", "org/one")
        try await succeed("lock", "write", "org/one", "org/two")
        let locked = try await stage.path("org/one")
        let key = try await stage.run("lock", "key").output
        try ModelRepository("org/one", in: stage.root).write("more.txt", "12345678")
        try ModelRepository("org/one", in: stage.root).write("config.json", "{}")
        try await succeed("pull", "-q", "org/one")
        #expect(try await stage.path("org/one") != locked)

        let check = try await stage.run("lock", "check", "--json")
        #expect(check.status == 1)
        let models = try check.document().objects("models")
        #expect(try check.document()["ok"]?.bool == false)
        #expect(models[0]["problem"]?.string?.hasPrefix("main is at ") == true)
        #expect(models[1]["problem"]?.string == "not in the cache")
        try await succeed("pull", "-q", "--locked", "org/one")
        #expect(try await stage.path("org/one") == locked)
        #expect(try await stage.run("lock", "check", "org/one").status == 0)
        let upstream = try await stage.run("lock", "check", "--branches", "org/one")
        #expect(upstream.status == 1 && upstream.output.contains("on the Hub"))

        let update = try await stage.run("lock", "update")
        #expect(update.status == 0)
        #expect(update.lines.count == 3 && update.lines[0].hasPrefix("org/one@main: "), "\(update.output)")
        #expect(update.lines[1] == "  ~ config.json, 22 B -> 2 B" && update.lines[2] == "  + more.txt, 8 B")
        #expect(try await stage.run("lock", "update").error == "hub: hub.lock is up to date\n")
        #expect(try await stage.run("lock", "key").output != key)
        #expect(key.utf8.count == 65)
    }

    /// A commit stays one, also by its first digits and where the cache has no branch.
    @Test func commitsAreLocked() async throws {
        let commit = try #require(try await stage.run("info", "org/one", "--json").document()["commit"]?.string)
        try await succeed("pull", "-q", "org/one@\(commit)")
        try await succeed("lock", "write", "org/one@\(commit.prefix(10))")
        #expect(try !text().contains("revision") && text().contains(commit))
        try await succeed("lock", "check")
        #expect(try await stage.run("lock", "update").error == "hub: hub.lock is up to date\n")
        try FileSystem.remove(path)
        // Which branch it is only the Hub can say.
        try await succeed("lock", "write", "org/one")
        #expect(try text().contains("\"revision\": \"main\""))
    }

    /// White space is not what a CI cache should depend on.
    @Test func theKeyIsOfWhatIsLocked() async throws {
        try await succeed("lock", "write", "org/one")
        let key = try await stage.run("lock", "key").output
        let loose = try text().replacing("\n", with: "\r\n").replacing("  ", with: "\t")
        try FileSystem.replace(path, with: Array(loose.utf8))
        #expect(try await stage.run("lock", "key").output == key)
        try FileSystem.replace(path, with: Array(loose.replacing("\"size\":5000", with: "\"size\":5001").utf8))
        #expect(try await stage.run("lock", "key").output != key)
    }

    /// A lock that does not fit the commit, a commit that is gone, and a file that is not a lock.
    @Test func whatDoesNotFitFails() async throws {
        try await succeed("lock", "write", "org/one", "org/two")
        let sound = try text()
        let digest = try #require(sound.firstMatch(of: /"size":5000,"sha256":"([0-9a-f]+)"/)).output.1
        let wrong = sound.replacing(digest, with: String(repeating: "a", count: 64))
        try FileSystem.replace(path, with: Array(wrong.utf8))
        let other = try await stage.run("pull", "--locked", "--json")
        let code = try other.errorCode()
        #expect(other.status == 7 && code == "digest_mismatch", "\(other.error)")
        // Nothing of the other model was fetched either.
        #expect(try FileSystem.entries(stage.cache)?.contains("models--org--two") != true)

        let commit = try #require(sound.firstMatch(of: /"commit": "([0-9a-f]+)"/)).output.1
        let gone = sound.replacing(commit, with: String(repeating: "b", count: 40))
        try FileSystem.replace(path, with: Array(gone.utf8))
        let missing = try await stage.run("pull", "--locked", "org/one")
        #expect(missing.status == 3, "\(missing.error)")

        for (text, fault) in [
            ("{", "not JSON"), ("{}", "not a lock"), ("{\"hub_lock\":2,\"models\":[]}", "version 2"),
            (sound.replacing("\"config.json\"", with: "\"../config.json\""), "climbs out"),
            (sound.replacing("\"size\":5000", with: "\"size\":-1"), "no size"),
            (sound.replacing("\"org/one\"", with: "\"org/one@main\""), "not the name"),
            (sound.replacing("\"org/one\"", with: "\"org/two\""), "twice"),
        ] {
            try FileSystem.replace(path, with: Array(text.utf8))
            for words in [
                ["pull", "--locked"], ["lock", "check"], ["lock", "key"], ["lock", "write", "org/one"],
            ] {
                let result = try await stage.run(words)
                #expect(result.status == 2 && result.error.contains(fault), "\(words) \(fault): \(result.error)")
            }
            #expect(try self.text() == text)
        }
    }

    @Test func whatIsMissingIsSaid() async throws {
        for words in [
            ["pull", "--locked"], ["lock"], ["lock", "check"], ["lock", "update"], ["lock", "key"],
        ] {
            let result = try await stage.run(words)
            #expect(result.status == 3 && result.error.contains("hub.lock does not exist"), "\(words)")
        }
        try await succeed("lock", "write", "org/one")
        #expect(try await stage.run("pull", "--locked", "org/two").status == 3)
        #expect(try await stage.run("lock", "write", "org/none").status == 3)
        #expect(try await stage.run("pull").error.hasPrefix("hub: missing REF\n"))
        for words in [
            ["pull", "--locked", "--include", "x"], ["lock", "ls", "--branches"], ["lock", "key", "org/one"],
            ["lock", "check", "--update"], ["lock", "check", "org/one:x"],
        ] { #expect(try await stage.run(words).status == 2, "\(words)") }
    }

    /// Half of what was asked for looks like a lock of it.
    @Test func whatFailsForOneModelIsWrittenForNone() async throws {
        let words = ["lock", "write", "org/quants", "org/one", "--quant", "Q4_K_M"]
        let failed = try await stage.run(words)
        #expect(failed.status != 0 && failed.output.isEmpty && !FileSystem.exists(path), "\(failed.output)")
        #expect(failed.error.hasSuffix("hub: nothing was written to hub.lock\n"), "\(failed.error)")
        try await succeed("lock", "write", "org/two")
        let before = try text()
        let more = try await stage.run("lock", "write", "org/one", "org/none", "--json")
        #expect(more.status == 3)
        #expect(try more.document()["ok"]?.bool == false && more.document().objects("models").isEmpty)
        #expect(try text() == before)
    }

    /// --check sees a file that was cut off, a link that is gone and, in a cache without links, another content.
    @Test func damageIsSeen() async throws {
        try await succeed("pull", "-q", "org/one", "org/two")
        try await succeed("lock", "write", "org/one", "org/two")
        let file = Path.join(try await stage.path("org/one"), "config.json")
        try FileSystem.remove(file)
        let result = try await stage.run("lock", "check")
        #expect(result.status == 1 && result.output.contains("config.json missing or different"))
        try FileSystem.replace(file, with: Array("{\"model_type\":\"Tiny\"}\n".utf8))
        #expect(try await stage.run("lock", "check", "-q").lines == ["org/one@main"])
    }
}
