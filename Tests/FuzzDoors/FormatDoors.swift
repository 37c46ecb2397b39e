import HubCore
import HubTokenizers
import InferenceKit
import ModelFormats
import Support

/// The readers of a model's files.
extension FuzzDoor {
    /// config.json, and what is computed from it: whether the model runs, and in how much memory.
    static let configuration = FuzzDoor(
        "config",
        seeds: {
            try Fixtures.folders("micro").compactMap {
                try FileSystem.contents(Path.join(Fixtures.path("micro/\($0)"), "config.json"))
            }
        },
        read: { bytes in
            guard let json = try? JSON.parsePython(bytes) else { return }
            do throws(AIError) {
                // Strictly, as for running a model; below forgivingly, as for showing one.
                use(try ModelConfiguration(json, path: "config.json"))
            } catch { try error.mustRefuse(.malformedModel, .unsupportedModel) }
            do throws(AIError) {
                use(try ModelConfiguration(json, path: "config.json", isForgiving: true))
            } catch { try error.mustRefuse(.malformedModel, .unsupportedModel) }
        })

    private static func use(_ configuration: ModelConfiguration) {
        var sources = ModelSources(name: "fuzz")
        (sources.configuration, sources.isLoadable) = (configuration, true)
        use(sources)
    }

    private static func use(_ sources: ModelSources) {
        let inspection = ModelInspection(sources)
        for context in [0, 4096, Int.max] {
            for format in [KeyValueFormat.f16, .q8] {
                _ = inspection.memoryBytes(context: context, cacheFormat: format)
            }
        }
        _ = (inspection.shareReadPerToken, inspection.cacheBytesPerPosition(), inspection.usualContext)
    }

    private static func use(_ weights: StoredWeights, in size: Int) throws(AIError) {
        for tensor in weights.tensors {
            guard let offset = tensor.offset else { continue }
            guard offset >= 0, tensor.byteCount >= 0, tensor.byteCount <= size, offset <= size - tensor.byteCount
            else { throw AIError(.ioError, "tensor \(tensor.name) lies outside its file") }
        }
        var sources = ModelSources(name: "fuzz")
        sources.weights = weights
        use(sources)
    }

    static let safetensors = FuzzDoor(
        "safetensors",
        seeds: {
            try ["tiny-shakespeare", "tiny-shakespeare-mlx-4bit", "micro/llama"].map {
                let bytes = try Fixtures.bytes("\($0)/model.safetensors")
                return Array(bytes.prefix(8 + Int(bytes[0]) + Int(bytes[1]) << 8 + Int(bytes[2]) << 16))
            }
        },
        read: { bytes in
            // A header may name more bytes than there are: no tensor is read here.
            for size in [bytes.count, 3 << 20] {
                do throws(AIError) {
                    let header = try bytes.withUnsafeBytes { buffer in
                        Result { () throws(AIError) in
                            try SafetensorsHeader(buffer, fileSize: Int64(size), path: "f")
                        }
                    }.get()
                    try use(
                        StoredWeights(safetensors: [.init(path: "f", fileSize: Int64(size), header: header)]),
                        in: size)
                } catch { try error.mustRefuse(.malformedModel, .unsupportedModel) }
            }
        })

    static let pickle = FuzzDoor(
        "pickle",
        seeds: {
            let torch = TorchBytes([
                .init("a.weight", "FloatStorage", [2, 3], [UInt8](repeating: 1, count: 24)),
                .init("a.bias", "BFloat16Storage", [3], [UInt8](repeating: 2, count: 6)),
            ])
            let pickles = try Fixtures.json("formats/goldens.json")["pickles"]?.array ?? []
            return [torch.archive, torch.legacy, try Fixtures.bytes("formats/state.bin")]
                + pickles.compactMap { $0["hex"]?.string.map(bytes(hex:)) }
        },
        read: { bytes in
            do throws(AIError) {
                let file = try bytes.withUnsafeBytes { buffer in
                    Result { () throws(AIError) in try TorchFile(buffer, path: "f") }
                }.get()
                _ = (file.danger, file.imports.map(\.description), StoredWeights([file]).tensorBytes)
                try use(StoredWeights([file]), in: bytes.count)
                try file.checkWeights()
            } catch { try error.mustRefuse(.malformedModel, .unsupportedModel) }
        })

    private static func bytes(hex: String) -> [UInt8] {
        let digits = Array(hex.utf8).map { $0 < 0x3A ? $0 - 0x30 : $0 - 0x57 }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// A GGUF file: header, settings, vocabulary.
    static let gguf = FuzzDoor(
        "gguf",
        seeds: {
            // Enough for the second one's header of some 40 kB and a part of its tensors.
            try ["formats/all-kinds.gguf", "tiny-shakespeare-gguf/model-q4_0.gguf"].map {
                Array(try Fixtures.bytes($0).prefix(48 << 10))
            }
        },
        read: { bytes in
            let file = try ScratchFile("model.gguf")
            // For an even number of bytes zeros stand in for the tensors.
            try file.write(bytes, size: bytes.count % 2 == 0 ? 3 << 20 : nil)
            do throws(AIError) {
                _ = try ModelInspection.outline(file.path).memoryBytes()
            } catch { try error.mustRefuse(.malformedModel, .unsupportedModel) }
            do throws(AIError) {
                if let tokenizer = try Tokenizer(.gguf(file.path)) { try use(tokenizer) }
            } catch { try error.mustRefuse(.malformedModel, .unsupportedModel, .generationFailed) }
        })

    /// tokenizer.json; an input that does not begin with a brace is a SentencePiece file.
    static let tokenizer = FuzzDoor(
        "tokenizer",
        seeds: {
            let all = try Fixtures.json("goldens/tokenizer-parts.json")
            let documents = (all["tokenizers"]?.array ?? []).compactMap { $0["json"]?.text() }.map {
                Array($0.utf8)
            }
            let models = (all["sentencepiece"]?.array ?? []).compactMap {
                $0["model"]?.string.flatMap { Base64.bytes($0) }
            }
            return (documents + models).filter { $0.count < 20_000 }
        },
        read: { bytes in
            do throws(AIError) {
                if bytes.first == UInt8(ascii: "{") {
                    try use(try Tokenizer(json: bytes, path: "f"))
                } else {
                    try use(sentencePiece: bytes)
                }
            } catch { try error.mustRefuse(.malformedModel, .unsupportedModel, .generationFailed) }
        })

    private static func use(sentencePiece bytes: [UInt8]) throws(AIError) {
        let file: ScratchFile
        do {
            file = try ScratchFile("tokenizer.model")
            try file.write(bytes)
        } catch { throw AIError(.ioError, "\(error)") }
        let source = TokenizerSource.sentencePiece(folder: Path.parent(file.path), name: Path.name(file.path))
        if let tokenizer = try Tokenizer(source) { try use(tokenizer) }
    }

    private static func use(_ tokenizer: Tokenizer) throws(AIError) {
        let ids = try tokenizer.encode("Hello  wörld 12 <s> 日本 \u{301}\u{0}x")
        _ = tokenizer.decode(ids + [-1, .max, 1 << 31])
    }
}

extension Fixtures {
    /// The names in a folder of fixtures.
    static func folders(_ name: String) throws -> [String] { try FileSystem.entries(path(name)) ?? [] }
}
