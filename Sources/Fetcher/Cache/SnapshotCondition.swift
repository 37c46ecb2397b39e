import Catalog
package import HubCore

/// What is known to be wrong with a cached revision. Nothing is read for it but the names and sizes of its files.
package struct SnapshotCondition: Sendable, Hashable {
    /// Whether files are missing that the pulls chose; of a tree that is not known nothing is.
    package var isIncomplete = false
    /// Whether it is incomplete because its first pull was cut off: none has completed.
    package var isFirstPullUnfinished = false
    /// A file that verifying found damaged, unless it has changed since.
    package var damagedFile: String?

    package init() {}
}

extension Workspace {
    package func condition(_ repository: Repository, at commit: Commit) async throws -> SnapshotCondition {
        let folder = layout.repository(repository)
        let verified = await verified()
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
}
