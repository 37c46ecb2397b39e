import HubCore
import Support
import Testing

@testable import HubCLI

/// `hub verify`: damage is reported, and repaired without touching intact files.
@Suite struct VerifyCommandTests {
    let stage: Stage
    static let size: Int64 = 40 << 20
    static let step: Int64 = 16 << 20

    /// Three ranges of weights, most of them a hole, and files of git's.
    init() throws {
        stage = try Stage()
        let repository = try ModelRepository("org/m", in: stage.root)
        try repository.write("config.json", "{}\n")
        try repository.write("sub/a.txt", "some words\n")
        try repository.write("sub/b.txt", "other words\n")
        try repository.random("small.safetensors", size: 300_000, seed: 3)
        try repository.sparse(
            "w.safetensors", size: Self.size, patches: [(5, [1, 2, 3]), (20 << 20, [4, 5]), (Self.size - 1, [6])])
    }

    var folder: String { Path.join(stage.cache, "models--org--m") }

    func pulled() async throws -> String {
        let result = try await stage.run("pull", "-q", "org/m")
        try #require(result.status == 0, "\(result.error)")
        return String(result.output.dropLast())
    }

    /// The blob of a snapshot's file.
    func blob(_ name: String, _ snapshot: String) throws -> String {
        try #require(FileSystem.resolved(Path.join(snapshot, name)))
    }

    func flip(_ path: String, at offset: Int64) throws {
        let file = try FileDescriptor(path, [.write])
        var byte: [UInt8] = [0]
        _ = try byte.withUnsafeMutableBytes { try file.read(into: $0, at: offset) }
        byte[0] ^= 1
        try byte.withUnsafeBytes { try file.write($0, at: offset) }
    }

    func digest(_ path: String) throws -> String {
        try ContentHasher.digest(ofFile: path, like: .sha256("")).hex
    }

    func problems(_ result: ProcessResult) throws -> [JSONObject] {
        try result.document().objects("models").flatMap { $0.objects("problems") }
    }

