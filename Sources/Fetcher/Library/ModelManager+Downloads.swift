#if canImport(FoundationEssentials)
public import struct FoundationEssentials.URL
#else
public import struct Foundation.URL
#endif
public import HubCore

extension ModelManager {
    // MARK: Fetching

    /// Fetches the missing files of a model, verifies every byte, and returns the snapshot folder. Concurrent calls for
    /// the same commit and files share the transfer. A cancelled caller leaves it to the others; it ends with the last
    /// one, and the next call resumes it.
    ///
    /// - Parameters:
    ///   - patterns: the Hub's globs; only files that match one. nil means all. The choice is stored for the revision,
    ///     as by `hub pull`.
    ///   - progress: called at most ten times a second, in order, and not again after the call has returned. If it is
    ///     slow, it misses values in between.
    /// - Throws: the first file's error if any failed; the other files are kept. `CancellationError` if the calling
    ///   task or the download was cancelled.
    @discardableResult
    public func download(
        _ model: ModelIdentifier, patterns: [String]? = nil, progress: (@Sendable (DownloadProgress) -> Void)? = nil
    ) async throws -> URL {
        try await join(model, patterns).attend(progress)
    }

    /// The same, once the caller has agreed to what it costs.
    ///
    /// - Parameter approve: called with the cost before anything is fetched, also for a cached model; it refuses by
    ///   returning false or throwing. The approved commit is fetched even if the branch moves meanwhile.
    /// - Throws: as ``download(_:patterns:progress:)``; `CancellationError` if `approve` returns false;
    ///   ``ErrorCode/diskFull`` if there is no room although it returned true.
    @discardableResult
    public func downloadWithEstimation(
        _ model: ModelIdentifier, patterns: [String]? = nil,
        approve: @escaping @Sendable (DownloadEstimate) async throws -> Bool,
        progress: (@Sendable (DownloadProgress) -> Void)? = nil
    ) async throws -> URL {
        let workspace = await workspace()
        let task = try await join(model, patterns) { plan, _ in
            let estimate = try await Blocking.run { try DownloadEstimate(model, plan, workspace) }
            guard try await approve(estimate) else { throw CancellationError() }
        }
        return try await task.attend(progress)
    }

    /// The same after checking the model's headers: `config.json` and the headers of all weight files are read first,
    /// by ranges, and no weights are fetched if they are malformed.
    ///
    /// - Parameter accept: may throw to refuse the model; the call rethrows the error.
    /// - Throws: as ``download(_:patterns:progress:)``; ``ErrorCode/malformedModel`` for a header, `config.json` or
    ///   index that breaks its format or disagrees with the others; ``ErrorCode/unsupportedModel`` if there is no
    ///   weight file with a readable header (safetensors or GGUF), or no `config.json` beside safetensors.
    @discardableResult
    public func downloadValidated(
        _ model: ModelIdentifier, patterns: [String]? = nil,
        accept: @escaping @Sendable (ModelHeaders) async throws -> Void = { _ in },
        progress: (@Sendable (DownloadProgress) -> Void)? = nil
    ) async throws -> URL {
        let task = try await join(model, patterns) { plan, puller in
            try await accept(try await HeaderReader(plan, puller).read(model))
        }
        return try await task.attend(progress)
    }

    /// The download of a model as a task to observe and control, started if necessary. It runs until it is done or
    /// cancelled, even if the task is released. Returns once the plan is known: the task of a complete model is then
    /// ``DownloadState/completed(_:)``.
    ///
    /// - Parameter patterns: the Hub's globs; only files that match one. nil means all.
    /// - Throws: if it cannot start: no such model, no network, no room on the disk.
    public func downloadTask(for model: ModelIdentifier, patterns: [String]? = nil) async throws -> DownloadTask {
        let task = try await join(model, patterns)
        do { try await task.begun() } catch {
            await task.leave()
            throw error
        }
        task.keep()
        return task
    }

    /// Ends the downloads of a model for all callers: those requested by the identifier's revision, or all if it has
    /// none. Returns when the last request and lock are gone; received bytes are kept.
    ///
    /// - Returns: whether there was anything to cancel.
    @discardableResult
    public func cancelDownload(_ model: ModelIdentifier) async throws -> Bool {
        await downloads.cancel(try reference(model))
    }

    /// The shared download of a model, with the caller counted as waiting.
    ///
    /// - Parameter check: may refuse the plan before anything is fetched.
    private func join(
        _ model: ModelIdentifier, _ patterns: [String]?,
        check: (@Sendable (PullPlan, Puller) async throws -> Void)? = nil
    ) async throws -> DownloadTask {
        let reference = try reference(model)
        let workspace = await workspace()
        let puller = try await workspace.puller()
        var options = Puller.Options()
        options.filter = FileFilter(include: patterns)
        options.symlinks = !workspace.environment.isTrue("HF_HUB_DISABLE_SYMLINKS")
        let revision = reference.revision ?? "main"
        return try await downloads.task(for: reference) { [options] in
            let commit = try await puller.commit(of: reference)
            if let check {
                let exact = ModelReference(reference.repository, revision: commit.hash)
                try await check(try await puller.plan(exact, options), puller)
            }
            return commit
        } order: { commit in
            DownloadTask.Order(
                identifier: model,
                key: .init(repository: reference.repository, commit: commit, patterns: patterns.map(Set.init)),
                puller: puller, options: options, ref: Commit(revision) == nil ? revision : nil)
        }
    }
}
