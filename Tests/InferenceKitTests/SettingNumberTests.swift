import HubCore
import ModelFormats
import Support
import Testing

@testable import InferenceKit

/// Numbers of config.json: whatever they are, the answer is a description or an error that names them.
@Suite struct SettingNumberTests {
    private static let models = ((try? FileSystem.entries(Path.join(Fixtures.path, "micro"))) ?? nil ?? []).sorted()

    private static let absurd: [JSON] = [
        .int(.max), .int(.min), .int(1 << 62), .longNumber("18446744073709551616"), .double(1e19), .double(1e300),
        .double(-1e300), .double(.infinity), .double(.nan), .int(1 << 32), .int(1 << 31 - 1), .int(1 << 24),
        .double(1.5), -1, 0, 1, "x", .null, .array([]), .array([.int(.max)]), .object([:]),
    ]

    private func config(_ model: String, _ name: String = "config.json") throws -> JSON? {
        guard FileSystem.exists(Path.join(Fixtures.path, "micro/\(model)/\(name)")) else { return nil }
        return try Fixtures.json("micro/\(model)/\(name)")
    }

    /// The steps from a document to each of its values.
    private func places(_ json: JSON, _ start: [String] = []) -> [[String]] {
        let inner: [(String, JSON)] =
            json.object?.members.map { ($0.key, $0.value) }
            ?? json.array.map { $0.prefix(3).enumerated().map { ("\($0)", $1) } } ?? []
        return (start.isEmpty ? [] : [start]) + inner.flatMap { places($1, start + [$0]) }
    }

    private func setting(_ json: JSON, _ place: ArraySlice<String>, _ value: JSON) -> JSON {
        guard let step = place.first else { return value }
        if var list = json.array, let index = Int(step) {
            list[index] = setting(list[index], place.dropFirst(), value)
            return .array(list)
        }
        var members = json.object ?? [:]
        members[step] = setting(members[step] ?? .null, place.dropFirst(), value)
        return .object(members)
    }

    /// Everything that is computed of settings before weights are looked at.
    private func read(_ json: JSON) throws {
        do throws(AIError) {
            let configuration = try ModelConfiguration(json, path: "config.json", isForgiving: true)
            _ = MemoryNeed(weightsBytes: .max, configuration: configuration)
            guard let architecture = Architectures.of(configuration) else { return }
            let d = try architecture.describe(configuration, stored: nil).description
            for (texts, context) in [(1, 4096), (4, 1), (Int.max, Int.max)] {
                for format in KeyValueFormat.allCases {
                    let use = d.memory(
                        weights: 1, isPacked: true, texts: texts, context: context, format: format)
                    #expect(use.made >= 0 && use.cache >= 0 && use.states >= 0 && use.scratch >= 0)
                }
            }
        } catch {
            #expect(error.exitStatus == 7 && !error.message.isEmpty, "\(error.message)")
        }
    }

    @Test(arguments: models) func noValueTraps(model: String) throws {
        for name in ["config.json", "config.v4.json"] {
            guard let json = try config(model, name) else { continue }
            for (number, place) in places(json).enumerated() {
                // Some for each place; all of them for what many models have.
                for step in 0..<4 {
                    let value = Self.absurd[(number * 4 + step + model.utf8.count) % Self.absurd.count]
                    try read(setting(json, place[...], value))
                }
            }
            // Products of what is allowed by itself.
            for size: JSON in [.int(1 << 16), .int(1 << 24), .int(1 << 31 - 1), .int(.max)] {
                var all = json
                for place in places(json) {
                    guard
                        case .int = place.reduce(
                            Optional(json),
                            { json, step in
                                json.flatMap { $0.array.flatMap { list in Int(step).map { list[$0] } } ?? $0[step] }
                            })
                    else { continue }
                    all = setting(all, place[...], size)
                }
                try read(all)
            }
        }
    }

    private func describe(_ model: String, _ changes: [String: JSON?]) throws -> ModelDescription {
        var members = try #require(try config(model)?.object)
        for (key, value) in changes { members[key] = value }
        let configuration = try ModelConfiguration(.object(members), path: "config.json")
        return try #require(Architectures.of(configuration)).describe(configuration, stored: nil).description
    }

