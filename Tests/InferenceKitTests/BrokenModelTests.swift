import HubCore
import ModelFormats
import Support
import Testing

@testable import InferenceKit

/// What cannot be run is refused before any weight is read, with the right code and the name of the thing.
@Suite struct BrokenModelTests {
    private func error(_ folder: String, _ options: ModelOptions = ModelOptions()) async throws -> AIError {
        try await thrown { try await LanguageModel.open(folder: folder, options: options) }
    }

    /// The same of a folder that must outlive the call.
    private func error(_ folder: TemporaryFolder) async throws -> AIError {
        defer { withExtendedLifetime(folder) {} }
        return try await error(folder.path)
    }

    /// A model with some members of config.json changed; nil takes one away.
    private func folder(_ changes: [String: JSON?], of model: String = "tiny-shakespeare") throws -> TemporaryFolder
    {
        let folder = try TemporaryFolder(linking: model, except: ["config.json"])
        var config = try #require(try Fixtures.json("\(model)/config.json").object)
        for (key, value) in changes { config[key] = value }
        try folder.write("config.json", .object(config))
        return folder
    }

    /// tiny-shakespeare with its header changed by name; the data stay as they are.
    private func folder(renaming old: String, to new: String) throws -> TemporaryFolder {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare", except: ["model.safetensors"])
        let bytes = try #require(try FileSystem.contents(Fixtures.path("tiny-shakespeare/model.safetensors")))
        let header = try SafetensorsHeader(file: Fixtures.path("tiny-shakespeare/model.safetensors"))
        let text = String(decoding: bytes[8..<header.dataStart], as: UTF8.self)
        #expect(text.contains(old))
        let changed = Array(
            text.split(separator: old, omittingEmptySubsequences: false).joined(separator: new).utf8)
        let length = (0..<8).map { UInt8(truncatingIfNeeded: changed.count >> (8 * $0)) }
        try folder.write("model.safetensors", length + changed + bytes[header.dataStart...])
        return folder
    }

    @Test func aSnapshotOfLinksOpens() async throws {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare")
        #expect(try await LanguageModel.open(folder: folder.path).inspection.isSupported)
    }

    @Test(arguments: [
        ("model_type", "xlstm" as JSON, "architecture xlstm"),
        ("rope_scaling", .object(["rope_type": "axial", "factor": 8]), "rope_scaling axial"),
        ("hidden_act", "mish", "activation mish"), ("num_local_experts", 8, "a mixture of experts"),
        ("architectures", .array(["LlamaForQuestionAnswering"]), "LlamaForQuestionAnswering"),
        ("quantization_config", .object(["quant_method": "awq", "bits": 4, "version": "gemv"]), "layout gemv"),
    ])
    func whatIsNotImplementedIsNamed(key: String, value: JSON, name: String) async throws {
        let folder = try folder([key: value])
        let error = try await error(folder.path)
        #expect(error.code == .unsupportedModel)
        #expect(error.message.contains(name), "\(error.message)")
        let inspection = try await ModelInspection.inspect(folder: folder.path)
        #expect(!inspection.isSupported && inspection.obstacles.contains { $0.text.contains(name) })
    }

    @Test(arguments: [
        ("word_embed_proj_dim", 16 as JSON), ("do_layer_norm_before", false),
        ("layer_norm_elementwise_affine", false), ("_remove_final_layer_norm", true),
    ])
    func formsOfOPTThatDoNotRunAreNamed(key: String, value: JSON) async throws {
        let error = try await error(folder([key: value], of: "micro/opt"))
        #expect(error.code == .unsupportedModel)
        #expect(error.message.contains("\(key) \(value.text())"), "\(error.message)")
    }

    @Test(arguments: [
        ("hidden_size", 64 as JSON?, "shape"), ("num_hidden_layers", 5, "have 4 layers"),
        ("vocab_size", 1000, "shape"),
        ("tie_word_embeddings", false, "lm_head"), ("attention_bias", true, "q_proj.bias"),
        ("mlp_bias", true, "gate_proj.bias"), ("partial_rotary_factor", .double(1.5), "partial_rotary_factor"),
        ("rope_scaling", .object(["rope_type": "linear"]), "factor"),
        ("rope_scaling", .object(["rope_type": "longrope", "factor": 8]), "original_max_position_embeddings"),
        ("num_key_value_heads", 3, "divisible"),
        ("hidden_size", nil, "hidden_size"),
        ("num_attention_heads", nil, "num_attention_heads"), ("head_dim", 31, "not pairs"),
        ("rope_scaling", .object(["rope_type": "llama3", "factor": 8]), "low_freq_factor"),
        ("rope_scaling", llama3(factor: 0, low: 1, high: 4), "factor is 0.0, not at least 1"),
        ("rope_scaling", llama3(factor: 8, low: 4, high: 4), "below high_freq_factor"),
        ("rope_scaling", llama3(factor: 8, low: 0, high: 4), "positive"),
        ("rope_scaling", llama3(factor: 8, low: 1, high: .double(1e300)), "high_freq_factor is not a number"),
    ])
    func whatDoesNotFitIsMalformed(key: String, value: JSON?, fault: String) async throws {
        let folder = try folder([key: value])
        let error = try await error(folder.path)
        #expect(error.code == .malformedModel)
        #expect(error.message.contains(fault) && error.message.contains(folder.path), "\(error.message)")
    }

