import HubCore
import HubMedia
import ModelFormats
import Support
import Testing

@testable import InferenceKit

/// Models that find objects against transformers: `scripts/goldens_detectors.py`.
@Suite struct DetectorGoldenTests {
    static let names = ["yolos", "yolos-plain", "detr", "detr-resnet", "table-transformer"]

    private static func open(_ name: String, threads: Int? = nil, isExact: Bool = true) async throws -> PictureModel
    {
        try await PictureModel.open(
            folder: Fixtures.path("micro/\(name)"), options: ModelOptions(threads: threads, isExact: isExact))
    }

    private static func picture(_ entry: JSON) throws -> Picture {
        let size = try #require(entry["size"]?.array?.compactMap(\.int).map(Int.init))
        return TowerGoldenTests.picture(width: size[1], height: size[0])
    }

    @Test(arguments: names) func objectsAreThoseOfTheReference(name: String) async throws {
        let golden = try Fixtures.json("goldens/detector-\(name).json")
        let model = try await Self.open(name)
        #expect(model.task == .objectDetection && model.labels == ["cat", "dog", "owl"])
        let pictures = try #require(golden["pictures"]?.array)
        for entry in pictures {
            let picture = try Self.picture(entry)
            let outputs = try await model.outputs([picture])[0]
            let (logits, boxes) = (
                entry["logits"]?.array?.compactMap(\.double) ?? [],
                entry["boxes"]?.array?.compactMap(\.double) ?? []
            )
            let queries = boxes.count / 4
            #expect(queries > 0 && outputs.count == logits.count + boxes.count)
            for row in 0..<queries {
                let own = outputs[row * 8..<row * 8 + 8].map(Double.init)
                let expected = Array(logits[row * 4..<row * 4 + 4] + boxes[row * 4..<row * 4 + 4])
                for (number, wanted) in zip(own, expected) {
                    #expect(abs(number - wanted) < 2e-3, "\(name) \(picture.width) by \(picture.height)")
                }
            }
            let found = try await model.objects(picture, threshold: 0)
            #expect(found.map(\.score) == found.map(\.score).sorted(by: >))
            // Those of the reference are in the order of the rows.
            let expected = (entry["objects"]?.array ?? []).sorted {
                ($0["score"]?.double ?? 0) > ($1["score"]?.double ?? 0)
            }
            #expect(found.count == expected.count)
            for wanted in expected {
                let box = wanted["box"]?.array?.compactMap(\.double) ?? []
                let same = found.contains { object in
                    let sides = [object.box.left, object.box.top, object.box.right, object.box.bottom]
                    return object.label == wanted["label"]?.string
                        && abs(object.score - (wanted["score"]?.double ?? 0)) < 2e-3
                        && zip(sides, box).allSatisfy { abs($0 - $1) < 0.4 }
                }
                #expect(same, "\(name) \(picture.width) by \(picture.height): \(wanted.text()), found \(found)")
            }
        }
        #expect(golden["without"]?.object?.members.count ?? 0 > 5)
    }

    /// What is found in a picture does not depend on those beside it, nor on the threads.
    @Test(arguments: names) func picturesTogetherAreWhatTheyAreAlone(name: String) async throws {
        let pictures = [(64, 64), (48, 80), (90, 60), (31, 33)].map {
            TowerGoldenTests.picture(width: $0, height: $1)
        }
        let (one, three) = (
            try await Self.open(name, threads: 1, isExact: false),
            try await Self.open(name, threads: 3, isExact: false)
        )
        var alone: [[Float]] = []
        for picture in pictures { alone += try await one.outputs([picture]) }
        #expect(try await three.outputs(pictures) == alone)
        #expect(Set(alone).count == pictures.count)
    }

    @Test(arguments: names) func aSmokeTestPasses(name: String) async throws {
        let test = try await SmokeTest.run(folder: Fixtures.path("micro/\(name)"))
        #expect(test.verdict == .pass, "\(test.checks)")
        #expect(test.checks.map(\.name).suffix(2) == ["pictures", "batched"])
    }

    @Test func onlyWhatIsSureEnoughIsGiven() async throws {
        let model = try await Self.open("yolos")
        let picture = TowerGoldenTests.picture(width: 60, height: 60)
        let all = try await model.objects(picture, threshold: 0)
        for threshold in [0.3, 0.5, 0.6, 1] {
            let some = try await model.objects(picture, threshold: threshold)
            #expect(some == all.filter { $0.score > threshold })
        }
        #expect(try await model.objects(picture) == all.filter { $0.score > 0.5 })
    }

    /// What a model is not for is refused, and what it is for is said.
    @Test func otherTasksAreRefused() async throws {
        let detector = try await Self.open("yolos")
        let classifier = try await PictureModel.open(folder: Fixtures.path("micro/vit"))
        let picture = TowerGoldenTests.picture(width: 60, height: 60)
        let vectors = try await thrown { try await detector.embed([picture]) }
        let labels = try await thrown { try await detector.classify([picture]) }
        let objects = try await thrown { try await classifier.objects(picture) }
        #expect(vectors.code == .unsupportedModel && vectors.message.contains("object-detection"))
        #expect(labels.code == .unsupportedModel && labels.message.contains("object-detection"))
        #expect(objects.code == .unsupportedModel && objects.message.contains("finds no objects"))
    }

