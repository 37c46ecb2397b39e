import HubCore
import HubTokenizers
import ModelFormats
import Support
import Testing

@testable import InferenceKit

/// The same model as others save it: other names of classes and tensors, settings elsewhere, tensors without use. It gives
/// the same numbers as the fixture that transformers agrees with.
@Suite struct PublishedFormTests {
    private typealias Tensor = SafetensorsBytes.Tensor

    struct Form: Sendable, CustomTestStringConvertible {
        let fixture: String
        /// The class in config.json; nil for the fixture's.
        var name: String?
        var settings: @Sendable (inout JSONObject) -> Void = { _ in }
        var tensors: (@Sendable (inout [SafetensorsBytes.Tensor]) -> Void)?
        /// Other files.
        var files: [String: JSON] = [:]

        var testDescription: String { "\(fixture) \(name ?? "") \(files.keys.sorted())" }
    }

    private static func folder(_ form: Form) throws -> TemporaryFolder {
        let weights = "model.safetensors"
        let kept: Set<String> = form.tensors == nil ? ["config.json"] : ["config.json", weights]
        let folder = try TemporaryFolder(linking: form.fixture, except: kept)
        var config = try #require(try Fixtures.json("\(form.fixture)/config.json").object)
        if let name = form.name { config["architectures"] = .array([.string(name)]) }
        form.settings(&config)
        try folder.write("config.json", .object(config))
        for (name, content) in form.files { try folder.write(name, content) }
        if let change = form.tensors {
            let path = try Fixtures.path("\(form.fixture)/\(weights)")
            let bytes = try Fixtures.bytes("\(form.fixture)/\(weights)")
            var tensors = try SafetensorsHeader(file: path).tensors.map {
                Tensor($0.name, $0.dataType.rawValue, $0.shape, Array(bytes[$0.byteRange]))
            }
            change(&tensors)
            try folder.write(weights, SafetensorsBytes.file(tensors))
        }
        return folder
    }

    /// What a model says of a text.
    private static func numbers(_ folder: String) async throws -> [Float] {
        let model = try await LanguageModel.open(folder: folder, options: ModelOptions(isExact: true))
        if model.generates { return try await model.logits(prompt: "ROMEO: But soft") }
        let text =
            model.task == .fillMask ? "The [MASK] is dead.".replacing("[MASK]", with: try mask(model)) : "The king"
        return try await model.numbers([TextPair(text)], model.task).flatMap(\.values)
    }

    private static func mask(_ model: LanguageModel) throws -> String {
        try #require(["[MASK]", "<mask>"].first { model.tokenizer.id(of: $0) != nil })
    }

    private static func sameNumbers(_ form: Form, as plain: Form? = nil) async throws {
        let (folder, own) = (try folder(form), try folder(plain ?? Form(fixture: form.fixture)))
        defer { withExtendedLifetime((folder, own)) {} }
        #expect(try await numbers(folder.path) == numbers(own.path))
    }

    // MARK: Settings

    @Test(arguments: [
        Form(fixture: "tiny-shakespeare", name: "LLaMAForCausalLM"),
        Form(fixture: "micro/mpt", name: "MPTForCausalLM"),
        Form(fixture: "micro/phimoe", name: "PhiMoEForCausalLM"),
        Form(fixture: "micro/ernie4_5", name: "Ernie4_5_ForCausalLM"),
        Form(fixture: "micro/lfm2", name: "LFM2ForCausalLM"), Form(fixture: "micro/bert", name: "Contriever"),
        // Its file has nothing but the base model.
        Form(fixture: "micro/bert", name: "OurEncoder"),
    ])
    func aClassOfTheAuthorsRuns(form: Form) async throws { try await Self.sameNumbers(form) }

    @Test func anUnknownClassWithAHeadIsRefused() async throws {
        for fixture in ["micro/bert-heads", "micro/llama"] {
            let folder = try Self.folder(Form(fixture: fixture, name: "OurClass"))
            let error = try await thrown { try await LanguageModel.open(folder: folder.path) }
            #expect(error.code == .unsupportedModel && error.message.contains("model class OurClass"), "\(fixture)")
        }
    }

    @Test(arguments: [
        // As transformers saves more than ten layers.
        Form(fixture: "micro/gemma4") { settings in
            guard var text = settings["text_config"]?.object else { return }
            let sizes: [(key: String, value: JSON)] = ["01", "03", "05"].map { ($0, .object(["head_dim": 16])) }
            text["per_layer_config"] = .object(JSONObject(sizes))
            for key in ["global_head_dim", "num_global_key_value_heads"] { text[key] = nil }
            settings["text_config"] = .object(text)
        },
        Form(fixture: "micro/nemotron_h") { settings in
            (settings["num_hidden_layers"], settings["hybrid_override_pattern"]) = (nil, nil)
            settings["layers_block_type"] = .array([
                "linear_attention", "moe", "full_attention", "mlp", "linear_attention",
            ])
        },
    ])
    func settingsInAnotherFormAreTheSame(form: Form) async throws { try await Self.sameNumbers(form) }

