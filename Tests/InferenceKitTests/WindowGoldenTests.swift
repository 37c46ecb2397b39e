import HubCore
import HubMedia
import ModelFormats
import Support
import Testing

@testable import InferenceKit

/// Transformers with windows against timm and transformers: `scripts/goldens_windows.py`.
@Suite struct WindowGoldenTests {
    static let names = [
        "swin", "swin-newer", "swinv2", "swinv2-fitted", "timm-swin", "timm-swin-original", "timm-swin-windows",
        "timm-swinv2",
    ]

    private func worst(_ values: [Float], _ expected: JSON?) -> Double {
        let expected = expected?.array?.compactMap(\.double) ?? []
        guard values.count == expected.count else { return .infinity }
        return zip(values, expected).map { abs(Double($0) - $1) }.max() ?? .infinity
    }

    private func size(_ name: String) throws -> [Int] {
        let golden = try Fixtures.json("goldens/window-\(name).json")
        return try #require(golden["size"]?.array?.compactMap(\.int).map(Int.init))
    }

    @Test(arguments: names) func numbersAreThoseOfTheReference(name: String) async throws {
        let golden = try Fixtures.json("goldens/window-\(name).json")
        let size = try size(name)
        let model = try await PictureModel.open(
            folder: Fixtures.path("micro/\(name)"), options: ModelOptions(isExact: true))
        let picture = TowerGoldenTests.picture(width: size[1], height: size[0])
        let vector = try await model.embed([picture], normalizes: true)[0].vector
        #expect(worst(vector, golden["vector"]) < 1e-5)
        let logits = try await model.outputs([picture])[0]
        #expect(worst(logits, golden["logits"]) < 1e-4)
        #expect(model.labels == ["cat", "dog", "owl"] && model.task == .imageClassification)
        let best = try #require(logits.indices.max { logits[$0] < logits[$1] })
        #expect(try await model.classify([picture])[0].first?.label == model.labels[best])
        #expect(golden["without"]?.object?.members.count ?? 0 > 8)
    }

    /// What comes out of a picture does not depend on those beside it, nor on the threads, nor on the instruction set.
    @Test(arguments: names) func picturesTogetherAreWhatTheyAreAlone(name: String) async throws {
        let folder = try Fixtures.path("micro/\(name)")
        let pictures = [(32, 32), (48, 40), (5, 70), (1, 1)].map {
            TowerGoldenTests.picture(width: $0, height: $1)
        }
        let one = try await PictureModel.open(folder: folder, options: ModelOptions(threads: 1, isExact: true))
        var alone: [[Float]] = []
        for picture in pictures { alone += try await one.outputs([picture]) }
        #expect(Set(alone).count == pictures.count)
        for kernels in ComputeTeam.available {
            var options = ModelOptions(threads: 3, isExact: true)
            options.kernels = kernels
            let three = try await PictureModel.open(folder: folder, options: options)
            #expect(try await three.outputs(pictures) == three.outputs(pictures.reversed()).reversed(), "\(kernels)")
            guard kernels == one.engine.team.instructionSet else { continue }
            #expect(try await three.outputs(pictures) == alone)
        }
    }

    /// The tensors and windows of published models, whose weights are not here.
    @Test func publishedModelsHaveTheWindowsOfTheReference() throws {
        let plans = try #require(try Fixtures.json("goldens/window-plans.json").object)
        var count = 0
        for (name, value) in plans.members where value.object != nil {
            let pictures: JSONObject = ["fixed_input_size": true, "input_size": value["size"] ?? .null]
            let json: JSON = .object(["architecture": .string(name), "pretrained_cfg": .object(pictures)])
            let configuration = try ModelConfiguration(json, path: "config.json")
            let found = try #require(Nets.of(configuration)).describe(configuration, stored: nil)
            guard case .windows(let net) = found.net else {
                Issue.record("\(name)")
                continue
            }
            let lines = net.lines
            #expect(found.obstacles.isEmpty && lines.count == value["lines"]?.int.map(Int.init), "\(name)")
            #expect(ConvolutionGoldenTests.digest(lines) == value["digest"]?.string, "\(name)")
            count += 1
        }
        #expect(count == 21)
    }

