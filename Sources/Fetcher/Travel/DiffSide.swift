package import HubCore
import ModelFormats

/// One side of a comparison: a revision, cached or on the Hub, or a folder.
package final class DiffSide: Sendable {
    private enum Place: Sendable {
        case revision(PullPlan, HubClient, isOffline: Bool)
        case folder(String)
    }

    /// One file.
    package struct File: Sendable, Hashable {
        package var path: String
        package var size: Int64
        /// nil in a folder, where it would have to be read.
        var entry: RepositoryFile?
    }

    /// As people named it.
    package let name: String
    private let place: Place
    /// Sorted by path.
    package let files: [File]
    /// Where the Hub's content of a file is served, by path.
    private let locations = Lock<[String: String]>([:])

    /// A revision, of which files may be named.
    package init(_ reference: ModelReference, _ puller: Puller) async throws {
        var options = Puller.Options()
        options.earlierChoice = .stays
        var exact = reference
        // The first digits of a cached commit, as hub shows it.
        let cached = try await Blocking.run { [layout = puller.layout] in try layout.snapshot(of: reference)?.commit
        }
        if let cached, let revision = reference.revision, cached.hash.hasPrefix(revision) {
            exact.revision = cached.hash
        }
        let plan = try await puller.plan(exact, options)
        name = "\(reference)"
        place = .revision(plan, puller.client, isOffline: puller.isOffline)
        files = plan.files.map { File(path: $0.file.path, size: $0.file.size, entry: $0.file) }
    }

    /// A folder. Hidden folders and links to folders are left out.
    package init(folder: String) throws(AIError) {
        guard try FileSystem.status(folder)?.kind == .directory else {
            throw AIError(.fileNotFound, "\(folder.printable) is not a folder", context: .init(path: folder))
        }
        var found: [File] = []
        func walk(_ folder: String, _ prefix: String) throws(AIError) {
            for entry in try FileSystem.entries(folder) ?? [] {
                let path = Path.join(folder, entry)
                guard let link = try FileSystem.linkStatus(path) else { continue }
                if link.kind == .directory {
                    if !entry.hasPrefix(".") { try walk(path, prefix + entry + "/") }
                } else if let status = try FileSystem.status(path), status.kind == .file {
                    found.append(File(path: prefix + entry, size: status.size))
                }
            }
        }
        try walk(folder, "")
        (name, place) = (folder, .folder(folder))
        files = found.sorted { ExactText.precedes($0.path, $1.path) }
    }

    /// A range of a file: from the disk, else from the Hub.
    package func bytes(of file: File, _ range: Range<Int64>) async throws -> [UInt8] {
        guard !range.isEmpty else { return [] }
        switch place {
        case .folder(let folder):
            return try await Blocking.run {
                let opened = try FileDescriptor(unnoticed: Path.join(folder, file.path))
                var bytes = [UInt8](repeating: 0, count: range.count)
                let count = try bytes.withUnsafeMutableBytes { try opened.read(into: $0, at: range.lowerBound) }
                guard count == range.count else { throw Self.short(file) }
                return bytes
            }
        case .revision(let plan, let client, let isOffline):
            guard let entry = file.entry else { throw Self.short(file) }
            let whole = Int(range.lowerBound)..<Int(range.upperBound)
            if let cached = try await Blocking.run({ try plan.cachedBytes(of: entry, whole) }) {
                guard cached.count == range.count else { throw Self.short(file) }
                return cached
            }
            guard !isOffline else {
                throw AIError(
                    .offline, "\(file.path) of \(name) is not in the cache, and the network is switched off",
                    context: .init(repository: plan.repository.description, path: file.path))
            }
            let known = locations.withLock { $0[file.path] }
            let answer = try await client.located(entry, whole, in: plan.repository, at: plan.commit, from: known)
            locations.withLock { $0[file.path] = answer.address }
            return answer.bytes
        }
    }

    private static func short(_ file: File) -> AIError {
        AIError(.ioError, "\(file.path) is shorter than it was", context: .init(path: file.path))
    }

    /// A small file, whole; nil if there is none, or a larger one.
    func contents(_ path: String, limit: Int64) async throws -> [UInt8]? {
        guard let file = files.first(where: { $0.path == path }), file.size <= limit else { return nil }
        return try await bytes(of: file, 0..<file.size)
    }

    /// Whether a file's content is that of another side's, of the same size.
    func holds(_ file: File, sameAs other: File, of side: DiffSide) async throws -> Bool {
        if let one = file.entry?.digest, let two = other.entry?.digest, one.isSHA256 == two.isSHA256 {
            return one == two
        }
        let like = file.entry?.digest ?? other.entry?.digest ?? .sha256("")
        let one = try await digest(file, like)
        return try await one == side.digest(other, like)
    }

    private func digest(_ file: File, _ like: ContentDigest) async throws -> ContentDigest {
        if let known = file.entry?.digest, known.isSHA256 == like.isSHA256 { return known }
        let hasher = ContentHasher(like: like, size: file.size)
        var at: Int64 = 0
        while at < file.size {
            let end = min(file.size, at + (4 << 20))
            hasher.update(try await bytes(of: file, at..<end))
            at = end
        }
        return hasher.finish()
    }

    /// The header of a weight file.
    func spans(_ file: File) async throws -> TensorSpans {
        var bytes: [UInt8] = []
        var wanted = min(Int64(TensorSpans.usualHeader), file.size)
        while true {
            bytes += try await self.bytes(of: file, Int64(bytes.count)..<wanted)
            let reading = bytes.withUnsafeBytes { buffer in
                Result { () throws(AIError) in
                    try TensorSpans.read(buffer, fileSize: file.size, path: "\(name)/\(file.path)")
                }
            }
            switch try reading.get() {
            case .spans(let spans): return spans
            case .needs(let count):
                wanted = min(file.size, max(Int64(count), 2 * Int64(bytes.count)))
                guard wanted > bytes.count, wanted <= 512 << 20 else {
                    throw AIError.malformed(file.path, "its header has no end")
                }
            }
        }
    }
}
