public import Catalog
#if canImport(FoundationEssentials)
public import struct FoundationEssentials.URL
#else
public import struct Foundation.URL
#endif
public import HubCore

/// Manages the models on this machine: fetching, locating, measuring and deleting. One manager serves one cache and one
/// Hub; it is safe to use from any task, and callers fetching the same model share one download.
public final class ModelManager: Sendable {
    let downloads = Downloads()
    private let opening: LazyWorkspace

    /// A manager of the cache that all Hugging Face libraries share. Everything is opened on first use.
    ///
    /// With an invalid `HF_ENDPOINT` the first call that needs the Hub throws ``ErrorCode/invalidInput``. Calls that
    /// need only the cache work.
    ///
    /// - Parameters:
    ///   - cacheDirectory: another cache; nil means the environment's.
    ///   - environment: gives the cache, the token, proxies, certificates, and the Hub's address unless the
    ///     configuration has one.
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
    /// - Throws: ``ErrorCode/invalidInput`` for a local model, and for an invalid name or revision.
    func reference(_ model: ModelIdentifier) throws(AIError) -> ModelReference {
        if let revision = model.revision { try RepositoryPath.checkRevision(revision) }
        return ModelReference(try model.hubRepository(), revision: model.revision)
    }

    // MARK: Cached models

    /// Whether every file of the model is in the cache with the right size. Uses no network; false if the revision's
    /// file list is unknown.
    public func isCached(_ model: ModelIdentifier) async throws -> Bool {
        let reference = try reference(model)
        let workspace = await workspace()
        return try await Blocking.run {
            guard let (folder, commit) = try workspace.snapshot(of: reference),
                let tree = try folder.readTree(commit)
                    ?? workspace.dispensable.use({ catalog throws(AIError) in
                        try catalog.tree(of: reference.repository, at: commit)
                    }) ?? nil
            else { return false }
            return try tree.files.allSatisfy { try SnapshotFile.state($0, commit: commit, in: folder) == .present }
        }
    }

    /// The snapshot folder of a model, complete or not; nil if there is none. For a local model its own path.
    public func localPath(for model: ModelIdentifier) async throws -> URL? {
        if model.provider == .local {
            return FileSystem.exists(model.repository) ? URL(filePath: model.repository) : nil
        }
        let reference = try reference(model)
        let workspace = await workspace()
        return try await Blocking.run {
            try workspace.snapshot(of: reference).map { URL(filePath: $0.folder.snapshot($0.commit)) }
        }
    }

    /// The cached revisions of models, from any client.
    public func cachedModels() async throws -> [CachedModelInfo] {
        let workspace = await workspace()
        let protection = Protection(pins: await workspace.pins())
        let verified = await workspace.verified()
        let models = try await workspace.state().models
        return try await Blocking.run {
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

    /// Bytes of all files that the cached models need, each physical file once. Excludes unfinished downloads, and data
    /// sets and Spaces that share the cache.
    public func cacheSize() async throws -> ByteCount {
        var state = try await workspace().state()
        state.repositories = state.models
        return ByteCount(state.totalSize)
    }

    /// Records a use of a cached model, for later clean-ups.
    ///
    /// - Throws: ``ErrorCode/notCached``.
    public func markAccessed(_ model: ModelIdentifier) async throws {
        let reference = try reference(model)
        let workspace = await workspace()
        try await Blocking.run {
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