    /// Every row stands in one window, wherever windows are, and is asked for by its own place.
    @Test(arguments: [true, false]) func everyRowHasItsPlace(fillsFirst: Bool) {
        for (height, width) in [(1, 1), (4, 4), (5, 9), (17, 22), (3, 40)] {
            for side in [1, 2, 3, 7] {
                let window = WindowNet.Extent(height: side, width: side + 1)
                let stage = WindowPlan.Stage(
                    height: height, width: width, window: window, shift: window.half, fillsFirst: fillsFirst)
                for shift in [WindowNet.Extent.none, window.half] {
                    let rows = stage.rows(shiftedBy: shift)
                    #expect(rows.count == stage.windows * window.area)
                    #expect(rows.filter { $0 >= 0 }.sorted() == Array(0..<height * width))
                }
                let distances = stage.distances()
                #expect(distances.count == stage.kinds * window.area * window.area)
                #expect(distances.allSatisfy { $0 < 2 * window.distances })
            }
        }
    }

    /// The rows behind the last norm are what the vector is the mean of.
    @Test func rowsCanBeHad() throws {
        let reading = try FolderReading(Fixtures.path("micro/swin"))
        let (found, weights) = try #require(try reading.runnableNet())
        guard case .windows(let net) = found else {
            Issue.record("it is another net")
            return
        }
        let team = try ComputeTeam(threads: 1)
        let model = try WindowModel(net, try TensorSource(weights, nil), team)
        let plan = try #require(WindowPlan(net, height: 70, width: 90))
        let space = WindowSpace(WindowExtent(net, plan), team, isExact: true)
        let pixels = (0..<70 * 90 * 3).map { Float($0 % 17) / 17 }
        let rows = model.rows(pixels, height: 70, width: 90, plan, space)
        #expect(rows.height == 9 && rows.width == 12)
        let mean = (0..<net.features).map { column in
            (0..<108).reduce(Float(0)) { $0 + rows.start[$1 * net.features + column] } / 108
        }
        let vector = model.run(pixels, height: 70, width: 90, plan, classifies: false, space)
        #expect(zip(mean, vector).allSatisfy { abs($0 - $1) < 1e-5 })
    }

    @Test(arguments: ["swin", "timm-swinv2"]) func aSmokeTestSeesPicturesOfItsOwn(name: String) async throws {
        let test = try await SmokeTest.run(folder: Fixtures.path("micro/\(name)"))
        #expect(test.verdict == .pass, "\(test.checks)")
        #expect(test.checks.map(\.name).suffix(2) == ["pictures", "batched"])
    }

    @Test func aCheckKnowsTheTensors() async throws {
        for name in Self.names {
            let check = try await ModelCheck.run(Fixtures.path("micro/\(name)"))
            let tensors = try #require(check.checks.first { $0.name == "tensors" })
            #expect(tensors.status == .pass && tensors.detail.contains("all present"), "\(tensors.detail)")
        }
    }

    /// What is counted before is what is read and made.
    @Test(arguments: names) func theEstimateIsWhatIsAllocated(name: String) throws {
        let reading = try FolderReading(Fixtures.path("micro/\(name)"))
        let (found, weights) = try #require(try reading.runnableNet())
        guard case .windows(let net) = found else {
            Issue.record("it is another net")
            return
        }
        let use = try #require(reading.memory.use(context: 1, format: .f16))
        let team = try ComputeTeam(threads: 1)
        let model = try WindowModel(net, try TensorSource(weights, nil), team)
        #expect(use.weights == model.weightsBytes && use.cache == 0 && use.states == 0)
        #expect(use.made == Int64(4 * Self.numbers(model)))
        let plan = try #require(WindowPlan(net, height: net.height, width: net.width))
        let extent = WindowExtent(net, plan)
        let space = WindowSpace(extent, team, isExact: true)
        let rest = 4 * extent.distances + extent.packed + 2 * extent.pages + 16 * extent.pageCount
        #expect(use.scratch == Int64(4 * Self.numbers(space) + rest))
    }

