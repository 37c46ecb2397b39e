package import Catalog
package import HubCore

extension Workspace {
    /// The cache's pins; empty if the catalog cannot be used.
    package func pins() async -> [Pin] {
        await Blocking.run { [dispensable, layout] in
            dispensable.use { catalog throws(AIError) in try CacheRecord(layout, in: catalog).pins() } ?? []
        }
    }

    /// The current protection of a cache.
    package func protection(for state: CacheState) async throws -> Protection {
        try await protection(for: state.files)
    }

    /// The same for only these files.
    package func protection(for files: Set<PhysicalFile.Identity>) async throws -> Protection {
        try await Blocking.run { [self] in try readProtection(for: files) }
    }

    /// As ``protection(for:)-(Set<PhysicalFile.Identity>)``. Blocks.
    package func readProtection(for files: Set<PhysicalFile.Identity>) throws(AIError) -> Protection {
        let openFiles = try OpenFiles.look(for: files)
        if let warning = openFiles.warning { noticeOnce(warning) }
        do throws(AIError) {
            return Protection(pins: try pinsForDeletion(), openFiles: openFiles)
        } catch {
            var protection = Protection(pins: [], openFiles: openFiles)
            protection.pinsFault = error
            return protection
        }
    }

    /// The pins, or the error why they are unknown.
    private func pinsForDeletion() throws(AIError) -> [Pin] {
        do throws(AIError) {
            return try dispensable.insist { catalog throws(AIError) in
                try CacheRecord(layout, in: catalog).pins()
            } ?? []
        } catch {
            // If there never was a catalog, nothing is pinned, and a full disk has no room for one. If it was deleted,
            // its backups contain the pins of all caches.
            if try Catalog.isAbsent(catalogPath) { return Catalog.backedUpPins(catalogPath) }
            throw error
        }
    }

    /// Deletes the revisions that a reference names, and returns the bytes freed.
    ///
    /// - Parameter files: the only files of them that are deleted; nil for all.
    /// - Throws: ``ErrorCode/notCached``; ``ErrorCode/invalidInput`` if something is pinned, ``ErrorCode/ioError`` if it
    ///   is in use: then nothing is deleted. ``ErrorCode/catalogUnusable`` if the pins cannot be read.
    @discardableResult
    package func delete(_ reference: ModelReference, files: Set<String>? = nil) async throws -> ByteCount {
        try await delete { planner throws(AIError) in
            for repository in planner.state.repositories where repository.repository == reference.repository {
                for revision in repository.revisions where reference.names(revision, of: repository) {
                    if let files {
                        try planner.add(files: files, of: revision, repository, reason: "asked for")
                    } else {
                        try planner.add(revision, of: repository, reason: "asked for")
                    }
                }
            }
            guard !planner.plan.isEmpty || !planner.plan.protected.isEmpty else {
                throw AIError(.notCached, "\(reference) is not in the cache")
            }
        }
    }

    /// Deletes what a closure plans, or nothing if any of it must stay.
    func delete(_ fill: @escaping @Sendable (inout DeletionPlanner) throws(AIError) -> Void) async throws
        -> ByteCount
    {
        let state = try await state(fresh: true)
        let protection = try await protection(for: state)
        return try await Blocking.run { [self] in
            var planner = DeletionPlanner(state, protection: protection)
            try fill(&planner)
            let plan = planner.plan
            if let busy = plan.protected.first { throw busy.refusal }
            if let fault = plan.pinsFault, plan.concernsPins { throw Protection.refusal(fault) }
            let outcome = Deletion(plan, layout: layout, protection: protection).carryOut()
            leaveOut(plan, outcome)
            if let first = outcome.failed.first { throw first.error }
            if let busy = outcome.spared.first { throw busy.refusal }
            return ByteCount(outcome.freedBytes)
        }
    }

    /// Takes files of revisions that a person deleted out of the choices that are remembered for these: they are not
    /// missing, and the next pull does not fetch them again. Blocks.
    package func leaveOut(_ plan: DeletionPlan, _ outcome: Deletion.Outcome) {
        for index in outcome.done.sorted() {
            guard let folder = plan.rows[index].folder,
                case .files(let commit, let paths) = plan.rows[index].subject
            else { continue }
            dispensable.use { catalog throws(AIError) in
                try CacheRecord(layout, in: catalog).change(choiceOf: commit, folder.name) { $0.without(paths) }
            }
        }
    }

    /// Takes files of a revision that were brought back from the trash into its choice again. Blocks.
    package func takeBack(_ entry: TrashEntry) {
        guard let commit = entry.commit else { return }
        let paths = entry.moves.compactMap { $0.from.dropping(prefix: "\(entry.folder)/snapshots/\(commit)/") }
        guard !paths.isEmpty else { return }
        dispensable.use { catalog throws(AIError) in
            try CacheRecord(layout, in: catalog).change(choiceOf: commit, entry.folder) { $0.with(paths) }
        }
    }

    /// Removes verification results of deleted files.
    package func forgetVerified(after plan: DeletionPlan) async {
        let folders = Set(plan.rows.compactMap(\.folder))
        await Blocking.run { [dispensable, layout] in
            dispensable.use { catalog throws(AIError) in
                for folder in folders {
                    try catalog.forgetVerified(below: folder.name, ofCache: layout.root) { place, etag in
                        FileSystem.exists(
                            place == folder.name ? folder.blob(etag) : Path.join(layout.root, place))
                    }
                }
            }
        }
    }
}
