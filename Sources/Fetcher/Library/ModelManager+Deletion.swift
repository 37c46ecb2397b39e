public import HubCore

extension ModelManager {
    // MARK: Deleting

    /// Deletes a model from the cache, or one revision if the identifier has one, and returns the bytes freed. Files
    /// that other revisions need stay.
    ///
    /// - Throws: ``ErrorCode/notCached``; ``ErrorCode/invalidInput`` if it is pinned, ``ErrorCode/ioError`` if it is
    ///   being downloaded or used by another process: then nothing is deleted. ``ErrorCode/catalogUnusable`` if the
    ///   pins cannot be read.
    @discardableResult
    public func delete(_ model: ModelIdentifier) async throws -> ByteCount {
        let reference = try reference(model)
        guard !downloads.active.contains(where: { $0.key.repository == reference.repository }) else {
            throw AIError(
                .ioError, "\(model) is in use: it is being downloaded",
                advice: "wait for the download, or cancel it",
                context: .init(repository: reference.repository.description))
        }
        return try await delete { planner throws(AIError) in
            for repository in planner.state.repositories where repository.repository == reference.repository {
                for revision in repository.revisions where reference.names(revision, of: repository) {
                    try planner.add(revision, of: repository, reason: "asked for")
                }
            }
            guard !planner.plan.isEmpty || !planner.plan.protected.isEmpty else {
                throw AIError(.notCached, "\(model) is not in the cache")
            }
        }
    }

    /// Deletes all models from the cache, including unfinished downloads, and returns the bytes freed. Data sets and
    /// Spaces that share the cache stay.
    ///
    /// - Throws: ``ErrorCode/ioError`` if any model is being downloaded or used by another process, and
    ///   ``ErrorCode/invalidInput`` if one is pinned: then nothing is deleted. ``ErrorCode/catalogUnusable`` if the
    ///   pins cannot be read.
    @discardableResult
    public func clearCache() async throws -> ByteCount {
        guard downloads.active.isEmpty else {
            throw AIError(
                .ioError, "the cache is in use: a model is being downloaded",
                advice: "wait for the download, or cancel it")
        }
        return try await delete { planner throws(AIError) in
            for repository in planner.state.models { try planner.add(repository, reason: "the cache is cleared") }
        }
    }

    /// Deletes what a closure plans, or nothing if any of it must stay.
    private func delete(_ fill: @escaping @Sendable (inout DeletionPlanner) throws(AIError) -> Void) async throws
        -> ByteCount
    {
        let workspace = await workspace()
        let state = try await workspace.state(fresh: true)
        let protection = try await workspace.protection(for: state)
        return try await Blocking.run {
            var planner = DeletionPlanner(state, protection: protection)
            try fill(&planner)
            let plan = planner.plan
            if let busy = plan.protected.first { throw busy.refusal }
            if let fault = plan.pinsFault, plan.concernsPins { throw Protection.refusal(fault) }
            let outcome = Deletion(plan, layout: workspace.layout, protection: protection).carryOut()
            if let first = outcome.failed.first { throw first.error }
            if let busy = outcome.spared.first { throw busy.refusal }
            return ByteCount(outcome.freedBytes)
        }
    }
}
