import Catalog
import Fetcher
import HubCore
import ModelFormats
import Support
import Testing

@testable import HubCLI
@testable import InferenceKit

/// Why models do not run: each obstacle from files that have it, through every door that can see it.
@Suite struct RunObstacleTests {
    /// Where a model is judged.
    enum Door: CaseIterable {
        /// The folder of its files.
        case folder
        /// Before a download, by the names of its files and `config.json`.
        case outline
        /// Before a download, by the headers of its weights.
        case headers
        /// By what the Hub says in a list.
        case list
    }

    struct Example: Sendable, CustomTestStringConvertible {
        let obstacle: RunObstacle
        /// Those that see it, the list aside.
        var doors: Set<Door> = [.folder, .outline, .headers]
        let text: String
        let clause: String
        /// Changes of config.json; nil takes a member away.
        var settings: [String: JSON?] = [:]
        /// Files of micro/llama that are not there.
        var without: Set<String> = []
        /// Further files.
        var files: [String: [UInt8]] = [:]
        /// What the Hub says of it in a list, where that tells, and what of the obstacle.
        var listed: (JSONObject, RunObstacle)?

        var testDescription: String { text }
    }

    // MARK: The examples

    /// Of those that a folder can have; what is left is in tests of its own.
    static let examples: [Example] = kinds + weights + files

    private static func listed(_ type: JSON, _ modelClass: JSON) -> JSONObject {
        [
            "tags": .array(["safetensors"]),
            "config": .object(["model_type": type, "architectures": .array([modelClass])]),
        ]
    }

    private static let kinds = [
        Example(
            obstacle: .architecture("xlstm"), text: "architecture xlstm",
            clause: "the architecture xlstm is not supported yet", settings: ["model_type": "xlstm"],
            listed: (listed("xlstm", "xLSTMForCausalLM"), .architecture("xlstm"))),
        Example(
            obstacle: .modelClass("LlamaForQuestionAnswering"), text: "model class LlamaForQuestionAnswering",
            clause: "the model class LlamaForQuestionAnswering is not supported yet",
            settings: ["architectures": .array(["LlamaForQuestionAnswering"])],
            listed: (listed("llama", "LlamaForQuestionAnswering"), .modelClass("LlamaForQuestionAnswering"))),
        Example(
            obstacle: .setting("rope_scaling", "axial"), text: "rope_scaling axial",
            clause: "it cannot be run yet: rope_scaling axial",
            settings: ["rope_scaling": .object(["rope_type": "axial", "factor": 8])]),
        Example(
            obstacle: .setting("is_causal", "false in a model that generates"),
            text: "is_causal false in a model that generates",
            clause: "it cannot be run yet: is_causal false in a model that generates",
            settings: ["is_causal": false]),
        Example(
            obstacle: .noModelType, text: "no model_type in config.json",
            clause: "it cannot be run yet: no model_type in config.json", settings: ["model_type": nil]),
        Example(
            obstacle: .broken(file: "config.json", fault: "rms_norm_eps is not a number"),
            text: "config.json: rms_norm_eps is not a number",
            clause: "it cannot be run yet: config.json: rms_norm_eps is not a number",
            settings: ["rms_norm_eps": "x"]),
        Example(
            obstacle: .broken(file: "config.json", fault: "it has no hidden_size"),
            text: "config.json: it has no hidden_size",
            clause: "it cannot be run yet: config.json: it has no hidden_size",
            settings: ["hidden_size": nil]),
    ]

    private static let weights = [
        Example(
            obstacle: .noWeights, text: "no weights", clause: "it cannot be run yet: no weights",
            without: ["model.safetensors"]),
        Example(
            obstacle: .format("onnx", file: "model.onnx"), text: "ONNX weights (model.onnx)",
            clause: "ONNX weights are not supported yet", without: ["model.safetensors"],
            files: ["model.onnx": Array("weights".utf8)],
            listed: (["tags": .array(["onnx", "llama"])], .format("onnx"))),
        Example(
            obstacle: .otherNames(file: "weights.safetensors"),
            text: "weights under other names than transformers gives them (weights.safetensors)",
            clause: "its weights are under other names than transformers gives them",
            without: ["model.safetensors"], files: ["weights.safetensors": model]),
        Example(
            obstacle: .quantization("awq", packing: "4-bit", layout: "gemv"),
            text: "awq 4-bit quantisation in the layout gemv",
            clause: "awq 4-bit weights in the layout gemv are not supported yet",
            settings: [
                "quantization_config": .object(["quant_method": "awq", "bits": 4, "version": "gemv"])
            ]),
        Example(
            obstacle: .quantization("quanto", packing: "3-bit"), text: "quanto 3-bit quantisation",
            clause: "quanto 3-bit weights are not supported yet",
            settings: ["quantization_config": .object(["quant_method": "quanto", "bits": 3])],
            listed: (["tags": .array(["safetensors", "llama", "quanto"])], .quantization("quanto"))),
        Example(
            obstacle: .elementType("I32"), doors: [.folder, .headers], text: "I32 weights",
            clause: "I32 weights are not supported yet", without: ["model.safetensors"],
            files: ["model.safetensors": replacing("F32", "I32", in: model)]),
        Example(
            obstacle: .missingLayers(held: 2, told: 5, file: "config.json"), doors: [.folder, .headers],
            text: "the weights have 2 layers; config.json says 5",
            clause: "it cannot be run yet: the weights have 2 layers; config.json says 5",
            settings: ["num_hidden_layers": 5]),
    ]