    @Test func packingMayBeToldInAFileOfItsOwn() async throws {
        let gptq: JSON = .object(["bits": 4, "group_size": 32, "desc_act": false, "sym": true])
        let awq: JSON = .object(["w_bit": 4, "q_group_size": 32, "zero_point": true, "version": "GEMM"])
        for (fixture, name, content) in [
            ("micro/packed-gptq", "quantize_config.json", gptq), ("micro/packed-awq", "quant_config.json", awq),
        ] {
            let form = Form(
                fixture: fixture, settings: { $0["quantization_config"] = nil }, files: [name: content])
            try await Self.sameNumbers(form)
        }
    }

    // MARK: Tensors

    /// A tensor of 32-bit numbers.
    private static func tensor(_ name: String, _ shape: [Int], _ number: Float = 0) -> Tensor {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: number.bitPattern >> (8 * $0)) }
        return Tensor(name, "F32", shape, Array(repeating: bytes, count: shape.reduce(1, *)).flatMap { $0 })
    }

    @Test(arguments: ["XLMRobertaModel", "XLMRobertaForSequenceClassification", "XLMRobertaForMaskedLM"])
    func namesOfJinasCodeAreThoseOfXLMRoberta(name: String) async throws {
        let fixture = "micro/xlm-roberta"
        let renamed = Form(
            fixture: fixture, name: name,
            tensors: { tensors in
                for (old, new) in [
                    ("roberta.embeddings.LayerNorm", "roberta.emb_ln"), ("encoder.layer.", "encoder.layers."),
                    ("attention.output.LayerNorm", "norm1"), ("attention.output.dense", "mixer.out_proj"),
                    ("attention.self.", "mixer."), ("intermediate.dense", "mlp.fc1"), (".output.dense", ".mlp.fc2"),
                    (".output.LayerNorm", ".norm2"),
                ] {
                    for index in tensors.indices {
                        tensors[index].name = tensors[index].name.replacing(old, with: new)
                    }
                }
                for part in tensors where part.name.contains("mixer.query") {
                    var whole = part
                    whole.name = part.name.replacing("query", with: "Wqkv")
                    whole.shape[0] *= 3
                    for other in ["key", "value"] {
                        let name = part.name.replacing("query", with: other)
                        whole.bytes += tensors.first { $0.name == name }?.bytes ?? []
                    }
                    tensors.append(whole)
                }
                tensors.removeAll { tensor in
                    ["query", "key", "value"].contains { tensor.name.contains("mixer.\($0).") }
                }
            })
        try await Self.sameNumbers(renamed, as: Form(fixture: fixture, name: name))
    }

    @Test(arguments: [
        ("gte", "Gte", "norm"), ("gte", "Gte", "layer_norm"), ("gte-new", "New", "norm"),
        ("gte-new", "New", "layer_norm"),
    ])
    func theNormBeforeWordsHasEitherName(fixture: String, stem: String, norm: String) async throws {
        let renamed = Form(
            fixture: "micro/\(fixture)", name: "\(stem)ForMaskedLM",
            tensors: { tensors in
                for index in tensors.indices {
                    let parts = tensors[index].name.split(separator: ".")
                    guard parts[0] == "lm_head", parts[1].hasSuffix("norm") else { continue }
                    tensors[index].name = "lm_head.\(norm).\(parts[2])"
                }
            })
        try await Self.sameNumbers(renamed, as: Form(fixture: "micro/\(fixture)", name: "\(stem)ForMaskedLM"))
    }

    @Test(arguments: [
        ("micro/llama", "module."), ("micro/llama", "_orig_mod."), ("micro/llama", "module._orig_mod."),
        ("micro/llama", "_orig_mod.module."), ("micro/llama", "_forward_module."), ("micro/phi", "module."),
        ("micro/mixtral", "_orig_mod."), ("micro/packed-awq", "module."), ("micro/t5-gated", "module."),
        ("micro/bert-reranker", "_orig_mod."), ("tiny-shakespeare", "module."),
    ])
    func whatAWrapperPutsBeforeAllNamesIsLeftOut(fixture: String, wrapper: String) async throws {
        let form = Form(
            fixture: fixture,
            tensors: { tensors in
                for index in tensors.indices { tensors[index].name = wrapper + tensors[index].name }
            })
        try await Self.sameNumbers(form)
        let (folder, path) = (try Self.folder(form), try Fixtures.path(fixture))
        let (found, plain) = (
            try await ModelInspection.inspect(folder: folder.path), try await ModelInspection.inspect(folder: path)
        )
        #expect(found.isSupported && found.memoryBytes() == plain.memoryBytes())
        let warned = try #require(try await ModelCheck.run(folder.path).findings.first { $0.check == "tensors" })
        #expect(warned.status == .warn && warned.tensor?.hasPrefix(wrapper) == true)
        #expect(warned.detail == "all names begin with \"\(wrapper)\", which hub leaves out; transformers does not")
    }

    /// The index has the names as the files have them.
    @Test func anIndexOfWrappedNamesAgreesWithItsFile() async throws {
        let form = Form(
            fixture: "micro/llama",
            tensors: { tensors in
                for index in tensors.indices { tensors[index].name = "module." + tensors[index].name }
            })
        let folder = try Self.folder(form)
        let file = "model-00001-of-00001.safetensors"
        try FileSystem.rename(folder("model.safetensors"), to: folder(file))
        let map = try SafetensorsHeader(file: folder(file)).tensors.map { (key: $0.name, value: JSON.string(file)) }
        let index = "model.safetensors.index.json"
        try folder.write(index, .object(["weight_map": .object(JSONObject(map))]))
        let check = try await ModelCheck.run(folder.path)
        #expect(check.verdict == .warn && check.findings.map(\.check) == ["tensors"], "\(check.findings)")
        try folder.write(
            index, .object(["weight_map": .object(JSONObject(map.filter { !$0.key.hasSuffix("head.weight") }))]))
        let less = try await ModelCheck.run(folder.path).findings
        #expect(less.first?.tensor == "module.lm_head.weight", "\(less)")
    }

    /// The name of the head would be the model's without it; the value head's was never in the wrapper.
    @Test func aWrapperThatOneNameLacksStays() async throws {
        let form = Form(
            fixture: "micro/llama",
            tensors: { tensors in
                for index in tensors.indices { tensors[index].name = "module." + tensors[index].name }
                tensors.append(Self.tensor("v_head.summary.weight", [4], 0.5))
            })
        let folder = try Self.folder(form)
        let error = try await thrown { try await LanguageModel.open(folder: folder.path) }
        #expect(error.message.contains("lm_head.weight"), "\(error.message)")
        #expect(try await ModelCheck.run(folder.path).findings.allSatisfy { $0.status != .warn })
    }

    @Test(arguments: [
        // AutoGPTQ's biases of zeros.
        ("micro/packed-gptq", ["q_proj", "o_proj"].map { "model.layers.0.self_attn.\($0).bias" }, 96),
        // ColossalAI's tables.
        (
            "tiny-shakespeare",
            ["cos", "sin"].map { "model.layers.1.self_attn.rotary_emb.\($0)_cached" } + [
                "model.rotary_emb.cos_cached"
            ], 8
        ),
    ])
    func tensorsWithoutEffectAreLeftOut(fixture: String, names: [String], count: Int) async throws {
        try await Self.sameNumbers(
            Form(fixture: fixture, tensors: { $0 += names.map { Self.tensor($0, [count]) } }))
    }

    @Test func headsBesideTheModelAreTold() async throws {
        let names = ["v_head.summary.bias", "v_head.summary.weight"]
        let form = Form(
            fixture: "tiny-shakespeare", tensors: { $0 += names.map { Self.tensor($0, [4], 0.5) } })
        let folder = try Self.folder(form)
        let model = try await LanguageModel.open(folder: folder.path, options: ModelOptions(isExact: true))
        #expect(model.beside == "tensor \"v_head.summary.bias\" and 1 more are not used")
        let opening = try #require(SmokeTest.openingChecks(model).last)
        #expect(opening.status == .warn && opening.detail.contains("and 1 more are not used"))
        #expect(try await LanguageModel.open(folder: Fixtures.path("tiny-shakespeare")).beside == nil)
        try await Self.sameNumbers(form)
    }

    @Test(arguments: [
        ("tiny-shakespeare", "model.norm.bias"), ("tiny-shakespeare", "model.layers.0.self_attn.q_proj.bias"),
        ("tiny-shakespeare", "model.layers.0.extra.weight"), ("tiny-shakespeare", "model.embed_norm.weight"),
        ("tiny-shakespeare", "lm_head.bias"), ("tiny-shakespeare", "norm.weight"),
        ("micro/packed-gptq", "model.layers.0.self_attn.q_proj.bias"),
        ("micro/bert", "encoder.layer.0.extra.weight"), ("micro/bert", "extra.weight"),
    ])
    func tensorsThatWouldChangeTheResultAreRefused(fixture: String, name: String) async throws {
        let folder = try Self.folder(Form(fixture: fixture, tensors: { $0.append(Self.tensor(name, [64], 0.5)) }))
        let error = try await thrown { try await LanguageModel.open(folder: folder.path) }
        #expect(error.code == .unsupportedModel && error.message.contains(name), "\(error.message)")
    }
}
