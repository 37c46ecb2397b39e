public import Catalog
#if canImport(FoundationEssentials)
public import struct FoundationEssentials.URL
#else
public import struct Foundation.URL
#endif
public import HubCore
import Synchronization

/// The models on this machine: fetches them, says where they are, counts and deletes them. One manager serves one cache
/// and one Hub; it is safe to use from any task.
public final class ModelManager: Sendable {
    private let workspace: Workspace

    /// A manager of the cache that all Hugging Face libraries share.
    ///
    /// - Parameters:
    ///   - cacheDirectory: another cache; nil means the one that the environment names.
    ///   - environment: gives the cache, the token, proxies and certificates.
    public init(
        _ configuration: HFConfiguration = .default, cacheDirectory: String? = nil,
        environment: HubEnvironment = .process
    ) {
        workspace = Workspace(
            environment: environment, cacheDirectory: cacheDirectory, configuration: configuration,
            isOffline: environment.isOffline)
    }

    /// Fetches what is missing of a model, proves every byte, and returns the snapshot folder. Cancelling the task keeps
    /// what was received; the next call goes on from there.
    ///
    /// - Parameters:
    ///   - patterns: the Hub's globs; only files that match one. nil means all.
    ///   - progress: called at most ten times a second, from a thread of the manager's own.
    /// - Throws: the first file's error where any failed; the other files are kept.
    @discardableResult
    public func download(
        _ model: ModelIdentifier, patterns: [String]? = nil, progress: (@Sendable (DownloadProgress) -> Void)? = nil
    ) async throws -> URL {
        let reference = ModelReference(try model.hubRepository(), revision: model.revision)
        let puller = try workspace.puller()
        var options = Puller.Options()
        options.filter = FileFilter(include: patterns)
        options.symlinks = !workspace.environment.isTrue("HF_HUB_DISABLE_SYMLINKS")
        let plan = try await puller.plan(reference, options)
        try puller.checkSpace([plan])
        let rate = Mutex(RateEstimator())
        let result = try await puller.pull(plan, options) { event in
            guard let progress, case .progress(let state) = event else { return }
            let speed = rate.withLock { estimator in
                estimator.record(state.completedBytes)
                return estimator.bytesPerSecond
            }
            progress(DownloadProgress(state, rate: speed))
        }
        if let error = result.error {
            if error.code == .cancelled { throw CancellationError() }
            throw error
        }
        return URL(filePath: result.path)
    }

    /// Whether every file of the model is in the cache, with its right size. Asks the disk, not the network; false where
    /// the files of the revision are not known.
    public func isCached(_ model: ModelIdentifier) async throws -> Bool {
        let reference = ModelReference(try model.hubRepository(), revision: model.revision)
        let workspace = workspace
        return try await Offload.run {
            guard let (folder, commit) = try workspace.snapshot(of: reference),
                let tree = try folder.readTree(commit)
                    ?? workspace.catalog?.tree(of: reference.repository, at: commit)
            else { return false }
            return try tree.files.allSatisfy { try SnapshotFile.state($0, commit: commit, in: folder) == .present }
        }
    }

    /// The snapshot folder of a model, whole or not; nil where there is none. A local model's own path.
    public func localPath(for model: ModelIdentifier) async throws -> URL? {
        if model.provider == .local {
            return FileSystem.exists(model.repository) ? URL(filePath: model.repository) : nil
        }
        let reference = ModelReference(try model.hubRepository(), revision: model.revision)
        let workspace = workspace
        return try await Offload.run {
            try workspace.snapshot(of: reference).map { URL(filePath: $0.folder.snapshot($0.commit)) }
        }
    }

    /// The cached revisions of models, whoever fetched them.
    public func cachedModels() async throws -> [CachedModelInfo] {
        try await workspace.state().repositories.filter { $0.repository.kind == .model }.flatMap { repository in
            repository.revisions.map { revision in
                CachedModelInfo(
                    identifier: .huggingFace(repository.repository.id.name, revision: revision.commit.hash),
                    path: repository.folder.snapshot(revision.commit),
                    size: ByteCount(repository.physicalFiles(of: revision).values.reduce(0) { $0 + $1.size }),
                    downloadedAt: revision.downloadedAt, lastAccessedAt: revision.lastUsedAt,
                    revision: revision.commit,
                    complete: revision.isComplete)
            }
        }
    }

    /// Bytes of all files that cached revisions need, each physical file once.
    public func cacheSize() async throws -> ByteCount { ByteCount(try await workspace.state().totalSize) }

    /// Deletes a model from the cache, or one revision where the identifier names it, and returns the bytes freed. Files
    /// that other revisions need stay.
    ///
    /// - Throws: ``ErrorCode/notCached``; ``ErrorCode/ioError`` where another process is using it.
    @discardableResult
    public func delete(_ model: ModelIdentifier) async throws -> ByteCount {
        let reference = ModelReference(try model.hubRepository(), revision: model.revision)
        let state = try await workspace.state(fresh: true)
        return try await Offload.run {
            let found = state.repositories.filter { $0.repository == reference.repository }
            var planner = DeletionPlanner(state)
            for repository in found {
                for revision in repository.revisions where reference.names(revision, of: repository) {
                    try planner.add(revision, of: repository, reason: "asked for")
                }
            }
            if let busy = planner.plan.protected.first { throw AIError(.ioError, "\(model) is \(busy.reason)") }
            guard !planner.plan.isEmpty else { throw AIError(.notCached, "\(model) is not in the cache") }
            return ByteCount(try Deletion(planner.plan, layout: state.layout).run())
        }
    }

    /// Notes that a cached model was used, for whoever decides later what may go.
    public func markAccessed(_ model: ModelIdentifier) async throws {
        let reference = ModelReference(try model.hubRepository(), revision: model.revision)
        let workspace = workspace
        try await Offload.run {
            guard let (folder, commit) = try workspace.snapshot(of: reference) else {
                throw AIError(.notCached, "\(model) is not in the cache")
            }
            workspace.markUsed(folder, commit)
        }
    }
}
