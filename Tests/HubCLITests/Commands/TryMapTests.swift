import HubCore
import HubMedia
import Support
import Testing

/// `hub try --attach -o` with models that say something of each pixel.
@Suite struct TryMapTests {
    let stage: Stage
    private let place: TemporaryFolder

    init() throws {
        stage = try Stage()
        place = try TemporaryFolder("maps")
    }

    /// The picture of `scripts/goldens_towers.py`, as a PNG.
    private func picture(width: Int, height: Int) throws -> String {
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                for c in 0..<3 { pixels.append(UInt8((7 * x + 13 * y + 50 * c + x * y * (c + 1)) % 256)) }
            }
        }
        try place.write("picture.png", Picture(width: width, height: height, pixels: pixels).png())
        return place("picture.png")
    }

    private func bytes(_ name: String) throws -> [UInt8] {
        try #require(try FileSystem.contents(place(name), limit: 1 << 20))
    }

    @Test func depthIsWrittenInSixteenBitsAndInNumbers() async throws {
        let file = try picture(width: 49, height: 35)
        let arguments = ["try", try Fixtures.path("micro/depth-anything"), "--attach", file]
        let document = try await stage.run(arguments + ["-o", place("depth.png"), "--json"]).document()
        let depth = try #require(document["depth"])
        #expect(depth["width"] == 49 && depth["height"] == 35)
        let (least, most) = (depth["min"]?.double ?? 1, depth["max"]?.double ?? 0)
        #expect(least < most)
        #expect(document["output"]?.string == place("depth.png"))
        let png = try bytes("depth.png")
        // The header's sides, bits and kind of colour.
        #expect(Array(png[16..<26]) == [0, 0, 0, 49, 0, 0, 0, 35, 16, 0])
        #expect(try await stage.run(arguments + ["-o", place("depth.npy")]).status == 0)
        let array = try bytes("depth.npy")
        #expect(array.count == 128 + 4 * 49 * 35)
        let values = stride(from: 128, to: array.count, by: 4).map { place in
            Float(bitPattern: (0..<4).reduce(UInt32(0)) { $0 | UInt32(array[place + $1]) << (8 * UInt32($1)) })
        }
        #expect(values.min() == Float(least) && values.max() == Float(most))
        // It is not replaced without being asked for.
        let again = try await stage.run(arguments + ["-o", place("depth.npy")])
        #expect(again.status != 0 && again.error.contains("--force"))
        let forced = try await stage.run(arguments + ["-o", place("depth.npy"), "--force", "-q"])
        let lines = forced.output.split(separator: "\n")
        #expect(lines.count == 2 && lines.last?.description == place("depth.npy"))
        #expect(lines.first?.split(separator: " ").count == 2)
    }

    @Test func segmentsAreDrawnOverThePicture() async throws {
        let file = try picture(width: 70, height: 50)
        let arguments = ["try", try Fixtures.path("micro/segformer"), "--attach", file]
        let document = try await stage.run(arguments + ["-o", place("drawn.png"), "--json"]).document()
        let segments = try #require(document["segments"]?.array)
        #expect(segments.compactMap { $0["pixels"]?.int }.reduce(0, +) == 50 * 70)
        #expect(segments.allSatisfy { (0...1).contains($0["score"]?.double ?? 2) && $0["label"]?.string != nil })
        let drawn = try PictureFile.read(place("drawn.png"))
        #expect(drawn.width == 70 && drawn.height == 50)
        let shown = try await stage.run(arguments).output
        #expect(shown.contains("LABEL") && shown.contains("PIXELS"))
        let two = try await stage.run(arguments + ["--attach", file, "--json"]).document()
        #expect(two["pictures"]?.array?.count == 2)
    }

    @Test func whatCannotBeWrittenIsSaid() async throws {
        let file = try picture(width: 49, height: 35)
        let (depth, labels) = (try Fixtures.path("micro/depth-anything"), try Fixtures.path("micro/vit"))
        let refused: [([String], Int32, String)] = [
            (["try", depth, "--attach", file, "-o", place("x.jpg")], 2, "ends neither in .png nor in .npy"),
            (
                ["try", depth, "--attach", file, "--attach", file, "-o", place("x.png")], 2,
                "-o takes one picture, and there are 2"
            ),
            (["try", depth, "-o", place("x.png")], 2, "--output needs a picture"),
            (["try", depth, "--attach", file, "--threshold", "0.4"], 7, "finds no objects"),
            (["try", labels, "--attach", file, "-o", place("x.png")], 7, "makes nothing that -o writes"),
            (
                ["try", depth, "--attach", file, "--task", "image-segmentation"], 2,
                "--task image-segmentation does not fit"
            ),
            (["classify", depth, "--attach", file], 7, "it gives a picture no labels as a whole"),
            (["embed", depth, "--attach", file], 7, "no vectors"),
        ]
        for (arguments, status, message) in refused {
            let result = try await stage.run(arguments)
            #expect(result.status == status && result.error.contains(message), "\(arguments): \(result.error)")
        }
    }
}
