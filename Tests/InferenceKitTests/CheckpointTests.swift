import HubCore
import ModelFormats
import Support
import Testing

@testable import InferenceKit

/// PyTorch's own files as weights: the twins of safetensors give the same bits, and what is more than tensors is refused.
@Suite struct CheckpointTests {
    private static let kinds = ["F32": "FloatStorage", "F16": "HalfStorage", "BF16": "BFloat16Storage"]

    /// The tensors of a fixture's model.safetensors.
    private static func tensors(_ fixture: String) throws -> [TorchBytes.Tensor] {
        let path = "\(fixture)/model.safetensors"
        let bytes = try Fixtures.bytes(path)
        return try SafetensorsHeader(file: Fixtures.path(path)).tensors.map { tensor in
            TorchBytes.Tensor(
                tensor.name, try #require(kinds[tensor.dataType.rawValue]), tensor.shape,
                Array(bytes[tensor.byteRange]))
        }
    }

    /// A fixture with a checkpoint instead of its safetensors.
    private static func twin(
        _ fixture: String, legacy: Bool = false, _ change: (inout TorchBytes) -> Void = { _ in }
    ) throws -> TemporaryFolder {
        var file = TorchBytes(try tensors(fixture))
        change(&file)
        let folder = try TemporaryFolder(linking: fixture, except: ["model.safetensors"])
        try folder.write("pytorch_model.bin", legacy ? file.legacy : file.archive)
        return folder
    }

    private static func vectors(_ folder: String, kernels: String? = nil) async throws -> [[Float]] {
        var options = ModelOptions(isExact: true)
        options.kernels = kernels
        let model = try await LanguageModel.open(folder: folder, options: options)
        return try await model.embed(["The king is dead.", "My lord, the queen hath left the castle!"]).map(
            \.vector)
    }

    private static func logits(_ folder: String) async throws -> [Float] {
        try await LanguageModel.open(folder: folder, options: ModelOptions(isExact: true)).logits(prompt: "ROMEO:")
    }

    private func error(_ folder: TemporaryFolder) async throws -> AIError {
        defer { withExtendedLifetime(folder) {} }
        return try await thrown { try await LanguageModel.open(folder: folder.path) }
    }

    // MARK: The same bits

    @Test(arguments: [(false, 64), (false, 1), (true, 1)])
    func aTwinOfAnEncoderGivesTheSameBits(legacy: Bool, alignment: Int) async throws {
        let folder = try Self.twin("micro/bert", legacy: legacy) { $0.alignment = alignment }
        let file = try TorchFile(folder("pytorch_model.bin"))
        // Kernels read from odd addresses.
        #expect(file.tensors.contains { ($0.byteRange?.lowerBound ?? 0) % 2 == 1 } == (alignment == 1))
        let twin = try await ModelInspection.inspect(folder: folder.path)
        let other = try await ModelInspection.inspect(folder: Fixtures.path("micro/bert"))
        #expect(twin.isSupported && twin.formats == ["PyTorch pickle"] && twin.parameters == other.parameters)
        #expect(twin.memoryBytes() == other.memoryBytes() && twin.dataTypes == other.dataTypes)
        for kernels in ComputeTeam.available {
            let expected = try await Self.vectors(Fixtures.path("micro/bert"), kernels: kernels)
            #expect(try await Self.vectors(folder.path, kernels: kernels) == expected, "\(kernels)")
        }
    }

    /// Also if it was saved inside of DataParallel, which is before the names in every part and in the index.
    @Test(arguments: ["", "module."]) func aTwinInPartsGivesTheSameBits(wrapper: String) async throws {
        let tensors = try Self.tensors("micro/llama").map { tensor in
            var tensor = tensor
            tensor.name = wrapper + tensor.name
            return tensor
        }
        let folder = try TemporaryFolder(linking: "micro/llama", except: ["model.safetensors"])
        var map: [(key: String, value: JSON)] = []
        for number in 1...2 {
            let part = tensors.enumerated().filter { $0.offset % 2 == number - 1 }.map(\.element)
            let name = "pytorch_model-0000\(number)-of-00002.bin"
            try folder.write(name, TorchBytes(part).archive)
            map += part.map { ($0.name, .string(name)) }
        }
        let index = "pytorch_model.bin.index.json"
        try folder.write(index, .object(["weight_map": .object(JSONObject(map))]))
        #expect(try await Self.logits(folder.path) == Self.logits(Fixtures.path("micro/llama")))
        // A shard that went astray, and a tensor that is not where the index has it.
        map[0].value = .string("pytorch_model-00002-of-00002.bin")
        try folder.write(index, .object(["weight_map": .object(JSONObject(map))]))
        #expect(try await error(folder).message.contains("the index has tensor \"\(map[0].key)\""))
        try FileSystem.remove(folder("pytorch_model-00002-of-00002.bin"))
        let missing = try await error(folder)
        #expect(missing.code == .malformedModel && missing.message.contains("the shard is missing"))
    }

