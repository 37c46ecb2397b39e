#if canImport(FoundationEssentials)
public import struct FoundationEssentials.URL
#else
public import struct Foundation.URL
#endif
public import HubCore

extension ModelManager {
    // MARK: Fetching

    /// Fetches what is missing of a model, proves every byte, and returns the snapshot folder. Whoever fetches the same
    /// commit and the same choice of files meanwhile shares the transfer. Cancelling the calling task leaves it to the
    /// others; with the last one it ends, and the next call goes on from what was received.
    ///
    /// - Parameters:
    ///   - patterns: the Hub's globs; only files that match one. nil means all. The choice is remembered for the revision as
    ///     that of `hub pull` is.
    ///   - progress: called at most ten times a second, in order, and not again after the call has returned. It may take its
    ///     time: it then misses what was in between.
    /// - Throws: the first file's error where any failed; the other files are kept. `CancellationError` where the calling
    ///   task or the download was cancelled.
    @discardableResult
    public func download(
        _ model: ModelIdentifier, patterns: [String]? = nil, progress: (@Sendable (DownloadProgress) -> Void)? = nil
    ) async throws -> URL {
        try await join(model, patterns).attend(progress)
    }

    /// The same, once the caller has agreed to what it costs.
    ///
    /// - Parameter approve: is told the cost before anything is fetched, that of a model that is here too; refuses by false or
    ///   by an error of its own. What it agreed to is fetched, though a branch moves on meanwhile.
    /// - Throws: as ``download(_:patterns:progress:)``; `CancellationError` where `approve` says false;
    ///   ``ErrorCode/diskFull`` where there is no room and it says true all the same.
    @discardableResult
    public func downloadWithEstimation(
        _ model: ModelIdentifier, patterns: [String]? = nil,
        approve: @escaping @Sendable (DownloadEstimate) async throws -> Bool,
        progress: (@Sendable (DownloadProgress) -> Void)? = nil
    ) async throws -> URL {
        let workspace = await workspace()
        let task = try await join(model, patterns) { plan, _ in
            let estimate = try await Offload.run { try DownloadEstimate(model, plan, workspace) }
            guard try await approve(estimate) else { throw CancellationError() }
        }
        return try await task.attend(progress)
    }

    /// The same, once the model's own headers have been found sound: `config.json` and the headers of all weight files are
    /// read first, by ranges, and no weight is fetched where they are not.
    ///
    /// - Parameter accept: may refuse what it cannot use by an error of its own, which the call then throws.
    /// - Throws: as ``download(_:patterns:progress:)``; ``ErrorCode/malformedModel`` for a header, `config.json` or index
    ///   that breaks its format or disagrees with the others; ``ErrorCode/unsupportedModel`` where there is no weight file
    ///   whose header can be read (safetensors or GGUF), or no `config.json` beside safetensors.
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

    /// The download of a model as something to watch and to steer, begun if nobody has begun it. It goes on until it is done
    /// or cancelled, whether anybody holds the task or not. Returns when it is known what there is to fetch: the task of a
    /// model that is here is ``DownloadState/completed(_:)`` then.
    ///
    /// - Parameter patterns: the Hub's globs; only files that match one. nil means all.
    /// - Throws: what keeps it from beginning: no such model, no network, no room on the disk.
    public func downloadTask(for model: ModelIdentifier, patterns: [String]? = nil) async throws -> DownloadTask {
        let task = try await join(model, patterns)
        do { try await task.begun() } catch {
            await task.leave()
            throw error
        }
        task.keep()
        return task
    }

    /// Ends the downloads of a model for everybody who waits for them: those asked for by the identifier's revision, or by
    /// any where it names none. Returns when the last request and lock are gone; what came is kept.
    ///
    /// - Returns: whether there was anything to cancel.
    @discardableResult
    public func cancelDownload(_ model: ModelIdentifier) async throws -> Bool {
        await downloads.cancel(try reference(model))
    }

    /// The shared download of a model, with the caller counted as one who waits for it.
    ///
    /// - Parameter check: may refuse the plan before anything is fetched.
    private func join(
        _ model: ModelIdentifier, _ patterns: [String]?,
        check: (@Sendable (PullPlan, Puller) async throws -> Void)? = nil
    ) async throws -> DownloadTask {
        let reference = try reference(model)
        let workspace = await workspace()
        let puller = try await Offload.run { try workspace.puller() }
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
