import HubCore
import HubMedia
import ModelFormats
import Support
import Testing

@testable import InferenceKit

/// Convolutional nets against timm and transformers: `scripts/goldens_convolutions.py`.
@Suite struct ConvolutionGoldenTests {
    static let names = [
        "convnext", "convnext-first", "convnext-hidden", "convnext-tiered", "convnext-timm", "convnextv2",
        "convnextv2-timm", "dinov3-convnext", "efficientnet", "efficientnet-keras", "efficientnet-same",
        "mobilenet-v1",
        "mobilenet-v2", "mobilenet-v2-even", "mobilenetv3", "mobilevit", "mobilevit-resized",
        "edgenext", "edgenext-overlapping", "regnet", "regnet-x", "resnet", "resnet-basic", "resnet-deep",
        "resnet-early",
        "resnet-timm", "resnext",
    ]

    private func worst(_ values: [Float], _ expected: JSON?) -> Double {
        let expected = expected?.array?.compactMap(\.double) ?? []
        guard values.count == expected.count else { return .infinity }
        return zip(values, expected).map { abs(Double($0) - $1) }.max() ?? .infinity
    }

    @Test(arguments: names) func numbersAreThoseOfTheReference(name: String) async throws {
        let golden = try Fixtures.json("goldens/convolution-\(name).json")
        let size = try #require(golden["size"]?.array?.compactMap(\.int).map(Int.init))
        let model = try await PictureModel.open(folder: Fixtures.path("micro/\(name)"))
        let picture = TowerGoldenTests.picture(width: size[1], height: size[0])
        let vector = try await model.embed([picture], normalizes: true)[0].vector
        #expect(worst(vector, golden["vector"]) < 1e-5)
        #expect(golden["without"]?.object?.members.count ?? 0 > 0)
        guard golden["logits"] != nil else {
            #expect(model.labels.isEmpty && model.task == .imageEmbedding)
            return
        }
        let logits = try await model.outputs([picture])[0]
        #expect(worst(logits, golden["logits"]) < 1e-4)
        #expect(model.labels == ["cat", "dog", "owl"] && model.task == .imageClassification)
        let labels = try await model.classify([picture])[0]
        let best = try #require(logits.indices.max { logits[$0] < logits[$1] })
        #expect(labels.first?.label == model.labels[best])
    }

    /// Nets with norms of places or attention, whose sums instruction sets take in orders of their own.
    private static func sumsInLanes(_ name: String) -> Bool {
        ["convnext", "dinov3-convnext", "edgenext", "mobilevit"].contains { name.hasPrefix($0) }
    }

    /// What comes out of a picture does not depend on those beside it, nor on the threads, nor on the instruction set.
    @Test(arguments: names) func picturesTogetherAreWhatTheyAreAlone(name: String) async throws {
        let folder = try Fixtures.path("micro/\(name)")
        let pictures = [(32, 32), (48, 40), (5, 70), (1, 1)].map {
            TowerGoldenTests.picture(width: $0, height: $1)
        }
        func alone(_ kernels: String?) async throws -> [[Float]] {
            var options = ModelOptions(threads: 1)
            options.kernels = kernels
            let one = try await PictureModel.open(folder: folder, options: options)
            var alone: [[Float]] = []
            for picture in pictures { alone += try await one.vectors([picture]) }
            return alone
        }
        let usual = try await alone(nil)
        #expect(Set(usual).count == pictures.count)
        for kernels in ComputeTeam.available {
            var options = ModelOptions(threads: 3)
            options.kernels = kernels
            let three = try await PictureModel.open(folder: folder, options: options)
            let together = try await three.vectors(pictures)
            guard Self.sumsInLanes(name) else {
                #expect(together == usual, "\(kernels)")
                continue
            }
            let single = try await alone(kernels)
            #expect(together == single, "\(kernels)")
            let apart = zip(together.joined(), usual.joined()).map { abs($0 - $1) }.max() ?? .infinity
            #expect(apart < 1e-4, "\(kernels)")
        }
    }

