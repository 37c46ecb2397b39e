public import HubCore
public import HubMedia
import ModelFormats

/// Vectors of one's own pictures, kept in a file, so that only pictures that are new or changed are computed.
///
/// A picture is known by its path, and its file is read again only when the file system says that it changed; with the
/// same content, under whatever name, it keeps its vector. The file is replaced as a whole. Several processes may use it:
/// what each has computed is kept.
public struct PictureIndex: Sendable {
    /// A picture near a vector.
    public struct Match: Sendable, Hashable {
        /// Its file.
        public let path: String
        /// The cosine of the angle between both vectors, -1 to 1.
        public let cosine: Double
    }

    /// What was done with pictures.
    public struct Changes: Sendable {
        /// The number of those that were computed.
        public var computed = 0
        /// The number of those whose vectors were known.
        public var kept = 0
        /// Files that are not there any more.
        public var gone: [String] = []
        /// Why pictures cannot be read, each with its file; they are not in the index.
        public var unreadable: [AIError] = []
    }

    /// The file.
    public let path: String
    /// Why the file that was there could not be used and will be replaced, in a few words; nil if it could.
    public private(set) var fault: String?

    private let model: PictureModel
    private var content: PictureIndexFile
    /// Pictures that are other than in the file; nil for one that is no more.
    private var changes: [String: PictureIndexFile.Entry?] = [:]
    /// Of each content the path of one picture that has it.
    private var paths: [String: String] = [:]

    /// Bytes of an index at most: 8 GB are four million vectors of 512 numbers.
    private static let mostBytes = 8 << 30
    /// Seconds after which what was computed is written, so that an interruption costs no more.
    private static let writingInterval = 30.0

    /// Opens an index. Without a file it starts empty.
    ///
    /// - Parameters:
    ///   - name: what errors call the model; nil for its folder's name.
    /// - Throws: ``ErrorCode/unreadableFile`` for a file that is no index, or one of a later version;
    ///   ``ErrorCode/invalidInput`` for one of another model; ``ErrorCode/ioError``, ``ErrorCode/cancelled``. A damaged
    ///   index is none of these: it is ``fault``, and empty.
    public static func open(
        _ path: String, for model: PictureModel, named name: String? = nil
    ) async throws(AIError) -> PictureIndex {
        // The file itself is replaced, not a link to it.
        let found = FileSystem.resolved(path)
        let path = if let found { found } else { try place(of: path) }
        return try await ComputeQueue().run { isCancelled throws(AIError) in
            let (found, fault) = try read(path)
            let identity = try ModelIdentity(
                folder: model.inspection.folder, weights: model.weightFiles, isExact: model.isExact,
                known: found?.model, isCancelled: isCancelled)
            let name = name ?? Path.name(model.inspection.folder)
            var content = PictureIndexFile(model: identity, name: name)
            if let found {
                try check(found, identity, name, path)
                (content.dimensions, content.entries) = (found.dimensions, found.entries)
            }
            return PictureIndex(path: path, fault: fault, model: model, content: content)
        }
    }

    private init(path: String, fault: String?, model: PictureModel, content: PictureIndexFile) {
        (self.path, self.fault, self.model, self.content) = (path, fault, model, content)
        for (path, entry) in content.entries { paths[entry.digest] = path }
    }

    /// The files of all pictures, in the order of their names.
    public var files: [String] { content.entries.keys.sorted() }
    /// The number of pictures.
    public var count: Int { content.entries.count }

    // MARK: The file

    /// What is in the file; nothing where there is none, or a damaged one.
    private static func read(_ path: String) throws(AIError) -> (PictureIndexFile?, fault: String?) {
        guard let status = try FileSystem.status(path) else { return (nil, nil) }
        guard status.kind == .file else { throw AIError.unreadableIndex(path, "it is not a file") }
        // As `mktemp` makes one.
        if status.size == 0 { return (nil, nil) }
        guard let bytes = try FileSystem.contents(path, limit: mostBytes) else { return (nil, nil) }
        do throws(PictureIndexFile.Fault) { return (try PictureIndexFile(bytes), nil) } catch {
            switch error {
            case .other: throw AIError.unreadableIndex(path, "it is no index of pictures, and it is left as it is")
            case .later(let version):
                throw AIError.unreadableIndex(
                    path, "it has the form \(version), which a later version of hub writes")
            case .unusable(let fault): return (nil, fault)
            }
        }
    }

