import HubCore
import ModelFormats
import Support
import Testing

/// Random headers, pickles and configurations; scripts/fuzz tries millions of them.
@Suite struct FormatFuzzTests {
    private static func malformed(_ error: AIError) throws {
        guard error.code == .malformedModel || error.code == .unsupportedModel else { throw error }
    }

    /// A file's contents must be inside it; then all its metadata is computed.
    private static func use(_ weights: StoredWeights, _ config: ModelConfiguration?, in size: Int) throws(AIError) {
        for tensor in weights.tensors {
            guard let offset = tensor.offset else { continue }
            guard offset >= 0, tensor.byteCount >= 0, tensor.byteCount <= size, offset <= size - tensor.byteCount
            else {
                throw AIError(.invalidInput, "tensor \(tensor.name) lies outside")
            }
        }
        var sources = ModelSources(name: "fuzz")
        (sources.weights, sources.configuration) = (weights, config)
        _ = ModelSummary(sources, batch: 512).memory.bytes(context: 4096)
    }

    @Test func safetensors() throws {
        let sources = try ["tiny-shakespeare", "tiny-shakespeare-mlx-4bit"].map { name in
            let bytes = try Support.Fixtures.bytes("\(name)/model.safetensors")
            let count = Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16
            return (head: Array(bytes[..<(8 + count)]), size: bytes.count)
        }
        let headers = try sources.map { try JSON.parse(Array($0.head[8...])) }
        expect(
            Fuzz("safetensors") { number in
                var random = SeededRandom(number: number)
                let at = random.below(sources.count)
                var bytes = sources[at].head
                if random.one(in: 2) {
                    bytes = random.mutated(bytes)
                } else {
                    let text = Array(random.mutated(headers[at]).text().utf8)
                    bytes = (0..<8).map { UInt8(truncatingIfNeeded: text.count >> (8 * $0)) } + text
                }
                let size = random.one(in: 4) ? bytes.count : sources[at].size
                do throws(AIError) {
                    let header = try bytes.withUnsafeBytes { buffer in
                        Result { () throws(AIError) in
                            try SafetensorsHeader(buffer, fileSize: Int64(size), path: "f")
                        }
                    }.get()
                    try Self.use(
                        StoredWeights(safetensors: [.init(path: "f", fileSize: Int64(size), header: header)]), nil,
                        in: size)
                } catch {
                    try Self.malformed(error)
                }
            }, usual: 600)
    }

    @Test func gguf() throws {
        let sources = try ["formats/all-kinds.gguf", "tiny-shakespeare-gguf/model-q4_0.gguf"].map { name in
            // Of the second the header, some 40 kB, and what comes right behind it.
            let bytes = try Support.Fixtures.bytes(name)
            return (head: Array(bytes.prefix(48 << 10)), size: bytes.count)
        }
        expect(
            Fuzz("gguf") { number in
                var random = SeededRandom(number: number)
                // The smaller one has every kind of value.
                let at = random.one(in: 8) ? 1 : 0
                let bytes = random.mutated(sources[at].head)
                let size = at == 1 ? sources[at].size : bytes.count
                do throws(AIError) {
                    let reading = try bytes.withUnsafeBytes { buffer in
                        Result { () throws(AIError) in try GGUFHeader.read(buffer, fileSize: Int64(size), path: "f")
                        }
                    }.get()
                    guard case .header(let header) = reading else { return }
                    bytes.withUnsafeBytes { buffer in
                        for (_, value) in header.metadata {
                            value.array?.eachString(in: buffer) { _ in }
                            _ = value.array?.values(in: buffer)
                        }
                    }
                    let model = try GGUFModel([.init(path: "f", fileSize: Int64(size), header: header)])
                    let config = try ModelConfiguration(header, path: "f")
                    try Self.use(StoredWeights(model), config, in: size)
                } catch {
                    try Self.malformed(error)
                }
            }, usual: 600)
    }

    @Test func mlx() throws {
        let config = try JSON.parse(Support.Fixtures.bytes("tiny-shakespeare-mlx-4bit/config.json"))
        let path = try Support.Fixtures.path("tiny-shakespeare-mlx-4bit/model.safetensors")
        let header = try SafetensorsHeader(file: path)
        let size = try Support.Fixtures.bytes("tiny-shakespeare-mlx-4bit/model.safetensors").count
        let weights = StoredWeights(safetensors: [.init(path: path, fileSize: Int64(size), header: header)])
        expect(
            Fuzz("mlx") { number in
                var random = SeededRandom(number: number)
                do throws(AIError) {
                    try Self.use(weights, ModelConfiguration(random.mutated(config), path: "f"), in: size)
                } catch {
                    try Self.malformed(error)
                }
            }, usual: 300)
    }

    @Test func pickle() throws {
        let state = try Support.Fixtures.bytes("formats/state.bin")
        // Both formats of a checkpoint that is run; what is behind the pickles is short.
        let torch = TorchBytes([
            .init("a.weight", "FloatStorage", [2, 3], [UInt8](repeating: 1, count: 24)),
            .init("a.bias", "BFloat16Storage", [3], [UInt8](repeating: 2, count: 6)),
        ])
        let checkpoints = [torch.archive, torch.legacy]
        let goldens = try JSON.parse(Support.Fixtures.bytes("formats/goldens.json"))
        let pickles = (goldens["pickles"]?.array ?? []).compactMap { $0["hex"]?.string }.map(Self.bytes)
        #expect(pickles.count == 24)
        let opcodes = Array(
            "(.0 12FIJKMNPQRSTUVXabcdeghijlopqrstu}]) \u{80}\u{81}\u{85}\u{86}\u{87}\u{88}\u{8A}\u{8C}\u{93}\u{94}\u{95}"
                .unicodeScalars.map { UInt8($0.value) })
        expect(
            Fuzz("pickle") { number in
                var random = SeededRandom(number: number)
                var bytes: [UInt8] = [0x80, 2]
                switch random.below(4) {
                case 0:
                    for _ in 0..<random.below(80) {
                        bytes.append(
                            random.one(in: 3) ? UInt8(random.below(13)) : opcodes[random.below(opcodes.count)])
                    }
                case 1: bytes = random.mutated(pickles[random.below(pickles.count)])
                case 2: bytes = random.mutated(checkpoints[random.below(2)])
                default: bytes = random.mutated(state)
                }
                do throws(AIError) {
                    let file = try bytes.withUnsafeBytes { buffer in
                        Result { () throws(AIError) in try TorchFile(buffer, path: "f") }
                    }.get()
                    _ = (file.danger, file.imports.map(\.description), StoredWeights([file]).tensorBytes)
                    try Self.use(StoredWeights([file]), nil, in: bytes.count)
                    try file.checkWeights()
                } catch {
                    try Self.malformed(error)
                }
            }, usual: 600)
    }

    private static func bytes(hex: String) -> [UInt8] {
        let digits = Array(hex.utf8).map { $0 < 0x3A ? $0 - 0x30 : $0 - 0x57 }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
