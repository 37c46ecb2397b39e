import HubCore

/// The repositories that the simulated Hub serves.
enum Repositories {
    static let owner = "bench"

    /// One of Tests/Fixtures, as a repository of its own.
    static func copy(fixture name: String, into root: String) throws {
        let (source, folder) = (Path.join("Tests/Fixtures", name), Path.join(root, "\(owner)/\(name)"))
        try FileSystem.createDirectories(folder)
        for file in try FileSystem.entries(source) ?? [] {
            guard let bytes = try FileSystem.contents(Path.join(source, file)) else { continue }
            try FileSystem.replace(Path.join(folder, file), with: bytes)
        }
    }

    /// A repository of many small files, none like another.
    static func write(_ name: String, into root: String, files: Int, size: Int, seed: UInt64) throws {
        let folder = Path.join(root, "\(owner)/\(name)")
        try FileSystem.createDirectories(folder)
        for number in 0..<files {
            var noise = Noise(seed: seed << 32 | UInt64(number))
            try fill(Path.join(folder, "part-\(number).txt"), size: Int64(size), with: &noise)
        }
    }

    /// A repository of weights.
    static func writeWeights(_ name: String, into root: String, files: Int, size: Int64) throws {
        let folder = Path.join(root, "\(owner)/\(name)")
        try FileSystem.createDirectories(folder)
        for number in 1...files {
            var noise = Noise(seed: UInt64(number))
            try fill(Path.join(folder, weights(number, of: files)), size: size, with: &noise)
        }
    }

    static func weights(_ number: Int, of count: Int) -> String { "model-\(number)-of-\(count).safetensors" }

    private static func fill(_ path: String, size: Int64, with noise: inout Noise) throws {
        let file = try FileDescriptor(path, [.write, .create, .truncate])
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 8)
        defer { block.deallocate() }
        var at: Int64 = 0
        while at < size {
            let part = UnsafeMutableRawBufferPointer(rebasing: block[..<Int(min(size - at, 1 << 20))])
            noise.fill(part)
            try file.write(UnsafeRawBufferPointer(part), at: at)
            at += Int64(part.count)
        }
    }
}

/// Bytes that look random, the same for the same seed: SplitMix64. https://prng.di.unimi.it/splitmix64.c
private struct Noise {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// - Parameter buffer: of a multiple of 8 bytes.
    mutating func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        for offset in stride(from: 0, to: buffer.count, by: 8) {
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            buffer.storeBytes(of: word ^ (word >> 31), toByteOffset: offset, as: UInt64.self)
        }
    }
}