    private static func check(
        _ found: PictureIndexFile, _ identity: ModelIdentity, _ name: String, _ path: String
    ) throws(AIError) {
        guard found.model.digest != identity.digest else { return }
        throw AIError(
            .invalidInput,
            found.name == name
                ? "\(path.printable) was made with other files of \(name.printable), or with the other of --exact and --fast"
                : "\(path.printable) was made with \(found.name.printable), not with \(name.printable)",
            advice: "name another file, or delete this one to begin anew", context: .init(path: path))
    }

    /// Writes what was computed since, together with what other processes have written.
    ///
    /// - Throws: ``ErrorCode/ioError``, and what ``open(_:for:named:)`` throws for a file that another process put there.
    public mutating func save() async throws(AIError) {
        guard !changes.isEmpty || fault != nil else { return }
        let (path, own, changes) = (path, content, changes)
        content = try await ComputeQueue().run { _ throws(AIError) in
            // flock on the file itself, which is then replaced: whoever waited for the old one opens the new one.
            while true {
                let file = try FileDescriptor(path, [.write, .create])
                try file.lock()
                let (held, current) = (try file.status(), try FileSystem.status(path))
                guard held.inode == current?.inode, held.device == current?.device else { continue }
                return try Self.write(path, own, changes)
            }
        }
        for (path, entry) in content.entries { paths[entry.digest] = path }
        (self.changes, fault) = ([:], nil)
    }

    private static func write(
        _ path: String, _ own: PictureIndexFile, _ changes: [String: PictureIndexFile.Entry?]
    ) throws(AIError) -> PictureIndexFile {
        var whole = own
        if let others = try read(path).0 {
            try check(others, own.model, own.name, path)
            whole.entries = others.entries
            for (path, entry) in changes { whole.entries[path] = entry }
            if whole.dimensions == 0 { whole.dimensions = others.dimensions }
        }
        try FileSystem.replace(path, with: whole.bytes, durable: true)
        return whole
    }

    // MARK: Pictures

    /// Sees to it that pictures have their vectors, and writes the index.
    ///
    /// - Parameters:
    ///   - skipsUnreadable: whether pictures that cannot be read are left out; otherwise the first one is an error.
    ///   - note: called with the number of pictures that are done, after each.
    /// - Throws: ``ErrorCode/fileNotFound`` and ``ErrorCode/unreadableFile`` for a picture that cannot be read,
    ///   ``ErrorCode/cancelled``, and what ``PictureModel/embed(_:normalizes:)`` and ``save()`` throw. What was computed
    ///   before is written.
    @discardableResult
    public mutating func add(
        _ files: [String], limits: PictureLimits = PictureLimits(), skipsUnreadable: Bool = false,
        note: @Sendable (Int) -> Void = { _ in }
    ) async throws(AIError) -> Changes {
        var done = Changes()
        var written = Clock.seconds
        do throws(AIError) {
            let places = try await ComputeQueue().run { _ throws(AIError) in
                try files.map { file throws(AIError) in try Self.place(of: file) }
            }
            for (number, (file, path)) in zip(files, places).enumerated() {
                do throws(AIError) {
                    if try await add(file, at: path, limits) { done.computed += 1 } else { done.kept += 1 }
                } catch {
                    guard skipsUnreadable, [.unreadableFile, .invalidInput].contains(error.code) else {
                        throw error
                    }
                    // The vector of what was there before is not that of what is there now.
                    drop(path)
                    done.unreadable.append(error)
                }
                note(number + 1)
                if Clock.seconds - written > Self.writingInterval {
                    try await save()
                    written = Clock.seconds
                }
            }
        } catch {
            try await save()
            throw error
        }
        try await save()
        return done
    }

    /// The same with all pictures of the index; those that cannot be read any more are left out. A picture whose file is
    /// gone leaves the index if its folder is still there; where the folder is gone as well, as with a disk that is not
    /// mounted, it stays for later.
    ///
    /// - Throws: as ``add(_:limits:skipsUnreadable:note:)`` does, but for files that are gone or cannot be read.
    @discardableResult
    public mutating func refresh(
        limits: PictureLimits = PictureLimits(), note: @Sendable (Int) -> Void = { _ in }
    ) async throws(AIError) -> Changes {
        let known = files
        let (gone, deleted) = try await ComputeQueue().run { _ throws(AIError) in
            var gone: [String] = []
            for path in known where try FileSystem.status(path) == nil { gone.append(path) }
            return (gone, gone.filter { FileSystem.exists(Path.parent($0)) })
        }
        for path in deleted { drop(path) }
        let missing = Set(gone)
        var done = try await add(
            known.filter { !missing.contains($0) }, limits: limits, skipsUnreadable: true, note: note)
        done.gone = gone
        return done
    }