    /// Numbers of all buffers within a value.
    private static func numbers(_ value: Any) -> Int {
        if let buffer = value as? FloatBuffer { return buffer.count }
        if value is ComputeTeam { return 0 }
        return Mirror(reflecting: value).children.reduce(0) { $0 + numbers($1.value) }
    }

    @Test(arguments: [
        ("swin", "use_absolute_embeddings", true as JSON, "use_absolute_embeddings"),
        ("swin", "hidden_act", "mish", "activation mish"), ("swin", "num_channels", 1, "num_channels"),
        ("swin", "window_size", 3, "has the shape [49, 2]; the configuration says [25, 2]"),
        ("swin", "window_size", 65, "are not of 1 to 64"), ("swin", "num_heads", .array([2]), "num_heads"),
        ("swin", "num_heads", .array([3, 4]), "8 channels are not 3 heads"),
        ("swin", "depths", .array([2, 1]), "is not part of this architecture"),
        ("swin", "architectures", .array(["SwinForMaskedImageModeling"]), "SwinForMaskedImageModeling"),
        ("swin", "image_size", 8, "too small for its windows"),
        ("swinv2", "pretrained_window_sizes", .array([6]), "pretrained_window_sizes"),
        ("timm-swin", "architecture", "swin_huge_patch4_window7_224", "architecture swin_huge_patch4_window7_224"),
        ("timm-swin", "architecture", "swinv2_cr_tiny_224", "architecture swinv2_cr_tiny_224"),
        ("timm-swin", "global_pool", "max", "global_pool max"),
        ("timm-swin", "model_args", .object(["head_dim": 16]), "model_args: head_dim"),
        ("timm-swin", "model_args", .object(["window_size": .array([7, 7, 7])]), "window_size does not have"),
    ])
    func settingsAreChecked(name: String, key: String, value: JSON, message: String) async throws {
        let folder = try TemporaryFolder(linking: "micro/\(name)", except: ["config.json"])
        var config = try #require(try Fixtures.json("micro/\(name)/config.json").object)
        config[key] = value
        try folder.write("config.json", .object(config))
        let error = try await thrown { try await PictureModel.open(folder: folder.path) }
        #expect(error.message.contains(message), "\(error.message)")
    }

    /// A model that takes one size says so of other pictures; the processor of timm makes no others.
    @Test func oneSizeIsTold() async throws {
        let folder = try TemporaryFolder(linking: "micro/timm-swin", except: ["config.json"])
        var config = try #require(try Fixtures.json("micro/timm-swin/config.json").object)
        var pictures = try #require(config["pretrained_cfg"]?.object)
        pictures["input_size"] = .array([3, 64, 64])
        config["pretrained_cfg"] = .object(pictures)
        try folder.write("config.json", .object(config))
        let model = try await PictureModel.open(folder: folder.path)
        let error = try await thrown { try await model.outputs([TowerGoldenTests.picture(width: 9, height: 9)]) }
        #expect(error.message.contains("takes 88 by 68 alone"), "\(error.message)")
    }
}

extension WindowNet {
    /// A line for each tensor, and for the windows of each layer, sorted, as the script writes them.
    fileprivate var lines: [String] {
        var lines = tensors.map { "\($0.name) \($0.shape.map(String.init).joined(separator: " "))" }
        for (number, stage) in stages.enumerated() {
            for layer in 0..<stage.depth {
                let shift = layer % 2 == 0 ? .none : stage.shift
                let sizes = [
                    stage.window.height, stage.window.width, shift.height, shift.width, stage.counted.height,
                    stage.counted.width, stage.heads,
                ]
                lines.append("layers.\(number).blocks.\(layer) \(sizes.map(String.init).joined(separator: " "))")
            }
        }
        return lines.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
