import HubCore
import Libc
import ModelFormats

/// A content of an archive that is made of an older one, which the receiver has, and of the bytes that differ.
package struct ArchiveDelta: Sendable, Hashable {
    /// Bytes that both contents have.
    struct Shared: Sendable, Hashable {
        /// In the new content.
        var range: Range<Int64>
        /// Where they begin in the older one.
        var source: Int64
    }

    /// The SHA-256 of the older content.
    var base: String
    /// In the order of the new content; none overlaps another.
    var shared: [Shared]

    var sharedBytes: Int64 { shared.reduce(0) { $0 + Int64($1.range.count) } }

    /// A part of a content: in the archive, or in the older content from `source` on.
    struct Piece {
        var range: Range<Int64>
        var source: Int64?
    }

    /// The parts of a content of this size, in order.
    func pieces(_ size: Int64) -> [Piece] {
        var out: [Piece] = []
        var at: Int64 = 0
        for one in shared {
            if at < one.range.lowerBound { out.append(Piece(range: at..<one.range.lowerBound)) }
            out.append(Piece(range: one.range, source: one.source))
            at = one.range.upperBound
        }
        if at < size { out.append(Piece(range: at..<size)) }
        return out
    }

    /// The largest manifest has room for some hundred thousand.
    private static let mostShared = 100_000

    var json: JSONObject {
        [
            "base": .string(base),
            "shared": .array(
                shared.map {
                    .array([.int($0.range.lowerBound), .int($0.range.upperBound), .int($0.source)])
                }),
        ]
    }

    /// - Returns: nil if it is not one of a content of this size.
    init?(json: JSON, size: Int64) {
        guard let base = json["base"]?.string.flatMap(ContentDigest.init(etag:)), base.isSHA256,
            let list = json["shared"]?.array, list.count <= Self.mostShared
        else { return nil }
        (self.base, shared) = (base.hex, [])
        var end: Int64 = 0
        for entry in list {
            let numbers = entry.array?.compactMap(\.int) ?? []
            guard numbers.count == 3, numbers[0] >= end, numbers[1] > numbers[0], numbers[1] <= size,
                (0...RepositoryTree.sizeLimit).contains(numbers[2])
            else { return nil }
            end = numbers[1]
            shared.append(Shared(range: numbers[0]..<end, source: numbers[2]))
        }
    }
}

// MARK: Finding

extension ArchiveDelta {
    /// Smaller files are archived whole, in bytes.
    fileprivate static let smallestFile: Int64 = 1 << 20
    /// Bytes are compared in blocks of this many.
    private static let block: Int64 = 1 << 20
    /// Shorter equal ranges are not worth their place in the manifest.
    private static let shortest: Int64 = 4 << 10

    private init(base: String, shared: [Shared]) { (self.base, self.shared) = (base, shared) }

    /// Where bytes of a new content may be in an older one: at the tensor of the same name, type and shape; in files
    /// without tensors at the same offset.
    private static func candidates(
        _ file: RepositoryFile, _ new: borrowing FileDescriptor, _ old: borrowing FileDescriptor
    ) throws(AIError) -> [Shared] {
        guard TensorSpans.knows(file.path) else {
            return [Shared(range: 0..<min(file.size, try old.status().size), source: 0)]
        }
        let spans = try TensorSpans(file: new, path: file.path)
        return spans.alike(in: try TensorSpans(file: old, path: file.path)).map {
            Shared(range: $0.new.range, source: $0.old.range.lowerBound)
        }
    }

