import HubCore
import HubMedia
import InferenceKit
import Support
import Testing

/// `hub try --attach` and `hub embed --attach` with models that see.
@Suite struct TryPictureTests {
    let stage: Stage
    private let place: TemporaryFolder

    init() throws {
        stage = try Stage()
        place = try TemporaryFolder("pictures")
    }

    /// The picture of `scripts/goldens_towers.py`, as a PNG.
    private func picture(width: Int, height: Int, _ name: String = "picture.png") throws -> String {
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                for c in 0..<3 { pixels.append(UInt8((7 * x + 13 * y + 50 * c + x * y * (c + 1)) % 256)) }
            }
        }
        try place.write(name, Picture(width: width, height: height, pixels: pixels).png())
        return place(name)
    }

    private func isNear(_ found: [JSON]?, _ expected: [JSON]?, within tolerance: Double) -> Bool {
        let (found, expected) = (found?.compactMap(\.double) ?? [], expected?.compactMap(\.double) ?? [])
        return found.count == expected.count && !found.isEmpty
            && zip(found, expected).allSatisfy { abs($0 - $1) <= tolerance }
    }

    @Test func labelsAreThoseOfTheReference() async throws {
        let golden = try Fixtures.json("goldens/tower-vit.json")
        let file = try picture(width: 32, height: 32)
        let arguments = ["try", try Fixtures.path("micro/vit"), "--attach", file, "--exact"]
        let document = try await stage.run(arguments + ["--json"]).document()
        let labels = try #require(document["labels"]?.array)
        let names = ["cat", "dog", "owl"]
        let logits = names.compactMap { name in labels.first { $0["label"]?.string == name }?["logit"] }
        #expect(isNear(logits, golden["logits"]?.array, within: 1e-4))
        #expect(try await stage.run(arguments + ["-q"]).output == "cat\n")
        let shown = try await stage.run(arguments).output
        #expect(shown.hasPrefix(file) && shown.contains("LOGIT"))
        let two = try await stage.run(arguments + ["--attach", file, "--json"]).document()
        #expect(two["pictures"]?.array?.count == 2)
    }

    @Test func vectorsAreAsLongAsAskedFor() async throws {
        let file = try picture(width: 40, height: 48)
        let model = try Fixtures.path("micro/dinov2")
        let tried = try await stage.run(
            ["try", model, "--attach", file, "--task", "image-feature-extraction", "--json"]
        ).document()
        let whole = try #require(tried["embeddings"]?.array?.first?.array)
        #expect(whole.count == 32)
        let short = try await stage.run(["embed", model, "--attach", file, "--dimensions", "5", "--json"])
            .document()
        #expect(short["embeddings"]?.array?.first?.array == Array(whole.prefix(5)))
    }

    @Test func whatCannotBeDoneIsSaid() async throws {
        let file = try picture(width: 3, height: 2)
        try place.write("text.png", Array("no picture".utf8))
        let (seeing, reading) = (try Fixtures.path("micro/vit"), try Fixtures.path("micro/llama"))
        let both = try Fixtures.path("micro/clip")
        let refused: [([String], Int32, String)] = [
            (["try", seeing, "hello"], 7, "vit reads pictures, and no text"),
            (
                ["try", seeing, "hello", "--attach", file], 2,
                "models that read a picture and a PROMPT do not run here yet"
            ),
            (["try", reading, "--attach", file], 7, "llama reads no pictures"),
            (["try", seeing, "--attach", place("text.png")], 7, "it is not a picture"),
            (["try", seeing, "--attach", place("missing.png")], 3, "does not exist"),
            (["try", seeing, "hello", "--attach", place("missing.png")], 3, "does not exist"),
            (
                ["try", seeing, "--attach", file, "--task", "text-generation"], 2,
                "--attach has no meaning with --task"
            ),
            (
                ["try", seeing, "--attach", file, "--max-tokens", "3"], 2,
                "--max-tokens is for models that generate text"
            ),
            (["embed", seeing, "text"], 7, "the model reads pictures and no text"),
            (["embed", reading, "--attach", file], 7, "llama reads no pictures"),
            (["embed", seeing, "text", "--attach", file], 7, "vit reads pictures, and no text"),
            (["classify", seeing, "--attach", file, "--labels", "a,b"], 7, "it takes no labels"),
            (["rank", seeing, "a cat", "--attach", file], 7, "it takes no query"),
            (["rank", reading, "a cat", "--attach", file], 7, "llama reads no pictures"),
            (["rank", both, "a cat", "a dog", "--attach", file], 2, "texts and pictures are not ranked together"),
            (["classify", both, "--attach", file], 2, "clip has no labels of its own"),
            (["classify", both, "a text"], 7, "clip turns texts into vectors"),
            (
                ["classify", both, "--attach", file, "--labels", "a,b", "--label-template", "a photo"], 2,
                "the template has no {}"
            ),
            (["try", both, "--attach", file, "--label-template", "{}"], 2, "--label-template needs --labels"),
            (["embed", seeing, "--attach", file, "--dimensions", "33"], 2, "this model makes 32"),
        ]
        for (words, status, message) in refused {
            let result = try await stage.run(words)
            #expect(result.status == status && result.error.contains(message), "\(words): \(result.error)")
        }
    }

    /// CLIP: labels of one's own, the nearest picture, vectors in one space.
    @Test func textsAndPicturesAreInOneSpace() async throws {
        let model = try Fixtures.path("micro/clip")
        let (one, two) = (try picture(width: 32, height: 32), try picture(width: 48, height: 32, "two.png"))
        let pictures = ["--attach", one, "--attach", two]
        let golden = try Fixtures.json("goldens/contrastive-clip.json")
        let texts = golden["texts"]?.array?.compactMap(\.string) ?? []
        let arguments = ["classify", model, "--attach", one, "--exact", "--label-template", "{}", "--labels"]
        // Labels have no commas.
        let plain = texts.indices.filter { !texts[$0].contains(",") }
        let labels = try #require(
            try await stage.run(
                arguments + [plain.map { texts[$0] }.joined(separator: ","), "--json"]
            ).document()["labels"]?.array)
        let logits = plain.compactMap { place in labels.first { $0["label"]?.string == texts[place] }?["logit"] }
        let expected = golden["logits"]?.array?.first?.array
        #expect(plain.count > 1 && isNear(logits, expected.map { all in plain.map { all[$0] } }, within: 1e-4))
        #expect(abs(labels.compactMap { $0["score"]?.double }.reduce(0, +) - 1) < 1e-9)

        let vectors = try await stage.run(["embed", model, "a king", "--exact", "--json"] + pictures).document()
        let all = try #require(vectors["embeddings"]?.array?.map { EmbeddingResult(vector: $0.floats) })
        #expect(all.count == 3)
        let ranked = try await stage.run(["rank", model, "a king", "--exact", "--json"] + pictures).document()
        let ranking = try #require(ranked["ranking"]?.array ?? ranked["results"]?.array)
        let scores = ranking.sorted { ($0["index"]?.int ?? 0) < ($1["index"]?.int ?? 0) }.compactMap { $0["score"] }
        let cosines = all.dropFirst().map { JSON.double(all[0].cosineSimilarity(to: $0) ?? 0) }
        #expect(isNear(scores, cosines, within: 1e-6))
        #expect(try await stage.run(["rank", model, "a king", "-q"] + pictures).output.contains("two.png"))
    }

    @Test func theSmokeTestCountsPictures() async throws {
        let result = try await stage.run(["try", Fixtures.path("micro/vit")])
        #expect(result.status == 0 && result.output.contains(" pictures/s"), "\(result.output)\(result.error)")
        #expect(!result.output.contains("tokenizer"))
    }
}

extension JSON {
    fileprivate var floats: [Float] { array?.compactMap(\.double).map { Float($0) } ?? [] }
}