    @Test(
        arguments: [
            ("yolos", "num_detection_tokens", 0 as JSON, "num_detection_tokens"),
            ("yolos", "num_detection_tokens", 5, "has the shape"),
            ("yolos", "image_size", .array([30, 48]), "image_size of whole squares"),
            ("yolos", "num_channels", 1, "num_channels"), ("yolos", "hidden_act", "mish", "activation"),
            ("yolos", "architectures", .array(["YolosModel"]), "YolosModel"),
            ("detr", "dilation", true, "dilation"), ("detr", "backbone", "resnet50x", "backbone"),
            ("detr", "position_embedding_type", "learned", "position_embedding_type"),
            ("detr", "d_model", 30, "d_model"), ("detr", "num_queries", 9, "has the shape"),
            ("detr", "architectures", .array(["DetrForSegmentation"]), "DetrForSegmentation"),
            (
                "detr", "backbone_kwargs", .object(["out_indices": .array([1, 2, 3])]),
                "backbone_kwargs: out_indices"
            ),
            ("detr", "backbone_kwargs", .object(["drop": 1]), "backbone_kwargs: drop"),
            ("detr", "backbone", "resnet18", "model.input_projection.weight"),
            ("detr-resnet", "backbone_config", .object(["model_type": "swin"]), "backbone_config: model_type"),
            ("table-transformer", "activation_function", "mish", "activation"),
        ] as [(String, String, JSON, String)])
    func settingsAreChecked(name: String, key: String, value: JSON, message: String) async throws {
        let folder = try TemporaryFolder(linking: "micro/\(name)", except: ["config.json"])
        var config = try #require(try Fixtures.json("micro/\(name)/config.json").object)
        config[key] = value
        try folder.write("config.json", .object(config))
        let error = try await thrown { try await PictureModel.open(folder: folder.path) }
        #expect(error.message.contains(message), "\(error.message)")
    }

    /// A box is a share of the picture, and not of what would be added to it.
    @Test(arguments: ["yolos", "detr"]) func paddingIsRefused(name: String) async throws {
        let folder = try TemporaryFolder(linking: "micro/\(name)", except: ["preprocessor_config.json"])
        var settings = try #require(try Fixtures.json("micro/\(name)/preprocessor_config.json").object)
        settings["pad_size"] = .object(["height": 400, "width": 400])
        try folder.write("preprocessor_config.json", .object(settings))
        let error = try await thrown { try await PictureModel.open(folder: folder.path) }
        #expect(error.code == .unsupportedModel && error.message.contains("pad_size"), "\(error.message)")
    }

    /// Sizes that transformers' `get_size_with_aspect_ratio_yolos` and DETR's give, height and width.
    @Test(arguments: [
        ((480, 640), (800, 1056), (800, 1066)), ((640, 480), (1056, 800), (1066, 800)),
        ((300, 900), (432, 1328), (444, 1333)), ((800, 1333), (800, 1328), (800, 1333)),
        ((1333, 444), (1328, 432), (1333, 444)), ((97, 61), (1264, 800), (1272, 800)),
    ])
    func sizesOfDetectorsAreExact(picture: (Int, Int), yolos: (Int, Int), detr: (Int, Int)) {
        let whole = PictureSize.wholeBetween(shortest: 800, longest: 1333, of: 16)
        #expect(whole.sides(height: picture.0, width: picture.1) == yolos)
        let plain = PictureSize.between(shortest: 800, longest: 1333)
        #expect(plain.sides(height: picture.0, width: picture.1) == detr)
    }

    /// Files before transformers 4.26 have numbers in the place of lengths with names.
    @Test(
        arguments: [
            (["size": 800, "max_size": 800], (800, 800), nil), (["size": 600], (600, 1333), nil),
            ([:], (800, 1333), nil), (["size": 512, "max_size": 864], (512, 864), 16),
            (["size": 512], (512, 1333), 16),
        ] as [(JSONObject, (Int, Int), Int?)])
    func oldSizesAreThoseOfTheReference(members: JSONObject, edges: (Int, Int), multiple: Int?) throws {
        var members = members
        members["feature_extractor_type"] = .string(
            multiple == nil ? "DetrFeatureExtractor" : "YolosFeatureExtractor")
        let made = try PictureSettings(members, path: "preprocessor_config.json").processor(modelType: nil).size
        let (shortest, longest) = edges
        let expected: PictureSize =
            if let multiple {
                .wholeBetween(shortest: shortest, longest: longest, of: multiple)
            } else {
                .between(shortest: shortest, longest: longest)
            }
        #expect(made == expected)
    }

    /// The check of files knows the tensors of the net too.
    @Test func aMissingTensorOfTheNetIsFound() throws {
        let configuration = try ModelConfiguration(
            Fixtures.json("micro/detr-resnet/config.json"), path: "config.json")
        let needs = try #require(TensorNeeds(configuration, names: [], isGGUF: false))
        #expect(needs.needs.contains { $0.name.hasPrefix("model.backbone.conv_encoder.model.embedder.") })
        #expect(needs.needs.contains { $0.name == "bbox_predictor.layers.2.weight" && $0.shape == [4, 32] })
    }
}