    private static func llama3(factor: JSON, low: JSON, high: JSON) -> JSON {
        .object([
            "rope_type": "llama3", "factor": factor, "low_freq_factor": low, "high_freq_factor": high,
            "original_max_position_embeddings": 128,
        ])
    }

    @Test func fewerLayersThanThereAreIsNoModelOfOurs() async throws {
        let error = try await error(folder(["num_hidden_layers": 3]))
        #expect(error.code == .unsupportedModel && error.message.contains("model.layers.3."))
    }

    @Test func aMissingTensorIsNamed() async throws {
        let error = try await error(folder(renaming: "layers.2.mlp.up_proj", to: "layers.2.mlp.xp_proj"))
        #expect(error.code == .malformedModel && error.message.contains("model.layers.2.mlp.up_proj.weight"))
    }

    @Test func aWrongShapeIsNamed() async throws {
        let error = try await error(folder(renaming: "[512,128]", to: "[128,512]"))
        #expect(
            error.code == .malformedModel && error.message.contains("gate_proj")
                && error.message.contains("[128, 512]"))
    }

    @Test func elementTypesWithoutKernelsAreNamed() async throws {
        let error = try await error(folder(renaming: "BF16", to: "I16"))
        #expect(error.code == .unsupportedModel && error.message.contains("I16 weights"))
    }

    /// A clone without Git LFS has a few lines in place of each large file.
    @Test(arguments: [
        ("model.safetensors", []), ("pytorch_model.bin", ["model.safetensors"]), ("config.json", []),
        ("tokenizer.json", []), ("tokenizer.model", ["tokenizer.json"]), ("model.gguf", []),
    ])
    func aPointerInPlaceOfAFileIsToldAsOne(name: String, without: [String]) async throws {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare", except: Set(without + [name]))
        let digest = String(repeating: "4d7a", count: 16)
        let text = "version https://git-lfs.github.com/spec/v1\noid sha256:\(digest)\nsize 2234592\n"
        try folder.write(name, Array(text.utf8))
        let path = name.hasSuffix(".gguf") ? folder(name) : folder.path
        let error = try await error(path)
        #expect(error.code == .malformedModel, "\(error.message)")
        #expect(error.message.contains("\(name): it is a Git LFS pointer"), "\(error.message)")
        #expect(error.recoverySuggestion?.contains("git lfs pull") == true)
        let check = try await ModelCheck.run(path)
        #expect(check.findings.contains { $0.status == .fail && $0.detail.contains("Git LFS pointer") })
        withExtendedLifetime(folder) {}
    }

    @Test(arguments: ["config.json", "tokenizer.json", "model.safetensors"]) func aMissingFileIsNamed(name: String)
        async throws
    {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare", except: [name])
        let error = try await error(folder.path)
        #expect(error.exitStatus == 7)
        #expect(error.message.contains(name == "model.safetensors" ? "no weights" : name), "\(error.message)")
    }

    @Test(arguments: ["config.json", "tokenizer.json", "generation_config.json"]) func brokenJSONIsNamed(
        name: String
    ) async throws {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare", except: [name])
        try folder.write(name, Array(#"{"model_type": "#.utf8))
        let error = try await error(folder.path)
        #expect(error.code == .malformedModel && error.message.contains(folder(name)), "\(error.message)")
    }

    @Test func aTruncatedFileIsMalformed() async throws {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare", except: ["model.safetensors"])
        let bytes = try #require(try FileSystem.contents(Fixtures.path("tiny-shakespeare/model.safetensors")))
        for count in [0, 7, 8, 100, 5000, bytes.count - 1] {
            try folder.write("model.safetensors", Array(bytes[..<count]))
            #expect(try await error(folder.path).code == .malformedModel)
        }
    }

    @Test func aLinkLoopIsMalformedAndNoFolderIsNotFound() async throws {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare", except: ["model.safetensors"])
        try FileSystem.createSymlink("model.safetensors", at: folder("model.safetensors"))
        #expect(try await error(folder.path).code == .malformedModel)
        #expect(try await error(folder("nowhere")).code == .fileNotFound)
        #expect(
            await LanguageModel.availability(folder: folder("nowhere")) == .unavailable(.modelNotDownloaded))
    }

    @Test func safetensorsUnderOtherNamesAreNoModel() async throws {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare", except: ["model.safetensors"])
        let source = try Fixtures.path("tiny-shakespeare/model.safetensors")
        try FileSystem.createSymlink(source, at: folder("adapter_model.safetensors"))
        let adapter = try await error(folder)
        #expect(adapter.code == .unsupportedModel && adapter.message.contains("adapter_model.safetensors"))
        try FileSystem.rename(
            folder("adapter_model.safetensors"), to: folder("model-00001-of-00002.safetensors"))
        let shard = try await error(folder)
        #expect(shard.code == .malformedModel && shard.message.contains("model.safetensors.index.json is missing"))
    }

    @Test func tooLittleMemoryIsSaidWithFigures() async throws {
        var options = ModelOptions()
        options.availableMemory = 3_000_000
        let path = try Fixtures.path("tiny-shakespeare")
        let error = try await error(path, options)
        #expect(error.code == .insufficientMemory && error.exitStatus == 6)
        #expect(error.message.contains("3.0 MB"), "\(error.message)")
        let required = try await ModelInspection.inspect(folder: path).memoryBytes()
        #expect(
            await LanguageModel.availability(folder: path, options: options)
                == .unavailable(.insufficientMemory(required: required, available: 3_000_000)))
        options.availableMemory = required
        #expect(await LanguageModel.availability(folder: path, options: options) == .available)
        _ = try await LanguageModel.open(folder: path, options: options)
    }

    @Test func inspectionTellsWhatTheHeadersSay() async throws {
        let model = try await ModelInspection.inspect(folder: Fixtures.path("tiny-shakespeare-sharded"))
        #expect(model.parameters == 1_115_264 && model.weightsBytes == 2_230_528)
        #expect(model.dataTypes == ["BF16": 1_115_264] && model.dominantDataType == "BF16")
        #expect(model.layers == 4 && model.heads == 4 && model.kvHeads == 2 && model.contextLength == 512)
        #expect(model.tokenizerKind == "byte-level BPE" && model.hasChatTemplate && model.quantization == nil)
        // Nine norms as float32, and logits of 16 rows.
        let least: Int64 = 2_230_528 + 9 * 128 * 4 + 16 * 1024 * 4
        #expect(model.memoryBytes(context: 100) < model.memoryBytes() && model.memoryBytes(context: 0) == least)
        let mlx = try await ModelInspection.inspect(folder: Fixtures.path("tiny-shakespeare-mlx-4bit"))
        #expect(mlx.parameters == 1_115_264 && mlx.hasChatTemplate && mlx.isSupported)
        let gguf = try await ModelInspection.inspect(folder: Fixtures.path("tiny-shakespeare-gguf"))
        #expect(gguf.formats == ["GGUF"] && gguf.isSupported && gguf.file != nil)
    }

    /// The same model in the other element types that have kernels.
    @Test(arguments: [TensorDataType.f32, .f16]) func otherElementTypesComputeTheSame(type: TensorDataType)
        async throws
    {
        let source = try Fixtures.path("tiny-shakespeare/model.safetensors")
        let folder = try TemporaryFolder(linking: "tiny-shakespeare", except: ["model.safetensors"])
        let bytes = try #require(try FileSystem.contents(source))
        var entries: [(key: String, value: JSON)] = []
        var data: [UInt8] = []
        for tensor in try SafetensorsHeader(file: source).tensors {
            let begin = data.count
            for at in stride(from: tensor.byteRange.lowerBound, to: tensor.byteRange.upperBound, by: 2) {
                let bits = UInt32(bytes[at]) << 16 | UInt32(bytes[at + 1]) << 24
                if type == .f32 {
                    data += (0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
                } else {
                    let half = halfBits(Float(bitPattern: bits))
                    data += [UInt8(truncatingIfNeeded: half), UInt8(half >> 8)]
                }
            }
            let shape = JSON.array(tensor.shape.map { .int(Int64($0)) })
            entries.append(
                (
                    tensor.name,
                    .object([
                        "dtype": .string(type.rawValue), "shape": shape,
                        "data_offsets": .array([.int(Int64(begin)), .int(Int64(data.count))]),
                    ])
                ))
        }
        let header = Array(JSON.object(JSONObject(entries)).text().utf8)
        try folder.write(
            "model.safetensors", (0..<8).map { UInt8(truncatingIfNeeded: header.count >> (8 * $0)) } + header + data
        )
        let golden = try Fixtures.json("goldens/tiny-shakespeare.json")
        let prompt = try #require(golden["prompts"]?.array?[0]["text"]?.string)
        let expected = try #require(golden["logits"]?["values"]?.array).compactMap(\.double)
        let model = try await LanguageModel.open(folder: folder.path, options: ModelOptions(isExact: true))
        let logits = try await model.logits(prompt: prompt)
        let worst = zip(logits, expected).map { abs(Double($0) - $1) }.max() ?? .infinity
        // bf16 has fewer bits than f16: only numbers below 2^-14 lose any.
        #expect(worst < (type == .f32 ? 5e-5 : 1e-3), "\(worst)")
    }

    /// Rounded to the nearest multiple of 2^-24 below 2^-14; exact above, for a bf16 value.
    private func halfBits(_ value: Float) -> UInt16 {
        let sign = UInt16(value.bitPattern >> 16 & 0x8000)
        let magnitude = value.magnitude
        if magnitude < 0x1p-14 { return sign | UInt16((magnitude * 0x1p24).rounded()) }
        let exponent = UInt16((magnitude.bitPattern >> 23) - 112)
        return sign | exponent << 10 | UInt16(magnitude.bitPattern >> 13 & 0x3FF)
    }
}
