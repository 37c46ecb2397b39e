import HubCore
import Support
import Testing

/// A repository with every case that transfers treat specially. The same for the same seed.
struct SoakRepository: Sendable {
    static let id = "org/mixed"

    /// A file as the Hub's tree should tell it.
    struct File: Sendable {
        var digest: ContentDigest
        var size: Int64
    }

    /// What a ``LoopbackHub`` serves.
    let root: TemporaryFolder
    private(set) var files: [String: File] = [:]

    /// Each content once, by its digest.
    var blobs: [String: File] { Dictionary(files.values.map { ($0.digest.hex, $0) }) { first, _ in first } }
    /// Bytes of all contents.
    var size: Int64 { blobs.values.reduce(0) { $0 + $1.size } }

    func serve() throws -> LoopbackHub {
        var options = LoopbackHub.Options()
        // A large file outside LFS, as repositories have it that are older than the Hub's rule.
        options.gitFiles = files.filter {
            if case .gitSHA1 = $0.value.digest { $0.value.size >= 1 << 20 } else { false }
        }
        .mapValues(\.digest)
        return try LoopbackHub(root, options: options)
    }

    init(seed: UInt64) throws {
        var random = SeededRandom(number: seed)
        root = try TemporaryFolder("soak-served")
        let repository = try ModelRepository(Self.id, in: root)
        let shards = Int.random(in: 2...4, using: &random)
        var sizes = (1...shards).map { number in
            ("model-\(number)-of-\(shards).safetensors", Int64.random(in: 3_000_000...20_000_000, using: &random))
        }
        // One that ends where ranges do, one within a single range, one that is hardly there, and one that is empty.
        sizes.append(("pytorch_model.bin", [4, 8, 16].randomElement(using: &random)! << 20))
        sizes.append(("onnx/model.onnx", Int64.random(in: 1_000_000...4_000_000, using: &random)))
        sizes.append(("gguf/tiny.gguf", Int64.random(in: 1...5000, using: &random)))
        sizes.append(("onnx/empty.bin", 0))
        for (name, size) in sizes { try add(name, .sha256(""), Self.write(name, size, in: repository, &random)) }
        // The same content twice is one blob.
        let copy = try Self.copy(sizes[0].0, to: "original/consolidated.bin", in: repository)
        try add("original/consolidated.bin", .sha256(""), copy)
        let large = try Self.write(
            "tokenizer.json", Int64.random(in: 1_100_000...4_000_000, using: &random), in: repository, &random)
        try add("tokenizer.json", .gitSHA1(""), large)
        for number in 0..<Int.random(in: 40...90, using: &random) {
            let folders = ["", "docs/", "docs/de/", "a b/ç/", "x/y/z/"].randomElement(using: &random)!
            let size = number % 10 == 0 ? 0 : Int.random(in: 1...20_000, using: &random)
            let name = "\(folders)\(number).txt"
            // Every tenth is empty, every seventh is like the others of its kind.
            let seed = number % 7 == 0 ? 7 : random.next()
            try repository.random(name, size: number % 7 == 0 ? min(size, 700) : size, seed: seed)
            try add(name, .gitSHA1(""), Path.join(repository.path, name))
        }
    }

    private mutating func add(_ name: String, _ kind: ContentDigest, _ path: String) throws {
        let size = try #require(try FileSystem.status(path)).size
        files[name] = File(digest: try ContentHasher.digest(ofFile: path, like: kind), size: size)
    }

    /// Writes a file in which no two places are alike, faster than ``ModelRepository/random(_:size:seed:)`` does.
    private static func write(
        _ name: String, _ size: Int64, in repository: ModelRepository, _ random: inout SeededRandom
    ) throws -> String {
        let block = ModelRepository.randomBytes(1 << 16, seed: random.next())
        let patches = stride(from: 0, to: size, by: 1 << 16).map { offset in
            var bytes = Array(block.prefix(Int(min(1 << 16, size - offset))))
            withUnsafeBytes(of: offset) {
                for (index, byte) in $0.enumerated().prefix(bytes.count) { bytes[index] = byte }
            }
            return (offset: offset, bytes: bytes)
        }
        try repository.sparse(name, size: size, patches: patches)
        return Path.join(repository.path, name)
    }

    private static func copy(_ name: String, to other: String, in repository: ModelRepository) throws -> String {
        let bytes = try #require(try FileSystem.contents(Path.join(repository.path, name)))
        try repository.write(other, bytes)
        return Path.join(repository.path, other)
    }
}