    private static let files = [
        Example(
            obstacle: .noConfiguration, text: "no config.json", clause: "it cannot be run yet: no config.json",
            without: ["config.json"]),
        Example(
            obstacle: .noTokenizer, text: "no tokenizer.json or tokenizer.model",
            clause: "it cannot be run yet: no tokenizer.json or tokenizer.model", without: ["tokenizer.json"]),
        Example(
            obstacle: .adapter, text: "an adapter for another model",
            clause: "it is an adapter for another model, which is not supported yet",
            without: ["model.safetensors", "config.json"],
            files: ["adapter_config.json": Array("{}".utf8), "adapter_model.safetensors": model],
            listed: (["library_name": "peft", "tags": .array(["safetensors"])], .adapter)),
        Example(
            obstacle: .unreadable(
                file: "pytorch_model.bin", fault: "it has \"epoch\", which is not a tensor"), doors: [.folder],
            text: "pytorch_model.bin: it has \"epoch\", which is not a tensor",
            clause: "it cannot be run yet: pytorch_model.bin: it has \"epoch\", which is not a tensor",
            without: ["model.safetensors"], files: ["pytorch_model.bin": checkpoint]),
    ]

    private static let model = (try? Fixtures.bytes("micro/llama/model.safetensors")) ?? []

    /// A pickle with more than tensors.
    private static let checkpoint: [UInt8] = {
        var file = TorchBytes([])
        file.others = TorchBytes.text("epoch") + Array("I3\n".utf8)
        return file.legacy
    }()

    private static func replacing(_ old: String, _ new: String, in bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        bytes.replace(Array(old.utf8), with: Array(new.utf8))
        return bytes
    }

    // MARK: The doors

    /// A Hub with one model, and who asks it.
    private struct Place {
        let stage: Stage
        let folder: String
        let puller: Puller
        let plan: PullPlan

        init(_ example: Example) async throws {
            stage = try Stage { root in
                let repository = try ModelRepository("org/m", in: root)
                var names = ["config.json", "model.safetensors", "tokenizer.json"]
                names.removeAll(where: example.without.contains)
                for name in names { try repository.write(name, Fixtures.bytes("micro/llama/\(name)")) }
                for (name, bytes) in example.files { try repository.write(name, bytes) }
                guard !example.settings.isEmpty else { return }
                var settings = try #require(try Fixtures.json("micro/llama/config.json").object)
                for (key, value) in example.settings { settings[key] = value }
                try repository.write("config.json", JSON.object(settings).text())
            }
            folder = stage.root("org/m")
            puller = try await Workspace(
                environment: .test(stage.environment), configuration: .default, isOffline: false
            ).puller()
            plan = try await puller.plan(ModelReference(parsing: "org/m"), .init())
        }
    }

    private static func judgement(_ listed: JSONObject) throws -> SupportedModels.Judgement? {
        var listed = listed
        listed["id"] = "org/m"
        let record = try #require(ModelRecord(json: .object(listed), kind: .model))
        return ModelRunner(engine: RunnableModels.supported, mostWeightBytes: .max).judge(record)
    }

    // MARK: Tests

    @Test(arguments: examples) func everyDoorSaysTheSame(_ example: Example) async throws {
        let place = try await Place(example)
        var found: [Door: [RunObstacle]] = [:]
        found[.folder] = try await ModelInspection.inspect(folder: place.folder).obstacles
        found[.outline] = RunnableModels.obstacles(try await place.puller.outline(place.plan))
        let weights = place.plan.files.map(\.file.path).filter { WeightFormat(fileName: Path.name($0)) != nil }
        found[.headers] = ModelInspection(try await place.puller.sources(place.plan, of: Set(weights))).obstacles
        for (door, obstacles) in found {
            #expect(obstacles == (example.doors.contains(door) ? [example.obstacle] : []), "\(door)")
        }
        if let (listed, obstacle) = example.listed {
            #expect(try Self.judgement(listed) == .fails(obstacle))
        }
    }

