package import HubCore

/// What an archive of `hub export` holds: its first entry. Everything else follows from it, in this order.
///
/// Who reads one trusts nothing of it: names are checked as those from a server, and what the bytes are their digests say.
package struct ArchiveManifest: Sendable, Hashable {
    /// One model at one commit.
    package struct Model: Sendable, Hashable {
        package var repository: Repository
        package var commit: Commit
        /// The branch or tag that a pull would write; nil for a commit.
        package var ref: String?
        package var choice: FileChoice
        /// All files of the commit.
        package var tree: RepositoryTree
        /// Those that the archive is about, by path.
        package var paths: [String]
        /// What the catalog knows of the repository, under the Hub's own names.
        package var record: JSON?

        package var files: [RepositoryFile] {
            let wanted = Set(paths.map(ExactText.init))
            return tree.files.filter { wanted.contains(ExactText($0.path)) }
        }
        package var totalBytes: Int64 { files.totalSize }
    }

    /// One content.
    package struct Blob: Sendable, Hashable {
        package var file: RepositoryFile
        /// The first model that has it, by index.
        package var model: Int
        /// Left out: the receiver has it.
        package var isLeftOut: Bool
        /// What it has in common with a content that the receiver has; nil if the archive has all of it.
        var delta: ArchiveDelta?
        /// Bytes in the archive.
        package var size: Int64 { file.size - (delta?.sharedBytes ?? 0) }

        /// Its name in the archive. Content named by SHA-1 belongs to one repository.
        package var name: String {
            if delta != nil { return "deltas/\(file.digest.hex)" }
            return file.isLFS ? "blobs/\(file.digest.hex)" : "blobs/\(model)/\(file.digest.hex)"
        }

        /// The parts of the content, in order.
        var pieces: [ArchiveDelta.Piece] {
            delta?.pieces(file.size) ?? (file.size > 0 ? [ArchiveDelta.Piece(range: 0..<file.size)] : [])
        }
    }

    package var models: [Model]
    /// The SHA-256 digests of content that was left out.
    package var leftOut: Set<String> = []
    /// Content that is archived as what it does not share with another, by its SHA-256.
    var deltas: [String: ArchiveDelta] = [:]

    package init(models: [Model]) { self.models = models }

    /// The contents in the order of the archive.
    package var blobs: [Blob] {
        var seen: Set<String> = []
        var out: [Blob] = []
        for (index, model) in models.enumerated() {
            for file in model.files {
                let blob = Blob(
                    file: file, model: index, isLeftOut: file.isLFS && leftOut.contains(file.digest.hex),
                    delta: file.isLFS ? deltas[file.digest.hex] : nil)
                let key = file.isLFS ? file.digest.hex : "\(model.repository) \(file.digest.hex)"
                if seen.insert(key).inserted { out.append(blob) }
            }
        }
        return out
    }

    /// The name of its entry.
    static let name = "hub-export.json"
}

extension ArchiveManifest {
    private static let version: Int64 = 1
    /// The largest manifest in bytes. A tree takes some 200 bytes a file.
    static let limit: Int64 = 32 << 20

    package var json: JSON {
        .object([
            "hub_export": .int(Self.version),
            "models": .array(
                models.map { model in
                    .object([
                        "id": .string(model.repository.description), "commit": .string(model.commit.hash),
                        "ref": model.ref.map { .string($0) },
                        "choice": model.choice.isEverything ? nil : model.choice.json,
                        "files": .array(model.paths.map { .string($0) }),
                        "tree": .array(model.tree.files.map(\.travelJSON)), "record": model.record,
                    ])
                }), "left_out": leftOut.isEmpty ? nil : .array(leftOut.sorted().map { .string($0) }),
            "deltas": deltas.isEmpty ? nil : .object(deltaEntries),
        ])
    }

    /// Reads a manifest.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` naming the model and the fault.
    init(_ bytes: [UInt8]) throws(AIError) {
        func fault(_ why: String) -> AIError { AIError(.malformedModel, "the manifest: \(why)") }
        let json: JSON
        do throws(JSONError) { json = try JSON.parse(bytes) } catch { throw fault("\(error)") }
        guard let version = json["hub_export"]?.int, let list = json["models"]?.array else {
            throw fault("it is not one of hub export")
        }
        guard version == Self.version else {
            throw fault("it has version \(version), and this hub knows version \(Self.version)")
        }
        models = []
        for entry in list {
            let name = entry["id"]?.string ?? "a model without an id"
            do throws(AIError) { models.append(try Model(json: entry)) } catch {
                throw fault("\(name.printable): \(error.message)")
            }
        }
        for text in json["left_out"]?.array ?? [] {
            guard let digest = text.string.flatMap(ContentDigest.init(etag:)), digest.isSHA256 else {
                throw fault("a file that was left out has no SHA-256")
            }
            leftOut.insert(digest.hex)
        }
        try readDeltas(json["deltas"], fault)
        let names = models.map { "\($0.repository) \($0.commit) \($0.ref ?? "")" }
        guard Set(names).count == names.count else { throw fault("a model is there twice") }
        try checkSizes(fault)
    }

