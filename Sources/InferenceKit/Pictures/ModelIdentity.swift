import HubCore

/// What tells the vectors of a model from those of another: its weights, the files that say how pictures are prepared and
/// computed, and how it computes.
struct ModelIdentity: Sendable {
    /// A file of weights.
    struct File: Sendable {
        var name: String
        /// Of its content: that of its blob, or one that was computed.
        var digest: String
        /// The file's state then, so that it need not be read again; nil for a blob, whose name says its digest.
        var stamp: FileFingerprint?
    }

    /// Of all of it, 64 digits.
    let digest: String
    private let files: [File]

    private static let settings = [
        "config.json", "open_clip_config.json", "preprocessor_config.json", "processor_config.json",
    ]

    /// - Parameters:
    ///   - weights: paths of the files.
    ///   - known: of an earlier time; files that did not change since are not read again.
    /// - Throws: ``ErrorCode/ioError``, ``ErrorCode/cancelled``.
    init(
        folder: String, weights: [String], isExact: Bool, known: ModelIdentity?, isCancelled: () -> Bool
    ) throws(AIError) {
        var parts = [isExact ? "exact" : "fast"]
        for name in Self.settings {
            guard let bytes = try FileSystem.contents(Path.join(folder, name)) else { continue }
            parts.append("\(name) \(ContentHasher.digest(of: bytes, like: .sha256("")).hex)")
        }
        var files: [File] = []
        for path in weights.sorted() {
            let file = try Self.file(path, known?.files ?? [], isCancelled)
            parts.append("\(file.name) \(file.digest)")
            files.append(file)
        }
        self.files = files
        digest = ContentHasher.digest(of: Array(parts.joined(separator: "\n").utf8), like: .sha256("")).hex
    }

    private static func file(
        _ path: String, _ known: [File], _ isCancelled: () -> Bool
    ) throws(AIError) -> File {
        let name = Path.name(path)
        // A snapshot's link leads to `blobs/<digest>`.
        if let target = FileSystem.resolved(path), Path.name(Path.parent(target)) == "blobs",
            let digest = ContentDigest(etag: Path.name(target))
        {
            return File(name: name, digest: digest.hex)
        }
        guard let status = try FileSystem.status(path) else {
            throw AIError(.fileNotFound, "\(path) does not exist", context: .init(path: path))
        }
        if let same = known.first(where: { $0.name == name && $0.stamp == status.fingerprint }) { return same }
        do {
            let digest = try ContentHasher.digest(ofFile: path, like: .sha256("")) { _ in
                if isCancelled() { throw AIError(.cancelled, "interrupted") }
            }
            return File(name: name, digest: digest.hex, stamp: status.settledFingerprint)
        } catch { throw AIError.wrapping(error) }
    }

    // MARK: In a file

    /// nil for what is none.
    init?(_ json: JSON) {
        guard let digest = json["model"]?.string, let list = json["files"]?.array else { return nil }
        self.digest = digest
        files = list.compactMap { entry in
            guard let name = entry["name"]?.string, let digest = entry["digest"]?.string else { return nil }
            return File(name: name, digest: digest, stamp: entry["stamp"].flatMap(FileFingerprint.init))
        }
    }

    var json: JSONObject {
        [
            "model": .string(digest),
            "files": .array(
                files.map {
                    .object([
                        "name": .string($0.name), "digest": .string($0.digest), "stamp": $0.stamp.map(\.json),
                    ])
                }),
        ]
    }
}

extension FileStatus {
    /// The fingerprint; nil where the file was changed in the last two seconds: another change within one tick of its
    /// clock would not show (2 seconds is FAT's).
    var settledFingerprint: FileFingerprint? {
        Timestamp.nowNanoseconds - max(changedNanoseconds, modifiedNanoseconds) > 2_000_000_000 ? fingerprint : nil
    }
}

extension FileFingerprint {
    fileprivate init?(_ json: JSON) {
        let numbers = json.array?.compactMap(\.int) ?? []
        guard numbers.count == 5 else { return nil }
        self.init(
            device: UInt64(bitPattern: numbers[0]), inode: UInt64(bitPattern: numbers[1]), size: numbers[2],
            modified: numbers[3], changed: numbers[4])
    }

    fileprivate var json: JSON {
        .array(
            [Int64(bitPattern: device), Int64(bitPattern: inode), size, modified, changed].map { .int($0) })
    }
}