    /// Compares two files of the cache.
    ///
    /// - Parameters:
    ///   - file: the new one, at `path`.
    ///   - base: the digest of the older one, at `older`.
    ///   - progress: called with the number of further bytes compared; what it throws ends the work.
    /// - Returns: nil if they have less than a tenth in common, or the older one is not what its name says.
    static func find(
        _ file: RepositoryFile, at path: String, base: ContentDigest, at older: String,
        progress: (Int64) throws -> Void
    ) throws -> ArchiveDelta? {
        let new = try FileDescriptor(unnoticed: path)
        let old = try FileDescriptor(unnoticed: older)
        let candidates: [Shared]
        do throws(AIError) { candidates = try Self.candidates(file, new, old) } catch {
            // A file whose header is broken travels whole.
            guard [.malformedModel, .unsupportedModel].contains(error.code) else { throw error }
            return nil
        }
        let (one, two) = (CopyBuffer(), CopyBuffer())
        var shared: [Shared] = []
        for candidate in candidates.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            var at = candidate.range.lowerBound
            while at < candidate.range.upperBound {
                let end = min(candidate.range.upperBound, at + block)
                let source = candidate.source + at - candidate.range.lowerBound
                let (left, right) = (one.prefix(Int(end - at)), two.prefix(Int(end - at)))
                let isWhole =
                    try new.read(into: left, at: at) == left.count
                    && old.read(into: right, at: source) == right.count
                if isWhole, end - at >= shortest, memcmp(left.baseAddress!, right.baseAddress!, left.count) == 0 {
                    if let last = shared.last, last.range.upperBound == at,
                        last.source + Int64(last.range.count) == source
                    {
                        shared[shared.count - 1].range = last.range.lowerBound..<end
                    } else if at >= shared.last?.range.upperBound ?? 0, shared.count < mostShared {
                        shared.append(Shared(range: at..<end, source: source))
                    }
                }
                at = end
                try progress(Int64(left.count))
            }
        }
        let delta = ArchiveDelta(base: base.hex, shared: shared)
        guard delta.sharedBytes * 10 >= file.size else { return nil }
        let hasher = ContentHasher(like: base, size: try old.status().size)
        try hasher.update(old) { _ in try progress(0) }
        return hasher.finish() == base ? delta : nil
    }
}

extension ArchiveManifest {
    /// Leaves out what the other side has, and makes deltas of files of which it has an older revision.
    ///
    /// - Parameter there: the SHA-256 digests of what it has.
    package mutating func leaveOut(
        _ there: Set<String>, in layout: CacheLayout, _ watcher: ArchiveExport.Watcher
    ) throws {
        leftOut = Set(models.flatMap(\.files).filter(\.isLFS).map(\.digest.hex)).intersection(there)
        var pairs: [(file: RepositoryFile, path: String, base: ContentDigest, older: String)] = []
        let large = blobs.filter { $0.file.isLFS && !$0.isLeftOut && $0.size >= ArchiveDelta.smallestFile }
        for (index, blobs) in Dictionary(grouping: large, by: \.model).sorted(by: { $0.key < $1.key }) {
            let model = models[index]
            let folder = layout.repository(model.repository)
            let revisions = try folder.olderRevisions(than: model.commit)
            for blob in blobs {
                let path = blob.file.path
                for other in revisions {
                    guard let older = FileSystem.resolved(Path.join(folder.snapshot(other), path)),
                        let base = ContentDigest(etag: Path.name(older)), base.isSHA256, there.contains(base.hex)
                    else { continue }
                    pairs.append((blob.file, Path.join(folder.snapshot(model.commit), path), base, older))
                    break
                }
            }
        }
        let total = pairs.map(\.file).totalSize
        var done: Int64 = 0
        for (file, path, base, older) in pairs {
            deltas[file.digest.hex] = try ArchiveDelta.find(file, at: path, base: base, at: older) { bytes in
                if watcher.isCancelled() { throw CancellationError() }
                done += bytes
                watcher.report(.init(path: file.path, doneBytes: min(done, total), totalBytes: total))
            }
        }
    }
}

extension CacheLayout {
    /// A content of any repository; nil if none has it.
    func content(_ sha256: String, first folder: RepositoryFolder) throws(AIError) -> String? {
        var places = [folder.blob(sha256)]
        for name in try FileSystem.entries(root) ?? [] where RepositoryFolder.isName(name) {
            places.append(RepositoryFolder(cache: self, name: name).blob(sha256))
        }
        for place in places where try FileSystem.status(place)?.kind == .file { return place }
        return nil
    }
}

/// The older content that a delta is made of, open.
final class DeltaSource {
    private let path: String
    private let file: FileDescriptor

    init(_ path: String) throws(AIError) {
        self.path = path
        file = try FileDescriptor(unnoticed: path)
    }

    /// Fills the buffer.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(AIError) {
        guard try file.read(into: buffer, at: offset) == buffer.count else {
            throw AIError(
                .malformedModel, "\(path.printable) is shorter than the archive says", context: .init(path: path))
        }
    }
}