    /// A matrix that was transposed without a copy, as converters from TensorFlow save it, stays where it is.
    @Test func transposedMatricesAreReadByColumns() async throws {
        let folder = try Self.twin("micro/bert") { file in
            for index in file.tensors.indices where file.tensors[index].shape.count == 2 {
                let (rows, columns) = (file.tensors[index].shape[0], file.tensors[index].shape[1])
                let bytes = file.tensors[index].bytes
                var turned: [UInt8] = []
                for place in 0..<rows * columns {
                    let start = (place % rows * columns + place / rows) * 4
                    turned += bytes[start..<start + 4]
                }
                (file.tensors[index].strides, file.tensors[index].bytes) = ([1, rows], turned)
            }
        }
        let expected = try await Self.vectors(Fixtures.path("micro/bert"))
        for (vector, other) in zip(try await Self.vectors(folder.path), expected) {
            #expect(zip(vector, other).allSatisfy { abs($0 - $1) < 1e-6 })
        }
    }

    /// Several tensors in one storage, one of them under two names.
    @Test func storagesAreShared() async throws {
        let folder = try Self.twin("micro/opt") { file in
            let whole = file.tensors.flatMap(\.bytes)
            var offset = 0
            for index in file.tensors.indices {
                (file.tensors[index].key, file.tensors[index].offset) = ("one", offset / 2)
                offset += file.tensors[index].bytes.count
                file.tensors[index].bytes = whole
            }
            var head = file.tensors.first { $0.name.hasSuffix("embed_tokens.weight") }!
            head.name = "another.name"
            file.tensors.insert(head, at: 0)
        }
        #expect(try await Self.logits(folder.path) == Self.logits(Fixtures.path("micro/opt")))
        let (twin, other) = (
            try await ModelInspection.inspect(folder: folder.path),
            try await ModelInspection.inspect(folder: Fixtures.path("micro/opt"))
        )
        #expect(twin.parameters == other.parameters && twin.weightsBytes == other.weightsBytes)
    }

    @Test func safetensorsAreTakenBeforeACheckpoint() async throws {
        let folder = try TemporaryFolder(linking: "micro/opt")
        try folder.write("pytorch_model.bin", Array("not a checkpoint".utf8))
        #expect(try await Self.logits(folder.path) == Self.logits(Fixtures.path("micro/opt")))
    }

