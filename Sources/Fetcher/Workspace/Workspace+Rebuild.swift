package import Catalog
package import HubCore

extension Workspace {
    /// A rebuilt catalog and its contents.
    package struct Rebuilt: Sendable {
        package var catalog: CatalogRebuild
        package var repositories = 0
        package var trees = 0
        /// The number of repositories reported by the Hub, and the first failed request.
        package var told = 0
        package var failure: AIError?
    }

    /// Rebuilds the catalog from the cache, the Hub's metadata of cached repositories, and the pins, times of use and
    /// so on in the old file or its backup. ``catalog`` then uses the new file.
    ///
    /// - Throws: if the cache cannot be read, or as ``CatalogRebuild/run(_:fill:)``. Failed requests to the Hub are in
    ///   the result.
    package func rebuildCatalog() async throws -> Rebuilt {
        let repositories = try await Blocking.run { [layout] in
            try CacheScanner(layout, catalog: nil).scan(fresh: true).repositories
        }
        let asked = repositories.filter { !$0.hasForeignName && $0.repository.kind != .kernel }.map(\.repository)
        let (records, failure) = try await records(of: asked)
        return try await Blocking.run { [layout, configuration, catalogPath] in
            var rebuilt = Rebuilt(catalog: CatalogRebuild(), repositories: repositories.count, told: records.count)
            rebuilt.failure = failure
            rebuilt.catalog = try CatalogRebuild.run(catalogPath) { new in
                rebuilt.trees = try Self.keepTrees(of: repositories, in: new)
                try new.remember(records, detailed: true, at: Timestamp.now)
                if !records.isEmpty { try new.noteEndpoint(configuration.endpoint, at: Timestamp.now) }
                _ = try CacheScanner(layout, catalog: new).scan()
            }
            return rebuilt
        }
    }

    /// Stores the file lists of the cache's `trees/`; returns their number.
    private static func keepTrees(of repositories: [CachedRepository], in catalog: Catalog) throws -> Int {
        var count = 0
        for repository in repositories {
            for revision in repository.revisions {
                guard let tree = try repository.folder.readTree(revision.commit) else { continue }
                try catalog.remember(tree, of: repository.repository, at: Timestamp.now)
                count += 1
            }
        }
        return count
    }

    /// The Hub's metadata of repositories, eight at a time. Missing and inaccessible ones are skipped; any other error
    /// stops the requests.
    private func records(of repositories: [Repository]) async throws -> ([ModelRecord], AIError?) {
        guard !isOffline, !repositories.isEmpty else { return ([], nil) }
        let client: HubClient
        do throws(AIError) { client = try await self.client() } catch { return ([], error) }
        return try await withThrowingTaskGroup(of: Result<ModelRecord?, AIError>.self) { group in
            var waiting = repositories.makeIterator()
            func begin() {
                guard let repository = waiting.next() else { return }
                group.addTask { try await Self.record(of: repository, client) }
            }
            for _ in 0..<8 { begin() }
            var records: [ModelRecord] = []
            var failure: AIError?
            while let result = try await group.next() {
                switch result {
                case .success(let record):
                    if let record { records.append(record) }
                    if failure == nil { begin() }
                case .failure(let error): failure = failure ?? error
                }
            }
            return (records, failure)
        }
    }

    private static func record(of repository: Repository, _ client: HubClient) async throws
        -> Result<ModelRecord?, AIError>
    {
        do { return .success(try await client.info(repository).record) } catch {
            let error = AIError.wrapping(error)
            switch error.code {
            case .cancelled: throw error
            case .repositoryNotFound, .unauthorized, .gated, .disabled: return .success(nil)
            default: return .failure(error)
            }
        }
    }
}
