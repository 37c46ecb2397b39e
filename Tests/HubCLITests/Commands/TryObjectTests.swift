import HubCore
import HubMedia
import InferenceKit
import Support
import Testing

/// `hub try --attach` with models that find objects.
@Suite struct TryObjectTests {
    let stage: Stage
    private let place: TemporaryFolder
    private let model: String
    private let picture: String

    init() throws {
        stage = try Stage()
        place = try TemporaryFolder("objects")
        model = try Fixtures.path("micro/yolos")
        var pixels: [UInt8] = []
        for y in 0..<60 {
            for x in 0..<60 {
                for c in 0..<3 { pixels.append(UInt8((7 * x + 13 * y + 50 * c + x * y * (c + 1)) % 256)) }
            }
        }
        try place.write("picture.png", Picture(width: 60, height: 60, pixels: pixels).png())
        picture = place("picture.png")
    }

    @Test func objectsAreThoseOfTheReference() async throws {
        let golden = try Fixtures.json("goldens/detector-yolos.json")
        let expected = (golden["pictures"]?.array?.first?["objects"]?.array ?? [])
            .sorted { ($0["score"]?.double ?? 0) > ($1["score"]?.double ?? 0) }
        let arguments = ["try", model, "--attach", picture, "--exact"]
        let all = try await stage.run(arguments + ["--threshold", "0", "--json"]).document()
        let objects = try #require(all["objects"]?.array)
        #expect(objects.count == expected.count)
        for (object, wanted) in zip(objects, expected) {
            object.object?.expectKeys("label score box")
            #expect(object["label"] == wanted["label"])
            #expect(abs((object["score"]?.double ?? 0) - (wanted["score"]?.double ?? 0)) < 2e-3)
            let (box, own) = (
                object["box"]?.array?.compactMap(\.double) ?? [], wanted["box"]?.array?.compactMap(\.double) ?? []
            )
            #expect(box.count == 4 && zip(box, own).allSatisfy { abs($0 - $1) < 0.4 })
        }
        // Half is the usual threshold.
        let usual = try await stage.run(arguments + ["--json"]).document()
        #expect(usual["objects"]?.array == objects.filter { ($0["score"]?.double ?? 0) > 0.5 })
        let shown = try await stage.run(arguments + ["--threshold", "0.3"]).output
        #expect(shown.hasPrefix(picture) && shown.contains("OBJECT") && shown.contains("BOTTOM"))
        let none = try await stage.run(arguments + ["--threshold", "1"]).output
        #expect(none.contains("no object was found"))
        let lines = try await stage.run(arguments + ["--threshold", "0", "-q"]).output
        #expect(lines.split(separator: "\n").count == expected.count)
        let two = try await stage.run(arguments + ["--attach", picture, "--json"]).document()
        #expect(two["pictures"]?.array?.count == 2 && two["pictures"]?.array?.last?["objects"] != nil)
    }

    @Test func aPictureWithThemIsWritten() async throws {
        let found = place("found.png")
        let arguments = ["try", model, "--attach", picture, "--threshold", "0", "-o", found]
        let document = try await stage.run(arguments + ["--json"]).document()
        #expect(document["output"]?.string == found)
        let drawn = try PictureFile.read(try #require(try FileSystem.contents(found)), name: "found.png")
        let plain = try PictureFile.read(try #require(try FileSystem.contents(picture)), name: "picture.png")
        #expect(drawn.width == plain.width && drawn.height == plain.height && drawn != plain)
        // What is there is kept without a yes, and nothing is left beside it.
        try place.write("found.png", Array("mine".utf8))
        let kept = try await stage.run(arguments)
        #expect(kept.status == 2 && kept.error.contains("--force replaces it"))
        #expect(try FileSystem.contents(found) == Array("mine".utf8))
        #expect(try await stage.run(arguments + ["--force"]).status == 0)
        #expect(try FileSystem.contents(found) != Array("mine".utf8))
        #expect(try FileSystem.entries(place.path)?.sorted() == ["found.png", "picture.png"])
    }

    @Test func whatCannotBeDoneIsSaid() async throws {
        let (labelling, reading) = (try Fixtures.path("micro/vit"), try Fixtures.path("micro/llama"))
        let refused: [([String], Int32, String)] = [
            (["try", model, "--threshold", "0.4"], 2, "--threshold needs a picture"),
            (["try", model, "-o", place("a.png")], 2, "--output needs a picture"),
            (["try", model, "--attach", picture, "--force"], 2, "--force needs -o FILE"),
            (["try", model, "--attach", picture, "--threshold", "1.5"], 2, "out of bounds"),
            (["try", model, "--attach", picture, "-o", place("a.jpg")], 2, "ends neither in .png nor in .npy"),
            (
                ["try", model, "--attach", picture, "--attach", picture, "-o", place("a.png")], 2,
                "-o takes one picture, and there are 2"
            ),
            (["try", model, "--attach", picture, "-o", place("none/a.png")], 6, "none/a.png"),
            (["try", labelling, "--attach", picture, "--threshold", "0.4"], 7, "vit finds no objects"),
            (["try", model, "--attach", picture, "-o", place("a.npy")], 2, "does not end in .png"),
            (["try", labelling, "--attach", picture, "-o", place("a.png")], 7, "vit makes nothing that -o writes"),
            (["try", reading, "--attach", picture, "--threshold", "0.4"], 7, "llama reads no pictures"),
            (["try", model, "hello"], 7, "yolos reads pictures, and no text"),
            (["classify", model, "--attach", picture], 7, "it gives a picture no labels as a whole"),
            (["embed", model, "--attach", picture], 7, "it gives pictures no vectors"),
            (
                ["try", model, "--attach", picture, "--task", "image-classification"], 2,
                "--task image-classification does not fit"
            ),
        ]
        for (arguments, status, message) in refused {
            let result = try await stage.run(arguments)
            #expect(result.status == status && result.error.contains(message), "\(arguments): \(result.error)")
        }
    }

    @Test func headersSayWhatItIsFor() async throws {
        let info = try await stage.run(["try", model, "--inspect", "--json"]).document()
        #expect(info["inspection"]?["obstacles"]?.array?.isEmpty ?? true)
        let tested = try await stage.run(["try", model, "--json"]).document()
        #expect(tested["verdict"]?.string == "pass")
    }
}
