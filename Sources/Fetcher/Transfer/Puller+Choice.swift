package import Catalog
package import HubCore
package import ModelFormats

/// The choices of earlier pulls, for a pull without its own.
extension Puller {
    /// The choice of earlier pulls, applied to the commit's files; nil if unknown. Uses the choice of the revision
    /// itself, else of the branch's cached revision, else the repository's latest. Revisions no longer in the cache do
    /// not count.
    ///
    /// - Throws: ``ErrorCode/nothingMatches`` if the commit lacks the chosen weights.
    func earlierChoice(of found: Resolved) async throws -> FileChoice? {
        let folder = layout.repository(found.repository)
        let known = try await Blocking.run { [catalog] () throws(AIError) -> RememberedChoice? in
            let all = catalog.use { catalog throws(AIError) in
                try CacheRecord(layout, in: catalog).choices(folder.name)
            }
            let here = (all ?? []).filter { FileSystem.exists(folder.snapshot($0.commit)) }
            let branch = try found.ref.flatMap { ref throws(AIError) in try folder.commit(ofRef: ref) }
            return here.first { $0.commit == found.commit } ?? here.first { $0.commit == branch } ?? here.first
        }
        guard let known, known.commit != found.commit else { return known?.choice }
        return try await choice(known.choice, appliedTo: found)
    }

    /// A choice made for another commit, applied to this one's files.
    ///
    /// - Throws: ``ErrorCode/nothingMatches`` if the commit lacks the chosen weights.
    package func choice(_ choice: FileChoice, appliedTo found: Resolved) async throws -> FileChoice {
        let weights = choice.filters.contains { $0.selection != nil }
        let record = weights ? try await record(of: found.repository, at: found.commit) : nil
        let files = weights ? ModelFiles(found.tree.files, library: record?.library, tags: record?.tags ?? []) : nil
        return try await choice.mapping { filter in
            guard let selection = filter.selection, let files else { return filter }
            var filter = filter
            filter.selection = nil
            filter.selection = try files.selection(
                like: selection, of: "\(found.repository)", wanted: filter.matches)
            return filter
        }
    }

    /// What a reference names after its colon, among the files of its commit; nil if it names nothing.
    ///
    /// - Throws: ``ErrorCode/nothingMatches`` for a quantization that the commit lacks.
    package func named(by found: Resolved) async throws -> NamedFiles? {
        guard let word = found.reference.files else { return nil }
        let known = await Blocking.run { [catalog] in
            catalog.use { catalog throws(AIError) in try catalog.model(found.repository) } ?? nil
        }
        return try NamedFiles(
            word, among: found.tree.files, of: found.repository, library: known?.record.library,
            tags: known?.record.tags ?? [])
    }

    /// The same options for what a reference names after its colon.
    ///
    /// - Throws: ``ErrorCode/nothingMatches`` for a quantization that the commit lacks, ``ErrorCode/invalidInput`` for one
    ///   beside another choice of weights.
    package func options(_ options: Options, for found: Resolved) async throws -> Options {
        guard let named = try await named(by: found) else { return options }
        switch named {
        case .path(let path): return options.adding([.exactly(path)])
        case .glob(let pattern): return options.adding([pattern])
        case .weights(let variant, let selection):
            guard !options.choosesWeights else {
                throw AIError(
                    .invalidInput,
                    "\(found.reference) names \(variant.name), and --quant or --format names weights too",
                    advice: "leave out one of the two")
            }
            var copy = options
            copy.select = { _, _, _ in selection }
            copy.namesWeights = true
            if copy.earlierChoice == .isFollowed { copy.earlierChoice = .grows }
            return copy
        }
    }

    /// The Hub's metadata of a repository; nil if unknown and offline.
    package func record(of repository: Repository, at commit: Commit) async throws -> ModelRecord? {
        let known = await Blocking.run { [catalog] in
            catalog.use { catalog throws(AIError) in try catalog.model(repository) } ?? nil
        }
        if let known { return known.record }
        return isOffline ? nil : try await client.info(repository, revision: "\(commit)").record
    }

    /// Whether the cache or the Hub has a repository of this name, even an inaccessible one.
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
    /// The variant of this commit with the name and format of another commit's.
    fileprivate func selection(
        like other: FileSelection, of repository: String, wanted: (String) -> Bool
    ) throws(AIError) -> FileSelection? {
        let format = WeightChoice.Format(rawValue: other.format)
        let choice = try WeightChoice(
            format: format, quantization: format != nil && other.name == other.format ? nil : other.name)
        // Only automatic choices depend on the machine.
        let target = WeightChoice.Target(memoryBytes: 0, runsMLX: false)
        return try choice.choose(from: self, of: repository, for: target, wanted: wanted).map(selection)
    }
}
