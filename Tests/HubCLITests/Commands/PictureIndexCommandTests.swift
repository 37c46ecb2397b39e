import HubCore
import HubMedia
import Support
import Testing

/// `--index` of `hub embed` and `hub rank`, and the library's example over the same file.
@Suite struct PictureIndexCommandTests {
    private let stage: Stage
    private let model: String

    init() throws {
        stage = try Stage()
        model = try Fixtures.path("micro/clip")
        for (name, fixture) in [("a.jpg", "444.jpg"), ("b/c.png", "grey-1.png"), ("b/d.jpg", "progressive.jpg")] {
            try stage.machine.write("photos/\(name)", Fixtures.bytes("pictures/\(fixture)"))
        }
        try stage.machine.write("photos/notes.txt", "no picture")
    }

    private func document(_ words: [String]) async throws -> JSONObject {
        let result = try await stage.run(words + ["--json"])
        #expect(result.status == 0, "\(words): \(result.error)")
        return try result.document()
    }

    private func counts(_ document: JSONObject) -> [Int64?] {
        [document["index"]?["computed"]?.int, document["index"]?["kept"]?.int]
    }

    @Test func aFolderIsComputedOnceAndRanked() async throws {
        let embed = ["embed", model, "--attach", "photos", "--index", "photos.index"]
        let first = try await document(embed)
        #expect(counts(first) == [3, 0] && first["embeddings"]?.array?.count == 3)
        let again = try await document(embed)
        #expect(counts(again) == [0, 3] && again["embeddings"] == first["embeddings"])
        let alone = try await document(["embed", model, "--attach", "photos/a.jpg"])
        #expect(alone["embeddings"]?.array?.first == first["embeddings"]?.array?.first)

        let ranked = try await document(["rank", model, "a king", "--index", "photos.index"])
        let files = ranked["ranking"]?.array?.compactMap { $0["file"]?.string } ?? []
        #expect(Set(files.map(Path.name)) == ["a.jpg", "c.png", "d.jpg"] && counts(ranked) == [0, 3])
        let plain = try await document(
            ["rank", model, "a king"] + files.flatMap { ["--attach", $0] })
        #expect(plain["ranking"]?.array?.compactMap { $0["file"]?.string } == files)
        #expect(
            zip(plain["ranking"]?.array ?? [], ranked["ranking"]?.array ?? []).allSatisfy {
                abs(($0["score"]?.double ?? 1) - ($1["score"]?.double ?? 2)) < 1e-6
            })
        let shown = try await stage.run("rank", model, "a king", "--index", "photos.index")
        #expect(shown.output.contains("PICTURE") && !shown.output.contains("TEXT"))
        #expect(shown.error.contains("photos.index: 0 pictures computed, 3 kept"))

        try FileSystem.remove(stage.machine("photos/a.jpg"))
        let less = try await document(["rank", model, "a king", "--index", "photos.index"])
        #expect(less["ranking"]?.array?.count == 2 && less["index"]?["gone"]?.array?.count == 1)
    }

    @Test func damageIsSaidAndMended() async throws {
        let embed = ["embed", model, "--attach", "photos", "--index", "photos.index", "-q"]
        #expect(try await stage.run(embed).status == 0)
        var bytes = try #require(try FileSystem.contents(stage.machine("photos.index")))
        bytes[bytes.count / 2] ^= 1
        try stage.machine.write("photos.index", bytes)
        let mended = try await stage.run(["rank", model, "a king", "--attach", "photos", "--index", "photos.index"])
        #expect(
            mended.status == 0 && mended.error.contains("photos.index is rebuilt: its bytes have another digest"))
        #expect(mended.error.contains("3 pictures computed, 0 kept"))
        // A picture that cannot be read is left out of a folder, and is an error by itself.
        try stage.machine.write("photos/cut.jpg", Array(Fixtures.bytes("pictures/444.jpg").prefix(300)))
        let left = try await stage.run(embed)
        #expect(left.status == 0 && left.error.contains("left out: cannot read"), "\(left.error)")
        let named = try await stage.run(
            "embed", model, "--attach", "photos/cut.jpg", "--index", "photos.index")
        #expect(named.status == 7)
    }

    @Test func whatCannotBeDoneIsSaid() async throws {
        let other = try Fixtures.path("micro/clip-gelu")
        let made = try await stage.run("embed", model, "--attach", "photos", "--index", "photos.index", "-q")
        #expect(made.status == 0)
        let refused: [([String], Int32, String)] = [
            (["rank", other, "a king", "--index", "photos.index"], 2, "photos.index was made with"),
            (["rank", model, "a king", "--index", "photos/a.jpg"], 7, "it is no index of pictures"),
            (["rank", model, "a king", "--index", "new.index"], 2, "new.index has no pictures"),
            (["rank", model, "a king", "a text", "--index", "photos.index"], 2, "texts and pictures"),
            (["rank", model, "a king", "--attach", "-", "--index", "photos.index"], 2, "standard input is none"),
            (["rank", model, "a king", "--attach", "none.jpg", "--index", "photos.index"], 3, "does not exist"),
            (["embed", model, "a king", "--index", "photos.index"], 2, "there is no --attach FILE"),
            (["embed", model, "--attach", "state", "--index", "photos.index"], 2, "state has no pictures"),
            (["embed", model, "--attach", "photos"], 2, "photos is a folder"),
        ]
        try FileSystem.createDirectories(stage.machine("state"))
        for (words, status, message) in refused {
            let result = try await stage.run(words)
            #expect(result.status == status && result.error.contains(message), "\(words): \(result.error)")
        }
        #expect(!FileSystem.exists(stage.machine("new.index")))
    }

    @Test func theExampleFindsThem() async throws {
        func search(_ words: String...) async throws -> ProcessResult {
            try await RunningProcess.run(
                BuiltProduct.path("PictureSearch"), words,
                environment: ["PATH": "/usr/bin:/bin", "HOME": stage.machine.path, "LC_ALL": "C.UTF-8"],
                directory: stage.machine.path)
        }
        let first = try await search(model, "found", "a king", "photos/a.jpg", "photos/b/d.jpg")
        #expect(first.status == 0 && first.output.hasPrefix("2 pictures, 2 of them computed\n"), "\(first.error)")
        let again = try await search(model, "found", "a ship")
        #expect(again.output.hasPrefix("2 pictures, 0 of them computed\n"))
        #expect(again.output.contains("a.jpg") && again.output.split(separator: "\n").count == 3)
        let wrong = try await search(model, "found", "a ship", "photos/notes.txt")
        #expect(wrong.status == 1 && wrong.error.contains("it is not a picture"))
        #expect(try await search("only").status == 2)
    }
}
