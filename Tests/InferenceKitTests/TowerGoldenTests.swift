import HubCore
import HubMedia
import Support
import Testing

@testable import InferenceKit

/// Models of pictures against transformers and timm: `scripts/goldens_towers.py`, `scripts/goldens_timm.py`.
@Suite struct TowerGoldenTests {
    static let names = [
        "beit", "beit-larger", "beit-shared", "beit-vectors", "data2vec-vision", "deit", "dinov2", "dinov2-gated",
        "dinov2-registers", "dinov3", "dinov3-gated", "vit", "vit-mae", "vit-msn", "vit-without-bias", "timm-deit3",
        "timm-vit",
        "timm-vit-clip", "timm-vit-dinov2", "timm-vit-gap", "timm-vit-registers", "timm-vit-siglip",
        "timm-vit-wide",
        "timm-wrapper", "open-clip", "open-clip-custom",
    ]

    /// The picture of the script's `pixels`.
    static func picture(width: Int, height: Int) -> Picture {
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                for c in 0..<3 { pixels.append(UInt8((7 * x + 13 * y + 50 * c + x * y * (c + 1)) % 256)) }
            }
        }
        return Picture(width: width, height: height, pixels: pixels)
    }

    private func worst(_ values: [Float], _ expected: JSON?) -> Double {
        let expected = expected?.array?.compactMap(\.double) ?? []
        guard values.count == expected.count else { return .infinity }
        return zip(values, expected).map { abs(Double($0) - $1) }.max() ?? .infinity
    }

    /// Scores of labels; of a model without any, vectors.
    private func numbers(_ pictures: [Picture], _ model: PictureModel) async throws -> [[Float]] {
        model.labels.isEmpty ? try await model.embed(pictures).map(\.vector) : try await model.outputs(pictures)
    }

    @Test(arguments: names) func numbersAreThoseOfTheReference(name: String) async throws {
        let golden = try Fixtures.json("goldens/tower-\(name).json")
        let size = try #require(golden["size"]?.array?.compactMap(\.int).map(Int.init))
        let model = try await PictureModel.open(
            folder: Fixtures.path("micro/\(name)"), options: ModelOptions(isExact: true))
        let picture = Self.picture(width: size[1], height: size[0])
        let vector = try await model.embed([picture], normalizes: true)[0].vector
        #expect(worst(vector, golden["vector"]) < 1e-5)
        let logits = try await numbers([picture], model)[0]
        #expect(worst(logits, golden["logits"]) < 1e-4)
        #expect(golden["without"]?.object?.members.count ?? 0 > 0)
    }

    /// open_clip's files have a side of texts too, alone or under a name of its own.
    @Test(arguments: ["open-clip", "open-clip-custom"]) func textsAreThoseOfOpenCLIP(name: String) async throws {
        let golden = try Fixtures.json("goldens/tower-\(name).json")
        let model = try await PictureModel.open(
            folder: Fixtures.path("micro/\(name)"), options: ModelOptions(isExact: true))
        #expect(model.task == .zeroShotImages)
        let texts = golden["texts"]?.array?.compactMap(\.string) ?? []
        #expect(texts.count == 2)
        let vectors = try await model.embed(texts: texts, options: EmbeddingOptions(normalizes: true)).map(\.vector)
        for (place, vector) in vectors.enumerated() {
            #expect(worst(vector, golden["text_vectors"]?.array?[place]) < 1e-5)
        }
    }

    @Test(
        arguments: [
            (["vision_cfg", "timm_model_name"], "vit_base_patch16_224"),
            (["text_cfg", "hf_model_name"], "roberta-base"),
            (["vision_cfg", "no_ln_pre"], true), (["vision_cfg", "ls_init_value"], 1),
            (["text_cfg", "pool_type"], "last"),
            (["text_cfg", "no_causal_mask"], true), (["init_logit_bias"], -10),
            (["vision_cfg", "layers"], .array([3, 4])),
        ] as [([String], JSON)])
    func settingsOfOpenCLIPAreRefused(path: [String], value: JSON) async throws {
        let folder = try TemporaryFolder(linking: "micro/open-clip", except: ["open_clip_config.json"])
        var config = try #require(try Fixtures.json("micro/open-clip/open_clip_config.json").object)
        var model = try #require(config["model_cfg"]?.object)
        if path.count == 2 {
            var part = try #require(model[path[0]]?.object)
            part[path[1]] = value
            model[path[0]] = .object(part)
        } else {
            model[path[0]] = value
        }
        config["model_cfg"] = .object(model)
        try folder.write("open_clip_config.json", .object(config))
        let error = try await thrown { try await PictureModel.open(folder: folder.path) }
        #expect(error.message.contains(path.joined(separator: ": ")), "\(error.message)")
    }

    /// What comes out of a picture does not depend on those beside it, nor on the threads.
    @Test(arguments: names) func picturesTogetherAreWhatTheyAreAlone(name: String) async throws {
        let folder = try Fixtures.path("micro/\(name)")
        let pictures = [(32, 32), (48, 40), (5, 70), (1, 1)].map { Self.picture(width: $0, height: $1) }
        let one = try await PictureModel.open(folder: folder, options: ModelOptions(threads: 1))
        let three = try await PictureModel.open(folder: folder, options: ModelOptions(threads: 3))
        var alone: [[Float]] = []
        for picture in pictures { alone += try await numbers([picture], one) }
        #expect(try await numbers(pictures, three) == alone)
        #expect(Set(alone).count == pictures.count)
    }

    @Test(arguments: [
        ("timm-vit", ["cat", "dog, hound", "n03"]), ("timm-vit-gap", ["LABEL_0", "LABEL_1", "LABEL_2"]),
        ("timm-wrapper", ["cat", "dog", "owl"]), ("timm-vit-dinov2", []),
    ])
    func labelsOfTimmHaveDescriptions(name: String, labels: [String]) async throws {
        let model = try await PictureModel.open(folder: Fixtures.path("micro/\(name)"))
        #expect(model.labels == labels)
        #expect(model.task == (labels.isEmpty ? .imageEmbedding : .imageClassification))
    }

    @Test(arguments: [
        ("global_pool", "max" as JSON, "global_pool"), ("global_pool", "avgmax", "global_pool"),
        ("class_token", false, "there is no class_token"), ("block_fn", "ResPostBlock", "model_args with block_fn"),
        ("norm_layer", "rmsnorm", "norm_layer"), ("act_layer", "mish", "activation"),
        ("embed_dim", "wide", "hidden_size"),
        ("mlp_ratio", -1, "intermediate_size"), ("depth", 0, "num_hidden_layers"), ("reg_tokens", -1, "reg_tokens"),
        ("img_size", .array([32, 4]), "patch_size 8 is larger"), ("init_values", "x", "init_values"),
    ])
    func argumentsOfTimmAreChecked(key: String, value: JSON, message: String) async throws {
        let folder = try TemporaryFolder(linking: "micro/timm-vit", except: ["config.json"])
        var config = try #require(try Fixtures.json("micro/timm-vit/config.json").object)
        var arguments = try #require(config["model_args"]?.object)
        arguments[key] = value
        config["model_args"] = .object(arguments)
        try folder.write("config.json", .object(config))
        let error = try await thrown { try await PictureModel.open(folder: folder.path) }
        #expect(error.message.contains(message), "\(error.message)")
    }

    @Test func anArchitectureOfTimmThatIsNotListedIsNamed() async throws {
        let folder = try TemporaryFolder(linking: "micro/timm-vit", except: ["config.json"])
        var config = try #require(try Fixtures.json("micro/timm-vit/config.json").object)
        config["architecture"] = "vit_base_patch16_18x2_224"
        try folder.write("config.json", .object(config))
        let error = try await thrown { try await PictureModel.open(folder: folder.path) }
        #expect(
            error.message.hasSuffix("architecture vit_base_patch16_18x2_224 cannot be run yet"), "\(error.message)")
    }

    @Test func aSmokeTestSeesPicturesOfItsOwn() async throws {
        let test = try await SmokeTest.run(folder: Fixtures.path("micro/vit"))
        #expect(test.verdict == .pass, "\(test.checks)")
        #expect(test.checks.map(\.name).suffix(2) == ["pictures", "batched"])
        #expect(test.speed?.unit == .pictures)
    }

    @Test(arguments: [
        ("patch_size", 64 as JSON, "patch_size 64 is larger than image_size 32 by 32"),
        ("patch_size", .array([8, 4]), "patch_size is 8 by 4, not a square"),
        ("image_size", .array([32]), "image_size is not a size"),
        ("num_channels", 1, "num_channels"), ("hidden_act", "mish", "activation"),
        ("hidden_size", 36, "has the shape"),
    ])
    func settingsAreChecked(key: String, value: JSON, message: String) async throws {
        let folder = try TemporaryFolder(linking: "micro/vit", except: ["config.json"])
        var config = try #require(try Fixtures.json("micro/vit/config.json").object)
        config[key] = value
        try folder.write("config.json", .object(config))
        let error = try await thrown { try await PictureModel.open(folder: folder.path) }
        #expect(error.message.contains(message), "\(error.message)")
    }
}
