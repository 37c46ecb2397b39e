import HubCore
import ModelFormats
import Support
import Testing

@testable import InferenceKit

/// Packed weights that contradict themselves are refused before the first step, by the name of the tensor.
@Suite struct PackingTests {
    private func error(_ folder: TemporaryFolder) async throws -> AIError {
        defer { withExtendedLifetime(folder) {} }
        return try await thrown { try await LanguageModel.open(folder: folder.path, options: ModelOptions()) }
    }

    /// A model with another `quantization_config`.
    private func folder(_ model: String, quantization changes: [String: JSON]) throws -> TemporaryFolder {
        let folder = try TemporaryFolder(linking: model, except: ["config.json"])
        var config = try #require(try Fixtures.json("\(model)/config.json").object)
        var quantization = try #require(config["quantization_config"]?.object)
        for (key, value) in changes { quantization[key] = value }
        config["quantization_config"] = .object(quantization)
        try folder.write("config.json", .object(config))
        return folder
    }

    /// A model with something else in the header of its weights, of the same length.
    private func folder(_ model: String, _ old: String, _ new: String) throws -> TemporaryFolder {
        let folder = try TemporaryFolder(linking: model, except: ["model.safetensors"])
        let path = try Fixtures.path("\(model)/model.safetensors")
        var bytes = try #require(try FileSystem.contents(path))
        let header = try SafetensorsHeader(file: path)
        let text = String(decoding: bytes[8..<header.dataStart], as: UTF8.self)
        #expect(text.contains(old) && old.utf8.count == new.utf8.count)
        let changed = text.split(separator: old, omittingEmptySubsequences: false).joined(separator: new)
        bytes.replaceSubrange(8..<header.dataStart, with: Array(changed.utf8))
        try folder.write("model.safetensors", bytes)
        return folder
    }

    @Test(arguments: [Int64.max, 0, -1, 1 << 40]) func blocksHaveSizes(size: Int64) async throws {
        for place in 0..<2 {
            var sizes: [JSON] = [32, 32]
            sizes[place] = .int(size)
            let error = try await error(
                folder("micro/packed-fp8", quantization: ["weight_block_size": .array(sizes)]))
            #expect(error.code == .malformedModel, "\(error.message)")
            #expect(error.message.contains("weight_block_size"), "\(error.message)")
        }
    }

    @Test func scalesThatDoNotFitTheirBlocksAreNamed() async throws {
        let error = try await error(
            folder("micro/packed-fp8", quantization: ["weight_block_size": .array([32, 32])]))
        #expect(error.code == .malformedModel)
        #expect(error.message.contains("has the shape [1, 2], which does not fit weights of [64, 96]"))
        #expect(error.message.contains("weight_scale_inv"))
    }

    @Test(arguments: [
        ("micro/packed-gptq", ["checkpoint_format": "marlin"] as [String: JSON], "layout marlin"),
        ("micro/packed-awq", ["backend": "llm-awq"], "layout llm-awq"),
        (
            "micro/packed-gptq", ["quant_method": "auto-round", "packing_format": "auto_round:fp8"],
            "auto-round 4-bit quantisation in the layout fp8"
        ),
        ("micro/packed-nvfp4", ["quant_algo": "W4A8_AWQ"], "layout w4a8_awq"),
        ("micro/packed-int4", ["format": "marlin-24"], "layout marlin-24"),
        (
            "micro/packed-int4", ["transform_config": .object(["config_groups": .object(["R4": .object([:])])])],
            "layout transform_config"
        ),
    ]) func layoutsThatDoNotRunAreNamed(model: String, changes: [String: JSON], name: String) async throws {
        let error = try await error(folder(model, quantization: changes))
        #expect(error.code == .unsupportedModel && error.message.contains(name), "\(error.message)")
    }

    /// Zeros of GPTQ's first format are stored less 1.
    @Test func theFormatOfGPTQCounts() async throws {
        func logits(_ changes: [String: JSON]) async throws -> [Float] {
            let folder = try folder("micro/packed-gptq", quantization: changes)
            defer { withExtendedLifetime(folder) {} }
            return try await LanguageModel.open(folder: folder.path, options: ModelOptions()).logits(
                prompt: "ROMEO:")
        }
        let first = try await logits([:])
        #expect(try await logits(["checkpoint_format": "gptq_v2"]) != first)
        #expect(try await logits(["checkpoint_format": "GPTQ"]) == first)
        let other: [String: JSON] = ["quant_method": "auto-round", "packing_format": "auto_round:auto_gptq"]
        #expect(try await logits(other) == first)
    }

    @Test func groupsThatAreNotThereAreNamed() async throws {
        let folder = try TemporaryFolder(linking: "micro/packed-gptq-order", except: ["model.safetensors"])
        let path = try Fixtures.path("micro/packed-gptq-order/model.safetensors")
        var bytes = try #require(try FileSystem.contents(path))
        let header = try SafetensorsHeader(file: path)
        let order = try #require(header.tensors.first { $0.name.hasSuffix("down_proj.g_idx") })
        bytes[order.byteRange.lowerBound] = 77
        try folder.write("model.safetensors", bytes)
        let error = try await error(folder)
        #expect(
            error.code == .malformedModel && error.message.contains("names the group 77 of 5"), "\(error.message)")
    }

    /// HQQ's settings are tensors: a number of bits, of an axis.
    @Test(arguments: [
        (".axis", UInt8(2), ErrorCode.malformedModel, "do not fit weights of"),
        (".axis", 0, .malformedModel, "do not fit weights of"),
        (".packing", UInt8(ascii: "7"), .unsupportedModel, "HQQ's packing \"7bit_u8\""),
        (".packing", UInt8(ascii: "8"), .malformedModel, "do not fit weights of"),
    ]) func settingsOfHQQThatDoNotFitAreNamed(ending: String, byte: UInt8, code: ErrorCode, text: String)
        async throws
    {
        let folder = try TemporaryFolder(linking: "micro/packed-hqq-odd", except: ["model.safetensors"])
        let path = try Fixtures.path("micro/packed-hqq-odd/model.safetensors")
        var bytes = try #require(try FileSystem.contents(path))
        let header = try SafetensorsHeader(file: path)
        let setting = try #require(header.tensors.first { $0.name.hasSuffix("down_proj\(ending)") })
        bytes[setting.byteRange.lowerBound] = byte
        try folder.write("model.safetensors", bytes)
        let error = try await error(folder)
        #expect(error.code == code && error.message.contains(text), "\(error.message)")
    }

    @Test func scalesOfHQQWithoutZerosAreNamed() async throws {
        let name = "layers.0.mlp.down_proj.zero"
        let error = try await error(folder("micro/packed-hqq", name, name.replacing("zero", with: "nero")))
        #expect(error.code == .unsupportedModel)
        #expect(error.message.contains("U8 weights (tensor \"model.layers.0.mlp.down_proj.weight\")"))
    }

    @Test func weightsWithoutTheirScalesAreNamed() async throws {
        let name = "layers.0.mlp.down_proj.weight_scale"
        let error = try await error(
            folder("micro/packed-fp8-tensor", name, name.replacing("scale", with: "skale")))
        #expect(error.code == .unsupportedModel)
        #expect(error.message.contains("F8_E4M3 weights (tensor \"model.layers.0.mlp.down_proj.weight\")"))
    }
}