    @Test func onlyTheUsualNameIsRun() async throws {
        let folder = try Self.twin("micro/opt")
        try FileSystem.rename(folder("pytorch_model.bin"), to: folder("model.bin"))
        let error = try await error(folder)
        #expect(error.code == .unsupportedModel)
        #expect(
            error.message.hasSuffix(
                ": weights under other names than transformers gives them (model.bin) cannot be run yet"))
    }

    @Test func oneFileIsReadByItself() throws {
        let folder = try TemporaryFolder()
        let values: [Float] = [1, 2, 3, 4, 5, 6]
        let bytes = values.flatMap { value in
            (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> (8 * $0)) }
        }
        var turned = TorchBytes.Tensor("linear.weight", "FloatStorage", [3, 2], bytes)
        turned.strides = [1, 3]
        let bias = TorchBytes.Tensor("linear.bias", "FloatStorage", [6], bytes)
        try folder.write("2_Dense/pytorch_model.bin", TorchBytes([turned, bias]).legacy)
        let source = try TensorSource(file: folder("2_Dense/pytorch_model.bin"))
        #expect(try source.floats("linear.weight").values.array == [1, 4, 2, 5, 3, 6])
        #expect(
            try source.floats("linear.weight").shape == [3, 2]
                && source.floats("linear.bias").values.array == values)
        #expect(throws: AIError.self) { try source.floats("linear") }
    }

    // MARK: What is refused

    private static func item(_ name: String, _ opcodes: String) -> [UInt8] {
        TorchBytes.text(name) + Array(opcodes.utf8)
    }

    @Test(
        arguments: [
            ("I3\n", "it has \"epoch\", which is not a tensor"), ("}", "it has \"epoch\", which is not a tensor"),
            ("cos\nsystem\n(S'id'\ntR", "its pickle imports os.system, which builds no tensor"),
            ("ctorch.storage\n_load_from_bytes\n(S'id'\ntR", "its pickle imports torch.storage._load_from_bytes"),
            ("cnumpy.core.multiarray\nscalar\n(ttR", "its pickle imports numpy.core.multiarray.scalar"),
            ("ccollections\ndefaultdict\n)R", "its pickle imports collections.defaultdict"),
        ]) func whatIsNoTensorIsNamed(opcodes: String, what: String) async throws
    {
        for legacy in [false, true] {
            let folder = try Self.twin("micro/opt", legacy: legacy) { $0.others = Self.item("epoch", opcodes) }
            let inspection = try await ModelInspection.inspect(folder: folder.path)
            #expect(
                inspection.obstacles.contains { $0.text.hasPrefix("pytorch_model.bin: \(what)") },
                "\(inspection.obstacles)")
            let error = try await error(folder)
            #expect(error.code == .unsupportedModel && error.message.contains(what), "\(error.message)")
        }
    }

    @Test func aDictionaryInADictionaryIsRefused() async throws {
        let folder = try Self.twin("micro/opt") { file in
            let inner = TorchBytes.tensor(file.tensors[0], key: "0", isLegacy: false)
            file.others = TorchBytes.text("state_dict") + [0x7D, 0x28] + TorchBytes.text("x") + inner + [0x75]
        }
        #expect(try await error(folder).message.contains("it has \"state_dict\", which is not a tensor"))
    }

    private func refusal(_ change: (inout TorchBytes.Tensor) -> Void) async throws -> AIError {
        try await error(try Self.twin("micro/opt") { change(&$0.tensors[0]) })
    }

    @Test func tensorsThatAreNotInOnePieceAreRefused() async throws {
        let name = try Self.tensors("micro/opt")[0].name
        let repeated = try await refusal { $0.strides = $0.shape.map { _ in 0 } }
        #expect(
            repeated.code == .unsupportedModel && repeated.message.contains("tensor \"\(name)\" has the strides [0")
        )
        let past = try await refusal { $0.offset = 1 }
        #expect(past.code == .malformedModel && past.message.contains("goes past the end of its storage"))
        let lost = try await error(
            try Self.twin("micro/opt") { file in
                file.others =
                    TorchBytes.text("x") + TorchBytes.tensor(file.tensors[0], key: "gone", isLegacy: false)
            })
        #expect(lost.code == .malformedModel && lost.message.contains("the file has no gone"))
    }

    @Test func doublesAreRefusedByName() async throws {
        let error = try await refusal { tensor in
            (tensor.kind, tensor.bytes) = ("DoubleStorage", [UInt8](repeating: 0, count: tensor.bytes.count * 4))
        }
        #expect(error.code == .unsupportedModel && error.message.contains("F64 weights cannot be run yet"))
    }

    /// Bytes of a file changed at every place where some others are.
    private func replacing(_ bytes: [UInt8], _ old: [UInt8], _ new: [UInt8]) -> [UInt8] {
        var bytes = bytes
        var found = 0
        for at in 0...bytes.count - old.count where Array(bytes[at..<at + old.count]) == old {
            bytes.replaceSubrange(at..<at + old.count, with: new)
            found += 1
        }
        #expect(found > 0)
        return bytes
    }

    @Test func archivesThatReadersWouldReadDifferentlyAreRefused() async throws {
        let plain = try Self.twin("micro/opt")
        let bytes = try #require(try FileSystem.contents(plain("pytorch_model.bin")))
        // The method of packing, in the directory and before each content.
        let packed = replacing(
            bytes, [0x50, 0x4B, 1, 2, 0, 0, 10, 0, 0, 0, 0, 0], [0x50, 0x4B, 1, 2, 0, 0, 10, 0, 0, 0, 8, 0])
        try plain.write("pytorch_model.bin", packed)
        let compressed = try await error(plain)
        #expect(compressed.code == .unsupportedModel && compressed.message.contains("it is compressed"))
        for (file, what) in [
            ("data/0", "archive/data/0 is in it twice"), ("byteorder", "it is big-endian"),
            ("constants.pkl", "it has 2 pickles"),
        ] {
            let folder = try Self.twin("micro/opt") { torch in
                torch.files = [(file, file == "constants.pkl" ? [0x80, 2, 0x4E, 0x2E] : Array("big".utf8))]
            }
            #expect(try await error(folder).message.contains(what))
        }
    }

    @Test(arguments: [false, true]) func aFileThatIsCutIsRefused(legacy: Bool) async throws {
        let folder = try Self.twin("micro/opt", legacy: legacy)
        let bytes = try #require(try FileSystem.contents(folder("pytorch_model.bin")))
        for count in stride(from: 1, to: bytes.count, by: bytes.count / 60) {
            try folder.write("pytorch_model.bin", Array(bytes[..<count]))
            let error = try await error(folder)
            #expect([.malformedModel, .unsupportedModel].contains(error.code), "\(count): \(error.message)")
        }
    }
}
