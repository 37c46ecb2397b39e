package import Catalog
package import HubCore
package import ModelFormats

/// What earlier pulls chose, for a pull that chooses nothing itself.
extension Puller {
    /// What earlier pulls chose, for the commit's own files; nil where that is not known. The revision itself counts first,
    /// then the one that the branch stands for in the cache, then the one of the repository that was chosen last. Revisions
    /// that are not in the cache any more do not count.
    ///
    /// - Throws: ``ErrorCode/nothingMatches`` where the commit has not the weights that were chosen.
    func earlierChoice(of found: Resolved) async throws -> FileChoice? {
        let folder = layout.repository(found.repository)
        let known = try await Offload.run { [catalog] () throws(AIError) -> RememberedChoice? in
            let all = catalog.use { catalog throws(AIError) in
                try CacheRecord(layout, in: catalog).choices(folder.name)
            }
            let here = (all ?? []).filter { FileSystem.exists(folder.snapshot($0.commit)) }
            let branch = try found.ref.flatMap { ref throws(AIError) in try folder.commit(ofRef: ref) }
            return here.first { $0.commit == found.commit } ?? here.first { $0.commit == branch } ?? here.first
        }
        guard let known, known.commit != found.commit else { return known?.choice }
        let weights = known.choice.filters.contains { $0.selection != nil }
        let record = weights ? try await record(of: found.repository, at: found.commit) : nil
        let files = weights ? ModelFiles(found.tree.files, library: record?.library, tags: record?.tags ?? []) : nil
        return try await known.choice.mapping { filter in
            guard let selection = filter.selection, let files else { return filter }
            var filter = filter
            filter.selection = nil
            filter.selection = try files.selection(
                like: selection, of: "\(found.repository)", wanted: filter.matches)
            return filter
        }
    }

    /// What the Hub says of a repository; nil where it is not known and cannot be asked.
    package func record(of repository: Repository, at commit: Commit) async throws -> ModelRecord? {
        let known = await Offload.run { [catalog] in
            catalog.use { catalog throws(AIError) in try catalog.model(repository) } ?? nil
        }
        if let known { return known.record }
        return isOffline ? nil : try await client.info(repository, revision: "\(commit)").record
    }

    /// Whether the cache or the Hub has a repository of this name, whoever may read it.
    package func exists(_ repository: Repository) async throws -> Bool {
        if FileSystem.exists(layout.repository(repository).path) { return true }
        guard !isOffline else { return false }
        do { _ = try await client.info(repository) } catch let error as AIError
            where error.code == .repositoryNotFound
        {
            return false
        } catch let error as AIError where [.gated, .disabled, .revisionNotFound].contains(error.code) {
            return true
        }
        return true
    }
}

extension ModelFiles {
    /// The set of weights of this commit that has the name and format of another commit's.
    fileprivate func selection(
        like other: FileSelection, of repository: String, wanted: (String) -> Bool
    ) throws(AIError) -> FileSelection? {
        let format = WeightChoice.Format(rawValue: other.format)
        let choice = try WeightChoice(
            format: format, quantization: format != nil && other.name == other.format ? nil : other.name)
        // Only what is chosen automatically depends on the machine.
        let target = WeightChoice.Target(memoryBytes: 0, runsMLX: false)
        return try choice.choose(from: self, of: repository, for: target, wanted: wanted).map(selection)
    }

    /// A set of weights with all that goes with it.
    package func selection(of variant: ModelVariant) -> FileSelection {
        FileSelection(name: variant.name, format: variant.format.identifier, paths: paths(of: variant))
    }
}