    private mutating func drop(_ path: String) {
        guard content.entries.removeValue(forKey: path) != nil else { return }
        changes[path] = .some(nil)
    }

    /// - Parameter path: its ``place(of:)``.
    /// - Returns: whether it had to be computed.
    private mutating func add(
        _ file: String, at path: String, _ limits: PictureLimits
    ) async throws(AIError) -> Bool {
        let known = content.entries[path]
        let state = try await Self.read(file, unless: known?.stamp, limits)
        guard let state else { return false }
        var entry = PictureIndexFile.Entry(stamp: state.stamp, digest: state.digest, vector: [])
        var isComputed = false
        // The digest was removed with the last picture that had it, or belongs to one whose content has changed.
        if let same = paths[state.digest].flatMap({ content.entries[$0] }), same.digest == state.digest {
            entry.vector = same.vector
        } else {
            isComputed = true
            entry.vector = try await model.embed([try await Self.decode(state.bytes, file, limits)])[0].vector
            if content.dimensions == 0 { content.dimensions = entry.vector.count }
            guard entry.vector.count == content.dimensions else {
                throw .malformed(
                    self.path, "its vectors have \(content.dimensions) numbers, and the model makes others")
            }
        }
        content.entries[path] = entry
        changes[path] = entry
        paths[entry.digest] = path
        return isComputed
    }

    private struct State: Sendable {
        var stamp: FileFingerprint?
        var digest: String
        var bytes: [UInt8]
    }

    /// A file's content; nil if it did not change.
    private static func read(
        _ file: String, unless stamp: FileFingerprint?, _ limits: PictureLimits
    ) async throws(AIError) -> State? {
        try await ComputeQueue().run { isCancelled throws(AIError) in
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            guard let status = try FileSystem.status(file) else {
                throw AIError(.fileNotFound, "\(file.printable) does not exist", context: .init(path: file))
            }
            if let stamp, stamp == status.fingerprint { return nil }
            // What is too large, or no file, is said as for any picture.
            guard status.kind == .file, status.size <= limits.fileBytes,
                let bytes = try FileSystem.contents(file, limit: limits.fileBytes)
            else {
                _ = try PictureFile.read(file, limits: limits)
                throw AIError(
                    .fileChanged, "\(file.printable) changes while it is read", context: .init(path: file))
            }
            let later = try FileSystem.status(file)
            let digest = ContentHasher.digest(of: bytes, like: .sha256("")).hex
            let isSame = later?.fingerprint == status.fingerprint
            return State(stamp: isSame ? later?.settledFingerprint : nil, digest: digest, bytes: bytes)
        }
    }

    private static func decode(
        _ bytes: [UInt8], _ file: String, _ limits: PictureLimits
    ) async throws(AIError) -> Picture {
        try await ComputeQueue().run { _ throws(AIError) in
            try PictureFile.read(bytes, name: file, limits: limits)
        }
    }

    /// A file's path from the root, its folder's links followed; the file may be one itself.
    private static func place(of file: String) throws(AIError) -> String {
        let folder = Path.parent(file)
        guard let resolved = FileSystem.resolved(folder) else {
            throw AIError(.fileNotFound, "\(folder.printable) does not exist", context: .init(path: folder))
        }
        return Path.join(resolved, Path.name(file))
    }

    // MARK: Searching

    /// The vector of a picture as ``PictureModel/embed(_:normalizes:)`` gives it; nil for one that is not in the index.
    public func vector(of file: String) -> EmbeddingResult? {
        (try? Self.place(of: file)).flatMap { content.entries[$0] }.map { EmbeddingResult(vector: $0.vector) }
    }

    /// The pictures nearest to a vector by their cosine, the nearest first; of equally near ones the first by name.
    ///
    /// - Parameters:
    ///   - vector: of a text or a picture of the same model; of a shorter one so many numbers are compared.
    ///   - count: how many pictures at most.
    /// - Throws: ``ErrorCode/invalidInput`` for a vector that is longer than those of the index.
    public func nearest(to vector: EmbeddingResult, count: Int) throws(AIError) -> [Match] {
        let names = files
        var index = EmbeddingIndex()
        for name in names {
            guard let found = content.entries[name] else { continue }
            try index.add(try EmbeddingResult(vector: found.vector).shortened(to: vector.dimensions))
        }
        return try index.nearest(to: vector, count: count).map {
            Match(path: names[$0.index], cosine: $0.cosine)
        }
    }
}

extension AIError {
    fileprivate static func unreadableIndex(_ path: String, _ fault: String) -> AIError {
        AIError(
            .unreadableFile, "cannot read \(path.printable): \(fault)", advice: "name another file",
            context: .init(path: path))
    }
}
