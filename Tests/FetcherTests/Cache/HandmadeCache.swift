@testable import Fetcher
import HubCore
import Support

/// A cache put together by hand, as Python, older clients and people leave it.
struct HandmadeCache {
    let folder: TemporaryFolder
    let layout: CacheLayout

    /// - Parameter base: where; TMPDIR if nil.
    init(in base: String? = nil) throws {
        folder = try TemporaryFolder("cache", in: base)
        layout = CacheLayout(folder("hub"))
        try layout.create()
    }

    /// A repository's folder, which need not exist.
    func repository(_ name: String = "models--org--m") -> RepositoryFolder {
        RepositoryFolder(cache: layout, name: name)
    }

    /// Writes a file at a path, folders included.
    @discardableResult
    func write(_ path: String, _ text: String = "") throws -> String { try write(path, Array(text.utf8)) }

    @discardableResult
    func write(_ path: String, _ bytes: [UInt8]) throws -> String {
        try FileSystem.createDirectories(Path.parent(path))
        let file = try FileDescriptor(path, [.write, .create, .truncate])
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        return path
    }

    /// Writes a blob of so many bytes.
    @discardableResult
    func blob(_ etag: String, size: Int = 10, in repository: RepositoryFolder) throws -> String {
        try write(repository.blob(etag), ModelRepository.randomBytes(size, seed: UInt64(size)))
    }

    /// Makes a snapshot's link to a blob.
    func link(_ path: String, to etag: String, at commit: Commit, in repository: RepositoryFolder) throws {
        let place = Path.join(repository.snapshot(commit), path)
        try FileSystem.createDirectories(Path.parent(place))
        try FileSystem.createSymlink(RepositoryFolder.linkText(path: path, etag: etag), at: place)
    }

    /// Writes a ref as Python does, without a line end.
    func ref(_ name: String, _ commit: Commit, in repository: RepositoryFolder) throws {
        try write(repository.ref(name), commit.hash)
    }

    /// A whole revision: blobs by name and size, each linked once as `<name>.bin`.
    func revision(
        _ commit: Commit, _ blobs: [(etag: String, size: Int)], refs: [String] = [], in repository: RepositoryFolder
    ) throws {
        try FileSystem.createDirectories(repository.snapshot(commit))
        for (etag, size) in blobs {
            if !FileSystem.exists(repository.blob(etag)) { try blob(etag, size: size, in: repository) }
            try link("\(etag.prefix(4)).bin", to: etag, at: commit, in: repository)
        }
        for name in refs { try ref(name, commit, in: repository) }
    }

    // MARK: The store that repositories share

    static let marker = ".huggingface-shared-blobs"

    /// Makes the store with its marker.
    func makeStore(marker: String = "1\n") throws {
        try write(Path.join(layout.sharedStore, Self.marker), marker)
    }

    /// Puts a payload into the store.
    @discardableResult
    func payload(_ hash: String, size: Int = 10, references: [String]? = []) throws -> String {
        let path = SharedStore(layout: layout).payload(hash)
        try write(path, ModelRepository.randomBytes(size, seed: UInt64(size)))
        try write(path + ".lock")
        if let references { try write(path + ".refs", references.map { $0 + "\n" }.joined()) }
        return path
    }

    /// Makes a repository's blob a link into the store and notes that in the payload's manifest.
    func share(_ etag: String, _ hash: String, in repository: RepositoryFolder) throws {
        try FileSystem.createDirectories(repository.blobs)
        let manifest = SharedStore(layout: layout).payload(hash) + ".refs"
        let text = try FileSystem.text(manifest) ?? ""
        try write(manifest, text + "\(repository.name)/blobs/\(etag)\n")
        try FileSystem.createSymlink("../../blobs/\(hash.prefix(2))/\(hash)", at: repository.blob(etag))
    }

    // MARK: Looking

    func scan(_ scanner: CacheScanner? = nil) throws -> CacheState {
        try (scanner ?? CacheScanner(layout, catalog: nil)).scan(fresh: scanner == nil)
    }

    /// Every path below the cache with what it is: for "nothing else has changed".
    func listing() throws -> [String: String] {
        var out: [String: String] = [:]
        func visit(_ path: String, _ name: String) throws {
            for entry in try FileSystem.entries(path) ?? [] {
                let child = Path.join(path, entry)
                guard let status = try FileSystem.linkStatus(child) else { continue }
                let key = name + entry
                switch status.kind {
                case .directory:
                    out[key] = "folder"
                    try visit(child, key + "/")
                case .symlink: out[key] = "-> " + (FileSystem.linkText(child) ?? "")
                default: out[key] = "\(status.size) bytes, inode \(status.inode)"
                }
            }
        }
        try visit(layout.root, "")
        return out
    }
}

/// A blob's name: one digit, forty or sixty-four times.
func sha1(_ digit: Character) -> String { String(repeating: digit, count: 40) }
func sha256(_ digit: Character) -> String { String(repeating: digit, count: 64) }

extension Deletion {
    /// Deletes as much as possible, throws the error of the first failed row, and returns the freed bytes.
    func run() throws -> Int64 {
        let outcome = carryOut()
        if let first = outcome.failed.first { throw first.error }
        return outcome.freedBytes
    }
}

extension DeletionPolicy {
    /// The plan for a cache, read fresh.
    func plan(for state: CacheState, now: Double, diskFree: Int64) throws -> DeletionPlan {
        try plan(with: DeletionPlanner(state, now: now), now: now, diskFree: diskFree)
    }
}
