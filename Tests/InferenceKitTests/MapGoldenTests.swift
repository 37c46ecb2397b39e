import HubCore
import HubMedia
import ModelFormats
import Support
import Testing

@testable import InferenceKit

/// Models that say something of each pixel against transformers: `scripts/goldens_maps.py`.
@Suite struct MapGoldenTests {
    static let depths = ["depth-anything", "depth-anything-metric", "dpt", "dpt-dinov2"]
    static let segmenters = ["dpt-labels", "segformer"]
    static let names = depths + segmenters

    private func golden(_ name: String) throws -> (json: JSON, picture: Picture) {
        let golden = try Fixtures.json("goldens/map-\(name).json")
        let size = try #require(golden["size"]?.array?.compactMap(\.int).map(Int.init))
        return (golden, TowerGoldenTests.picture(width: size[1], height: size[0]))
    }

    private func open(_ name: String) async throws -> PictureModel {
        try await PictureModel.open(
            folder: Fixtures.path("micro/\(name)"), options: ModelOptions(isExact: true))
    }

    private func numbers(_ json: JSON?) -> [Double] { json?.array?.compactMap(\.double) ?? [] }

    /// The largest difference, as a share of the range of what is expected.
    private func worst(_ values: [Float], _ expected: [Double]) -> Double {
        guard values.count == expected.count, let least = expected.min(), let most = expected.max() else {
            return .infinity
        }
        return (zip(values, expected).map { abs(Double($0) - $1) }.max() ?? .infinity) / (most - least)
    }

    @Test(arguments: names) func numbersAreThoseOfTheReference(name: String) async throws {
        let (golden, picture) = try golden(name)
        let map = try await open(name).map(picture)
        let shape = try #require(golden["shape"]?.array?.compactMap(\.int).map(Int.init))
        #expect([map.height, map.width] == Array(shape.suffix(2)))
        #expect(map.channels == (shape.count == 3 ? shape[0] : 1))
        // The reference has channel after channel.
        let places = map.height * map.width
        let planes = (0..<map.channels).flatMap { channel in
            (0..<places).map { map.values[$0 * map.channels + channel] }
        }
        let every = try #require(golden["every"]?.int.map(Int.init))
        let kept = stride(from: 0, to: planes.count, by: every).map { planes[$0] }
        #expect(worst(kept, numbers(golden["map"])) < 1e-4)
        #expect(golden["without"]?.object?.members.count ?? 0 > 1)
    }

    @Test(arguments: depths) func depthHasThePicturesSize(name: String) async throws {
        let (golden, picture) = try golden(name)
        let model = try await open(name)
        #expect(model.task == .depthEstimation && model.labels.isEmpty)
        let depth = try await model.depth(picture)
        #expect(depth.width == picture.width && depth.height == picture.height)
        #expect(worst(depth.values, numbers(golden["depth"])) < 5e-4)
        #expect(depth.levels.min() == 0 && depth.levels.max() == 65_535)
        await #expect(throws: AIError.self) { try await model.segments(picture) }
        await #expect(throws: AIError.self) { try await model.classify([picture]) }
        await #expect(throws: AIError.self) { try await model.embed([picture]) }
    }

    @Test(arguments: segmenters) func everyPixelHasALabel(name: String) async throws {
        let (golden, picture) = try golden(name)
        let model = try await open(name)
        #expect(model.task == .imageSegmentation && model.labels == ["wall", "sky", "tree", "road", "cat"])
        let segments = try await model.segments(picture)
        let expected = try #require(golden["segments"]?.array)
        #expect(segments.map(\.label) == expected.compactMap { $0["label"]?.string })
        for (segment, expected) in zip(segments, expected) {
            #expect(abs(segment.score - (expected["score"]?.double ?? 2)) < 2e-3)
            #expect(segment.pixels == segment.mask.count { $0 })
        }
        // Each pixel is in one mask.
        var labels = [Int](repeating: -1, count: picture.width * picture.height)
        for segment in segments {
            let number = try #require(model.labels.firstIndex(of: segment.label))
            for (place, isIn) in segment.mask.enumerated() where isIn {
                #expect(labels[place] == -1)
                labels[place] = number
            }
        }
        let wanted = try #require(golden["labels"]?.string).map { $0.wholeNumberValue ?? -1 }
        #expect(labels.count == wanted.count)
        #expect(zip(labels, wanted).count { $0 != $1 } * 250 <= wanted.count)
        await #expect(throws: AIError.self) { try await model.depth(picture) }
    }

    @Test func aSegFormerGivesPicturesLabelsToo() async throws {
        let (golden, picture) = try golden("segformer-labels")
        let model = try await open("segformer-labels")
        #expect(model.task == .imageClassification)
        let outputs = try await model.outputs([picture])[0]
        #expect(worst(outputs, numbers(golden["map"])) < 1e-4)
        await #expect(throws: AIError.self) { try await model.segments(picture) }
    }

