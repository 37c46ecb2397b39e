package import Catalog
package import HubCore

extension Workspace {
    /// The cache's verified content; empty if the catalog cannot be used.
    package func verified() async -> VerifiedContent {
        await Blocking.run { [dispensable, layout] in
            dispensable.use { catalog throws(AIError) in try catalog.verified(inCache: layout.root) } ?? .init()
        }
    }

    /// The damage that verifying found in the cache; none if the catalog cannot be used.
    package func damage() async -> VerifiedContent {
        await Blocking.run { [dispensable, layout] in
            dispensable.use { catalog throws(AIError) in
                try catalog.verified(inCache: layout.root, onlyDamaged: true)
            } ?? .init()
        }
    }

    /// What is known to be wrong with a cached revision.
    package func condition(_ repository: Repository, at commit: Commit) async throws -> SnapshotCondition {
        try await condition(of: layout.repository(repository), repository, at: commit)
    }

    /// The same, if it is in a further cache.
    package func condition(of folder: RepositoryFolder, _ repository: Repository, at commit: Commit) async throws
        -> SnapshotCondition
    {
        guard folder.cache == layout else {
            return try await Blocking.run {
                var condition = SnapshotCondition()
                let cached = try CacheScanner(folder.cache, catalog: nil).repository(folder, repository)
                let revision = cached?.revisions.first { $0.commit == commit }
                condition.isIncomplete = revision?.isComplete == false
                return condition
            }
        }
        let verified = await damage()
        return try await scanning { [catalog = dispensable] scanner throws(AIError) in
            var condition = SnapshotCondition()
            guard let cached = try scanner.repository(folder, repository),
                let revision = cached.revisions.first(where: { $0.commit == commit })
            else { return condition }
            condition.isIncomplete = revision.isComplete == false
            if condition.isIncomplete {
                condition.isFirstPullUnfinished = try catalog.isUnfinished(folder, commit)
            }
            condition.damagedFile = try revision.knownDamage(verified, in: folder)
            return condition
        }
    }

    /// The revisions in which verifying found damage that is still there, by repository folder.
    package func damagedRevisions() async throws -> [String: Set<Commit>] {
        let verified = await damage()
        guard verified.hasDamage else { return [:] }
        let state = try await state()
        return try await Blocking.run {
            var out: [String: Set<Commit>] = [:]
            for repository in state.repositories {
                for revision in repository.revisions
                where try revision.knownDamage(verified, in: repository.folder) != nil {
                    out[repository.folder.name, default: []].insert(revision.commit)
                }
            }
            return out
        }
    }
}
