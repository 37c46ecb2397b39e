import HubCore
import HubMedia
import Support
import Testing

@testable import InferenceKit

/// Models that see whose files are not as usual, or not right.
@Suite struct PictureFaultTests {
    /// A fixture with a change of its config.json.
    private func changed(
        _ name: String, except others: Set<String> = [], _ change: (inout JSONObject) throws -> Void
    ) throws -> TemporaryFolder {
        let folder = try TemporaryFolder(linking: "micro/\(name)", except: others.union(["config.json"]))
        var config = try #require(try Fixtures.json("micro/\(name)/config.json").object)
        try change(&config)
        try folder.write("config.json", .object(config))
        return folder
    }

    private static let picture = TowerGoldenTests.picture(width: 32, height: 32)

    /// SigLIP's vector is read behind all of its padding, so it takes no other context.
    @Test func aTextThatIsFilledHasOneLength() async throws {
        let folder = try Fixtures.path("micro/siglip")
        for context in [4, 11] {
            let error = try await thrown {
                try await LanguageModel.open(folder: folder, options: ModelOptions(context: context))
            }
            #expect(error.code == .invalidInput && error.message.contains("this model always reads 12"))
        }
        let model = try await LanguageModel.open(folder: folder, options: ModelOptions(context: 12))
        #expect(try await model.embed(["a"])[0].dimensions == 32)
    }

    @Test func paddingIsATokenOfTheModel() async throws {
        let folder = try changed("siglip", except: ["tokenizer_config.json"]) { config in
            var texts = try #require(config["text_config"]?.object)
            texts["pad_token_id"] = 99999
            config["text_config"] = .object(texts)
        }
        var settings = try #require(try Fixtures.json("micro/siglip/tokenizer_config.json").object)
        settings["pad_token"] = "<none>"
        try folder.write("tokenizer_config.json", .object(settings))
        let error = try await thrown { try await LanguageModel.open(folder: folder.path) }
        #expect(error.code == .malformedModel && error.message.contains("vocab_size is 320"), "\(error.message)")
    }

    /// Two rows that the model was trained with are not left out because a setting is missing.
    @Test func registersThatAreNotToldAreNotPassedOver() async throws {
        let folder = try changed("dinov3") { $0["num_register_tokens"] = 0 }
        let error = try await thrown { try await PictureModel.open(folder: folder.path) }
        #expect(error.message.contains("embeddings.register_tokens"), "\(error.message)")
    }

    /// The head stands within the model.
    @Test func bothSidesAreFoundWithoutAClass() async throws {
        let folder = try changed("siglip") { $0["architectures"] = nil }
        let (bare, named) = (
            try await PictureModel.open(folder: folder.path),
            try await PictureModel.open(folder: Fixtures.path("micro/siglip"))
        )
        #expect(try await bare.embed([Self.picture]) == named.embed([Self.picture]))
        #expect(try await bare.embed(texts: ["a king"]) == named.embed(texts: ["a king"]))
    }

    /// timm's first files have what describes pictures beside the rest.
    @Test func settingsOfTimmMayStandBesideEachOther() async throws {
        let folder = try changed("mobilenetv3") { config in
            let inner = try #require(config["pretrained_cfg"]?.object)
            config["pretrained_cfg"] = nil
            for (key, value) in inner.members { config[key] = value }
        }
        let (flat, nested) = (
            try await PictureModel.open(folder: folder.path),
            try await PictureModel.open(folder: Fixtures.path("micro/mobilenetv3"))
        )
        #expect(try await flat.outputs([Self.picture]) == nested.outputs([Self.picture]))
    }

    /// Sides are told without making the picture.
    @Test(arguments: ["vit", "clip", "clip-gelu", "dinov3", "mobilenetv3"])
    func sidesAreThoseOfTheProcessedPicture(name: String) throws {
        let processor = try PictureProcessor(folder: Fixtures.path("micro/\(name)"))
        for (width, height) in [(32, 32), (48, 40), (5, 70), (512, 1024)] {
            let made = try processor.process(TowerGoldenTests.picture(width: width, height: height))
            let told = try processor.sides(height: height, width: width)
            #expect(told.height == made.height && told.width == made.width)
        }
    }
}
