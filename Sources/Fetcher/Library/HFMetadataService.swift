public import Catalog
public import HubCore

/// The Hub's model metadata: search, details, file trees, sizes. Every failure is an ``AIError``; lists are read to
/// their end.
public struct HFMetadataService: Sendable {
    private let workspace: Workspace

    /// A service for one Hub.
    ///
    /// - Parameter environment: gives the token (see ``HFTokenProvider/auto``), proxies, certificates and the catalog's
    ///   path. The catalog stores every answer.
    public init(_ configuration: HFConfiguration = .default, environment: HubEnvironment = .process) {
        workspace = Workspace(
            environment: environment, configuration: configuration, isOffline: environment.isOffline)
    }

    /// The models that match a query, in the Hub's order. Filters and sorts that the Hub lacks are applied here to the
    /// first pages.
    public func search(_ query: ModelQuery) async throws -> [ModelRecord] {
        let found = try await client().find(query)
        await Blocking.run { [workspace] in workspace.remember(found.seen) }
        return found.records
    }

    /// One repository's metadata, and the commit of the revision.
    ///
    /// - Parameter repoId: `org/name`, with `@revision` for another than the main branch.
    public func fetchModelDetails(repoId: String) async throws -> (record: ModelRecord, commit: Commit) {
        let reference = try reference(repoId)
        let info = try await client().info(reference.repository, revision: reference.revision)
        await Blocking.run { [workspace] in workspace.remember([info.record], detailed: true) }
        return (info.record, info.commit)
    }

    /// All files of a repository at a revision.
    public func fetchFileTree(repoId: String) async throws -> RepositoryTree {
        let reference = try reference(repoId)
        let puller = try await workspace.puller()
        return try await puller.tree(of: reference.repository, at: puller.commit(of: reference))
    }

    /// The total size of the files matching these patterns; nil means all files.
    ///
    /// - Throws: ``ErrorCode/nothingMatches`` if no file matches.
    public func estimateTotalSize(repoId: String, patterns: [String]? = nil) async throws -> ByteCount {
        let reference = try reference(repoId)
        var options = Puller.Options()
        options.filter = FileFilter(include: patterns)
        return ByteCount(try await workspace.puller().plan(reference, options).totalBytes)
    }

    /// The files that an MLX model needs to run.
    public static let mlxFilePatterns = ["*.safetensors", "*.json", "*.txt", "*.model", "*.jinja", "*.py"]

    /// Whether a model takes images, by its task and tags.
    public func isVLM(_ record: ModelRecord) -> Bool {
        let tasks: Set<String> = ["image-text-to-text", "visual-question-answering", "any-to-any"]
        return record.task.map(tasks.contains) ?? false || !tasks.isDisjoint(with: record.tags ?? [])
    }

    private func reference(_ text: String) throws(AIError) -> ModelReference {
        try ModelReference(parsing: text, endpoint: workspace.configuration.endpoint)
    }

    private func client() async throws(AIError) -> HubClient {
        guard !workspace.isOffline else {
            throw AIError(.offline, "the Hub cannot be asked: the network is switched off")
        }
        return try await workspace.client()
    }
}