    /// The bits of a map do not depend on what was computed before, on the threads, or on the instruction set.
    @Test(arguments: names) func mapsHaveTheSameBits(name: String) async throws {
        let folder = try Fixtures.path("micro/\(name)")
        let pictures = [(48, 48), (60, 50), (50, 70)].map { TowerGoldenTests.picture(width: $0, height: $1) }
        let one = try await PictureModel.open(folder: folder, options: ModelOptions(threads: 1))
        var alone: [FloatGrid] = []
        for picture in pictures { alone.append(try await one.map(picture)) }
        #expect(Set(alone).count == pictures.count)
        let three = try await PictureModel.open(folder: folder, options: ModelOptions(threads: 3))
        for (picture, map) in zip(pictures, alone).reversed() { #expect(try await three.map(picture) == map) }
    }

    @Test(arguments: names) func aSmokeTestSeesPicturesOfItsOwn(name: String) async throws {
        let test = try await SmokeTest.run(folder: Fixtures.path("micro/\(name)"))
        #expect(test.verdict == .pass, "\(test.checks)")
        #expect(test.checks.map(\.name).suffix(2) == ["pictures", "batched"])
        #expect(test.speed?.unit == .pictures)
    }

    @Test(arguments: names + ["segformer-labels"]) func aCheckKnowsTheTensors(name: String) async throws {
        let check = try await ModelCheck.run(Fixtures.path("micro/\(name)"))
        let tensors = try #require(check.checks.first { $0.name == "tensors" })
        #expect(tensors.status == .pass && tensors.detail.contains("all present"), "\(tensors.detail)")
    }

    /// What is counted before is enough, and not much more than what is held at once.
    @Test(arguments: names) func theEstimateIsWhatIsHeld(name: String) async throws {
        let reading = try FolderReading(Fixtures.path("micro/\(name)"))
        let (found, weights) = try #require(try reading.runnableNet())
        let net = try #require(found.convolutions)
        let use = try #require(reading.memory.use(context: 1, format: .f32))
        let source = try TensorSource(weights, nil)
        let extent = ConvolutionExtent(net, height: net.height, width: net.width)
        let team = try ComputeTeam(threads: 1)
        let space = ConvolutionSpace(extent, team)
        let pixels = [Float](repeating: 0.5, count: 3 * net.height * net.width)
        if let tower = net.tower {
            let planes = try TowerPlanes(
                tower, rows: extent.rows, source, team, isExact: true, format: .f32)
            let model = try ConvolutionModel(net, source)
            #expect(use.weights == model.weightsBytes)
            let size = ConvolutionNet.Plane(
                height: net.height / tower.patch, width: net.width / tower.patch,
                channels: tower.description.width)
            let made = PicturePixels(
                height: net.height, width: net.width, contentHeight: net.height, contentWidth: net.width,
                layout: .planes, values: pixels)
            _ = model.map(try planes.rows(of: made, size), size, space)
        } else {
            let model = try ConvolutionModel(net, source)
            #expect(use.weights == model.weightsBytes)
            _ = model.map(pixels, height: net.height, width: net.width, space)
        }
        let (most, told) = (space.mostHeld, extent.loose)
        #expect(most <= told && told < 2 * most, "\(most) of \(told)")
    }

    @Test(
        arguments: [
            ("segformer", ["sr_ratios"], .array([4, 2]), "sr_ratios is not a list of sizes of stages"),
            ("segformer", ["mlp_ratios"], .array([2, 2, .double(0.001)]), "mlp_ratios has 0.001"),
            ("segformer", ["num_attention_heads"], .array([1, 2, 5]), "24 channels are not divided among 5 heads"),
            ("segformer", ["hidden_act"], "mish", "activation mish"),
            ("segformer", ["reshape_last_stage"], false, "reshape_last_stage false"),
            ("segformer", ["num_channels"], 4, "num_channels 4"),
            ("segformer", ["decoder_hidden_size"], 13, "decode_head"),
            ("depth-anything", ["depth_estimation_type"], "stereo", "depth_estimation_type stereo"),
            ("depth-anything", ["reassemble_factors"], .array([4, 2, 1, .double(0.3)]), "reassemble_factors 0.3"),
            ("depth-anything", ["head_in_index"], 1, "head_in_index 1"),
            ("depth-anything", ["patch_size"], 14, "patch_size is 14"),
            ("depth-anything", ["backbone"], "facebook/dinov2-small", "backbone facebook/dinov2-small"),
            ("depth-anything", ["backbone_config", "model_type"], "swinv2", "backbone_config: model_type swinv2"),
            ("depth-anything", ["backbone_config", "use_swiglu_ffn"], true, "use_swiglu_ffn"),
            (
                "depth-anything", ["backbone_config", "out_indices"], .array([1, 2, 2, 4]),
                "are not ascending ones of 4"
            ),
            ("depth-anything", ["backbone_config", "out_indices"], .array([2, 3, 4]), "would become 4 stages"),
            ("dpt", ["is_hybrid"], true, "is_hybrid true"), ("dpt", ["readout_type"], "mean", "readout_type mean"),
            ("dpt", ["backbone_out_indices"], .array([0, 1, 2, 4]), "are not ascending ones of 4"),
        ] as [(String, [String], JSON, String)])
    func settingsAreChecked(name: String, keys: [String], value: JSON, message: String) async throws {
        let folder = try TemporaryFolder(linking: "micro/\(name)", except: ["config.json"])
        var config = try #require(try Fixtures.json("micro/\(name)/config.json").object)
        if keys.count == 2 {
            var part = try #require(config[keys[0]]?.object)
            part[keys[1]] = value
            config[keys[0]] = .object(part)
        } else {
            config[keys[0]] = value
        }
        try folder.write("config.json", .object(config))
        let error = try await thrown { try await PictureModel.open(folder: folder.path) }
        #expect(error.message.contains(message), "\(error.message)")
    }
}