    @Test(
        arguments: [
            ("lfm2-moe", "num_dense_layers", [.double(1e19), .int(.max), .double(.infinity), .double(1.5), "x"]),
            ("deepseek_v3", "v_head_dim", [.int(1 << 62), "x", .double(0.5)]),
            ("deepseek_v2", "n_group", ["x", .double(1.5), 0]), ("llama", "hidden_size", [.int(1 << 30), "x"]),
            ("bert", "layer_norm_eps", ["x", .double(.nan), -1, .double(1e300)]),
            ("gemma2", "query_pre_attn_scalar", ["x", 0, -4, .double(1e-300)]),
            ("granite", "embedding_multiplier", ["x", .double(1e300)]), ("llama", "rms_norm_eps", ["x", -1]),
            ("falcon", "alibi", ["x", 1]), ("mixtral", "num_local_experts", ["x", .double(1.5), .int(1 << 40)]),
            ("qwen3-moe", "decoder_sparse_step", ["x", 0]), ("gpt-neox", "rotary_pct", ["x", 0]),
            ("packed-awq", "quantization_config", [.object(["quant_method": "awq", "bits": .int(1 << 31)])]),
            ("packed-gptq", "quantization_config", [.object(["quant_method": "gptq", "bits": .double(4.5)])]),
            ("llama", "quantization", [.object(["bits": .int(1 << 31), "group_size": 64])]),
            (
                "llama-yarn", "rope_scaling",
                [.object(["rope_type": "yarn", "factor": 2, "mscale": "x", "mscale_all_dim": 1])]
            ),
        ] as [(String, String, [JSON])]) func whatIsNoNumberIsRefusedByName(
            model: String, key: String, values: [JSON]
        ) throws
    {
        _ = try describe(model, [:])
        for value in values {
            let changes: [String: JSON?] =
                model == "llama-yarn" ? ["rope_parameters": nil, key: value] : [key: value]
            let error = try #require(throws: AIError.self) { _ = try describe(model, changes) }
            let name =
                value.object?.members.last { $0.key != "group_size" && $0.key != "mscale_all_dim" }?.key ?? key
            #expect(error.code == .malformedModel, "\(value)")
            #expect(
                error.message.contains(name == "rotary_pct" ? "partial_rotary_factor" : name)
                    || error.message.contains(key),
                "\(value): \(error.message)")
        }
    }

    @Test func nullIsNotAMissingValue() throws {
        let none = try describe("gemma2", ["attn_logit_softcapping": .null, "final_logit_softcapping": .null])
        #expect(none.layers[0].attention?.cap == 0 && none.head?.cap == 0)
        let usual = try describe("gemma2", ["attn_logit_softcapping": nil, "final_logit_softcapping": nil])
        #expect(usual.layers[0].attention?.cap == 50 && usual.head?.cap == 30)
        #expect(try describe("gemma3n", ["final_logit_softcapping": .null]).head?.cap == 0)
        #expect(try describe("exaone4", ["sliding_window": .null]).layers[0].attention?.window == nil)
        #expect(try describe("mistral", ["sliding_window": .null]).layers[0].attention?.window == nil)
        #expect(try describe("t5gemma", ["final_logit_softcapping": .null]).encoders.count == 1)
    }

    /// https://github.com/huggingface/transformers/tree/main/src/transformers/models
    @Test func missingValuesAreThoseOfTheClass() throws {
        let rope: [String: JSON?] = ["rope_theta": nil, "rope_parameters": nil, "rope_scaling": nil]
        for (model, base) in [
            ("mixtral", 1_000_000.0), ("minimax_m2", 5_000_000), ("cohere", 500_000), ("gpt-oss", 150_000),
            ("llama", 10_000),
        ] {
            #expect(try describe(model, rope).layers[0].attention?.rotary?.base == base, "\(model)")
        }
        for (model, epsilon) in [
            ("ernie4_5", Float(1e-5)), ("hunyuan", 1e-5), ("exaone4", 1e-5), ("glm", 1.5625e-07), ("qwen3", 1e-6),
        ] {
            #expect(try describe(model, ["rms_norm_eps": nil]).finalNorm?.epsilon == epsilon, "\(model)")
        }
        #expect(try describe("mistral", ["sliding_window": nil]).layers[0].attention?.window == 4096)
        let exaone = try describe("exaone4", ["sliding_window": nil]).layers
        #expect(exaone.contains { $0.attention?.window == 4096 })
        var members = try #require(try config("bart")?.object)
        members["decoder_start_token_id"] = nil
        #expect(try ModelConfiguration(.object(members), path: "config.json").decoderStartID == 2)
    }

    @Test(arguments: ["modernbert", "gte", "embeddinggemma", "jina-v3", "mpnet"])
    func positionsThatNobodyAsksForTakeNoMemory(model: String) async throws {
        let text = "the king"
        let folder = try TemporaryFolder(linking: "micro/\(model)", except: ["config.json"])
        var members = try #require(try config(model)?.object)
        members["max_position_embeddings"] = .int(1 << 31 - 1)
        try folder.write("config.json", .object(members))
        guard model != "mpnet" else {
            // Its table of positions is in the file.
            let error = try await thrown { try await LanguageModel.open(folder: folder.path) }
            #expect(error.code == .malformedModel)
            return
        }
        let usual = try await LanguageModel.open(folder: Fixtures.path("micro/\(model)"))
        let long = try await LanguageModel.open(folder: folder.path)
        #expect(try await long.embed([text]).map(\.vector) == usual.embed([text]).map(\.vector))
        var options = ModelOptions()
        (options.context, options.availableMemory) = (1 << 31 - 1, 1 << 33)
        let error = try await thrown { [options] in
            try await LanguageModel.open(folder: folder.path, options: options)
        }
        #expect(error.code == .insufficientMemory, "\(error.message)")
    }
}
