import HubCore
import HubMedia
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
        let refused: [([String], Int32, String)] = [
            (["try", seeing, "hello"], 2, "vit reads pictures, and no text"),
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
            (["embed", seeing, "text", "--attach", file], 2, "no vectors in one space"),
            (["embed", seeing, "--attach", file, "--dimensions", "33"], 2, "this model makes 32"),
        ]
        for (words, status, message) in refused {
            let result = try await stage.run(words)
            #expect(result.status == status && result.error.contains(message), "\(words): \(result.error)")
        }
    }

    @Test func theSmokeTestCountsPictures() async throws {
        let result = try await stage.run(["try", Fixtures.path("micro/vit")])
        #expect(result.status == 0 && result.output.contains(" pictures/s"), "\(result.output)\(result.error)")
        #expect(!result.output.contains("tokenizer"))
    }
}
