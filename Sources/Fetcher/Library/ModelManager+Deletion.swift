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
        return try await workspace().delete(reference)
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
        return try await workspace().delete { planner throws(AIError) in
            for repository in planner.state.models { try planner.add(repository, reason: "the cache is cleared") }
        }
    }
}
