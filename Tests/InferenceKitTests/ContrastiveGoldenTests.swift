import HubCore
import HubMedia
import Support
import Testing

@testable import InferenceKit

/// Models with vectors of texts and of pictures in one space against transformers: `scripts/goldens_contrastive.py`.
@Suite struct ContrastiveGoldenTests {
    static let both = ["clip", "clip-old", "clip-gelu", "siglip", "siglip2"]
    static let texts = both + ["clip-text"]
    static let pictures = both + ["clip-vision", "siglip-vision", "siglip2-vision"]
    static let labels = ["clip-labels", "siglip-labels", "siglip2-labels"]

    private static func golden(_ name: String) throws -> JSON {
        try Fixtures.json("goldens/contrastive-\(name).json")
    }

    private func open(_ name: String, threads: Int? = nil) async throws -> PictureModel {
        try await PictureModel.open(
            folder: Fixtures.path("micro/\(name)"), options: ModelOptions(threads: threads, isExact: true))
    }

    /// The picture of the script's `pixels`, and the same from right to left.
    private static func pictures(_ golden: JSON) throws -> [Picture] {
        let size = try #require(golden["size"]?.array?.compactMap(\.int).map(Int.init))
        let picture = TowerGoldenTests.picture(width: size[1], height: size[0])
        var mirrored: [UInt8] = []
        for y in 0..<size[0] {
            for x in 0..<size[1] {
                let start = 3 * (y * size[1] + size[1] - 1 - x)
                mirrored += picture.pixels[start..<start + 3]
            }
        }
        return [picture, Picture(width: size[1], height: size[0], pixels: mirrored)]
    }

    private func worst(_ found: [[Float]], _ expected: JSON?) -> Double {
        let expected = expected?.array?.map { $0.array?.compactMap(\.double) ?? [] } ?? []
        guard found.map(\.count) == expected.map(\.count), !found.isEmpty else { return .infinity }
        return zip(found.joined(), expected.joined()).map { abs(Double($0) - $1) }.max() ?? .infinity
    }

    @Test(arguments: texts) func textsHaveTheVectorsOfTheReference(name: String) async throws {
        let golden = try Self.golden(name)
        let texts = golden["texts"]?.array?.compactMap(\.string) ?? []
        let model = try await LanguageModel.open(
            folder: Fixtures.path("micro/\(name)"), options: ModelOptions(isExact: true))
        #expect(model.embeds && model.task == .embedding)
        let options = EmbeddingOptions(normalizes: true)
        let vectors = try await model.embed(texts, options: options).map(\.vector)
        #expect(worst(vectors, golden["text_vectors"]) < 1e-5)
        for (text, vector) in zip(texts, vectors) {
            #expect(try await model.embed([text], options: options)[0].vector == vector, "alone: \(text)")
        }
    }

    @Test(arguments: pictures) func picturesHaveThoseOfTheReference(name: String) async throws {
        let golden = try Self.golden(name)
        let pictures = try Self.pictures(golden)
        let vectors = try await open(name).embed(pictures, normalizes: true).map(\.vector)
        #expect(worst(vectors, golden["picture_vectors"]) < 1e-5)
        let one = try await open(name, threads: 1)
        for (picture, vector) in zip(pictures, vectors) {
            #expect(try await one.embed([picture], normalizes: true)[0].vector == vector)
        }
    }

    @Test(arguments: both) func labelsAreTriedAsInTheReference(name: String) async throws {
        let golden = try Self.golden(name)
        let texts = golden["texts"]?.array?.compactMap(\.string) ?? []
        let model = try await open(name)
        #expect(model.task == .zeroShotImages && model.takesLabels)
        let labels = try await model.labels(texts, template: "{}")
        let found = try await model.classify(Self.pictures(golden), as: labels)
        func ordered(_ value: (TextLabel) -> Double) -> [[Float]] {
            found.map { list in
                texts.compactMap { text in list.first { $0.label == text }.map { Float(value($0)) } }
            }
        }
        #expect(worst(ordered(\.logit), golden["logits"]) < 1e-4)
        #expect(worst(ordered(\.score), golden["probabilities"]) < 1e-4)
        #expect(golden["without"]?.object?.members.count ?? 0 > 5)
    }

    @Test(arguments: labels) func labelsOfTheirOwnAreThoseOfTheReference(name: String) async throws {
        let golden = try Self.golden(name)
        let model = try await open(name)
        #expect(model.task == .imageClassification && !model.takesLabels && model.labels == ["cat", "dog", "owl"])
        #expect(worst(try await model.outputs(Self.pictures(golden)), golden["labels_logits"]) < 1e-4)
    }

    @Test(arguments: ["clip", "siglip", "siglip2"]) func aSmokeTestReadsBothSides(name: String) async throws {
        let test = try await SmokeTest.run(folder: Fixtures.path("micro/\(name)"))
        #expect(test.verdict == .pass, "\(test.checks)")
        #expect(test.checks.map(\.name).suffix(3) == ["pictures", "batched", "texts"])
    }

    /// Pictures of any ratio, together and alone, however few squares they have.
    @Test func squaresAreAsManyAsFit() async throws {
        let sides = [(32, 48), (48, 32), (9, 200), (200, 9), (1, 1), (31, 33), (640, 480), (5, 5)]
        let pictures = sides.map { TowerGoldenTests.picture(width: $0, height: $1) }
        let together = try await open("siglip2").embed(pictures)
        #expect(Set(together.map(\.vector)).count == pictures.count)
        let one = try await open("siglip2", threads: 1)
        for (picture, vector) in zip(pictures, together) {
            #expect(try await one.embed([picture])[0] == vector)
        }
    }

    @Test func squaresAreOfTheModelsSize() async throws {
        let folder = try TemporaryFolder(linking: "micro/siglip2", except: ["preprocessor_config.json"])
        var settings = try #require(try Fixtures.json("micro/siglip2/preprocessor_config.json").object)
        settings["patch_size"] = 16
        try folder.write("preprocessor_config.json", .object(settings))
        let error = try await thrown { try await PictureModel.open(folder: folder.path) }
        #expect(error.message.contains("squares of 16; the model reads 8"), "\(error.message)")
    }
}