    private var deltaEntries: JSONObject {
        JSONObject(deltas.sorted { $0.key < $1.key }.map { ($0.key, .object($0.value.json)) })
    }

    private mutating func readDeltas(_ json: JSON?, _ fault: (String) -> AIError) throws(AIError) {
        guard let json else { return }
        guard let entries = json.object else { throw fault("its deltas are not an object") }
        let files = Dictionary(
            models.flatMap(\.files).filter(\.isLFS).map { ($0.digest.hex, $0) }, uniquingKeysWith: { one, _ in one }
        )
        for (digest, entry) in entries.members {
            guard let file = files[digest], !leftOut.contains(digest) else {
                throw fault("a delta is not of one of its files")
            }
            guard let delta = ArchiveDelta(json: entry, size: file.size) else {
                throw fault("the delta of \(file.path.printable) is not one of hub's")
            }
            deltas[digest] = delta
        }
    }

    /// One digest has one size, and all files together have one that a disk could have.
    private func checkSizes(_ fault: (String) -> AIError) throws(AIError) {
        var sizes: [String: Int64] = [:]
        var total: Int64 = 0
        for file in models.flatMap(\.tree.files) {
            if let other = sizes.updateValue(file.size, forKey: file.digest.hex), other != file.size {
                throw fault("\(file.path.printable) has a digest that another file has with another size")
            }
            total = total.addingClamped(file.size)
        }
        guard total <= RepositoryTree.sizeLimit else { throw fault("its files are larger than any disk") }
    }
}

extension ArchiveManifest.Model {
    fileprivate init(json: JSON) throws(AIError) {
        func fault(_ why: String) -> AIError { AIError(.malformedModel, why) }
        guard let id = json["id"]?.string, let name = try? ModelReference(parsing: id), name.revision == nil,
            name.files == nil, name.repository.description == id
        else { throw fault("it is not the name of a repository") }
        guard let commit = json["commit"]?.string.flatMap(Commit.init) else { throw fault("there is no commit") }
        let ref = json["ref"]?.string
        if let ref, RepositoryPath.fault(ref) != nil || Commit(ref) != nil {
            throw fault("\"\(ref.printable)\" is not the name of a branch")
        }
        guard let list = json["tree"]?.array, let wanted = json["files"]?.array else {
            throw fault("there are no files")
        }
        var choice = FileChoice.everything
        if let told = json["choice"] {
            guard let read = FileChoice(json: told) else { throw fault("the choice is not one of hub's") }
            choice = read
        }
        var files: [RepositoryFile] = []
        files.reserveCapacity(list.count)
        for entry in list { files.append(try RepositoryFile(travelJSON: entry)) }
        try Self.checkPaths(files.map(\.path))
        let known = Set(files.map { ExactText($0.path) })
        var paths: [String] = []
        for entry in wanted {
            guard let path = entry.string, known.contains(ExactText(path)) else {
                throw fault("it has a file that the commit does not have")
            }
            paths.append(path)
        }
        guard Set(paths.map(ExactText.init)).count == paths.count else { throw fault("a file is there twice") }
        (repository, self.commit, self.ref) = (name.repository, commit, ref)
        tree = RepositoryTree(commit: commit, files: files)
        (self.paths, record) = (paths, json["record"])
        self.choice = choice.taking(exactly: paths, of: files.map(\.path))
    }

    /// No path is there twice, and none is a folder of another.
    private static func checkPaths(_ paths: [String]) throws(AIError) {
        let all = Set(paths.map(ExactText.init))
        guard all.count == paths.count else { throw AIError(.malformedModel, "a file is there twice") }
        for path in paths {
            var parent = Path.parent(path)
            while parent != "." {
                guard !all.contains(ExactText(parent)) else {
                    throw AIError(.malformedModel, "\"\(parent.printable)\" is a file and a folder")
                }
                parent = Path.parent(parent)
            }
        }
    }
}

extension RepositoryFile {
    fileprivate var travelJSON: JSON {
        .object([
            "path": .string(path), "size": .int(size), "oid": .string(oid), "sha256": sha256.map { .string($0) },
            "xet": xetHash.map { .string($0) },
        ])
    }

    fileprivate init(travelJSON json: JSON) throws(AIError) {
        func fault(_ why: String) -> AIError { AIError(.malformedModel, why) }
        guard let path = json["path"]?.string else { throw fault("a file has no path") }
        if let why = RepositoryPath.fault(path) { throw fault("\"\(path.printable)\": \(why)") }
        guard let size = json["size"]?.int, (0...RepositoryTree.sizeLimit).contains(size) else {
            throw fault("\"\(path.printable)\" has no size, or one that no file has")
        }
        func digits(_ key: String, _ count: Int) throws(AIError) -> String? {
            guard let text = json[key]?.string else { return nil }
            guard text.utf8.count == count, ContentDigest(etag: text) != nil else {
                throw fault("\"\(path.printable)\" has an invalid \(key)")
            }
            return text
        }
        guard let oid = try digits("oid", 40) else { throw fault("\"\(path.printable)\" has no digest") }
        self.init(
            path: path, size: size, oid: oid, sha256: try digits("sha256", 64), xetHash: try digits("xet", 64))
    }
}