    func expectSound(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let result = try await stage.run("verify", "org/m", "--full", "--json", "--offline")
        #expect(result.status == 0, "\(result.error)", sourceLocation: sourceLocation)
        let model = try result.document().objects("models")[0]
        #expect(model["ok"]?.bool == true && model["checked"]?.int == 5, sourceLocation: sourceLocation)
        #expect(
            try stage.listing(Path.join(folder, "blobs")).allSatisfy { !$0.hasSuffix(".incomplete") },
            sourceLocation: sourceLocation)
    }

    /// Ranges asked of the CDN since a number of requests.
    func asked(since count: Int) throws -> [Range<Int64>] {
        try stage.hub.requests.dropFirst(count).filter { $0.listener == .cdn && $0.method == "GET" }.map {
            request in
            let found = try #require(request.range?.wholeMatch(of: /bytes=(\d+)-(\d+)/))
            return try #require(Int64(found.1))..<(try #require(Int64(found.2)) + 1)
        }
    }

    // MARK: What is wrong

    @Test func whatAPullHasProvenIsNotReadAgainUnlessAsked() async throws {
        _ = try await pulled()
        let before = stage.hub.requests.count
        let first = try await stage.run("verify", "org/m", "--json").document().objects("models")[0]
        first.expectKeys("id kind commit checked skipped ok problems")
        #expect(first["kind"]?.string == "model")
        #expect(first["id"]?.string == "org/m" && first["commit"]?.string?.count == 40)
        #expect(first["checked"]?.int == 0 && first["skipped"]?.int == 5 && first["ok"]?.bool == true)
        let full = try await stage.run("verify", "org/m", "--json", "--full").document().objects("models")[0]
        #expect(full["checked"]?.int == 5 && full["skipped"]?.int == 0)
        // Without the catalog everything is read, and found out by the cache's own list of files.
        try FileSystem.removeTree(stage.machine("state"))
        let fresh = try await stage.run("verify", "org/m", "--json").document().objects("models")[0]
        #expect(fresh["checked"]?.int == 5 && fresh["ok"]?.bool == true)
        #expect(stage.hub.requests.count == before)
    }

    @Test func everyProblemIsSaidAndFixed() async throws {
        let snapshot = try await pulled()
        let w = try blob("w.safetensors", snapshot)
        try flip(w, at: 5)
        let small = try blob("small.safetensors", snapshot)
        try FileDescriptor(small, [.write]).truncate(to: 100_000)
        try FileSystem.remove(Path.join(snapshot, "config.json"))
        try FileSystem.remove(try blob("sub/a.txt", snapshot))
        try FileSystem.replace(Path.join(snapshot, "mine.txt"), with: [1])
        let result = try await stage.run("verify", "org/m", "--json", "--offline")
        #expect(result.status == 1, "\(result.error)")
        let model = try result.document().objects("models")[0]
        #expect(model["ok"]?.bool == false)
        let found = model.objects("problems")
        #expect(
            found.map { "\($0["path"]?.string ?? "") \($0["problem"]?.string ?? "")" } == [
                "config.json missing", "mine.txt extra", "small.safetensors truncated", "sub/a.txt broken link",
                "w.safetensors mismatch",
            ])
        #expect(found[0]["expected"]?.string?.count == 40 && found[0]["actual"] == nil)
        #expect(found[2]["expected"]?.int == 300_000 && found[2]["actual"]?.int == 100_000)
        #expect(found[2]["range"] == .array([.array([.int(100_000), .int(300_000)])]))
        #expect(found[3]["actual"]?.string?.hasPrefix("../../../blobs/") == true)
        #expect(found[4]["expected"]?.string == Path.name(w))
        #expect(try found[4]["actual"]?.string == digest(w))
        #expect(found[4]["range"] == .array([.array([.int(0), .int(Self.step)])]))
        for problem in found { problem.expectKeys("path problem expected actual range") }

        let words = try await stage.run("verify", "org/m")
        // The model, its five problems, the blob that lost its link, and the sum.
        #expect(words.status == 1 && words.lines.count == 8, "\(words.output)")
        #expect(words.lines[0].contains(": damaged, 3 files, 1 file missing ("))
        #expect(words.lines[6].hasPrefix("org/m, files that no revision uses: no damage ("))
        #expect(words.lines[7].hasSuffix(", 3 files damaged, 1 file missing"), "\(words.lines[7])")
        #expect(words.output.contains("  config.json: missing\n"))
        #expect(words.output.contains("found 100000 bytes; damaged: bytes 100000-299999\n"))
        #expect(words.error.contains("--repair"))
        #expect(try await stage.run("verify", "-q").output == "org/m\n")

        let fixed = try await stage.run("verify", "org/m", "--repair", "--json")
        #expect(fixed.status == 0, "\(fixed.error)")
        let after = try fixed.document().objects("models")[0]
        #expect(after["ok"]?.bool == true)
        #expect(after["downloaded_bytes"]?.int == Self.step + 300_000 + 11)
        let unfixed = after.objects("problems").filter { $0["repaired"]?.bool != true }
        #expect(unfixed.map { $0["problem"]?.string } == ["extra"])
        #expect(FileSystem.exists(Path.join(snapshot, "mine.txt")))
        try await expectSound()
    }

    /// A disk that loses bits changes neither size nor time: only a full run sees it, and then it is known.
    @Test func aByteThatRottedIsFoundByAFullRunAndNotForgotten() async throws {
        let snapshot = try await pulled()
        let small = try blob("small.safetensors", snapshot)
        let status = try #require(try FileSystem.status(small))
        try flip(small, at: 7)
        try FileSystem.setTimes(small, accessed: 1e9, modified: 1.5e9)
        try FileSystem.removeTree(stage.machine("state"))
        // What the catalog would know had it been read before the byte rotted.
        try flip(small, at: 7)
        try FileSystem.setTimes(small, accessed: 1e9, modified: 1.5e9)
        #expect(try await stage.run("verify", "org/m").status == 0)
        try flip(small, at: 7)
        try FileSystem.setTimes(small, accessed: 1e9, modified: 1.5e9)
        #expect(try FileSystem.status(small)?.inode == status.inode)
        #expect(try await stage.run("verify", "org/m").status == 0)
        #expect(try await stage.run("verify", "org/m", "--full").status == 1)
        #expect(try await stage.run("verify", "org/m").status == 1)
        // Verifying a file is not use.
        #expect(try FileSystem.status(small)?.accessed == 1e9)
    }

    @Test func whatIsNamedIsVerifiedAndNothingElse() async throws {
        let snapshot = try await pulled()
        try flip(try blob("small.safetensors", snapshot), at: 0)
        #expect(try await stage.run("verify", "org/m:*.json", "org/none").status == 3)
        #expect(try await stage.run("verify", "org/m:*.json").status == 0)
        #expect(try await stage.run("verify", "org/m:small*").status == 1)
        #expect(try await stage.run("verify", "org/*").status == 1)
        let none = try await stage.run("verify", "other/*", "--json")
        #expect(none.status == 3)
        #expect(try none.errorCode() == "not_cached")
    }

    /// Nothing was checked, so nothing is OK.
    @Test func whatIsNamedAndNowhereIsNotOK() async throws {
        _ = try await pulled()
        let named = try await stage.run("verify", "org/m:nofile")
        #expect(named.status == 1)
        #expect(named.output.contains("nofile: missing; the model has no such file\n"), "\(named.output)")
        #expect(named.error.contains("--files lists its files") && !named.error.contains("hub pull"))
        let found = try problems(try await stage.run("verify", "org/m:nofile", "--json"))
        #expect(found.map { $0["path"]?.string } == ["nofile"] && found[0]["problem"]?.string == "missing")
        let repaired = try await stage.run("verify", "org/m:nofile", "--repair")
        #expect(repaired.status == 3 && repaired.error.contains("org/m does not have the file nofile"))

        let glob = try await stage.run("verify", "org/m:*.foo", "--json")
        #expect(glob.status == 3)
        #expect(try glob.errorCode() == "nothing_matches")
        #expect(try await stage.run("verify", "org/m:nofile", "org/m:*.foo", "org/m:config.json").status == 1)
        #expect(try await stage.run("verify", "org/m:sub/").status == 0)
        // Without the list of files it may be one of the model's.
        try stage.plant("models--org--old", commit: commit("a"), files: ["a.txt": "one"])
        let unknown = try await stage.run("verify", "org/old:b.txt", "--offline")
        #expect(unknown.status == 1 && unknown.output.contains("b.txt: missing\n"), "\(unknown.output)")
        #expect(try await stage.run("verify", "org/old:*.bin", "--offline").status == 5)
    }

    @Test func withoutTheTreeNamesTell() async throws {
        let place = stage.machine("hf/hub/models--org--old")
        try stage.plant("models--org--old", commit: commit("a"), files: ["a.txt": "one", "b.txt": "two"])
        let result = try await stage.run("verify", "org/old", "--json", "--offline")
        #expect(result.status == 5)
        let model = try result.document().objects("models")[0]
        #expect(model["checked"]?.int == 2 && model["ok"] == nil && model.objects("problems").isEmpty)
        #expect(try await stage.run("verify", "org/old").status == 3)
        let blob = Path.join(place, "blobs/\(ContentHasher.digest(of: Array("one".utf8), like: .sha256("")).hex)")
        try flip(blob, at: 0)
        #expect(try await stage.run("verify", "org/old", "--offline").status == 1)
    }

    @Test func aCacheThatCannotBeWrittenCanBeVerified() async throws {
        let other = OtherUser(54_311, group: 54_311)
        guard let other, try await other.canRun(BuiltProduct.path()) else { return }
        let snapshot = try await pulled()
        try flip(try blob("small.safetensors", snapshot), at: 0)
        try FileSystem.setMode(stage.machine.path, 0o755)
        try other.own(stage.machine("theirs"))
        func verify(_ words: String...) async throws -> ProcessResult {
            let line = other.words(try BuiltProduct.path(), ["verify", "org/m"] + words)
            let variables = ["HUB_HOME": stage.machine("theirs"), "HOME": stage.machine("theirs")]
            return try await RunningProcess.run(
                line[0], Array(line.dropFirst()), environment: stage.environment.merging(variables) { $1 })
        }
        let result = try await verify("--json")
        #expect(result.status == 1, "\(result.error)")
        #expect(try problems(result).map { $0["path"]?.string } == ["small.safetensors"])
        let repair = try await verify("--repair", "--json")
        #expect(repair.status == 6)
        #expect(try repair.errorCode() == "permission_denied")
    }

    /// A snapshot, blobs or a whole repository that this user may not read: of a model whose files are known, and of one
    /// whose are not.
    @Test(arguments: ["snapshots", "blobs", ""], ["m", "b"])
    func whatCannotBeReadIsNamedAndTheRestIsVerified(place: String, name: String) async throws {
        let other = OtherUser(54_313, group: 54_313)
        guard let other, try await other.canRun(BuiltProduct.path()) else { return }
        let snapshot = try await pulled()
        for name in ["a", "b", "z"] {
            try stage.plant("models--org--\(name)", commit: commit("b"), files: ["x.txt": name])
        }
        let folder = Path.join(stage.cache, "models--org--\(name)")
        let entry = name == "m" ? Path.name(snapshot) : commit("b")
        try FileSystem.setMode(Path.join(folder, place == "snapshots" ? "snapshots/\(entry)" : place), 0)
        try FileSystem.setMode(stage.machine.path, 0o755)
        try other.own(stage.machine("theirs"))
        for words in [[], ["*"]] {
            let line = other.words(try BuiltProduct.path(), ["verify", "--json", "--offline"] + words)
            let variables = ["HUB_HOME": stage.machine("theirs"), "HOME": stage.machine("theirs")]
            let result = try await RunningProcess.run(
                line[0], Array(line.dropFirst()), environment: stage.environment.merging(variables) { $1 })
            let models = try result.document().objects("models")
            let named = models.filter { $0["commit"] != nil }.compactMap { $0["id"]?.string }
            let expected = ["org/a", "org/b", "org/m", "org/z"].filter { !place.isEmpty || $0 != "org/\(name)" }
            #expect(named.sorted() == expected)
            for model in models where model["id"]?.string != "org/\(name)" {
                // What was read is remembered.
                #expect((model["checked"]?.int ?? 0) + (model["skipped"]?.int ?? 0) > 0)
            }
            #expect(result.error.contains("models--org--\(name)"), "\(result.error)")
            let model = models.first { $0["id"]?.string == "org/\(name)" }
            #expect(model?["ok"] == nil && (model?.objects("problems") ?? []).isEmpty)
            #expect([5, 6].contains(result.status))
        }
    }

    // MARK: Local folders

    @Test func aFolderOfOnesOwnIsVerifiedAndFixed() async throws {
        #expect(try await stage.run("pull", "org/m", "--local-dir", "model").status == 0)
        let place = stage.machine("model")
        #expect(try await stage.run("verify", "./model", "--offline").status == 0)
        let w = Path.join(place, "w.safetensors")
        try flip(w, at: 5)
        // A byte that rots changes no time: as if it had been so when the note was made.
        let note = Path.join(place, ".cache/huggingface/download/w.safetensors.metadata")
        let lines = try #require(try FileSystem.text(note)).split(separator: "\n")
        try FileSystem.replace(note, with: Array("\(lines[0])\n\(lines[1])\n\(Timestamp.now + 100)\n".utf8))
        try FileSystem.remove(Path.join(place, "sub/a.txt"))
        try FileSystem.replace(Path.join(place, "config.json"), with: Array("{1}".utf8))
        try FileSystem.setTimes(Path.join(place, "config.json"), accessed: 4e9, modified: 4e9)
        try FileSystem.replace(Path.join(place, "mine.txt"), with: [1])
        let result = try await stage.run("verify", "./model", "--json", "--full")
        #expect(result.status == 1, "\(result.error)")
        #expect(
            try problems(result).map { "\($0["path"]?.string ?? "") \($0["problem"]?.string ?? "")" } == [
                "config.json mismatch", "mine.txt extra", "sub/a.txt missing", "w.safetensors mismatch",
            ])
        let before = stage.hub.requests.count
        let fixed = try await stage.run("verify", "./model", "--repair", "--full")
        // The user's changes are kept, and count as a failure.
        #expect(fixed.status == 1, "\(fixed.error)")
        #expect(fixed.output.contains("changed since it was fetched"))
        #expect(try FileSystem.text(Path.join(place, "config.json")) == "{1}")
        #expect(try FileSystem.text(Path.join(place, "sub/a.txt")) == "some words\n")
        #expect(try asked(since: before).allSatisfy { $0.upperBound <= Self.step })
        #expect(try digest(w) == digest(Path.join(stage.root.path, "org/m/w.safetensors")))
        let none = try await stage.run("verify", "./nowhere", "--json")
        #expect(none.status == 3)
    }
}
