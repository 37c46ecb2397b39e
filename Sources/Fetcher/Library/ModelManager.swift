public import Catalog
#if canImport(FoundationEssentials)
public import struct FoundationEssentials.URL
#else
public import struct Foundation.URL
#endif
public import HubCore

/// The models on this machine: fetches them, says where they are, counts and deletes them. One manager serves one cache
/// and one Hub; it is safe to use from any task, and whoever asks it for the same model shares one download.
public final class ModelManager: Sendable {
    let downloads = Downloads()
    private let opening: LazyWorkspace

    /// A manager of the cache that all Hugging Face libraries share. Nothing is opened before it is needed.
    ///
    /// An `HF_ENDPOINT` that is not the address of a Hub is an ``ErrorCode/invalidInput`` of the first call that asks the
    /// Hub. What needs only the cache works all the same.
    ///
    /// - Parameters:
    ///   - cacheDirectory: another cache; nil means the one that the environment names.
    ///   - environment: gives the cache, the token, proxies, certificates, and the Hub's address unless the configuration
    ///     names one.
    public init(
        _ configuration: HFConfiguration = .default, cacheDirectory: String? = nil,
        environment: HubEnvironment = .process
    ) {
        opening = LazyWorkspace {
            Workspace(
                environment: environment, cacheDirectory: cacheDirectory, configuration: configuration,
                isOffline: environment.isOffline)
        }
    }

    func workspace() async -> Workspace { await opening.value() }

    /// The model as the Hub names it.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for a model of this machine, and for a name or revision that can be none.
    func reference(_ model: ModelIdentifier) throws(AIError) -> ModelReference {
        if let revision = model.revision { try RepositoryPath.checkRevision(revision) }
        return ModelReference(try model.hubRepository(), revision: model.revision)
    }

    // MARK: What is here

    /// Whether every file of the model is in the cache, with its right size. Asks the disk, not the network; false where
    /// the files of the revision are not known.
    public func isCached(_ model: ModelIdentifier) async throws -> Bool {
        let reference = try reference(model)
        let workspace = await workspace()
        return try await Offload.run {
            guard let (folder, commit) = try workspace.snapshot(of: reference),
                let tree = try folder.readTree(commit)
                    ?? workspace.dispensable.use({ catalog throws(AIError) in
                        try catalog.tree(of: reference.repository, at: commit)
                    }) ?? nil
            else { return false }
            return try tree.files.allSatisfy { try SnapshotFile.state($0, commit: commit, in: folder) == .present }
        }
    }

    /// The snapshot folder of a model, whole or not; nil where there is none. A local model's own path.
    public func localPath(for model: ModelIdentifier) async throws -> URL? {
        if model.provider == .local {
            return FileSystem.exists(model.repository) ? URL(filePath: model.repository) : nil
        }
        let reference = try reference(model)
        let workspace = await workspace()
        return try await Offload.run {
            try workspace.snapshot(of: reference).map { URL(filePath: $0.folder.snapshot($0.commit)) }
        }
    }

    /// The cached revisions of models, whoever fetched them.
    public func cachedModels() async throws -> [CachedModelInfo] {
        let workspace = await workspace()
        let protection = Protection(pins: await workspace.pins())
        let verified = await workspace.verified()
        let models = try await workspace.state().models
        return try await Offload.run {
            try models.flatMap { repository in
                try repository.revisions.map { revision in
                    CachedModelInfo(
                        identifier: .huggingFace(repository.repository.id.name, revision: revision.commit.hash),
                        path: repository.folder.snapshot(revision.commit),
                        size: ByteCount(repository.physicalFiles(of: revision).values.reduce(0) { $0 + $1.size }),
                        downloadedAt: revision.downloadedAt, lastAccessedAt: revision.lastUsedAt,
                        revision: revision.commit, complete: revision.isComplete,
                        pinned: protection.pin(repository.folder, revision.commit) != nil,
                        verifiedAt: try revision.verifiedAt(verified, in: repository.folder))
                }
            }
        }
    }

    /// Bytes of all files that the cached models need, each physical file once. Unfinished downloads are not counted, nor are
    /// data sets and Spaces that share the cache.
    public func cacheSize() async throws -> ByteCount {
        var state = try await workspace().state()
        state.repositories = state.models
        return ByteCount(state.totalSize)
    }

    /// Notes that a cached model was used, for whoever decides later what may go.
    ///
    /// - Throws: ``ErrorCode/notCached``.
    public func markAccessed(_ model: ModelIdentifier) async throws {
        let reference = try reference(model)
        let workspace = await workspace()
        try await Offload.run {
            guard let (folder, commit) = try workspace.snapshot(of: reference) else {
                throw AIError(.notCached, "\(model) is not in the cache")
            }
            workspace.markUsed(folder, commit)
        }
    }
}

extension CacheState {
    /// The repositories of models; data sets and Spaces share the cache with them.
    var models: [CachedRepository] { repositories.filter { $0.repository.kind == .model } }
}
