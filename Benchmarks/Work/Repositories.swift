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
            let path = Path.join(folder, "part-\(number).txt")
            try fill(path, size: Int64(size), seed: seed << 32 | UInt64(number))
        }
    }

    /// Makes a repository of a cache by hand, as Python's client leaves it: a fifth of the files as in LFS storage, a
    /// quarter of them in a folder.
    static func plant(_ name: String, into cache: String, files: Int, seed: Int) throws {
        func digits(_ number: Int, _ count: Int) -> String {
            let text = String(number, radix: 16)
            return String(repeating: "0", count: count - text.utf8.count) + text
        }
        let (folder, commit) = (Path.join(cache, "models--\(owner)--\(name)"), digits(seed + 1, 40))
        let snapshot = Path.join(folder, "snapshots/\(commit)")
        for path in ["\(folder)/blobs", "\(folder)/refs", "\(folder)/trees", "\(snapshot)/sub"] {
            try FileSystem.createDirectories(path)
        }
        var entries: [String] = []
        for number in 0..<files {
            let (isLFS, isBelow, size) = (number % 5 == 0, number % 4 == 0, 40 + number)
            let blob = digits(seed * files + number + 1, isLFS ? 64 : 40)
            let path = isBelow ? "sub/part-\(number).bin" : "part-\(number).bin"
            try FileSystem.replace(
                Path.join(folder, "blobs/\(blob)"), with: [UInt8](repeating: UInt8(number), count: size))
            try FileSystem.createSymlink(
                (isBelow ? "../../../" : "../../") + "blobs/\(blob)", at: Path.join(snapshot, path))
            let lfs = isLFS ? ",\"lfs_sha256\":\"\(blob)\",\"lfs_size\":\(size)" : ""
            entries.append("\"\(path)\":{\"size\":\(size),\"blob_id\":\"\(digits(number, 40))\"\(lfs)}")
        }
        let tree = "{\"format_version\":1,\"files\":{\(entries.joined(separator: ","))}}"
        try FileSystem.replace(Path.join(folder, "trees/\(commit).json"), with: Array(tree.utf8))
        try FileSystem.replace(Path.join(folder, "refs/main"), with: Array(commit.utf8))
    }

    /// Writes a file of bytes that look random, the same for the same seed.
    static func fill(_ path: String, size: Int64, seed: UInt64) throws {
        var noise = SplitMix64(state: seed)
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

/// Numbers that look random, the same for the same seed. https://prng.di.unimi.it/splitmix64.c
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(state: UInt64) { self.state = state }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// - Parameter buffer: of a multiple of 8 bytes.
    mutating func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        for offset in stride(from: 0, to: buffer.count, by: 8) {
            buffer.storeBytes(of: next(), toByteOffset: offset, as: UInt64.self)
        }
    }
}
