import Catalog
package import HubCore
import ModelFormats

extension Puller {
    /// What an archive holds of a cached revision: the files that are there.
    ///
    /// - Throws: ``ErrorCode/notCached``; ``ErrorCode/offline`` if the file list is unknown here and the Hub may not be
    ///   asked.
    package func archived(_ reference: ModelReference) async throws -> ArchiveManifest.Model {
        let found = try await Blocking.run { [layout] in try layout.snapshot(of: reference) }
        guard let (folder, commit) = found else {
            throw AIError(
                .notCached, "\(reference) is not in the cache \(layout.root)",
                advice: "hub pull \(reference) downloads it",
                context: .init(repository: reference.repository.description))
        }
        let tree = try await tree(of: reference.repository, at: commit)
        return try await Blocking.run { [catalog, layout] in
            let named = try reference.files.map { word throws(AIError) in
                try NamedFiles(word, among: tree.files, of: reference.repository)
            }
            let present = try tree.files.filter { file throws(AIError) in
                guard named?.needs(file.path) ?? true else { return false }
                return try SnapshotFile.state(file, commit: commit, in: folder) == .present
            }
            if case .weights(let variant, _) = named {
                let here = Set(present.map { ExactText($0.path) })
                guard variant.files.allSatisfy({ here.contains(ExactText($0)) }) else {
                    throw AIError(
                        .notCached, "\(reference) is not in the cache \(layout.root)",
                        advice: "hub pull \(reference) downloads it",
                        context: .init(repository: reference.repository.description))
                }
            }
            guard !present.isEmpty || tree.files.isEmpty else {
                throw AIError(
                    .nothingMatches, "no cached file of \(reference.repository) matches \(reference)",
                    context: .init(repository: reference.repository.description))
            }
            var model = ArchiveManifest.Model(reference.repository, tree: tree, paths: present.map(\.path))
            if reference.revision.flatMap(Commit.init) == nil {
                let name = reference.revision ?? "main"
                if try folder.commit(ofRef: name) == commit { model.ref = name }
            }
            let known = catalog.use { catalog throws(AIError) in
                (
                    try CacheRecord(layout, in: catalog).choice(of: commit, folder.name)?.choice,
                    try catalog.model(reference.repository)?.record
                )
            }
            model.choice = (known?.0 ?? .everything).taking(exactly: model.paths, of: tree.files.map(\.path))
            model.record = known?.1?.travelJSON
            return model
        }
    }
}

extension ArchiveManifest.Model {
    /// A model of which nothing but its files is known.
    init(_ repository: Repository, tree: RepositoryTree, paths: [String]) {
        (self.repository, commit, self.tree, self.paths) = (repository, tree.commit, tree, paths)
        choice = .everything
    }
}

extension ModelRecord {
    /// Under the Hub's own names, as ``init(json:kind:)`` reads them.
    fileprivate var travelJSON: JSON {
        .object([
            "id": .string(repository.id.name), "author": author.map { .string($0) },
            "pipeline_tag": task.map { .string($0) }, "library_name": library.map { .string($0) },
            "tags": tags.map { .array($0.map { .string($0) }) }, "downloads": downloads.map { .int($0) },
            "likes": likes.map { .int($0) }, "usedStorage": usedStorage.map { .int($0) },
            "private": isPrivate.map { .bool($0) },
            "gated": gating.map { $0 == .open ? .bool(false) : .string($0.rawValue) },
            "cardData": license.map { .object(["license": .string($0)]) },
            "safetensors": parameters.map { .object(["total": .int($0)]) },
            "gguf": ggufArchitecture.map { .object(["architecture": .string($0)]) },
            "config": .object([
                "model_type": modelType.map { .string($0) },
                "architectures": modelClass.map { .array([.string($0)]) },
            ]), "createdAt": createdAt.map { .string(Timestamp.iso8601($0)) },
            "lastModified": updatedAt.map { .string(Timestamp.iso8601($0)) },
        ])
    }
}

/// What a cache holds, for an export elsewhere that leaves it out.
package struct CacheContents: Sendable {
    /// Sizes in bytes by SHA-256.
    package var blobs: [String: Int64] = [:]
    /// The cached revisions, sorted.
    package var models: [(repository: Repository, commit: Commit)] = []

    /// Reads names and sizes.
    package init(_ layout: CacheLayout) throws(AIError) {
        for name in try FileSystem.entries(layout.root) ?? [] {
            guard let repository = Repository(folderName: name) else { continue }
            let folder = RepositoryFolder(cache: layout, name: name)
            for etag in try FileSystem.entries(folder.blobs) ?? [] {
                guard let digest = ContentDigest(etag: etag), digest.isSHA256,
                    let status = try FileSystem.status(folder.blob(etag)), status.kind == .file
                else { continue }
                blobs[etag] = status.size
            }
            models += try folder.snapshotNames().compactMap(Commit.init).map { (repository, $0) }
        }
    }

    package var json: JSONObject {
        [
            "blobs": .array(
                blobs.sorted { $0.key < $1.key }.map {
                    .object(["sha256": .string($0.key), "bytes": .int($0.value)])
                }),
            "models": .array(
                models.map {
                    .object(["id": .string($0.repository.description), "commit": .string($0.commit.hash)])
                }),
        ]
    }

    /// The SHA-256 digests in what ``json`` wrote.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` naming the file and the fault.
    package static func digests(in path: String) throws(AIError) -> Set<String> {
        guard let bytes = try FileSystem.contents(path, limit: 256 << 20) else {
            throw AIError(.fileNotFound, "\(path.printable) does not exist", context: .init(path: path))
        }
        // Value by value: an inventory may have more of them than a document that is read whole.
        let found = try? JSONCursor.read(bytes) { document in Self.digests(in: document) }
        guard let found = found ?? nil else {
            throw AIError(
                .invalidInput, "\(path.printable) is not what hub cache inventory prints",
                context: .init(path: path))
        }
        guard !found.contains("") else {
            throw AIError(.invalidInput, "\(path.printable): a blob has no sha256", context: .init(path: path))
        }
        return found
    }

    /// An empty text stands for a blob without a digest; nil if there is no list of blobs.
    private static func digests(in document: JSONCursor) -> Set<String>? {
        var list: JSONCursor?
        _ = document.members { key, value in
            if key.equals("blobs") { list = value }
            return true
        }
        var out: Set<String> = []
        let isList = list?.elements { blob in
            var text: String?
            _ = blob.members { key, value in
                if key.equals("sha256") { text = value.text.map { String(decoding: $0, as: UTF8.self) } }
                return true
            }
            let digest = text.flatMap(ContentDigest.init(etag:))
            out.insert(digest?.isSHA256 == true ? digest!.hex : "")
            return true
        }
        return isList == true ? out : nil
    }
}