    /// The layers of published nets, whose weights are not here: names, shapes, strides, padding, activations.
    @Test func publishedNetsHaveTheLayersOfTheReference() throws {
        let plans = try #require(try Fixtures.json("goldens/convolution-plans.json").object)
        var count = 0
        for (name, value) in plans.members where value.object != nil {
            let lines = try net(named: name).lines
            #expect(lines.count == value["lines"]?.int.map(Int.init), "\(name)")
            #expect(Self.digest(lines) == value["digest"]?.string, "\(name)")
            count += 1
        }
        #expect(count > 130)
    }

    private func net(named name: String) throws -> ConvolutionNet {
        let json: JSON = .object(["architecture": .string(name), "pretrained_cfg": .object([:])])
        let configuration = try ModelConfiguration(json, path: "config.json")
        return try #require(Nets.of(configuration)?.describe(configuration, stored: nil).net.convolutions)
    }

    /// FNV-1a.
    static func digest(_ lines: [String]) -> String {
        var value: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in lines.joined(separator: "\n").utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    @Test func aSmokeTestSeesPicturesOfItsOwn() async throws {
        let test = try await SmokeTest.run(folder: Fixtures.path("micro/mobilenetv3"))
        #expect(test.verdict == .pass, "\(test.checks)")
        #expect(test.checks.map(\.name).suffix(2) == ["pictures", "batched"])
        #expect(test.checks.contains { $0.detail == "mobilenetv3_small_050" })
        #expect(test.speed?.unit == .pictures)
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
        let net = try #require(found.convolutions)
        let use = try #require(reading.memory.use(context: 1, format: .f16))
        let model = try ConvolutionModel(net, try TensorSource(weights, nil))
        #expect(use.weights == model.weightsBytes && use.cache == 0 && use.states == 0)
        #expect(use.made == Int64(4 * Self.numbers(model)))
        let extent = ConvolutionExtent(net, height: net.height, width: net.width)
        let space = ConvolutionSpace(extent, try ComputeTeam(threads: 1))
        #expect(use.scratch == Int64(4 * Self.numbers(space) + extent.packed))
    }

    /// Numbers of all buffers within a value.
    private static func numbers(_ value: Any) -> Int {
        if let buffer = value as? FloatBuffer { return buffer.count }
        if value is ComputeTeam { return 0 }
        return Mirror(reflecting: value).children.reduce(0) { $0 + numbers($1.value) }
    }

    @Test(arguments: [
        ("resnet-timm", "architecture", "resnet51" as JSON, "architecture resnet51"),
        ("resnet-timm", "num_classes", 4, "has the shape [3]; the configuration says [4]"),
        ("resnet-timm", "num_classes", "many", "num_classes is not a whole number"),
        ("resnet-timm", "global_pool", "max", "global_pool max"),
        ("resnet-timm", "model_args", .object(["channels": .array([8, 8])]), "model_args"),
        ("resnet-timm", "model_args", .object(["aa_layer": "blur"]), "model_args: aa_layer"),
        ("resnet-timm", "model_args", .object(["cardinality": 16_777_216]), "too wide"),
        ("efficientnet", "model_args", .object(["pad_type": "valid"]), "model_args: pad_type valid"),
        ("resnet", "hidden_sizes", .array([16, 24]), "hidden_sizes is not a list of sizes of stages"),
        ("resnet", "depths", .array([1, 2, 1_000_000]), "depths has more than"),
        ("resnet", "hidden_act", "mish", "activation mish"), ("resnet", "layer_type", "wide", "layer_type wide"),
        ("resnet", "embedding_size", 16, "not part of this architecture"),
        ("resnet", "num_channels", 1, "num_channels"),
        ("convnext", "num_stages", 4, "num_stages is 4; depths are 3"),
        ("convnext", "hidden_act", "mish", "activation mish"),
        ("convnext", "patch_size", .array([4, 2]), "patch_size is not the side of a square"),
        ("convnext", "architectures", .array(["ConvNextBackbone"]), "ConvNextBackbone"),
        ("dinov3-convnext", "layer_norm_eps", 0, "layer_norm_eps is not a number above 0"),
        ("convnext-timm", "model_args", .object(["dims": .array([8, 8, 16])]), "not of 4 stages"),
        ("convnext-timm", "model_args", .object(["patch_size": 8]), "model_args: patch_size 8"),
        ("convnext-timm", "model_args", .object(["stem_type": "deep"]), "model_args: stem_type deep"),
        ("convnext-timm", "model_args", .object(["norm_layer": "rmsnorm2d"]), "model_args: norm_layer"),
        ("mobilevit", "output_stride", 16, "output_stride 16"),
        ("mobilevit", "num_attention_heads", 3, "8 channels do not make 3 heads of attention"),
        ("mobilevit", "neck_hidden_sizes", .array([8, 8]), "neck_hidden_sizes is not a list of sizes of stages"),
        ("mobilevit", "expand_ratio", .double(1e9), "expand_ratio or mlp_ratio is above 64"),
        ("mobilevit", "conv_kernel_size", 2, "conv_kernel_size 2"),
        ("mobilenet-v2", "output_stride", 16, "output_stride 16"),
        ("mobilenet-v2", "depth_multiplier", 0, "depth_multiplier is not a number above 0"),
        ("mobilenet-v1", "depth_multiplier", 65, "depth_multiplier is 65"),
        ("efficientnet-keras", "pooling_type", "max", "pooling_type max"),
        ("efficientnet-keras", "strides", .array([1, 2]), "strides is not a list of sizes of stages"),
        ("efficientnet-keras", "hidden_dim", 1280, "hidden_dim is 1280; the last plane has 320 channels"),
        ("efficientnet-keras", "num_block_repeats", .array([1, 2, 2, 100_000]), "more than 10000 blocks"),
        ("regnet", "layer_type", "z", "layer_type z"),
        ("regnet", "groups_width", 5, "3 groups of 16 and 16 channels"),
        ("edgenext", "model_args", .object(["heads": .array([2, 2, 4])]), "not of 4 stages"),
        ("edgenext", "model_args", .object(["use_pos_emb": true]), "model_args: use_pos_emb"),
        ("convnext-timm", "architecture", "convnext_atto_rms", "architecture convnext_atto_rms"),
    ])
    func settingsAreChecked(name: String, key: String, value: JSON, message: String) async throws {
        let folder = try TemporaryFolder(linking: "micro/\(name)", except: ["config.json"])
        var config = try #require(try Fixtures.json("micro/\(name)/config.json").object)
        config[key] = value
        try folder.write("config.json", .object(config))
        let error = try await thrown { try await PictureModel.open(folder: folder.path) }
        #expect(error.message.contains(message), "\(error.message)")
    }

    /// Without labels, what a classifier would read is all that a net gives.
    @Test func aNetWithoutClassesGivesVectors() async throws {
        let folder = try TemporaryFolder(linking: "micro/resnet-timm", except: ["config.json"])
        var config = try #require(try Fixtures.json("micro/resnet-timm/config.json").object)
        config["num_classes"] = 0
        try folder.write("config.json", .object(config))
        let model = try await PictureModel.open(folder: folder.path)
        #expect(model.task == .imageEmbedding && model.labels.isEmpty)
        let picture = TowerGoldenTests.picture(width: 80, height: 48)
        let whole = try await PictureModel.open(folder: Fixtures.path("micro/resnet-timm"))
        #expect(try await model.embed([picture]).map(\.vector) == whole.embed([picture]).map(\.vector))
    }

    @Test func tensorsOfOtherNetsAreRefused() async throws {
        let folder = try TemporaryFolder(linking: "micro/resnet-timm", except: ["config.json"])
        var config = try #require(try Fixtures.json("micro/resnet-timm/config.json").object)
        config["model_args"] = .object(["channels": .array([8, 8, 16, 16]), "layers": .array([1, 1, 1, 1])])
        try folder.write("config.json", .object(config))
        let error = try await thrown { try await PictureModel.open(folder: folder.path) }
        #expect(error.code == .unsupportedModel && error.message.contains("is not part of this architecture"))
        #expect(error.message.contains("layer2.1."), "\(error.message)")
    }
}

extension PictureModel {
    /// What the net gives: of a classifier the numbers of its labels.
    fileprivate func vectors(_ pictures: [Picture]) async throws -> [[Float]] {
        task == .imageClassification ? try await outputs(pictures) : try await embed(pictures).map(\.vector)
    }
}

extension PictureNet {
    /// nil for another kind of net.
    var convolutions: ConvolutionNet? { if case .convolutions(let net) = self { net } else { nil } }
}

extension ConvolutionNet {
    /// A line for each layer with weights, sorted, as the script writes them.
    fileprivate var lines: [String] {
        let isMobile = classifier?.name == "classifier"
        let hasActivation = classifier?.name != "fc"
        var lines: [String] = []
        for layer in Self.flat(blocks.flatMap(\.all)) + pooled {
            switch layer {
            case .convolution(let convolution): lines += convolution.lines(withActivation: hasActivation)
            case .squeeze(let squeeze):
                lines += squeeze.reduce.lines(withActivation: false) + squeeze.expand.lines(withActivation: false)
                let name = squeeze.reduce.name.split(separator: ".").dropLast().joined(separator: ".")
                let activations = [squeeze.reduce, squeeze.expand].map {
                    "\($0.activation.map { "\($0)" } ?? "none")"
                }
                lines.append("\(name) \(activations.joined(separator: " "))")
            case .norm(let norm): lines.append("\(norm.name) \(norm.channels) e\(Self.text(norm.epsilon))")
            case .response(let norm):
                let name = norm.weight.dropLast(".weight".count)
                lines.append("\(name) \(norm.channels) e\(Self.text(norm.epsilon)) response")
            default: break
            }
        }
        lines += classifier?.lines(withActivation: false) ?? []
        if isMobile { lines.append("shortcuts \(blocks.count { $0.around != nil })") }
        if classifier?.name == "head.fc" { lines += activations }
        return lines.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// With the layers within others.
    private static func flat(_ layers: [Layer]) -> [Layer] {
        layers.flatMap { layer in
            switch layer {
            case .squares(let squares): flat(squares.blocks.flatMap(\.all))
            case .shares(let shares): shares.convolutions.map(Layer.convolution)
            default: [layer]
            }
        }
    }

    /// How often each activation without a norm before it is there, and each number of heads.
    private var activations: [String] {
        var counts: [String: Int] = [:]
        for layer in Self.flat(blocks.flatMap(\.all)) + pooled {
            if case .convolution(let convolution) = layer, convolution.norm == nil,
                let activation = convolution.activation
            {
                counts["\(activation)", default: 0] += 1
            }
            if case .channelAttention(let attention) = layer { counts["\(attention.heads) heads", default: 0] += 1 }
            if case .attention(let attention) = layer { counts["\(attention.heads) heads", default: 0] += 1 }
        }
        for case let activation? in blocks.map(\.activation) { counts["\(activation)", default: 0] += 1 }
        return counts.map { "\($0) \($1)" }
    }

    /// 1e-05.
    fileprivate static func text(_ epsilon: Double) -> String {
        [1e-3: "1e-03", 1e-5: "1e-05", 1e-6: "1e-06"][epsilon] ?? "\(epsilon)"
    }
}

extension ConvolutionNet.Convolution {
    fileprivate func lines(withActivation hasActivation: Bool) -> [String] {
        var lines = factors.map { ["\($0) \(outputs)"] } ?? []
        guard !isMatrix else { return lines + ["\(name) \(outputs) \(inputs)"] }
        let padding =
            switch window.padding {
            case .even(let around): "\(around)"
            // With a stride of 1 both sides get as much.
            case .same: window.stride > 1 ? "same" : "\(window.side / 2)"
            case .uneven(let before, let behind): "\(before)-\(behind)"
            }
        let sizes = shape.map(String.init).joined(separator: " ")
        lines.append("\(name) \(sizes) s\(window.stride) p\(padding) g\(groups) b\(hasBias ? 1 : 0)")
        if let norm {
            let told = activation.map { "\($0)" } ?? "none"
            lines.append(
                "\(norm.name) \(outputs) e\(ConvolutionNet.text(norm.epsilon))" + (hasActivation ? " \(told)" : ""))
        }
        return lines
    }
}