    @Test(arguments: examples) func openingRefusesWithTheCodeOfTheObstacle(_ example: Example) async throws {
        let place = try await Place(example)
        let error = try await thrown { try await LanguageModel.open(folder: place.folder) }
        #expect(error.code == example.obstacle.code, "\(error.message)")
        let availability = await LanguageModel.availability(folder: place.folder)
        #expect(availability == .unavailable(.unsupported([example.obstacle])))
    }

    @Test(arguments: examples) func itsWords(_ example: Example) {
        #expect(example.obstacle.text == example.text && example.obstacle.clause == example.clause)
        #expect([example.obstacle].clause == example.clause)
    }

    /// What only lists and machines tell.
    @Test func anArchitectureWithoutANameAndTooLittleMemory() throws {
        let derived: JSONObject = [
            "library_name": "transformers", "pipeline_tag": "text-classification",
            "tags": .array(["safetensors", "other", "text-classification", "llama"]),
        ]
        #expect(try Self.judgement(derived) == .fails(.architecture(nil)))
        #expect(RunObstacle.architecture(nil).clause == "its architecture is not supported yet")
        let machine = try MachineRunner()
        let llama: JSONObject = ["id": "org/m", "tags": .array(["safetensors", "llama"])]
        let record = try #require(ModelRecord(json: .object(llama), kind: .model))
        let verdict = try #require(machine.verdict(record, weightBytes: 1 << 60))
        guard case .memory(let needed, machine.memoryTotal)? = verdict.obstacles.first else {
            Issue.record("\(verdict.obstacles)")
            return
        }
        #expect(verdict.obstacles.count == 1 && needed > 1 << 60)
        let obstacle = RunObstacle.memory(needed: 8_000_000_000, total: 4_000_000_000)
        #expect(obstacle.clause == "it needs about 8.0 GB of memory, and this machine has 4.0 GB")
        #expect(obstacle.text == "about 8.0 GB of memory, where there are 4.0 GB")
        #expect(obstacle.code == .insufficientMemory)
    }

    /// A new case does not compile here before it is numbered, and fails before it has an example.
    @Test func everyCaseHasAnExample() {
        func number(_ obstacle: RunObstacle) -> Int {
            switch obstacle {
            case .architecture: 0
            case .modelClass: 1
            case .noModelType: 2
            case .noConfiguration: 3
            case .noWeights: 4
            case .format: 5
            case .otherNames: 6
            case .quantization: 7
            case .elementType: 8
            case .setting: 9
            case .adapter: 10
            case .missingLayers: 11
            case .noTokenizer: 12
            case .broken: 13
            case .unreadable: 14
            case .memory: 15
            }
        }
        // Memory is in a test of its own.
        #expect(Set(Self.examples.map { number($0.obstacle) }) == Set(0...14))
    }

    @Test func severalAreListed() {
        let found: [RunObstacle] = [.architecture("xlstm"), .noTokenizer]
        let list = "architecture xlstm; no tokenizer.json or tokenizer.model"
        #expect(found.text == list && found.clause == "it cannot be run yet: \(list)")
        #expect([RunObstacle]().clause == nil)
        #expect(RunObstacle.architecture("a\nb").text == "architecture a\\u{A}b", "names come from others")
    }

    /// The names of formats are those of the files' table.
    @Test(arguments: WeightFormat.allCases) func aFormatHasOneTitle(_ format: WeightFormat) {
        #expect(SupportedModels.title(ofFormat: format.supportedName) == format.rawValue)
    }

    /// So nothing can depend on them.
    @Test func itsWordsAreInOneFile() throws {
        let words = [
            "not supported yet", "under other names than", "no model_type in", "no tokenizer.json or",
            "\"no config.json", "\"architecture \\(", "\"model class \\(",
        ]
        var places: Set<String> = []
        func look(_ folder: String) throws {
            for name in try FileSystem.entries(folder) ?? [] {
                let path = Path.join(folder, name)
                if try FileSystem.status(path)?.kind == .directory {
                    try look(path)
                } else if name.hasSuffix(".swift") {
                    let text = String(decoding: try FileSystem.contents(path) ?? [], as: UTF8.self)
                    // Comments may quote them.
                    let code = text.split(separator: "\n").filter { !$0.trimmed.hasPrefix("//") }
                    if words.contains(where: { word in code.contains { $0.contains(word) } }) {
                        places.insert(name)
                    }
                }
            }
        }
        try look(Path.normalized(Path.join(Path.parent(#filePath), "../../Sources")))
        #expect(places == ["RunObstacle.swift"])
    }
}
