import HubCore

/// One repository of a ``FolderSource``.
final class FolderRepository: ServedRepository {
    let repository: Repository
    let folder: String
    private let root: String
    private let digests: DigestStore
    /// The last revision of each folder and its scan; reused while the scan is unchanged.
    private let made = Lock<[String: (scan: FolderScan, revision: ServedRevision)]>([:])
    private let hashing = Lock(())

    init(_ repository: Repository, folder: String, root: String, digests: DigestStore) {
        self.repository = repository
        self.folder = folder
        self.root = root
        self.digests = digests
    }

    func card() throws(AIError) -> RepositoryCard {
        try CardBuilder.card(repository, folder: folder, scan: try FolderScan(folder, root: root))
    }

    func refs() throws(AIError) -> [ServedRef] {
        var refs: [ServedRef] = []
        for (ref, folder) in try folders() {
            let name = ref.dropping(prefix: "refs/heads/") ?? ref
            refs.append(ServedRef(name: name, ref: ref, commit: try revision(in: folder).commit))
        }
        return refs
    }

    func revision(_ name: String) throws(AIError) -> ServedRevision? {
        let folders = try folders()
        if let found = folders.first(where: { $0.ref == name || $0.ref == "refs/heads/\(name)" }) {
            return try revision(in: found.folder)
        }
        guard name.utf8.count >= 7, name.utf8.allSatisfy(\.isLowercaseHex) else { return nil }
        for (_, folder) in folders {
            let revision = try revision(in: folder)
            if revision.commit.hasPrefix(name) { return revision }
        }
        return nil
    }

    /// Every revision by its full name: main, and sibling folders `name@REV`.
    private func folders() throws(AIError) -> [(ref: String, folder: String)] {
        var out = [(ref: "refs/heads/main", folder: folder)]
        let own = Path.name(folder) + "@"
        for entry in try FileSystem.entries(Path.parent(folder)) ?? [] {
            guard let suffix = entry.dropping(prefix: own), let name = PercentEncoding.decode(suffix),
                name != "main",
                RepositoryPath.fault(name) == nil,
                let place = FileSystem.resolved(Path.join(Path.parent(folder), entry)),
                FolderScan.isInside(place, root)
            else { continue }
            let number = name.dropping(prefix: "pr").flatMap { UInt32($0) }
            out.append((number.map { "refs/pr/\($0)" } ?? "refs/heads/\(name)", place))
        }
        return out
    }

    private func revision(in folder: String) throws(AIError) -> ServedRevision {
        // Retries when a file changes while being read, a limited number of times.
        for _ in 0..<5 {
            let scan = try FolderScan(folder, root: root)
            if let known = made.withLock({ $0[folder] }), known.scan == scan { return known.revision }
            // Of concurrent requests for a repository the first reads the files; the others wait.
            let revision = try hashing.withLock { _ throws(AIError) -> ServedRevision? in
                if let known = made.withLock({ $0[folder] }), known.scan == scan { return known.revision }
                guard let files = try files(scan) else { return nil }
                let revision = ServedRevision(repository, files: files)
                made.withLock { $0[folder] = (scan, revision) }
                return revision
            }
            if let revision { return revision }
        }
        throw AIError(.ioError, "the files of \(repository) keep changing", context: .init(path: folder))
    }

    private func files(_ scan: FolderScan) throws(AIError) -> [ServedFile]? {
        var files: [ServedFile] = []
        for entry in scan.entries {
            let isLFS = entry.identity.size >= 1 << 20 || Self.isWeights(entry.path)
            guard let digest = try digests.digest(of: entry, isLFS: isLFS) else { return nil }
            files.append(
                ServedFile(path: entry.path, digest: digest, location: entry.location, identity: entry.identity))
        }
        return files
    }

    /// The model file extensions that a new repository's `.gitattributes` puts in LFS.
    static func isWeights(_ path: String) -> Bool { weights.contains { path.hasSuffix($0) } }

    private static let weights = [
        ".safetensors", ".bin", ".gguf", ".pt", ".pth", ".onnx", ".h5", ".msgpack", ".npz", ".npy", ".ckpt",
        ".tflite",
        ".parquet", ".tar.gz", ".zip",
    ]
}
