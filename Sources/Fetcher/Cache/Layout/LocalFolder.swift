import CCrypto
import HubCore

/// A `--local-dir` folder with the plain files of a repository and Python's bookkeeping in `.cache/huggingface/`:
/// commit, etag and time for each file.
/// https://huggingface.co/docs/huggingface_hub/guides/download#download-files-to-a-local-folder
package struct LocalFolder: Sendable, Hashable {
    /// The folder, links resolved.
    package let path: String

    /// A folder that need not exist yet.
    package init(_ path: String) { self.path = CacheLayout(path).root }

    /// The bookkeeping's path relative to the folder.
    static let bookkeeping = ".cache/huggingface"

    var bookkeeping: String { Path.join(path, Self.bookkeeping) }
    var downloads: String { Path.join(bookkeeping, "download") }

    /// The metadata of a file.
    struct Note: Hashable {
        var commit: String
        var etag: String
        /// Seconds since 1970.
        var time: Double

        /// Whether a file may have been written, moved or touched since. A pull waits after its last metadata until the
        /// file system's clock has advanced, so that a later change has a later time. With timestamps in whole seconds,
        /// two seconds are uncertain.
        func isOlder(than status: FileStatus) -> Bool {
            let second: Int64 = 1_000_000_000
            let isCoarse = status.modifiedNanoseconds % second == 0 && status.changedNanoseconds % second == 0
            return max(status.modified, status.changed) + (isCoarse ? 2 : 0) > time
        }

        /// Whether a file may have changed since its metadata was written: by times, and by size if known. Then only
        /// the digest decides; verify, rm and pull keep changed files.
        func mayBeChanged(_ status: FileStatus, size: Int64?) -> Bool {
            isOlder(than: status) || size.map { $0 != status.size } ?? false
        }
    }

    func place(_ file: String) -> String { Path.join(path, file) }
    func notePath(_ file: String) -> String { Path.join(downloads, file + ".metadata") }
    func treePath(_ commit: Commit) -> String { Path.join(bookkeeping, "trees/\(commit.hash).json") }

    /// Creates the folder and its bookkeeping.
    func prepare(_ tree: RepositoryTree) throws(AIError) {
        try FileSystem.createDirectories(downloads)
        let ignore = Path.join(bookkeeping, ".gitignore")
        if !FileSystem.exists(ignore) { try FileSystem.replace(ignore, with: Array("*".utf8)) }
        try CacheLayout(bookkeeping).create()
        try tree.write(to: treePath(tree.commit))
    }

    /// The metadata of a file; nil if there is none, or the file has changed since.
    ///
    /// A moved file keeps its mtime, and fine-tuned weights have the same size. Only ctime tells; in a copied folder it
    /// is new too, so the digest decides.
    func note(of file: String) throws(AIError) -> Note? {
        guard let note = try writtenNote(of: file), let status = try FileSystem.status(place(file)) else {
            return nil
        }
        guard note.isOlder(than: status) else { return note }
        guard status.kind == .file, let digest = ContentDigest(etag: note.etag) else { return nil }
        do {
            return try ContentHasher.digest(ofFile: place(file), like: digest) == digest ? note : nil
        } catch {
            throw .wrapping(error)
        }
    }

    /// The metadata of a file, even if outdated.
    func writtenNote(of file: String) throws(AIError) -> Note? {
        guard let text = try FileSystem.text(notePath(file)) else { return nil }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 3, let time = Double(lines[2]) else { return nil }
        return Note(commit: String(lines[0]), etag: String(lines[1]), time: time)
    }

    /// Writes a file's metadata. Call when the file is in place.
    func write(_ file: String, commit: Commit, digest: ContentDigest) throws(AIError) {
        let path = notePath(file)
        try FileSystem.createDirectories(Path.parent(path))
        try FileSystem.replace(path, with: Array("\(commit.hash)\n\(digest.hex)\n\(Timestamp.now)\n".utf8))
    }

    /// The paths for assembling a file. The partial's name is Python's except for its suffix, so that neither uses the
    /// other's.
    func places(_ file: RepositoryFile) -> TransferPlaces {
        let note = notePath(file.path)
        let stem = Path.join(Path.parent(note), "\(Self.shortHash(Path.name(note))).\(file.digest.hex)")
        return TransferPlaces(
            content: place(file.path), stem: stem, lock: note.dropLast("metadata".count) + "lock",
            isReady: { () throws(AIError) in try state(of: file) == .unchanged })
    }

    /// The state of a file.
    enum State {
        case absent
        /// Recorded with this content.
        case unchanged
        /// Recorded with another content.
        case outdated
        /// The size matches, but there is no valid metadata: the digest decides.
        case unknown
        /// The user's own: changed since it was fetched, or never fetched.
        case foreign
    }

    func state(of file: RepositoryFile) throws(AIError) -> State {
        guard let status = try FileSystem.status(place(file.path)) else { return .absent }
        guard status.kind == .file else { return .foreign }
        if let written = try writtenNote(of: file.path), written.etag == file.digest.hex {
            guard written.mayBeChanged(status, size: file.size) else { return .unchanged }
            // Verification rewrites the metadata, so a copied folder is read only once.
            return status.size == file.size ? .unknown : .foreign
        }
        if try note(of: file.path) != nil { return .outdated }
        return status.size == file.size ? .unknown : .foreign
    }

    /// Python's name for a file's partials: base64 of SHA-1 of the metadata file's name.
    private static func shortHash(_ name: String) -> String {
        var digest = [UInt8](repeating: 0, count: Int(SHA_DIGEST_LENGTH))
        let bytes = Array(name.utf8)
        SHA1(bytes, bytes.count, &digest)
        return Base64.text(digest).replacing("+", with: "-").replacing("/", with: "_")
    }
}

extension LocalFolder {
    /// All metadata by file name, valid or not.
    func notes() throws(AIError) -> [(name: String, note: Note)] {
        let ending = ".metadata"
        var out: [(name: String, note: Note)] = []
        for path in try names(below: downloads) where path.hasSuffix(ending) {
            let name = String(path.dropLast(ending.count))
            guard RepositoryPath.fault(name) == nil, let note = try writtenNote(of: name) else { continue }
            out.append((name, note))
        }
        return out
    }

    /// Whether a pull has put files there.
    package var isKnown: Bool { FileSystem.exists(downloads) }

    /// The files, without the bookkeeping and `.git`.
    func files() throws(AIError) -> [String] { try names(below: path, except: [".cache", ".git"]) }

    /// The stored file list of a commit.
    func readTree(_ commit: Commit) throws(AIError) -> RepositoryTree? {
        try RepositoryTree.read(treePath(commit), commit)
    }

    /// The files below a folder by relative path; links are not followed.
    ///
    /// - Parameter except: names directly in the folder to skip.
    func names(below top: String, except: Set<String> = []) throws(AIError) -> [String] {
        var out: [String] = []
        func visit(_ place: String, _ prefix: String) throws(AIError) {
            for name in try FileSystem.entries(place) ?? [] where !(prefix.isEmpty && except.contains(name)) {
                let path = Path.join(place, name)
                guard let status = try FileSystem.linkStatus(path) else { continue }
                if status.kind == .directory {
                    try visit(path, prefix + name + "/")
                } else {
                    out.append(prefix + name)
                }
            }
        }
        try visit(top, "")
        return out
    }
}
