import HubCore

/// A repository of weights in a folder for large files, served to several works and written by the first of them.
struct Weights {
    /// `org/name`
    let model: String
    /// The folder that holds the repository, for a server.
    let root: String
    /// In the order of the repository.
    let files: [(name: String, digest: ContentDigest)]
    /// Bytes of all files.
    let bytes: Int64

    /// - Parameter size: of each file.
    init(_ name: String, files count: Int, size: Int64, _ suite: Suite) throws {
        let space = try FileSystem.diskSpace(suite.largeFolder).available
        model = "\(Repositories.owner)/\(name)"
        root = Path.join(suite.largeFolder, "served-\(name)")
        bytes = Int64(count) * size
        let folder = Path.join(root, model)
        // What is served, what is fetched, and room to breathe.
        guard FileSystem.exists(folder) || space > bytes * 5 / 2 else {
            throw AIError(.diskFull, "\(ByteCount(bytes * 5 / 2)) are needed in \(suite.largeFolder)")
        }
        files = try (1...count).map { number in
            let name = "model-\(number)-of-\(count).safetensors"
            let path = Path.join(folder, name)
            if !FileSystem.exists(path) {
                try FileSystem.createDirectories(folder)
                try Repositories.fill(path, size: size, seed: UInt64(number))
            }
            return (name, try ContentHasher.digest(ofFile: path, like: .sha256("")))
        }
    }

    /// The files on the disk.
    var paths: [String] { files.map { Path.join(root, "\(model)/\($0.name)") } }

    /// The addresses that a program asks who knows nothing of the Hub's API.
    func addresses(_ server: SimulatedHub) -> [String] {
        files.map { "\(server.address)/\(model)/resolve/main/\($0.name)" }
    }

    /// A sandbox for those who fetch it.
    func sandbox(_ server: SimulatedHub, _ suite: Suite) throws -> Sandbox {
        try Sandbox(Path.join(suite.largeFolder, "home"), address: server.address)
    }

    /// All bytes must be somewhere in the sandbox.
    func expectWhole(in box: Sandbox) throws {
        let found = try Self.bytes(in: box.home)
        guard found >= bytes else {
            throw AIError(.ioError, "only \(ByteCount(found)) of \(ByteCount(bytes)) arrived")
        }
    }

    private static func bytes(in folder: String) throws -> Int64 {
        try (FileSystem.entries(folder) ?? []).reduce(0) { sum, name in
            let path = Path.join(folder, name)
            guard let status = try FileSystem.linkStatus(path) else { return sum }
            return sum + (status.kind == .directory ? try bytes(in: path) : status.kind == .file ? status.size : 0)
        }
    }

    /// Every file must be in the cache as its digest says.
    func expectRight(in box: Sandbox) throws {
        for (name, digest) in files {
            let path = Path.join(box.cache(of: model), "blobs/\(digest)")
            guard FileSystem.exists(path), try ContentHasher.digest(ofFile: path, like: digest) == digest else {
                throw AIError(.digestMismatch, "\(name) is missing or has other bytes")
            }
        }
    }
}
